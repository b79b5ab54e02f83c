// Documents as people follow them: on a terminal a line for each, drawn again in place; elsewhere a
// line on change.
#include "app/commands/documents.h"
#include "app/commands/job_spec.h"
#include "app/commands/watch.h"
#include "app/exit_code.h"
#include "app/live_view.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace millrace::app {
namespace {

constexpr int kFollowedMax = 200;  // Of those that nobody named.
constexpr std::size_t kBarWidth = 12;
constexpr std::size_t kNameWidth = 24;  // On a terminal.

struct Watched {
  Uuid id;
  json::Object document = {};
  std::string line = {};  // Last one printed.
};

std::string rules_of(const json::Object& document) {
  std::string out;
  const auto* findings = member(document, "findings");
  if (findings == nullptr || !findings->is_array()) return out;
  for (const auto& finding : findings->as_array()) {
    const auto rule = text_member(finding.as_object(), "rule");
    if (text_member(finding.as_object(), "severity") != "refuse") continue;
    out += (out.empty() ? "" : ", ") + rule;
  }
  return out;
}

std::string last_error(const json::Object& document) {
  const auto* record = member(document, "processing_error");
  if (record == nullptr || !record->is_object()) return {};
  const auto* error = member(record->as_object(), "current_error");
  if (error == nullptr || !error->is_object()) return {};
  return text_member(error->as_object(), "error_message");
}

std::string stage_of(const Context& context, const json::Object& document) {
  auto out = text_member(document, "stage");
  auto total = int_member(document, "stage_total");
  auto done = int_member(document, "stage_done");
  std::string_view what = "pages";
  const auto* progress = member(document, "progress");
  if (total <= 0 && progress != nullptr && progress->is_object()) {
    total = int_member(progress->get_object(), "chunks_total");
    done = int_member(progress->get_object(), "embeds_done");
    what = "chunks";
  }
  if (total <= 0) return out;
  const auto share = static_cast<double>(done) / static_cast<double>(total);
  return out + fmt::format("  {} {}/{} {}", bar(share, kBarWidth, context.terminal.unicode), done,
                           total, what);
}

class View {
 public:
  explicit View(Context& context) : context_(context), view_(context) {}

  void show(Watched& watched) {
    auto line = describe_document(context_, watched.document);
    const bool changed = line != watched.line;
    watched.line = std::move(line);
    if (changed && !view_.active()) context_.print(watched.line + "\n");
  }
  void redraw(const std::vector<Watched>& all) {
    std::string block;
    // Those that have ended above those that go on: what moves stays in sight.
    for (const bool ended : {true, false}) {
      for (const auto& watched : all) {
        if (has_ended(watched.document) == ended) block += watched.line + "\n";
      }
    }
    view_.draw(block);
  }

 private:
  Context& context_;
  LiveView view_;
};

// Looks at those that have not ended; whether any is left.
Result<bool> look(Context& context, DocumentDesk& desk, std::vector<Watched>& all, View& view) {
  bool open = false;
  for (auto& watched : all) {
    if (has_ended(watched.document)) continue;
    MR_TRY(watched.document, desk.get(watched.id));
    open = open || !has_ended(watched.document);
    if (!context.json()) view.show(watched);
  }
  if (!context.json()) view.redraw(all);
  return open;
}

Error too_late(std::chrono::milliseconds timeout) {
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("still not finished after {}", format_duration(timeout)),
          .hint = "processing goes on; see 'millrace documents show'"};
}

int finish(Context& context, std::vector<Watched> all, bool as_list) {
  json::Array out;
  bool completed = true;
  for (auto& watched : all) {
    completed = completed && text_member(watched.document, "state") == "completed";
    out.emplace_back(std::move(watched.document));
  }
  if (context.json()) {
    context.print_json(!as_list && out.size() == 1 ? out.front() : json::Value(out));
  }
  return completed ? kExitOk : kExitJobFailed;
}

Result<void> add_new(DocumentDesk& desk, std::vector<Watched>& all) {
  for (const char* state : {"uploaded", "processing"}) {
    MR_TRY(const auto rows, desk.list({.state = state, .limit = kFollowedMax}));
    for (const auto& row : rows) {
      MR_TRY(const auto id, Uuid::parse(text_member(row.as_object(), "id")));
      const bool known = std::ranges::any_of(all, [&id](const auto& one) { return one.id == id; });
      if (!known && all.size() < kFollowedMax) all.push_back({.id = id});
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Uuid>> parse_document_ids(const std::vector<std::string>& texts) {
  std::vector<Uuid> ids;
  for (const auto& text : texts) {
    MR_TRY(const auto id, parse_id<Uuid>("document id", text));
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

bool has_ended(const json::Object& document) {
  constexpr std::array<std::string_view, 4> kEnds{"completed", "partial", "failed", "rejected"};
  const auto state = text_member(document, "state");
  return std::ranges::find(kEnds, state) != kEnds.end();
}

Cell show_document_state(const json::Value& value, const json::Object&) {
  const auto state = value.is_string() ? std::string(value.as_string()) : std::string();
  if (state == "completed") return {state, Style::green};
  if (state == "processing") return {state, Style::cyan};
  if (state == "partial") return {state, Style::yellow};
  if (state == "failed" || state == "rejected") return {state, Style::red};
  return {state, Style::plain};
}

std::string waiting_reason(const json::Object& document) {
  const auto* waiting = member(document, "waiting");
  if (waiting == nullptr || !waiting->is_object()) return {};
  return text_member(waiting->get_object(), "reason");
}

std::string describe_document(const Context& context, const json::Object& document) {
  const auto state = text_member(document, "state");
  const auto cell = show_document_state(json::Value(state), document);
  // Terminals are narrow, and what moves must be seen: there the id comes last.
  const bool live = context.terminal.out_tty;
  const auto id = text_member(document, "id");
  auto name = printable(text_member(document, "file_name"));
  if (live) {
    name = cut_to_width(name, kNameWidth, context.terminal.unicode);
    name.append(kNameWidth - std::min(kNameWidth, display_width(name)), ' ');
  } else {
    name = fmt::format("{}  {}", id, name);
  }
  auto out = fmt::format("{}  {}", name, context.terminal.paint(cell.style, state));
  const auto pages = int_member(document, "page_count");
  const auto failed = int_member(document, "pages_failed");
  if (state == "processing") {
    out += "  " + stage_of(context, document);
    if (const auto why = waiting_reason(document); !why.empty())
      out += "  waits: " + printable(why);
  } else if (state == "rejected") {
    out += "  " + printable(rules_of(document));
  } else if (pages > 0) {
    out += fmt::format("  {} page{}", pages, pages == 1 ? "" : "s");
  }
  if (failed > 0) out += fmt::format(", {} failed", failed);
  if (state == "failed") out += "  " + printable(last_error(document));
  return live ? out + "  " + id : out;
}

std::string format_size(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits{"KB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto shown = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (shown /= 1000; shown >= 999.95 && unit + 1 < kUnits.size(); ++unit) shown /= 1000;
  return fmt::format("{:.1f} {}", shown, kUnits[unit]);
}

Result<int> watch_documents(Context& context, DocumentDesk& desk, const std::vector<Uuid>& ids,
                            const DocumentWatchOptions& options) {
  Interrupt interrupt;
  std::vector<Watched> all;
  for (const auto& id : ids) all.push_back({.id = id});
  const auto started = context.clock.now();
  {
    View view(context);
    for (;;) {
      MR_TRY(const bool open, look(context, desk, all, view));
      if (!open) break;
      if (options.timeout && context.clock.now() - started > *options.timeout) {
        return fail(too_late(*options.timeout));
      }
      if (Interrupt::wait(options.interval)) return kExitInterrupted;
    }
  }
  return finish(context, std::move(all), false);
}

Result<int> watch_all_documents(Context& context, DocumentDesk& desk,
                                const DocumentWatchOptions& options) {
  Interrupt interrupt;
  std::vector<Watched> all;
  const auto started = context.clock.now();
  {
    View view(context);
    for (;;) {
      MR_TRY_VOID(add_new(desk, all));
      MR_TRY(const bool open, look(context, desk, all, view));
      if (!open) break;
      if (options.timeout && context.clock.now() - started > *options.timeout) {
        return fail(too_late(*options.timeout));
      }
      if (Interrupt::wait(options.interval)) return kExitInterrupted;
    }
  }
  if (all.empty()) context.note("no document is being processed");
  return finish(context, std::move(all), true);
}

}  // namespace millrace::app
