// pool_worker: a worker with one task that never ends, to be killed. Says "zygote pid" and "child
// pid" on standard output, then waits. Its argument is the program of the tasks.
#include "base/run.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>

#include <cstdio>
#include <utility>

int main(int argc, char** argv) {
  using namespace millrace;
  if (argc != 2) return 2;
  boost::asio::io_context io(1);
  auto started = sandbox::TaskPool::start(
      io.get_executor(), sandbox::PoolSpec{.program = argv[1], .env = {}, .log = Logger::silent()});
  if (!started.has_value()) return 3;
  auto& pool = **started;
  if (!run_blocking(io, pool.ready()).has_value()) return 4;
  sandbox::TaskSpec task{.request = "sleep"};
  task.on_progress = [&pool](int child, int) {
    std::printf("%d %d\n", pool.state().program_pid, child);
    std::fflush(stdout);
  };
  const auto result = run_blocking(io, pool.run(std::move(task), {}));
  return result.has_value() ? 0 : 5;
}
