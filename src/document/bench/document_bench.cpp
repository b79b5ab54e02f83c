// document_bench: a document from file to searchable PDF as the worker does it, and how long it
// took.
//
//   document_bench program file kind pages out.pdf [languages] [tasks at once]
//
// One confined child per page, `tasks at once` (2) of them beside each other, then one for the PDF.
// Starting the program is not counted: a worker does that once. Prints one line of JSON.
#include "base/json.h"
#include "base/run.h"
#include "base/spawn.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <vector>

namespace millrace::sandbox {
namespace {

using Clock = std::chrono::steady_clock;  // What is measured is real time.

struct Job {
  std::string file;
  std::string kind;
  int pages = 0;
  std::string languages;
};

struct State {
  TaskPool& pool;
  const Job& job;
  int next = 1;
  std::vector<std::string> pages;
  std::vector<std::string> errors = {};
  int recognised = 0;
  std::chrono::microseconds cpu{0};
};

UniqueFd open_file(const std::string& name) {
  return UniqueFd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
}

awaitable<void> read_pages(State& state) {
  while (state.next <= state.job.pages) {
    const int page = state.next++;
    TaskSpec spec{.request = fmt::format(
                      R"({{"op":"read","kind":"{}","page":{},"mode":"auto","languages":[{}]}})",
                      state.job.kind, page, state.job.languages)};
    spec.files.push_back(open_file(state.job.file));
    const auto done = co_await state.pool.run(std::move(spec), {});
    if (!done.has_value() || done->end != TaskResult::End::ok) {
      state.errors.push_back(done.has_value() ? done->message : done.error().message);
      continue;
    }
    state.cpu += done->cpu_time;
    const auto result = parse_json_object(done->result, {.max_bytes = 64 * 1024 * 1024});
    if (!result.has_value()) continue;
    if (result->at("source") == "ocr") ++state.recognised;
    state.pages[static_cast<std::size_t>(page - 1)] = to_json(result->at("page"));
  }
}

Task<TaskResult> assemble(State& state, const std::string& lines, const std::string& out) {
  std::ofstream file(out, std::ios::binary);
  TaskSpec spec{.request = fmt::format(R"({{"op":"assemble","kind":"{}"}})", state.job.kind)};
  spec.files.push_back(open_file(state.job.file));
  spec.files.push_back(open_file(lines));
  spec.limits.output_max_bytes = 1024ULL * 1024 * 1024;
  spec.on_output = [&file](std::span<const std::byte> bytes) -> Task<void> {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    co_return ok();
  };
  co_return co_await state.pool.run(std::move(spec), {});
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Arguments {
  std::string program;
  Job job;
  std::string out;
  int at_once = 2;
};

awaitable<int> measure(boost::asio::io_context& io, const Arguments& arguments) {
  auto log = Logger::silent();
  auto pool = TaskPool::start(
      io.get_executor(),
      {.program = arguments.program, .env = {{"OMP_THREAD_LIMIT", "1"}}, .size = 8});
  if (!pool.has_value()) {
    fmt::print(stderr, "{}\n", pool.error().message);
    co_return 1;
  }
  if (const auto ready = co_await (*pool)->ready(); !ready.has_value()) {
    fmt::print(stderr, "{}\n", ready.error().message);
    co_return 1;
  }
  State state{.pool = **pool, .job = arguments.job};
  state.pages.resize(static_cast<std::size_t>(arguments.job.pages));
  const auto begin = Clock::now();
  TaskGroup group(io.get_executor(), log);
  for (int i = 0; i < arguments.at_once; ++i) group.add("reader", read_pages(state));
  co_await group.join();
  const double read_s = seconds_since(begin);
  const auto lines = arguments.out + ".jsonl";
  {
    std::ofstream file(lines, std::ios::binary);
    for (const auto& page : state.pages) file << page << '\n';
  }
  const auto assembled = co_await assemble(state, lines, arguments.out);
  const bool good = assembled.has_value() && assembled->end == TaskResult::End::ok;
  const double total_s = seconds_since(begin);
  if (!good) {
    state.errors.push_back(assembled.has_value() ? assembled->message : assembled.error().message);
  }
  json::Object out;
  out["pages"] = arguments.job.pages;
  out["recognised"] = state.recognised;
  out["read_s"] = read_s;
  out["total_s"] = total_s;
  out["pages_per_s"] = arguments.job.pages / total_s;
  out["cpu_per_page_ms"] = static_cast<double>(state.cpu.count()) / 1000 / arguments.job.pages;
  out["errors"] = state.errors.size();
  if (!state.errors.empty()) out["first_error"] = state.errors.front();
  fmt::print("{}\n", to_json(out));
  co_await (*pool)->stop();
  co_return state.errors.empty() ? 0 : 1;
}

std::string quoted(std::string_view languages) {
  std::string out;
  for (const char c : languages) out += c == '+' ? std::string("\",\"") : std::string(1, c);
  return "\"" + out + "\"";
}

}  // namespace
}  // namespace millrace::sandbox

int main(int argc, char** argv) {
  using namespace millrace;
  if (argc < 6) {
    fmt::print(stderr, "document_bench program file kind pages out.pdf [languages] [at once]\n");
    return 2;
  }
  const sandbox::Arguments arguments{
      .program = argv[1],
      .job = {.file = argv[2],
              .kind = argv[3],
              .pages = std::atoi(argv[4]),
              .languages = sandbox::quoted(argc > 6 ? argv[6] : "eng")},
      .out = argv[5],
      .at_once = argc > 7 ? std::atoi(argv[7]) : 2};
  boost::asio::io_context io;
  return run_blocking(io, sandbox::measure(io, arguments));
}
