// ContractDirectory: the contracts of this process, read again when a file changes.
//
// Flow: open() loads them, and fails where one is broken: better at start than job by job. watch()
// looks for changes from a thread of its own, because files block; what cannot be loaded then is
// logged once and the contracts that were there stay in use. Threading: find() and all() from any
// thread; the rest from the owner. Lifetime: the log outlives it.
#pragma once

#include "api/compute/contract.h"
#include "base/log.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace millrace::api {

class ContractDirectory {
 public:
  static constexpr std::chrono::milliseconds kWatchInterval{2'000};

  // An empty path: no contracts, and none to come.
  static Result<std::unique_ptr<ContractDirectory>> open(std::filesystem::path folder,
                                                         const Logger& log);
  ~ContractDirectory();
  ContractDirectory(const ContractDirectory&) = delete;
  ContractDirectory& operator=(const ContractDirectory&) = delete;

  std::shared_ptr<const Contract> find(const ContractName& name) const;
  std::vector<std::shared_ptr<const Contract>> all() const;

  // Loads again if a file has changed since they were loaded; true when there are new contracts.
  Result<bool> refresh();
  void watch(std::chrono::milliseconds interval = kWatchInterval);  // Safe twice.
  void stop();                                                      // Safe twice.

 private:
  ContractDirectory(std::filesystem::path folder, const Logger& log);
  std::shared_ptr<const ContractSet> current() const;
  void look(std::stop_token stopping, std::chrono::milliseconds interval);

  const std::filesystem::path folder_;
  const Logger& log_;
  // What the files looked like when they were loaded; the owner's, then the watching thread's.
  std::optional<std::string> seen_;

  mutable std::mutex mutex_;  // Guards set_.
  std::shared_ptr<const ContractSet> set_ = std::make_shared<const ContractSet>();
  std::condition_variable_any woken_;
  std::jthread thread_;
};

}  // namespace millrace::api
