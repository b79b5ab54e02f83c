#include "app/commands/commands.h"
#include "app/commands/import_map.h"
#include "app/commands/import_summary.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kBatchMax = 1000;
// Anything longer than this shows how far it came.
constexpr auto kPatience = 2s;

struct KnownSource {
  const char* name;
  const char* schema;
};
constexpr std::array<KnownSource, 5> kSources{{{"guardian", "public"},
                                               {"export", "public"},
                                               {"baseworker", "public"},
                                               {"pg-boss", "pgboss"},
                                               {"graphile-worker", "graphile_worker"}}};

struct Options {
  std::string source;
  std::optional<std::string> schema;
  std::optional<std::string> map;
  std::optional<std::int64_t> limit;
  bool dry_run = false;
  bool apply = false;
  bool undo = false;
};

Result<store::ImportRequest> to_request(const Options& options) {
  if (options.apply && options.dry_run) {
    return fail(ErrorKind::invalid_argument, "--apply and --dry-run exclude each other");
  }
  if (options.limit && *options.limit < 1) {
    return fail(ErrorKind::invalid_argument, "--limit must be at least 1");
  }
  store::ImportRequest request{.source = options.source, .schema = {}, .map = {}};
  for (const auto& known : kSources) {
    if (options.source == known.name) request.schema = options.schema.value_or(known.schema);
  }
  if (options.map) {
    constexpr std::size_t kMapBytesMax = 1024 * 1024;
    auto text = read_file(*options.map, kMapBytesMax);
    if (!text) {
      return fail(ErrorKind::invalid_argument, fmt::format("--map: {}", text.error().message));
    }
    MR_TRY(request.map, parse_import_map(*text, *options.map));
  }
  return request;
}

// Tells people now and then how far a long move has come.
class Progress {
 public:
  Progress(const Context& context, std::int64_t total)
      : context_(context), total_(total), said_at_(context.clock.now()) {}
  void reached(std::int64_t done, const char* what) {
    const auto now = context_.clock.now();
    if (now - said_at_ < kPatience) return;
    said_at_ = now;
    context_.note(fmt::format("{} of {} {}", group_digits(done), group_digits(total_), what));
  }

 private:
  const Context& context_;
  std::int64_t total_;
  Clock::Steady said_at_;
};

// What went wrong in a batch changes nothing about those before it.
Error explain_stop(Error error, std::int64_t done, const char* what) {
  error.message = fmt::format("after {} jobs were {}: {}", group_digits(done), what, error.message);
  if (error.hint.empty()) error.hint = "run it again: it goes on from there";
  return error;
}

Result<void> move_all(Context& context, store::AdminStore& store,
                      const store::ImportRequest& request, std::int64_t limit,
                      ImportSummary& summary) {
  const auto idle = summary.idle_types();
  const auto wanted = std::min(limit, summary.to_move());
  Progress progress(context, wanted);
  std::vector<std::string> skip;
  std::int64_t moved = 0;
  while (moved < limit) {
    auto answers = store.import_batch(request, std::min(kBatchMax, limit - moved), skip, idle);
    if (!answers) return fail(explain_stop(std::move(answers).error(), moved, "moved"));
    if (answers->empty()) break;
    for (const auto& answer : *answers) {
      if (answer.job) {
        summary.add_moved(answer.source_type, 1);
        ++moved;
      } else {
        skip.push_back(answer.source_id);
      }
    }
    progress.reached(moved, "moved");
  }
  return {};
}

void print_account(const Context& context, const store::ImportRequest& request,
                   const ImportSummary& summary, bool applied) {
  if (!context.json()) {
    summary.print(context);
    return;
  }
  json::Object account{
      {"source", request.source},
      {"schema", request.schema},
      {"applied", applied},
      {"live", (applied ? summary.moved() : summary.to_move()) + summary.left()},
      {applied ? "moved" : "to_move", applied ? summary.moved() : summary.to_move()},
      {"left_alone", summary.left()},
      {"types", summary.rows()}};
  context.print_json(account);
}

Result<int> run_move(Context& context, const Options& options) {
  MR_TRY(const auto request, to_request(options));
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto before, store.import_report(request));
  ImportSummary summary(before);
  if (!options.apply) {
    print_account(context, request, summary, false);
    if (summary.to_move() > 0) {
      context.note(fmt::format("nothing was changed; --apply moves {} jobs",
                               group_digits(summary.to_move())));
    }
    return kExitOk;
  }
  const auto limit = options.limit.value_or(std::numeric_limits<std::int64_t>::max());
  MR_TRY_VOID(move_all(context, store, request, limit, summary));
  MR_TRY(const auto after, store.import_report(request));
  summary.close(after);
  print_account(context, request, summary, true);
  if (summary.left() > 0) {
    context.note(fmt::format("{} live jobs are left in the source; run it again when they can go",
                             group_digits(summary.left())));
  }
  return summary.left() > 0 ? kExitProblems : kExitOk;
}

// Where jobs that were moved over are now, by type; those that wait can go back.
struct UndoLine {
  std::int64_t waiting = 0;
  std::int64_t went = 0;
  std::map<std::string, std::int64_t> stay;
};
using UndoLines = std::map<std::string, UndoLine>;

void read_overview(const json::Array& overview, UndoLines& lines) {
  for (const auto& value : overview) {
    const auto& row = value.as_object();
    auto& line = lines[text_member(row, "source_type")];
    const auto place = text_member(row, "place");
    if (place == "waiting") {
      line.waiting = int_member(row, "jobs");
    } else {
      line.stay[place] = int_member(row, "jobs");
    }
  }
}

json::Array undo_rows(const UndoLines& lines, bool applied) {
  json::Array rows;
  for (const auto& [source_type, line] : lines) {
    std::string why;
    std::int64_t stay = 0;
    for (const auto& [place, jobs] : line.stay) {
      why += fmt::format("{}{} {}", why.empty() ? "" : ", ", group_digits(jobs), place);
      stay += jobs;
    }
    rows.emplace_back(
        json::Object{{"source_type", source_type},
                     {applied ? "went_back" : "to_go_back", applied ? line.went : line.waiting},
                     {"stay", stay},
                     {"why", why}});
  }
  return rows;
}

Result<int> run_undo(Context& context, const Options& options) {
  MR_TRY(const auto request, to_request(options));
  MR_TRY(auto store, context.connect());
  MR_TRY(const auto before, store.imports_overview(request));
  UndoLines lines;
  read_overview(before, lines);
  if (options.apply) {
    const auto limit = options.limit.value_or(std::numeric_limits<std::int64_t>::max());
    std::int64_t total = 0;
    for (const auto& [source_type, line] : lines) total += line.waiting;
    Progress progress(context, std::min(limit, total));
    std::int64_t went = 0;
    while (went < limit) {
      auto answers = store.import_undo(request, std::min(kBatchMax, limit - went));
      if (!answers) return fail(explain_stop(std::move(answers).error(), went, "moved back"));
      if (answers->empty()) break;
      for (const auto& answer : *answers) ++lines[answer.source_type].went;
      went += static_cast<std::int64_t>(answers->size());
      progress.reached(went, "moved back");
    }
    for (auto& [source_type, line] : lines) line.stay.clear();
    MR_TRY(const auto after, store.imports_overview(request));
    for (auto& [source_type, line] : lines) line.waiting = 0;
    read_overview(after, lines);
    for (auto& [source_type, line] : lines) {
      if (line.waiting > 0) line.stay["waiting"] = line.waiting;
    }
  }
  print_rows(context, undo_rows(lines, options.apply),
             {{"TYPE", "source_type"},
              {options.apply ? "WENT BACK" : "TO GO BACK",
               options.apply ? "went_back" : "to_go_back", true, show_count},
              {"STAY", "stay", true, show_count},
              {"WHY", "why"}},
             "no jobs were moved over from there");
  if (!options.apply && !lines.empty()) context.note("nothing was changed; add --apply");
  return kExitOk;
}

}  // namespace

void add_import_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command = root.add("import", "Move live jobs of another queue in this database over")
                      .group("Operation");
  std::vector<std::string> names;
  for (const auto& known : kSources) names.emplace_back(known.name);
  command.argument("SOURCE", options->source, "Whose tables").choices(names);
  command.option("--schema", "NAME", options->schema,
                 "Where its tables are (default: public, pgboss, graphile_worker)");
  command.option("--map", "FILE", options->map, "Names, queues and priorities here").files();
  command.option("--limit", "N", options->limit, "Move at most so many");
  command.flag("--dry-run", options->dry_run, "Only show what would be moved (the default)");
  command.flag("--apply", options->apply, "Do it");
  command.flag("--undo", options->undo, "Back to the source: what nobody has been given yet");
  command.footer(
      "Jobs that run, and those that would be refused here, are left alone and counted. It can be\n"
      "run again at any time, also while the workers of the source go on; after --apply the exit\n"
      "code is 7 as long as live jobs are left. docs/adoption.md says what becomes of what.\n"
      "  millrace import pg-boss\n"
      "  millrace import pg-boss --apply --map map.toml\n"
      "  until millrace import graphile-worker --apply; do sleep 5; done");
  command.action([options](Context& context) {
    return options->undo ? run_undo(context, *options) : run_move(context, *options);
  });
}

}  // namespace millrace::app
