// pipeline: definitions looked at and checked. Needs no database.
#include "app/commands/commands.h"
#include "app/context.h"
#include "app/documents/pipelines.h"
#include "app/exit_code.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/words.h"
#include "pipeline/definition/graph.h"
#include "pipeline/definition/graph_layout.h"
#include "pipeline/definition/pipeline_set.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;
using pipeline::Pipeline;
using pipeline::PipelineSet;

std::optional<fs::path> folder_of(const Context& context) {
  const auto& folder = context.settings.text("pipeline.dir");
  return folder.empty() ? std::nullopt : std::optional<fs::path>(folder);
}

// What check says of its files.
struct CheckReport {
  struct Row {
    std::string file;
    std::string name;  // Empty: it has problems.
    std::string version;
    std::string hash;
    std::size_t stages = 0;
  };
  std::vector<Row> rows;
  std::vector<std::string> problems;
  std::vector<std::string> warnings;

  void add(const std::string& file, const Pipeline& pipeline) {
    rows.push_back({file, pipeline.name, pipeline.version, pipeline.hash, pipeline.stages.size()});
  }
};

void check_file(const Context& context, const std::string& file, CheckReport& report) {
  const auto text = read_file(file, pipeline::kPipelineFileMaxBytes);
  if (!text) {
    report.problems.push_back(fmt::format("{}: {}", file, text.error().message));
    return;
  }
  // Its programs lie beside it, as those of pipeline.dir do.
  const auto known = surroundings(context.settings, fs::absolute(file).parent_path());
  const auto checked = pipeline::parse_pipeline(*text, known);
  for (const auto& problem : checked.problems) report.problems.push_back(problem.text(file));
  for (const auto& warning : checked.warnings) report.warnings.push_back(warning.text(file));
  if (checked.pipeline) report.add(file, *checked.pipeline);
}

// A folder stands for its files, and these are compared with each other.
Result<void> check_folder(const Context& context, const std::optional<fs::path>& folder,
                          CheckReport& report) {
  MR_TRY(const auto loaded, PipelineSet::load(folder, surroundings(context.settings, folder)));
  for (const auto& problem : loaded.problems) report.problems.push_back(problem);
  for (const auto& warning : loaded.warnings) report.warnings.push_back(warning);
  for (const auto& one : loaded.set.all()) report.add(one.file, one.pipeline);
  return {};
}

int tell(const Context& context, const CheckReport& report) {
  const int code = report.problems.empty() ? kExitOk : kExitInternal;
  if (context.json()) {
    json::Array files;
    for (const auto& row : report.rows) {
      files.push_back(json::Object{{"file", row.file},
                                   {"name", row.name},
                                   {"version", row.version},
                                   {"hash", row.hash},
                                   {"stages", row.stages}});
    }
    json::Array problems;
    for (const auto& problem : report.problems) problems.emplace_back(problem);
    json::Array warnings;
    for (const auto& warning : report.warnings) warnings.emplace_back(warning);
    context.print_json(json::Object{{"pipelines", std::move(files)},
                                    {"problems", std::move(problems)},
                                    {"warnings", std::move(warnings)}});
    return code;
  }
  for (const auto& row : report.rows) {
    context.print(fmt::format("{}: {} {}, {} stage{}, {}\n", printable(row.file), row.name,
                              row.version, row.stages, row.stages == 1 ? "" : "s",
                              row.hash.substr(0, 12)));
  }
  for (const auto& warning : report.warnings) {
    fmt::print(stderr, "{} (warning)\n", printable(warning));
  }
  for (const auto& problem : report.problems) fmt::print(stderr, "{}\n", printable(problem));
  if (!report.problems.empty()) {
    fmt::print(stderr, "{} problem{}\n", report.problems.size(),
               report.problems.size() == 1 ? "" : "s");
  }
  return code;
}

Result<int> run_check(Context& context, const std::vector<std::string>& files) {
  CheckReport report;
  if (files.empty()) MR_TRY_VOID(check_folder(context, folder_of(context), report));
  for (const auto& file : files) {
    std::error_code code;
    if (fs::is_directory(file, code)) {
      MR_TRY_VOID(check_folder(context, file, report));
    } else {
      check_file(context, file, report);
    }
  }
  return tell(context, report);
}

// "guardian" of the installation, or a file. Problems of other files do not matter here.
Result<Pipeline> choose(const Context& context, const std::string& name) {
  if (name.ends_with(".toml")) {
    MR_TRY(const auto text, read_file(name, pipeline::kPipelineFileMaxBytes));
    auto checked = pipeline::parse_pipeline(text);
    if (checked.pipeline) return std::move(*checked.pipeline);
    const auto count = checked.problems.size();
    return fail(
        {.kind = ErrorKind::invalid_argument,
         .message = checked.problems[0].text(name),
         .hint = count == 1 ? "" : fmt::format("{} more are told by 'pipeline check'", count - 1)});
  }
  MR_TRY(const auto loaded, PipelineSet::load(folder_of(context)));
  const auto at = name.find('@');
  const auto* found = at == name.npos ? loaded.set.find(name)
                                      : loaded.set.find(name.substr(0, at), name.substr(at + 1));
  if (found != nullptr) return *found;
  const auto names = loaded.set.names();
  const auto near = nearest_word(name.substr(0, std::min<std::size_t>(at, 64)), names);
  return fail(ErrorKind::not_found,
              fmt::format("there is no pipeline '{}'{}; there are {}", name,
                          near && *near != name ? fmt::format(", did you mean '{}'?", *near) : "",
                          fmt::join(names, ", ")));
}

json::Array list_json(const PipelineSet& set) {
  json::Array out;
  for (const auto& one : set.all()) {
    out.push_back(json::Object{{"name", one.pipeline.name},
                               {"version", one.pipeline.version},
                               {"current", set.find(one.pipeline.name) == &one.pipeline},
                               {"file", one.file},
                               {"hash", one.pipeline.hash},
                               {"takes", to_string(one.pipeline.takes)},
                               {"stages", one.pipeline.stages.size()},
                               {"description", one.pipeline.description}});
  }
  return out;
}

Result<int> run_list(Context& context) {
  MR_TRY(const auto loaded, PipelineSet::load(folder_of(context)));
  for (const auto& problem : loaded.problems) context.note(problem);
  print_rows(context, list_json(loaded.set),
             {{"PIPELINE", "name"},
              {"VERSION", "version"},
              {"FOR NEW", "current", false,
               [](const json::Value& value, const json::Object&) -> Cell {
                 return value.as_bool() ? "yes" : "no";
               }},
              {"TAKES", "takes"},
              {"STAGES", "stages", true},
              {"FILE", "file"},
              {"DESCRIPTION", "description"}},
             "no pipelines");
  return kExitOk;
}

Result<int> run_show(Context& context, const std::string& name) {
  if (name.empty()) return run_list(context);
  MR_TRY(const auto chosen, choose(context, name));
  if (context.json()) {
    auto form = pipeline::pipeline_to_json(chosen);
    form["hash"] = chosen.hash;
    context.print_json(form);
    return kExitOk;
  }
  context.print(fmt::format(
      "{} {}  {}\n{}{}{}\n", chosen.name, chosen.version,
      context.terminal.paint(Style::dim, chosen.hash.substr(0, 12)), printable(chosen.description),
      chosen.description.empty() ? "" : "\n",
      chosen.takes == pipeline::Takes::order ? "Takes orders of exports, no files\n" : ""));
  Table table({left("STAGE"), left("TITLE"), left("RUN"), left("EACH"), left("AFTER"),
               left("QUEUE"), right("TIMEOUT"), right("TRIES"), left("PROVIDER")});
  for (const auto& stage : chosen.stages) {
    table.add({stage.name, stage.title, stage.run, std::string(to_string(stage.each)),
               stage.after.empty() ? "-" : fmt::format("{}", fmt::join(stage.after, ", ")),
               stage.queue, format_duration(stage.timeout),
               stage.max_attempts ? fmt::format("{}", *stage.max_attempts) : "queue's",
               stage.provider});
  }
  context.print(table.render(context.terminal));
  return kExitOk;
}

struct GraphOptions {
  std::string name = "guardian";
  std::string format = "text";
  std::optional<std::string> out;
};

Result<int> run_graph(Context& context, const GraphOptions& options) {
  MR_TRY(const auto chosen, choose(context, options.name));
  // A file is read by people later, wherever it was made.
  const bool unicode = context.terminal.unicode || options.out.has_value();
  const auto picture = options.format == "svg" ? pipeline::graph_svg(chosen)
                       : options.format == "dot"
                           ? pipeline::graph_dot(chosen)
                           : pipeline::graph_text(chosen, {.unicode = unicode});
  if (options.out) {
    MR_TRY_VOID(write_file_atomically(*options.out, picture));
    context.note(fmt::format("{} {} is drawn in {}", chosen.name, chosen.version, *options.out));
  } else {
    context.print(picture);
  }
  return kExitOk;
}

}  // namespace

void add_pipeline_commands(Command& root) {
  auto& group =
      root.add("pipeline", "Pipelines of documents: check, show, draw").group("Operation");

  auto files = std::make_shared<std::vector<std::string>>();
  auto& check = group.add("check", "Check pipeline files; tells everything that is wrong, by line");
  check.argument("FILE", *files, "Files or folders (default: pipeline.dir, and the built-in ones)",
                 false);
  check.files();
  check.footer(
      "Exit code 1 when there are problems. A warning is none: a provider without a key, or a\n"
      "program that is not there, may be on the machines of the workers.");
  check.action([files](Context& context) { return run_check(context, *files); });

  auto name = std::make_shared<std::string>();
  auto& show = group.add("show", "Stages of a pipeline, or all pipelines there are");
  show.argument("NAME", *name, "Name, NAME@VERSION or a .toml file", false);
  show.action([name](Context& context) { return run_show(context, *name); });

  auto options = std::make_shared<GraphOptions>();
  auto& graph = group.add("graph", "Draw a pipeline");
  graph.argument("NAME", options->name, "Name, NAME@VERSION or a .toml file (default: guardian)",
                 false);
  graph.option("--format", "FORMAT", options->format, "text (default), svg or dot")
      .choices({"text", "svg", "dot"});
  graph.option("--out", "FILE", options->out, "Into a file").files();
  graph.footer("  millrace pipeline graph guardian --format svg --out guardian.svg");
  graph.action([options](Context& context) { return run_graph(context, *options); });
}

}  // namespace millrace::app
