#include "app/commands/exports.h"

#include "app/commands/commands.h"
#include "app/commands/documents.h"
#include "app/commands/job_spec.h"
#include "app/exit_code.h"
#include "app/exports/export_worker.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace millrace::app {
namespace {

Cell show_size(const json::Value& value, const json::Object&) {
  return value.is_int64() ? Cell(format_size(value.as_int64())) : show_value(value);
}

Cell show_expiry(const json::Value& value, const json::Object& row) {
  auto cell = show_age(value, row);
  if (!cell.text.starts_with("in ")) return {"expired", Style::yellow};
  return cell;
}

Result<int> run_history(Context& context, std::int64_t limit) {
  if (limit < 1 || limit > 1000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--limit: {} is not between 1 and 1000", limit));
  }
  MR_TRY(auto desk, ExportDesk::open(context));
  MR_TRY(const auto rows, desk->history(static_cast<int>(limit)));
  print_rows(context, rows,
             {{"EXPORT", "id"},
              {"FILE", "file_name"},
              {"SIZE", "file_size", true, show_size},
              {"TEMPLATE", "template_slug"},
              {"VERSION", "document_version", true},
              {"DOWNLOADS", "download_count", true, show_count},
              {"MADE", "created_at", false, show_age},
              {"EXPIRES", "expires_at", false, show_expiry}},
             "no exports");
  return kExitOk;
}

Result<int> run_cancel(Context& context, const std::string& text) {
  MR_TRY(const auto id, parse_id<JobId>("job id", text));
  MR_TRY(auto desk, ExportDesk::open(context));
  MR_TRY(const auto job, desk->job(id));
  if (text_member(job, "job_type") != "export_pdf") {
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = fmt::format("job {} is no export", id),
                      .hint = "cancel other jobs with 'millrace jobs cancel'"});
  }
  MR_TRY(const auto answer, desk->cancel(id));
  if (context.json()) {
    context.print_json(json::Object{{"job_id", id.to_string()}, {"answer", answer}});
  } else {
    context.print(fmt::format("{}  {}\n", id, answer));
  }
  if (answer == "not_found") return kExitNotFound;
  return answer == "already_final" ? kExitConflict : kExitOk;
}

Result<int> run_cleanup(Context& context) {
  MR_TRY(auto desk, ExportDesk::open(context));
  MR_TRY(const int deleted, desk->clean());
  if (context.json()) {
    context.print_json(json::Object{{"deleted", deleted}});
  } else {
    context.print(deleted == 1 ? std::string("1 expired export deleted\n")
                               : fmt::format("{} expired exports deleted\n", deleted));
  }
  return kExitOk;
}

Result<int> run_templates(Context& context, const std::optional<std::string>& name, bool sample,
                          bool schema) {
  const TemplateCatalog templates(template_folders(context.settings), context.log);
  if (!name) {
    if (sample || schema) {
      return fail(ErrorKind::invalid_argument, "--sample and --schema need the name of a template");
    }
    json::Array rows;
    for (const auto& entry : templates.list()) {
      rows.push_back(json::Object{{"slug", entry.slug},
                                  {"title", entry.title},
                                  {"kind", entry.kind},
                                  {"version", entry.version},
                                  {"hash", entry.hash},
                                  {"description", entry.description}});
    }
    print_rows(context, rows,
               {{"TEMPLATE", "slug"},
                {"KIND", "kind"},
                {"VERSION", "version"},
                {"TITLE", "title"},
                {"WHAT IT IS", "description"}},
               "no templates");
    return kExitOk;
  }
  const auto* entry = templates.find(*name);
  if (entry == nullptr) {
    std::string names;
    for (const auto& other : templates.list()) names += (names.empty() ? "" : ", ") + other.slug;
    return fail(Error{.kind = ErrorKind::not_found,
                      .message = fmt::format("there is no template '{}'", printable(*name)),
                      .hint = "there are: " + names});
  }
  MR_TRY(const auto value, parse_json(schema ? entry->schema_json : entry->sample_json));
  context.print_json(value);
  return kExitOk;
}

Result<int> run_delete(Context& context, const std::vector<std::string>& texts, bool history) {
  MR_TRY(const auto ids, parse_export_ids(texts));
  MR_TRY(auto desk, ExportDesk::open(context));
  json::Array rows;
  int code = kExitOk;
  for (const auto& id : ids) {
    bool gone = false;
    if (history) {
      MR_TRY(gone, desk->forget(id));
    } else {
      const auto document = desk->get(id);
      if (!document && document.error().kind != ErrorKind::not_found) return fail(document.error());
      if (document) {
        MR_TRY(const auto user, Uuid::parse(text_member(*document, "userId")));
        MR_TRY(gone, desk->remove(user, id));
      }
    }
    if (!gone) code = kExitNotFound;
    rows.push_back(
        json::Object{{"id", id.to_string()}, {"answer", gone ? "deleted" : "not_found"}});
  }
  print_rows(context, rows, {{history ? "EXPORT" : "DOCUMENT", "id"}, {"ANSWER", "answer"}}, "");
  return code;
}

void add_history(Command& exports) {
  auto limit = std::make_shared<std::int64_t>(50);
  auto& command = exports.add("history", "Exports that were made, newest first");
  command.option("--limit", "N", *limit, "At most so many (default 50)");
  command.action([limit](Context& context) { return run_history(context, *limit); });
}

void add_cancel(Command& exports) {
  auto job = std::make_shared<std::string>();
  auto& command = exports.add("cancel", "Cancel an export that waits or runs");
  command.argument("JOB", *job, "Its job, as 'export run' shows it");
  command.action([job](Context& context) { return run_cancel(context, *job); });
}

void add_delete(Command& exports) {
  struct Arguments {
    std::vector<std::string> ids;
    bool history = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& command = exports.add("delete", "Delete documents for exports, or files that were made");
  command.argument("ID", arguments->ids, "Documents");
  command.flag("--history", arguments->history,
               "The ids are of files, as 'export history' shows them");
  command.footer(
      "Exports of a deleted document that are not finished are cancelled; files that were made\n"
      "stay until they expire.");
  command.action([arguments](Context& context) {
    return run_delete(context, arguments->ids, arguments->history);
  });
}

void add_templates(Command& exports) {
  struct Arguments {
    std::vector<std::string> name;
    bool sample = false;
    bool schema = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& command = exports.add("templates", "Templates, or sample data of one, or its schema");
  command.argument("TEMPLATE", arguments->name, "Print data for this one (default: list them all)",
                   false);
  command.flag("--sample", arguments->sample, "A sample of its data (the default)");
  command.flag("--schema", arguments->schema, "The JSON Schema of its data");
  command.footer(
      "Example:\n"
      "  millrace export templates invoice > invoice.json");
  command.action([arguments](Context& context) -> Result<int> {
    if (arguments->name.size() > 1) {
      return fail(ErrorKind::invalid_argument, "name one template at a time");
    }
    std::optional<std::string> name;
    if (!arguments->name.empty()) name = arguments->name.front();
    return run_templates(context, name, arguments->sample, arguments->schema);
  });
}

}  // namespace

Result<std::vector<Uuid>> parse_export_ids(const std::vector<std::string>& texts) {
  std::vector<Uuid> ids;
  for (const auto& text : texts) {
    MR_TRY(const auto id, parse_id<Uuid>("id", text));
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

Error without_document(Error error) {
  if (error.sqlstate == "MR043" && error.hint.empty()) {
    error.hint = "see 'millrace export list'; documents of a tenant need --tenant";
  }
  return error;
}

void add_export_commands(Command& root) {
  auto& exports = root.add("export", "Make PDFs of documents and templates").group("Jobs");
  add_export_documents(exports);
  add_export_run(exports);
  add_history(exports);
  add_cancel(exports);
  add_delete(exports);
  add_templates(exports);
  auto& cleanup = exports.add("cleanup", "Delete exports that have expired, now");
  cleanup.action([](Context& context) { return run_cleanup(context); });
}

}  // namespace millrace::app
