// RunPool: objects for jobs to come, so that a job costs no allocation.
//
// It keeps as many as were needed at once of late: a burst must not hold its memory for ever.
// Threading: one strand.
#pragma once

#include "worker/job_run.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace millrace::worker {

class RunPool {
 public:
  using Run = std::shared_ptr<JobRun>;

  explicit RunPool(std::function<Run()> make) : make_(std::move(make)) {}

  Run take();
  // Most runs leave nothing behind and serve again. One that somebody else still knows goes away
  // with whoever does.
  void keep(Run run);
  // Frees half of those that nobody has taken since the call before, and says how many.
  std::size_t give_back();
  std::size_t size() const { return unused_.size(); }

 private:
  std::function<Run()> make_;
  std::vector<Run> unused_;  // Taken from its end: those in front are needed by bursts only.
  std::size_t spare_ = 0;    // The fewest that were left since give_back().
};

}  // namespace millrace::worker
