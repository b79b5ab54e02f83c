// Everything about one document.
#include "app/commands/documents.h"
#include "app/commands/job_spec.h"
#include "app/exit_code.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace millrace::app {
namespace {

constexpr std::size_t kFactsMax = 20'000;
constexpr std::size_t kErrorsShown = 10;

Cell show_size(const json::Value& value, const json::Object&) {
  if (!value.is_int64()) return show_value(value);
  return format_size(value.as_int64());
}

Cell show_confidence(const json::Value& value, const json::Object&) {
  if (!value.is_number()) return show_value(value);
  const auto share = value.to_number<double>();
  return {fmt::format("{:.0f} %", share * 100), share < 0.8 ? Style::yellow : Style::plain};
}

Cell show_page_state(const json::Value& value, const json::Object& row) {
  if (value == "failed") {
    return {fmt::format("failed in {}: {}", text_member(row, "failed_stage"),
                        text_member(row, "failed_reason")),
            Style::red};
  }
  auto cell = show_value(value);
  if (value == "completed") cell.style = Style::green;
  return cell;
}

// What the stages say of a page, lifted to where a table finds it: the first stage that says it.
json::Array page_rows(const json::Array& pages) {
  json::Array rows;
  for (const auto& value : pages) {
    auto row = value.as_object();
    bool reused = false;
    if (const auto* stages = member(row, "stages"); stages != nullptr && stages->is_object()) {
      json::Object found;
      for (const auto& [stage, made] : stages->get_object()) {
        const auto& meta = made.as_object();
        reused = reused || bool_member(meta, "reused");
        for (const char* name : {"source", "confidence", "words", "entities", "facts"}) {
          const auto* said = member(meta, name);
          if (said != nullptr && !found.contains(name)) found[name] = *said;
        }
      }
      for (const auto& [name, said] : found) row[name] = said;
    }
    row["reused"] = reused;
    rows.emplace_back(std::move(row));
  }
  return rows;
}

void print_line(Context& context, std::string_view name, const Cell& cell) {
  if (cell.text.empty() || cell.text == "-") return;
  context.print(
      fmt::format("{:<14} {}\n", name, context.terminal.paint(cell.style, printable(cell.text))));
}

void print_head(Context& context, const json::Object& document) {
  static const json::Value null;
  const auto value = [&document](std::string_view name) -> const json::Value& {
    const auto* found = member(document, name);
    return found == nullptr ? null : *found;
  };
  print_line(context, "document", show_value(value("id")));
  print_line(context, "file", show_value(value("file_name")));
  print_line(context, "size", show_size(value("size_bytes"), document));
  print_line(context, "sha256", show_value(value("sha256")));
  print_line(context, "kind", show_value(value("mime")));
  print_line(context, "state", show_document_state(value("state"), document));
  auto stage = text_member(document, "stage");
  if (const auto total = int_member(document, "stage_total"); total > 0) {
    stage += fmt::format(", {} of {} pages", int_member(document, "stage_done"), total);
  }
  print_line(context, "stage", stage);
  if (const auto why = waiting_reason(document); !why.empty()) {
    const auto until = text_member(value("waiting").get_object(), "until");
    print_line(context, "waiting",
               {until.empty() ? why : fmt::format("{} (until {})", why, until), Style::yellow});
  }
  const auto failed = int_member(document, "pages_failed");
  auto pages = show_value(value("page_count")).text;
  if (failed > 0) pages += fmt::format(", {} failed", failed);
  print_line(context, "pages", {pages, failed > 0 ? Style::yellow : Style::plain});
  if (const auto* progress = member(document, "progress");
      progress != nullptr && progress->is_object()) {
    const auto& of = progress->get_object();
    print_line(context, "embedded",
               fmt::format("{} of {} chunks", int_member(of, "embeds_done"),
                           int_member(of, "chunks_done")));
  }
  print_line(context, "run", show_value(value("run")));
  if (const auto* pipeline = member(document, "pipeline");
      pipeline != nullptr && pipeline->is_object()) {
    print_line(context, "pipeline",
               fmt::format("{}@{}", text_member(pipeline->get_object(), "name"),
                           text_member(pipeline->get_object(), "version")));
  }
  for (const char* name : {"patient_id", "tenant_id", "owner_id", "job_id", "created_at",
                           "started_at", "finished_at"}) {
    print_line(context, name, show_value(value(name)));
  }
  if (const auto* summary = member(document, "summary");
      summary != nullptr && summary->is_object()) {
    for (const auto& [name, said] : summary->get_object()) {
      print_line(context, name, show_value(said));
    }
  }
}

void print_part(Context& context, std::string_view title, const json::Array& rows,
                const std::vector<ColumnSpec>& columns) {
  if (rows.empty()) return;
  context.print(fmt::format("\n{}\n", context.terminal.paint(Style::bold, title)));
  print_rows(context, rows, columns, "");
}

json::Array list_member(const json::Object& object, std::string_view name) {
  const auto* found = member(object, name);
  return found != nullptr && found->is_array() ? found->get_array() : json::Array();
}

void print_errors(Context& context, const json::Object& document) {
  const auto* record = member(document, "processing_error");
  if (record == nullptr || !record->is_object()) return;
  auto history = list_member(record->get_object(), "error_history");
  const auto skipped = history.size() - std::min(history.size(), kErrorsShown);
  history.erase(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(skipped));
  const auto title =
      skipped == 0 ? std::string("Errors") : fmt::format("Errors (the last {})", history.size());
  print_part(context, title, history,
             {{"AT", "timestamp", false, show_age},
              {"STAGE", "job_type"},
              {"PAGE", "page", true},
              {"TYPE", "error_type"},
              {"MESSAGE", "error_message"}});
}

// Answers that cannot be used: of the whole document, then of its pages.
json::Array refused_answers(const json::Object& document, const json::Array& pages) {
  auto rows = list_member(document, "review");
  for (const auto& page : pages) {
    const auto* review = member(page.as_object(), "review");
    if (review == nullptr || !review->is_object()) continue;
    auto row = review->get_object();
    row["page"] = *member(page.as_object(), "page");
    rows.emplace_back(std::move(row));
  }
  return rows;
}

Result<int> run_show(Context& context, const std::string& text, bool with_facts) {
  MR_TRY(const auto id, parse_id<Uuid>("document id", text));
  MR_TRY(auto desk, DocumentDesk::open(context));
  MR_TRY(auto document, desk->get(id));
  MR_TRY(auto pages, desk->pages(id));
  json::Array facts;
  if (with_facts) {
    MR_TRY(facts, desk->facts(id, kFactsMax));
  }
  if (context.json()) {
    document["pages"] = std::move(pages);
    if (with_facts) document["facts"] = std::move(facts);
    context.print_json(document);
    return kExitOk;
  }
  print_head(context, document);
  print_part(context, "Findings", list_member(document, "findings"),
             {{"RULE", "rule"}, {"SEVERITY", "severity"}, {"DETAIL", "detail"}});
  print_part(context, "To be reviewed: answers that cannot be used",
             refused_answers(document, pages),
             {{"STAGE", "stage"},
              {"PAGE", "page", true},
              {"TYPE", "error_type"},
              {"REASON", "reason"},
              {"MODEL", "model"},
              {"CALL", "call_id"}});
  print_part(context, "Outputs", list_member(document, "outputs"),
             {{"KIND", "kind"},
              {"PAGE", "page", true},
              {"FILE", "file_name"},
              {"SIZE", "size_bytes", true, show_size},
              {"SHA256", "sha256"}});
  print_part(context, "Pages", page_rows(pages),
             {{"PAGE", "page", true},
              {"STATE", "state", false, show_page_state},
              {"SOURCE", "source"},
              {"CONFIDENCE", "confidence", true, show_confidence},
              {"WORDS", "words", true},
              {"FACTS", "facts", true},
              {"REUSED", "reused"}});
  print_part(context, "Facts", facts,
             {{"PAGE", "page", true},
              {"TYPE", "type"},
              {"NAME", "name"},
              {"VALUE", "value"},
              {"ASSERTION", "assertion", false,
               [](const json::Value& value, const json::Object&) -> Cell {
                 return value.is_object() ? text_member(value.get_object(), "polarity") : "-";
               }},
              {"CONF", "conf", true, show_confidence},
              {"ROUTE", "route"}});
  print_errors(context, document);
  return kExitOk;
}

}  // namespace

void add_documents_show(Command& documents) {
  auto id = std::make_shared<std::string>();
  auto facts = std::make_shared<bool>(false);
  auto& command = documents.add("show", "Everything about one document");
  command.argument("ID", *id, "Document");
  command.flag("--facts", *facts, "With the facts that were found");
  command.action([id, facts](Context& context) { return run_show(context, *id, *facts); });
}

}  // namespace millrace::app
