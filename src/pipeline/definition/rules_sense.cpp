#include "base/duration.h"
#include "base/words.h"
#include "pipeline/definition/object_reader.h"
#include "pipeline/definition/rules.h"
#include "pipeline/definition/stage_kind.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace millrace::pipeline {
namespace {

// Orders name no pipeline: there is one for them, and routes and views know its job.
constexpr std::string_view kOrderPipeline = "export";
constexpr std::string_view kOrderType = "export_pdf";
constexpr std::array<std::string_view, 2> kTakenTypes{"document_outputs", "document_image"};

class SenseCheck {
 public:
  SenseCheck(const Draft& draft, const Source& source, Problems& problems)
      : pipeline_(draft.pipeline),
        stages_(draft.pipeline.stages),
        notes_(draft.notes),
        source_(source),
        problems_(problems) {}

  void run() {
    check_names();
    check_takes();
    check_outputs();
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      check_inputs(i);
      check_times(i);
      check_provider(i);
    }
    check_queues();
  }

 private:
  void tell(std::size_t stage, std::string_view key, const std::string& what) {
    problems_.add(source_.place(fmt::format("{}.{}", notes_[stage].path, key)),
                  stage_prefix(stages_[stage].name, stage) + what);
  }

  void check_names() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (std::ranges::find(kTakenTypes, stages_[i].name) == kTakenTypes.end()) continue;
      tell(i, "name", "name is that of a job of the engine");
    }
  }

  // Files go through stages that read them; an order has nothing to read, and one stage.
  void check_takes() {
    const bool orders = pipeline_.takes == Takes::order;
    if (orders != (pipeline_.name == kOrderPipeline) && !pipeline_.name.empty()) {
      problems_.add(source_.place(orders ? "takes" : "name"),
                    orders ? "takes = \"order\" is for the pipeline \"export\""
                           : "name \"export\" is that of the pipeline with takes = \"order\"");
      return;
    }
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!notes_[i].run_known) continue;
      const bool renders = stages_[i].kind == RunKind::render;
      if (renders && !orders) {
        tell(i, "run", "run = \"render\" needs takes = \"order\": it prints what was ordered");
      } else if (orders && (!renders || stages_.size() > 1)) {
        tell(i, "run", "takes = \"order\" has one stage, with run = \"render\"");
        return;
      } else if (orders && notes_[i].name_known && stages_[i].name != kOrderType) {
        tell(i, "name", "name must be \"export_pdf\", the job of orders");
      }
    }
  }

  // Whoever reads an output must know whose it is.
  void check_outputs() {
    std::map<std::string_view, std::size_t> makers;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      for (const auto& output : stages_[i].outputs) {
        if (const auto* kind = maker_of(output); kind != nullptr && kind->kind != stages_[i].kind) {
          if (!notes_[i].run_known) continue;
          tell(i, "outputs",
               fmt::format("outputs has \"{}\", which only run = \"{}\" makes", output,
                           to_string(kind->kind)));
          continue;
        }
        const auto [first, is_new] = makers.try_emplace(output, i);
        if (is_new) continue;
        tell(i, stage_kind(stages_[i].kind).built_in() ? "run" : "outputs",
             fmt::format("outputs \"{}\", as stage \"{}\" does", output,
                         stages_[first->second].name));
      }
    }
  }

  // All that comes before a stage; nothing when part of that is not known.
  std::optional<std::set<std::size_t>> before(std::size_t stage) const {
    std::set<std::size_t> found;
    std::vector<std::size_t> open{stage};
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      if (!notes_[at].after_known || !notes_[at].run_known) return std::nullopt;
      for (const auto& name : stages_[at].after) {
        const auto other = std::ranges::find(stages_, name, &Stage::name);
        if (other == stages_.end()) return std::nullopt;
        const auto index = static_cast<std::size_t>(other - stages_.begin());
        if (index != stage && found.insert(index).second) open.push_back(index);
      }
    }
    return found;
  }

  void check_inputs(std::size_t stage) {
    const auto earlier = before(stage);
    if (!earlier) return;
    const auto made = [&](std::string_view what) {
      return std::ranges::any_of(*earlier, [&](std::size_t other) {
        return std::ranges::find(stages_[other].outputs, what) != stages_[other].outputs.end();
      });
    };
    const auto& self = stages_[stage];
    bool pages_told = false;
    if (self.each == Each::page && notes_[stage].each_known && !made("pages")) {
      tell(stage, "each",
           "each = \"page\" needs a stage with run = \"scan\" before it, which counts the pages");
      pages_told = true;
    }
    for (const auto& required : self.required) {
      if (made(required) || (required == "pages" && pages_told)) continue;
      tell(stage, stage_kind(self.kind).built_in() ? "run" : "requires",
           fmt::format("requires \"{}\", which no stage before it outputs{}", required,
                       hint(required)));
    }
  }

  // The built-in kind that makes it.
  static const StageKind* maker_of(std::string_view output) {
    for (const auto& kind : stage_kinds()) {
      if (std::ranges::find(kind.outputs, output) != kind.outputs.end()) return &kind;
    }
    return nullptr;
  }

  static std::string hint(std::string_view output) {
    const auto* kind = maker_of(output);
    return kind == nullptr ? "" : fmt::format("; run = \"{}\" does", to_string(kind->kind));
  }

  // What is inside ends first, or nobody learns which of the two was too slow.
  void check_times(std::size_t stage) {
    const auto& self = stages_[stage];
    const auto outer = format_duration(self.timeout);
    if (self.call_timeout && *self.call_timeout >= self.timeout) {
      tell(stage, "call_timeout",
           fmt::format("call_timeout must be shorter than the stage's timeout of {}", outer));
    }
    if (self.limits.wall && *self.limits.wall >= self.timeout) {
      tell(stage, "limits.wall",
           fmt::format("limits.wall must be shorter than the stage's timeout of {}", outer));
    }
    const auto queue = std::ranges::find(pipeline_.queues, self.queue, &QueuePolicy::name);
    if (queue == pipeline_.queues.end()) return;
    const auto* limit = queue->policy.if_contains("run_timeout");
    if (limit == nullptr) return;
    const auto longest = parse_duration(std::string_view(limit->as_string()));
    if (longest && self.timeout > *longest) {
      tell(stage, "timeout",
           fmt::format("timeout of {} is longer than run_timeout of {} of its queue \"{}\"", outer,
                       format_duration(*longest), self.queue));
    }
  }

  void check_provider(std::size_t stage) {
    const auto& self = stages_[stage];
    if (!notes_[stage].run_known || !is_plain_name(self.provider)) return;
    const auto& allowed = stage_kind(self.kind).providers;
    if (std::ranges::find(allowed, self.provider) != allowed.end()) return;
    tell(stage, "provider",
         fmt::format("provider must be {} for run = \"{}\" (got \"{}\")", any_of_text(allowed),
                     self.run.substr(0, 64), self.provider));
  }

  void check_queues() {
    for (std::size_t i = 0; i < pipeline_.queues.size(); ++i) {
      const auto& name = pipeline_.queues[i].name;
      if (name.empty() || std::ranges::find(stages_, name, &Stage::queue) != stages_.end()) {
        continue;
      }
      std::vector<std::string> used;
      for (const auto& stage : stages_) used.push_back(stage.queue);
      const auto near = nearest_word(name, used);
      problems_.add(source_.place(fmt::format("queue.{}.name", i)),
                    fmt::format("queue \"{}\": no stage is in it{}", name,
                                near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
    }
  }

  const Pipeline& pipeline_;
  const std::vector<Stage>& stages_;
  const std::vector<StageNotes>& notes_;
  const Source& source_;
  Problems& problems_;
};

}  // namespace

void check_sense(const Draft& draft, const Source& source, Problems& problems) {
  SenseCheck(draft, source, problems).run();
}

void check_surroundings(const Draft& draft, const Source& source, const Known& known,
                        Problems& warnings) {
  const auto& stages = draft.pipeline.stages;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto& stage = stages[i];
    const auto tell = [&](std::string_view key, const std::string& what) {
      warnings.add(source.place(fmt::format("{}.{}", draft.notes[i].path, key)),
                   stage_prefix(stage.name, i) + what);
    };
    const bool outside = stage.provider != kNoProvider && stage.provider != kLocalProvider;
    const auto configured = [&] {
      return std::ranges::find(*known.providers, stage.provider) != known.providers->end();
    };
    if (known.providers && outside && !configured()) {
      tell("provider",
           fmt::format("provider \"{}\" is not configured here; jobs of this stage wait "
                       "for one",
                       stage.provider));
    }
    if (!known.has_program || stage.kind != RunKind::exec) continue;
    const auto words = split_words(std::string_view(stage.run).substr(5));
    if (!words || words->empty() || known.has_program(words->front())) continue;
    tell("run", fmt::format("{} is not there, or is no program", words->front()));
  }
}

}  // namespace millrace::pipeline
