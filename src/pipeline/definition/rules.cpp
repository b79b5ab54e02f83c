#include "pipeline/definition/rules.h"

#include "base/assert.h"
#include "base/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace millrace::pipeline {
namespace {

class StructureCheck {
 public:
  StructureCheck(const Draft& draft, const Source& source, Problems& problems)
      : stages_(draft.pipeline.stages), notes_(draft.notes), source_(source), problems_(problems) {}

  void run() {
    find_names();
    check_first();
    check_after();
    find_cycles();
    find_unreachable();
  }

 private:
  void tell(std::size_t stage, std::string_view key, const std::string& what) {
    problems_.add(source_.place(fmt::format("{}.{}", notes_[stage].path, key)),
                  stage_prefix(stages_[stage].name, stage) + what);
  }

  void find_names() {
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      if (!notes_[i].name_known) continue;
      const auto [first, is_new] = by_name_.try_emplace(stages_[i].name, i);
      if (is_new) continue;
      const auto line = source_.place(notes_[first->second].path + ".name").line;
      tell(i, "name",
           line == 0 ? "name is taken by an earlier stage"
                     : fmt::format("name is taken by the stage at line {}", line));
    }
  }

  void check_first() {
    if (stages_.empty() || stages_[0].after.empty()) return;
    tell(0, "after", "after must be left out: the first stage is where a document begins");
  }

  void check_after() {
    std::vector<std::string> names;
    for (const auto& [name, unused] : by_name_) names.push_back(name);
    const bool all_named = std::ranges::all_of(notes_, &StageNotes::name_known);
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      for (const auto& name : stages_[i].after) {
        const auto named = by_name_.find(name);
        if (named != by_name_.end() && named->second == i) {
          tell(i, "after", "after names the stage itself");
        } else if (named == by_name_.end()) {
          broken_.insert(i);
          if (!all_named) continue;  // It may be the one whose name is wrong.
          const auto near = name.size() <= 64 ? nearest_word(name, names) : std::nullopt;
          tell(i, "after",
               fmt::format("after names {}, which is no stage{}", json_quote(name.substr(0, 64)),
                           near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
        }
      }
    }
  }

  // Depth first along `after`; a stage that is met again while it is open closes a cycle.
  void find_cycles() {
    std::vector<std::size_t> open;
    std::vector<int> seen(stages_.size(), 0);  // 1: open, 2: done.
    for (std::size_t i = 0; i < stages_.size(); ++i) visit(i, open, seen);
  }

  void visit(std::size_t at, std::vector<std::size_t>& open, std::vector<int>& seen) {
    if (seen[at] == 2) return;
    if (seen[at] == 1) return tell_cycle({std::ranges::find(open, at), open.end()});
    seen[at] = 1;
    open.push_back(at);
    for (const auto& name : stages_[at].after) {
      const auto next = by_name_.find(name);
      if (next != by_name_.end() && next->second != at) visit(next->second, open, seen);
    }
    open.pop_back();
    seen[at] = 2;
  }

  void tell_cycle(std::vector<std::size_t> cycle) {
    for (const auto stage : cycle) cyclic_.insert(stage);
    std::ranges::rotate(cycle, std::ranges::min_element(cycle));
    std::string path;
    for (const auto stage : cycle) path += fmt::format("\"{}\" after ", stages_[stage].name);
    tell(cycle[0], "after",
         fmt::format("stages wait for each other: {}\"{}\"", path, stages_[cycle[0]].name));
  }

  // From the first stage on; what stands behind a mistake that was told already is not told again.
  void find_unreachable() {
    std::set<std::size_t> reached{0};
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 1; i < stages_.size(); ++i) {
        const bool excused = broken_.contains(i) || cyclic_.contains(i) || !notes_[i].after_known;
        const bool follows = std::ranges::any_of(stages_[i].after, [&](const auto& name) {
          const auto found = by_name_.find(name);
          return found != by_name_.end() && reached.contains(found->second);
        });
        if ((excused || follows) && reached.insert(i).second) more = true;
      }
    }
    for (std::size_t i = 1; i < stages_.size(); ++i) {
      if (reached.contains(i)) continue;
      tell(i, "after",
           fmt::format("is never reached: nothing leads to it from the first stage, \"{}\"",
                       stages_[0].name));
    }
  }

  const std::vector<Stage>& stages_;
  const std::vector<StageNotes>& notes_;
  const Source& source_;
  Problems& problems_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
  std::set<std::size_t> broken_;  // They wait for what does not exist.
  std::set<std::size_t> cyclic_;
};

}  // namespace

void check_structure(const Draft& draft, const Source& source, Problems& problems) {
  StructureCheck(draft, source, problems).run();
}

void put_in_order(Pipeline& pipeline) {
  auto waiting = std::move(pipeline.stages);
  auto& done = pipeline.stages;
  done.clear();
  while (!waiting.empty()) {
    const auto next = std::ranges::find_if(waiting, [&](const Stage& stage) {
      return std::ranges::all_of(stage.after,
                                 [&](const auto& name) { return pipeline.find(name) != nullptr; });
    });
    MR_ASSERT(next != waiting.end());
    std::ranges::sort(next->after, {}, [&](const auto& name) { return pipeline.find(name); });
    done.push_back(std::move(*next));
    waiting.erase(next);
  }
}

}  // namespace millrace::pipeline
