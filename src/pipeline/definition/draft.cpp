#include "pipeline/definition/draft.h"

#include "base/words.h"
#include "pipeline/definition/stage_kind.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millrace::pipeline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kKilo = 1024;
constexpr std::uint64_t kMega = kKilo * 1024;
constexpr std::uint64_t kGiga = kMega * 1024;

bool is_lower(char letter) { return letter >= 'a' && letter <= 'z'; }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Reads one [[stage]].
class StageReader {
 public:
  StageReader(const Source& source, const json::Object& object, StageNotes& notes, std::string who,
              Problems& problems)
      : source_(source),
        notes_(notes),
        who_(std::move(who)),
        problems_(problems),
        in_(source, object, notes.path, who_, problems) {}

  // `before`: the stage above it in the file, empty for the first.
  Stage read(const std::string& before) {
    Stage stage;
    read_name(stage);
    stage.title = in_.text("title", 100).value_or(stage.name);
    read_run(stage);
    stage.queue = read_queue();
    read_each(stage);
    read_after(stage, before);
    read_provider(stage);
    read_times(stage);
    stage.max_attempts = in_.integer("max_attempts", {1, 1000});
    read_on_page_failure(stage);
    read_limits(stage);
    read_flow(stage);
    stage.revision = in_.integer("revision", {1, 1'000'000}).value_or(1);
    read_options(in_, source_, who_, stage, notes_.run_known, problems_);
    in_.finish();
    return stage;
  }

 private:
  void read_name(Stage& stage) {
    if (const auto name = in_.text("name"); name && is_job_name(*name)) {
      stage.name = *name;
      return;
    } else if (name) {
      in_.wrong_value("name",
                      "must begin with a letter or digit and have at most 63 of a-z 0-9 _ . : -");
    } else if (!in_.has("name")) {
      in_.wrong("name", "is missing: every stage needs one");
    }
    notes_.name_known = false;
  }

  void read_run(Stage& stage) {
    notes_.run_known = false;
    const auto run = in_.text("run", 1000);
    if (!run) {
      if (!in_.has("run"))
        in_.wrong("run", "is missing: \"scan\", \"exec:./program\", \"https://...\"");
      return;
    }
    stage.run = *run;
    if (const auto* kind = find_built_in(*run)) {
      stage.kind = kind->kind;
    } else if (run->starts_with("exec:")) {
      stage.kind = RunKind::exec;
      const auto words = split_words(std::string_view(*run).substr(5));
      if (!words)
        return in_.wrong_value("run", fmt::format("is no command: {}", words.error().message));
      if (words->empty() || words->front().empty())
        return in_.wrong_value("run", "names no program");
    } else if (run->starts_with("http://") || run->starts_with("https://")) {
      stage.kind = RunKind::http;
      if (!check_address(*run)) return;
    } else {
      return wrong_run(*run);
    }
    notes_.run_known = true;
  }

  // A definition lies in the database, where a password does not belong.
  bool check_address(std::string_view run) {
    const auto begin = run.find("//") + 2;
    const auto host = run.substr(begin, run.find_first_of("/?#", begin) - begin);
    if (host.empty() || run.find(' ') != run.npos) {
      in_.wrong_value("run", "must be an address like \"https://host/path\"");
      return false;
    }
    if (host.find('@') != host.npos) {
      in_.wrong("run", "must not hold a user or password");
      return false;
    }
    return true;
  }

  void wrong_run(const std::string& run) {
    std::vector<std::string> names;
    std::vector<std::string_view> views;
    for (const auto& kind : stage_kinds()) {
      if (!kind.built_in()) continue;
      names.emplace_back(to_string(kind.kind));
      views.push_back(to_string(kind.kind));
    }
    const auto near = run.size() <= 64 ? nearest_word(run, names) : std::nullopt;
    in_.wrong_value("run",
                    near ? fmt::format("is not a known kind of work; did you mean \"{}\"?", *near)
                         : fmt::format("must be {}, or begin with exec:, http:// or https://",
                                       any_of_text(views)));
  }

  std::string read_queue() {
    const auto queue = in_.text("queue");
    if (queue && !is_job_name(*queue)) {
      in_.wrong_value("queue",
                      "must begin with a letter or digit and have at most 63 of a-z 0-9 _ . : -");
    }
    return queue.value_or("default");
  }

  void read_each(Stage& stage) {
    const auto each = in_.choice("each", {"document", "page"});
    notes_.each_known = each.has_value() || !in_.has("each");
    if (each) stage.each = *each == "page" ? Each::page : Each::document;
    if (!notes_.run_known) {
      notes_.each_known = notes_.each_known && each.has_value();
      return;
    }
    const auto& kind = stage_kind(stage.kind);
    if (!each && kind.each) stage.each = *kind.each;
    if (each && kind.each && stage.each != *kind.each) {
      in_.wrong("each",
                fmt::format("must be \"{}\" for run = \"{}\"", to_string(*kind.each), stage.run));
      stage.each = *kind.each;
    }
  }

  void read_after(Stage& stage, const std::string& before) {
    const auto after = in_.texts("after", kStagesMax);
    notes_.after_known = after.has_value() || !in_.has("after");
    if (after) {
      stage.after = *after;
    } else if (notes_.after_known && !before.empty()) {
      stage.after = {before};
    }
  }

  void read_provider(Stage& stage) {
    const auto provider = in_.text("provider");
    if (provider && !is_plain_name(*provider)) {
      in_.wrong_value("provider", "must be \"none\", \"local\" or the name of a provider");
    }
    if (!notes_.run_known) {
      stage.provider = provider.value_or(stage.provider);
      return;
    }
    const auto& kind = stage_kind(stage.kind);
    stage.provider = provider.value_or(std::string(kind.provider));
  }

  void read_times(Stage& stage) {
    stage.timeout = in_.duration("timeout", {seconds(1), hours(24)}).value_or(kTimeoutDefault);
    stage.call_timeout = in_.duration("call_timeout", {milliseconds(100), hours(24)});
    if (!stage.call_timeout || !notes_.run_known || stage_kind(stage.kind).calls_provider()) return;
    in_.wrong("call_timeout",
              fmt::format("is of calls to a provider, and run = \"{}\" makes none", stage.run));
  }

  // The words of fan-in are for stages that fan out.
  void read_on_page_failure(Stage& stage) {
    const auto choice = in_.choice("on_page_failure", {"continue", "fail"});
    if (!choice) return;
    if (stage.each != Each::page && notes_.each_known) {
      in_.wrong("on_page_failure", "needs each = \"page\": this stage is one job and has no pages");
      return;
    }
    stage.on_page_failure = *choice == "fail" ? OnPageFailure::fail : OnPageFailure::go_on;
  }

  void read_limits(Stage& stage) {
    const auto* object = in_.object("limits");
    if (object == nullptr) return;
    if (notes_.run_known && !stage_kind(stage.kind).in_child) {
      in_.wrong("limits", fmt::format("are of a process of its own, and run = \"{}\" has none",
                                      stage.run.substr(0, 64)));
    }
    ObjectReader in(source_, *object, in_.path_of("limits"), who_, problems_, "limits.");
    auto& limits = stage.limits;
    limits.memory_bytes = in.size("memory", {16 * kMega, 64 * kGiga});
    limits.cpu = in.duration("cpu", {seconds(1), hours(24)});
    limits.wall = in.duration("wall", {seconds(1), hours(24)});
    // What a program prints is held in memory; a reader's answer is streamed.
    limits.output_bytes =
        in.size("output", {kKilo, stage.kind == RunKind::exec ? 64 * kMega : 16 * kGiga});
    limits.file_bytes = in.size("file_size", {kKilo, 1024 * kGiga});
    limits.files = in.integer("files", {8, 65'536});
    limits.processes = in.integer("processes", {1, 4096});
    in.finish();
    if (!notes_.run_known || !stage_kind(stage.kind).built_in()) return;
    // The child that reads documents has fixed ones.
    for (const char* fixed : {"file_size", "files", "processes"}) {
      if (in.has(fixed)) in.wrong(fixed, "is for programs of your own");
    }
    // A browser serves one document after the other.
    if (stage.kind == RunKind::render && in.has("cpu")) {
      in.wrong("cpu", "is not counted for run = \"render\"; wall is");
    }
  }

  void read_flow(Stage& stage) {
    const auto required = in_.texts("requires", 32);
    const auto outputs = in_.texts("outputs", 8);
    if (!notes_.run_known) return;
    const auto& kind = stage_kind(stage.kind);
    if (kind.built_in()) {
      stage.required.assign(kind.required.begin(), kind.required.end());
      stage.outputs.assign(kind.outputs.begin(), kind.outputs.end());
      // What to_json writes is read back; anything else would be a promise nobody keeps.
      if (required && *required != stage.required) {
        in_.wrong("requires", fmt::format("cannot be changed for run = \"{}\"", stage.run));
      }
      if (outputs && *outputs != stage.outputs) {
        in_.wrong("outputs", fmt::format("cannot be changed for run = \"{}\"", stage.run));
      }
      return;
    }
    for (const auto* list : {&required, &outputs}) {
      for (const auto& name : list->value_or(std::vector<std::string>{})) {
        if (is_plain_name(name)) continue;
        in_.wrong(
            list == &required ? "requires" : "outputs",
            fmt::format("has {}; names are a-z, then a-z 0-9 _ -, at most 63", json_quote(name)));
      }
    }
    stage.required = required.value_or(std::vector<std::string>{});
    stage.outputs = outputs.value_or(std::vector<std::string>{});
    if (stage.outputs.size() > 1) {
      in_.wrong("outputs", "must be one name: that of what the stage answers");
    }
  }

  const Source& source_;
  StageNotes& notes_;
  std::string who_;
  Problems& problems_;
  ObjectReader in_;
};

void read_stages(ObjectReader& root, const Source& source, Draft& draft, Problems& problems) {
  const auto* value = root.take("stage");
  const auto* array = value == nullptr ? nullptr : value->if_array();
  if (value != nullptr && array == nullptr) {
    root.wrong("stage", "must be tables that begin with [[stage]]");
    return;
  }
  if (array == nullptr || array->empty()) {
    root.wrong("stage", "is missing: a pipeline has at least one [[stage]]");
    return;
  }
  if (array->size() > kStagesMax) {
    root.wrong("stage",
               fmt::format("has {} tables; at most {} are allowed", array->size(), kStagesMax));
    return;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto path = fmt::format("stage.{}", i);
    const auto* object = (*array)[i].if_object();
    if (object == nullptr) {
      problems.add(source.place(path), "stage must be tables that begin with [[stage]]");
      continue;
    }
    const auto* name = object->if_contains("name");
    const auto who = stage_prefix(name != nullptr && name->is_string()
                                      ? std::string(name->get_string()).substr(0, 64)
                                      : std::string(),
                                  i);
    const auto before = draft.pipeline.stages.empty() ? "" : draft.pipeline.stages.back().name;
    const bool before_known = draft.notes.empty() || draft.notes.back().name_known;
    StageNotes notes{.path = path};
    auto stage = StageReader(source, *object, notes, who, problems).read(before);
    // It follows a stage without a name: whatever it says, its place is unknown.
    if (!before_known && !object->contains("after")) notes.after_known = false;
    draft.pipeline.stages.push_back(std::move(stage));
    draft.notes.push_back(std::move(notes));
  }
}

}  // namespace

std::string stage_prefix(const std::string& name, std::size_t index) {
  if (name.empty()) return fmt::format("stage {}: ", index + 1);
  return fmt::format("stage {}: ", json_quote(name));
}

bool is_job_name(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!is_lower(text[0]) && !is_digit(text[0])) return false;
  return std::ranges::all_of(text, [](char letter) {
    return is_lower(letter) || is_digit(letter) || letter == '_' || letter == '.' ||
           letter == ':' || letter == '-';
  });
}

bool is_plain_name(std::string_view text) {
  if (text.empty() || text.size() > 63 || !is_lower(text[0])) return false;
  return std::ranges::all_of(text, [](char letter) {
    return is_lower(letter) || is_digit(letter) || letter == '_' || letter == '-';
  });
}

Draft read_draft(const Source& source, Problems& problems) {
  Draft draft;
  auto& pipeline = draft.pipeline;
  ObjectReader root(source, source.root, "", "", problems);
  if (const auto name = root.text("name"); name && !is_plain_name(*name)) {
    root.wrong_value("name", "must begin with a letter and have at most 63 of a-z 0-9 _ -");
  } else if (name) {
    pipeline.name = *name;
  } else if (!root.has("name")) {
    root.wrong("name", "is missing: name = \"...\"");
  }
  if (!root.has("version")) {
    root.wrong("version", "is missing: version = \"1.0.0\"");
  }
  if (const auto version = root.text("version"); version && !is_version(*version)) {
    root.wrong_value("version", "must be three numbers like \"1.4.0\" or \"2.0.0-rc.1\"");
  } else if (version) {
    pipeline.version = *version;
  }
  pipeline.description = root.text("description", 1000).value_or("");
  if (root.choice("takes", {"file", "order"}) == "order") pipeline.takes = Takes::order;
  read_queues(root, source, pipeline, problems);
  read_stages(root, source, draft, problems);
  root.finish();
  return draft;
}

}  // namespace millrace::pipeline
