// document_parse: a document as Markdown, read in the jail as the worker does it.
//
//   document_parse program file [request in JSON] > out.md
//
// The Markdown goes to 1; the answer, the time and what the child used go to 2.
#include "base/json.h"
#include "base/run.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <string>

namespace millrace::sandbox {
namespace {

awaitable<int> parse_file(boost::asio::io_context& io, std::string program, std::string file,
                          std::string request) {
  auto pool = TaskPool::start(
      io.get_executor(),
      {.program = std::move(program), .env = {{"OMP_THREAD_LIMIT", "1"}}, .size = 1});
  if (!pool.has_value()) {
    fmt::print(stderr, "{}\n", pool.error().message);
    co_return 1;
  }
  if (const auto ready = co_await (*pool)->ready(); !ready.has_value()) {
    fmt::print(stderr, "{}\n", ready.error().message);
    co_return 1;
  }
  TaskSpec spec{.request = std::move(request)};
  spec.files.emplace_back(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  spec.limits.output_max_bytes = 256ULL * 1024 * 1024;
  spec.on_output = [](std::span<const std::byte> bytes) -> Task<void> {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    co_return ok();
  };
  using Clock = std::chrono::steady_clock;  // What is measured is real time.
  const auto begin = Clock::now();
  const auto done = co_await (*pool)->run(std::move(spec), {});
  const auto taken = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  std::fflush(stdout);
  const bool good = done.has_value() && done->end == TaskResult::End::ok;
  if (good) {
    fmt::print(stderr, "{}\n{:.1f} ms, {:.1f} ms of CPU\n", done->result, taken,
               static_cast<double>(done->cpu_time.count()) / 1000);
  } else {
    fmt::print(stderr, "{}\n", done.has_value() ? done->message : done.error().message);
  }
  co_await (*pool)->stop();
  co_return good ? 0 : 1;
}

}  // namespace
}  // namespace millrace::sandbox

int main(int argc, char** argv) {
  using namespace millrace;
  if (argc < 3) {
    fmt::print(stderr, "document_parse program file [request in JSON]\n");
    return 2;
  }
  json::Object request;
  if (argc > 3) {
    auto given = parse_json_object(argv[3]);
    if (!given.has_value()) {
      fmt::print(stderr, "{}\n", given.error().message);
      return 2;
    }
    request = *std::move(given);
  }
  request["op"] = "parse";
  if (!request.contains("file_name")) request["file_name"] = argv[2];
  boost::asio::io_context io;
  return run_blocking(io, sandbox::parse_file(io, argv[1], argv[2], to_json(request)));
}
