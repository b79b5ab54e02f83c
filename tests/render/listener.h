// Listener: counts who calls a TCP or UDP port of this machine, on both loopback addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace millrace::render {

class Listener {
 public:
  Listener();
  ~Listener();

  unsigned short port() const { return port_; }
  std::size_t hits() const { return hits_; }

 private:
  void serve();

  unsigned short port_ = 0;
  int wake_[2] = {-1, -1};
  std::vector<int> sockets_;
  std::atomic<std::size_t> hits_{0};
  std::thread thread_;
};

}  // namespace millrace::render
