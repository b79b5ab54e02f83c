#include "pipeline/definition/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace millrace::pipeline {
namespace {

class Planner {
 public:
  Planner(const Pipeline& pipeline, const Progress& progress)
      : pipeline_(pipeline), progress_(progress), pages_(progress.pages) {
    std::ranges::sort(pages_);
  }

  NextStep run(PlanOptions options) {
    find_given_up();
    judge();
    bool running = false;
    bool all_ended = true;
    for (const auto& stage : pipeline_.stages) {
      running = running || is_running(stage);
      if (!may_start(stage)) {
        all_ended = false;
        continue;
      }
      look_at(stage);
      all_ended = all_ended && ended_.contains(stage.name);
    }
    if (doom_) {
      out_.starts.clear();
      out_.reason = reason_;
      if (!running) out_.end = doom_;
      return std::move(out_);
    }
    if (all_ended) {
      out_.end = out_.given_up.empty() ? DocumentEnd::completed : DocumentEnd::partial;
    }
    if (options.one_at_a_time)
      out_.starts.resize(running ? 0 : std::min<std::size_t>(out_.starts.size(), 1));
    return std::move(out_);
  }

 private:
  void find_given_up() {
    for (const auto page : pages_) {
      const bool failed = std::ranges::any_of(pipeline_.stages, [&](const Stage& stage) {
        return stage.each == Each::page && progress_.of(stage.name, page) == WorkState::failed;
      });
      if (failed) out_.given_up.push_back(page);
    }
  }

  // The first reason in the order of the stages counts.
  void judge() {
    for (const auto& stage : pipeline_.stages) {
      if (doom_) return;
      if (stage.each == Each::document) {
        const auto state = progress_.of(stage.name, kWholeDocument);
        if (state == WorkState::refused) {
          doom(DocumentEnd::rejected, fmt::format("{} refused the document", stage.name));
        } else if (state == WorkState::failed) {
          doom(DocumentEnd::failed, fmt::format("{} failed", stage.name));
        }
      } else if (stage.on_page_failure == OnPageFailure::fail) {
        for (const auto page : pages_) {
          if (progress_.of(stage.name, page) != WorkState::failed) continue;
          doom(DocumentEnd::failed, fmt::format("{} failed at page {}", stage.name, page));
          break;
        }
      }
    }
    if (!doom_ && !pages_.empty() && out_.given_up.size() == pages_.size()) {
      doom(DocumentEnd::failed, "all pages failed");
    }
  }

  void doom(DocumentEnd end, std::string reason) {
    doom_ = end;
    reason_ = std::move(reason);
  }

  bool is_running(const Stage& stage) const {
    if (stage.each == Each::document) {
      return progress_.of(stage.name, kWholeDocument) == WorkState::running;
    }
    return std::ranges::any_of(
        pages_, [&](int page) { return progress_.of(stage.name, page) == WorkState::running; });
  }

  bool may_start(const Stage& stage) const {
    return std::ranges::all_of(stage.after,
                               [&](const auto& name) { return ended_.contains(name); });
  }

  // Stages stand behind what they wait for, so one pass is enough, also through stages that have
  // nothing to do.
  void look_at(const Stage& stage) {
    if (stage.each == Each::document) {
      const auto state = progress_.of(stage.name, kWholeDocument);
      if (state == WorkState::waiting) out_.starts.push_back({.stage = stage.name});
      if (state == WorkState::done) ended_.insert(stage.name);
      return;
    }
    Start start{.stage = stage.name};
    bool busy = false;
    for (const auto page : pages_) {
      const auto state = progress_.of(stage.name, page);
      busy = busy || state == WorkState::running;
      if (state == WorkState::waiting && !std::ranges::binary_search(out_.given_up, page)) {
        start.pages.push_back(page);
      }
    }
    if (start.pages.empty() && !busy) ended_.insert(stage.name);
    if (!start.pages.empty()) out_.starts.push_back(std::move(start));
  }

  const Pipeline& pipeline_;
  const Progress& progress_;
  std::vector<int> pages_;
  std::set<std::string, std::less<>> ended_;
  std::optional<DocumentEnd> doom_;
  std::string reason_;
  NextStep out_;
};

}  // namespace

WorkState Progress::of(const std::string& stage, int page) const {
  const auto found = work.find({stage, page});
  return found == work.end() ? WorkState::waiting : found->second;
}

std::string_view to_string(DocumentEnd end) {
  switch (end) {
    case DocumentEnd::completed:
      return "completed";
    case DocumentEnd::partial:
      return "partial";
    case DocumentEnd::failed:
      return "failed";
    case DocumentEnd::rejected:
      return "rejected";
  }
  return "";
}

NextStep next_step(const Pipeline& pipeline, const Progress& progress, PlanOptions options) {
  return Planner(pipeline, progress).run(options);
}

Result<NextStep> next_step_after(const Pipeline& pipeline, std::string_view finished_stage,
                                 const Progress& progress, PlanOptions options) {
  if (pipeline.find(finished_stage) == nullptr) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("pipeline {} {} has no stage '{}'", pipeline.name, pipeline.version,
                            finished_stage));
  }
  auto step = next_step(pipeline, progress);
  // One stage at a time, the next one may belong to another branch.
  if (options.one_at_a_time) return next_step(pipeline, progress, options);
  std::erase_if(step.starts, [&](const Start& start) {
    return std::ranges::none_of(pipeline.ancestors(start.stage), [&](const Stage* earlier) {
      return earlier->name == finished_stage;
    });
  });
  return step;
}

}  // namespace millrace::pipeline
