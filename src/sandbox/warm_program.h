// WarmProgram: the worker's side of one zygote, from its start to its end.
//
// Flow: start() executes the program with one end of a socket pair as descriptor 3; serve() hands
// every packet on until the program has died or is killed, logs what it writes to 1 and 2, reaps it
// and says how it ended. Threading: everything on the strand. Lifetime: the destructor kills it.
#pragma once

#include "base/task.h"
#include "sandbox/process.h"
#include "sandbox/task.h"
#include "sandbox/task_wire.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millrace::sandbox {

class WarmProgram {
 public:
  using OnPacket = std::function<void(WirePacket)>;

  static Result<std::shared_ptr<WarmProgram>> start(Executor strand, const PoolSpec& spec);

  pid_t pid() const { return pid_; }
  // The descriptors stay the caller's and can be closed when this has ended.
  Task<void> send(WireMessage message, std::vector<int> fds);
  awaitable<std::string> serve(OnPacket on_packet);
  void kill();  // serve() then ends.

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  WarmProgram(Executor strand, Process process, Logger log);
  Result<void> watch(UniqueFd socket);
  awaitable<void> read_packets(OnPacket on_packet);
  awaitable<void> log_lines(Descriptor* pipe);

  Process process_;
  pid_t pid_;
  Logger log_;
  Descriptor socket_;
  Descriptor exit_;  // The pidfd.
  Descriptor stdout_;
  Descriptor stderr_;
  bool ended_ = false;
};

}  // namespace millrace::sandbox
