// KeptCalls: what a client told its watch, in order. For tests only.
#pragma once

#include "http/client.h"

#include <mutex>
#include <string>
#include <vector>

namespace millrace::http {

class KeptCalls final : public CallWatch {
 public:
  void called(std::string_view service, int status, std::chrono::nanoseconds took) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::string(service) + " " + std::to_string(status));
    if (took < std::chrono::nanoseconds::zero()) calls_.back() += " too early";
  }

  std::vector<std::string> calls() const {  // "s3 200"
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  mutable std::mutex mutex_;  // Guards calls_.
  std::vector<std::string> calls_;
};

}  // namespace millrace::http
