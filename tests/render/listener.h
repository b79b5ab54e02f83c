// Listener: counts who calls a TCP or UDP port of this machine, on both loopback addresses.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace millrace::render {

class Listener {
 public:
  explicit Listener(unsigned short port = 0);  // 0: any that is free.
  ~Listener();

  unsigned short port() const { return port_; }
  std::size_t hits() const { return hits_; }
  bool wait_for_hit(std::chrono::milliseconds timeout);

 private:
  void serve();
  void count();

  unsigned short port_ = 0;
  int wake_[2] = {-1, -1};
  std::vector<int> sockets_;
  std::atomic<std::size_t> hits_{0};
  std::mutex mutex_;  // Guards nothing but the wait for a hit.
  std::condition_variable heard_;
  std::thread thread_;
};

}  // namespace millrace::render
