// RunList: runs in no order, of which each knows its place, so that adding one and taking one out
// costs the same whatever their number.
#pragma once

#include "base/assert.h"
#include "worker/job_run.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace millrace::worker {

template <std::size_t JobRun::* kPlace>
class RunList {
 public:
  using Run = std::shared_ptr<JobRun>;

  JobRun& add(Run run) {
    auto& added = *run;
    added.*kPlace = runs_.size();
    runs_.push_back(std::move(run));
    return added;
  }

  Run take(JobRun& run) {
    const auto at = run.*kPlace;
    MR_ASSERT(at < runs_.size());
    MR_ASSERT(runs_[at].get() == &run);
    runs_[at].swap(runs_.back());
    (*runs_[at]).*kPlace = at;
    auto taken = std::move(runs_.back());
    runs_.pop_back();
    return taken;
  }

  // Walks over all of them: for the few that somebody asks about.
  Run find(LeaseToken token) const {
    for (const auto& run : runs_) {
      if (run->job.token == token) return run;
    }
    return nullptr;
  }

  std::vector<Run> copy() const { return runs_; }  // For calls that may change the list.
  std::size_t size() const { return runs_.size(); }
  bool empty() const { return runs_.empty(); }
  auto begin() const { return runs_.begin(); }
  auto end() const { return runs_.end(); }

 private:
  std::vector<Run> runs_;
};

}  // namespace millrace::worker
