#include "app/commands/documents.h"

#include "app/commands/commands.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

Cell show_pages(const json::Value& value, const json::Object& row) {
  if (!value.is_int64()) return show_value(value);
  const auto failed = int_member(row, "pages_failed");
  if (failed == 0) return group_digits(value.as_int64());
  return {fmt::format("{} ({} failed)", group_digits(value.as_int64()), failed), Style::yellow};
}

Cell show_stage(const json::Value& value, const json::Object& row) {
  if (!value.is_string()) return show_value(value);
  const auto total = int_member(row, "stage_total");
  if (total == 0) return std::string(value.as_string());
  return fmt::format("{} {}/{}", std::string_view(value.as_string()), int_member(row, "stage_done"),
                     total);
}

struct ListArguments {
  std::optional<std::string> state;
  std::optional<std::string> patient;
  std::int64_t limit = 50;
};

Result<int> run_list(Context& context, const ListArguments& arguments) {
  if (arguments.limit < 1 || arguments.limit > 1000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 1000", arguments.limit));
  }
  store::DocumentList list{.state = arguments.state, .limit = static_cast<int>(arguments.limit)};
  if (arguments.patient) {
    auto id = Uuid::parse(*arguments.patient);
    if (!id) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--patient: '{}' is not a uuid", *arguments.patient));
    }
    list.patient = *id;
  }
  MR_TRY(auto desk, DocumentDesk::open(context));
  MR_TRY(const auto rows, desk->list(list));
  print_rows(context, rows,
             {{"DOCUMENT", "id"},
              {"FILE", "file_name"},
              {"STATE", "state", false, show_document_state},
              {"STAGE", "stage", false, show_stage},
              {"PAGES", "page_count", true, show_pages},
              {"RUN", "run", true},
              {"ADDED", "created_at", false, show_age}},
             "no documents");
  return kExitOk;
}

struct WatchArguments {
  std::vector<std::string> ids;
  std::optional<std::string> timeout;
};

Result<int> run_watch(Context& context, const WatchArguments& arguments) {
  DocumentWatchOptions options;
  if (arguments.timeout) {
    auto timeout = parse_duration(*arguments.timeout);
    if (!timeout) return fail_with_context("--timeout", timeout.error());
    options.timeout = *timeout;
  }
  MR_TRY(const auto ids, parse_document_ids(arguments.ids));
  MR_TRY(auto desk, DocumentDesk::open(context));
  if (ids.empty()) return watch_all_documents(context, *desk, options);
  return watch_documents(context, *desk, ids, options);
}

Result<int> run_retry(Context& context, const std::vector<std::string>& texts) {
  MR_TRY(const auto ids, parse_document_ids(texts));
  MR_TRY(auto desk, DocumentDesk::open(context));
  json::Array rows;
  int code = kExitOk;
  for (const auto& id : ids) {
    auto answer = desk->retry(id);
    json::Object row{{"id", id.to_string()}};
    if (answer) {
      row = *std::move(answer);
      row["answer"] = "begun";
    } else if (answer.error().kind == ErrorKind::not_found) {
      row["answer"] = "not_found";
      code = kExitNotFound;
    } else if (answer.error().kind == ErrorKind::conflict) {
      const auto& error = answer.error();
      row["answer"] = error.detail.empty() ? std::string("busy") : error.detail;
      row["reason"] = error.message;
      if (!error.hint.empty()) {
        row["hint"] = error.hint;
        context.note(fmt::format("{}; {}", error.message, error.hint));
      }
      if (code == kExitOk) code = kExitConflict;
    } else {
      return fail(answer.error());
    }
    rows.emplace_back(std::move(row));
  }
  print_rows(context, rows,
             {{"DOCUMENT", "id"}, {"ANSWER", "answer"}, {"RUN", "run", true}, {"JOB", "job_id"}},
             "no documents");
  return code;
}

Result<int> run_quarantine(Context& context, std::int64_t limit) {
  if (limit < 1 || limit > 1000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 1000", limit));
  }
  MR_TRY(auto desk, DocumentDesk::open(context));
  MR_TRY(const auto rows, desk->quarantine(static_cast<int>(limit)));
  print_rows(context, rows,
             {{"SHA256", "sha256"},
              {"WHAT", "what"},
              {"STAGE", "stage"},
              {"REASON", "reason"},
              {"DOCUMENT", "file_id"},
              {"PAGE", "page", true},
              {"SINCE", "quarantined_at", false, show_age}},
             "nothing is quarantined");
  return kExitOk;
}

Result<int> run_release(Context& context, const std::string& sha256) {
  MR_TRY(auto desk, DocumentDesk::open(context));
  MR_TRY(const auto tenants, desk->release(sha256));
  if (tenants == 0) {
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = fmt::format("no content {} is quarantined", sha256),
                      .hint = "see 'millrace documents quarantine'"});
  }
  if (context.json()) {
    context.print_json(json::Object{{"sha256", sha256}, {"tenants", tenants}});
  }
  context.note("it may be read again; begin what was given up with 'millrace documents retry'");
  return kExitOk;
}

void add_list(Command& documents) {
  auto arguments = std::make_shared<ListArguments>();
  auto& command = documents.add("list", "Newest documents");
  command.option("--state", "STATE", arguments->state, "In this state")
      .choices({"uploaded", "processing", "completed", "partial", "failed", "rejected"});
  command.option("--patient", "ID", arguments->patient, "Of this profile");
  command.option("--limit", "N", arguments->limit, "At most so many (default 50)");
  command.action([arguments](Context& context) { return run_list(context, *arguments); });
}

void add_watch(Command& documents) {
  auto arguments = std::make_shared<WatchArguments>();
  auto& command = documents.add("watch", "Follow documents live, until all have ended");
  command.argument("ID", arguments->ids, "Documents (default: all that are under way)", false);
  command.option("--timeout", "TIME", arguments->timeout, "Give up after this time");
  command.action([arguments](Context& context) { return run_watch(context, *arguments); });
}

void add_operation(Command& documents) {
  {
    auto ids = std::make_shared<std::vector<std::string>>();
    auto& command = documents.add("retry", "Begin documents anew; pages that were done stay done");
    command.argument("ID", *ids, "Documents that have ended");
    command.action([ids](Context& context) { return run_retry(context, *ids); });
  }
  {
    auto limit = std::make_shared<std::int64_t>(100);
    auto& command = documents.add("quarantine", "Content that is not read any more, and why");
    command.option("--limit", "N", *limit, "At most so many (default 100)");
    command.action([limit](Context& context) { return run_quarantine(context, *limit); });
  }
  auto sha256 = std::make_shared<std::string>();
  auto& command = documents.add("release", "Let quarantined content be read again");
  command.argument("SHA256", *sha256, "Its digest, as 'documents quarantine' shows it");
  command.action([sha256](Context& context) { return run_release(context, *sha256); });
}

}  // namespace

void add_documents_commands(Command& root) {
  auto& documents =
      root.add("documents", "Add documents, follow them, take out what they say").group("Jobs");
  add_documents_add(documents);
  add_list(documents);
  add_documents_show(documents);
  add_watch(documents);
  add_documents_export(documents);
  add_documents_verify(documents);
  add_operation(documents);
}

}  // namespace millrace::app
