// render_run: renders one file again and again, for the benchmark and for tests that kill it.
//
// render_run --scratch DIR --html FILE [--count N] [--concurrency N] [--out FILE] [--png FILE]
//            [--timeout MS] [--grayscale] [--draft] [--a4] [--bleed] [--numbers] [--scripts]
//            [--no-namespaces] [--program FILE] [--hold]
// Prints one JSON object: seconds from the start to the first PDF (cold) and for all others, pages,
// bytes and what confines the browsers. --hold: prints "ready" and the pids, then waits for ever.
#include "base/file.h"
#include "base/run.h"
#include "base/spawn.h"
#include "render/renderer.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

namespace {

using namespace millrace;
using namespace millrace::render;
using Seconds = std::chrono::duration<double>;

struct Arguments {
  std::map<std::string, std::string> values;
  bool has(const std::string& name) const { return values.contains(name); }
  std::string get(const std::string& name, std::string fallback = "") const {
    const auto found = values.find(name);
    return found == values.end() ? fallback : found->second;
  }
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = i + 1 < argc && std::string_view(argv[i + 1]).substr(0, 2) != "--";
    arguments.values[name] = has_value ? argv[++i] : "";
  }
  return arguments;
}

RenderRequest make_request(const Arguments& arguments, std::string html) {
  RenderRequest request{.html = std::move(html)};
  request.metadata.title = "Render run";
  request.metadata.author = "Zoë Müller";
  request.timeout = std::chrono::milliseconds(std::stol(arguments.get("--timeout", "8000")));
  if (arguments.has("--grayscale")) request.options.color_mode = ColorMode::grayscale;
  if (arguments.has("--draft")) request.options.quality = Quality::draft;
  if (arguments.has("--a4")) request.options.page_size = PageSize::A4;
  request.options.bleed = arguments.has("--bleed");
  request.options.page_numbers = arguments.has("--numbers");
  request.options.scripts = arguments.has("--scripts");
  if (arguments.has("--png")) request.preview_width_px = 800;
  return request;
}

struct Tally {
  std::vector<double> seconds;
  std::size_t failures = 0;
  std::string last_error;
};

awaitable<void> render_many(Renderer& renderer, RenderRequest request, std::size_t count,
                            Tally& tally, Clock& clock) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto began = clock.now();
    PdfSink sink = [](std::string) -> Task<void> { co_return ok(); };
    const auto rendered = co_await renderer.render(request, std::move(sink), {});
    tally.seconds.push_back(Seconds(clock.now() - began).count());
    if (!rendered.has_value()) {
      ++tally.failures;
      tally.last_error = rendered.error().describe();
    }
  }
}

Task<Rendered> render_first(Renderer& renderer, RenderRequest request, std::string out) {
  std::ofstream file(out, std::ios::binary);
  PdfSink sink = [&file](std::string piece) -> Task<void> {
    file << piece;
    co_return ok();
  };
  co_return co_await renderer.render(std::move(request), std::move(sink), {});
}

awaitable<int> run(Arguments arguments) {
  SystemClock clock;
  Logger log = Logger::to_stderr(clock, Logger::Format::text, LogLevel::warn);
  const auto executor = co_await boost::asio::this_coro::executor;
  const std::size_t concurrency = std::stoul(arguments.get("--concurrency", "2"));
  auto html = read_file(arguments.get("--html"));
  if (!html.has_value()) {
    fmt::print(stderr, "{}\n", html.error().describe());
    co_return 2;
  }
  const auto began = clock.now();
  auto started =
      Renderer::start(executor, clock,
                      {.program = arguments.get("--program"),
                       .scratch_root = arguments.get("--scratch", "/tmp/millrace-render-run"),
                       .size = concurrency,
                       .namespaces = !arguments.has("--no-namespaces"),
                       .log = log});
  if (!started.has_value()) {
    fmt::print(stderr, "{}\n", started.error().describe());
    co_return 1;
  }
  Renderer& renderer = **started;
  const RenderRequest request = make_request(arguments, *std::move(html));
  const auto first = co_await render_first(renderer, request, arguments.get("--out", "/dev/null"));
  const double cold = Seconds(clock.now() - began).count();
  if (!first.has_value()) {
    fmt::print(stderr, "{}\n", first.error().describe());
    co_await renderer.stop();
    co_return 1;
  }
  if (arguments.has("--png")) {
    std::ofstream(arguments.get("--png"), std::ios::binary) << first->preview_png;
  }
  if (arguments.has("--hold")) {
    std::string pids;
    for (const pid_t pid : renderer.state().browsers) pids += fmt::format(" {}", pid);
    fmt::print("ready{}\n", pids);
    std::fflush(stdout);
    co_await Event().wait();
  }
  const std::size_t count = std::stoul(arguments.get("--count", "0"));
  Tally tally;
  const auto warm_from = clock.now();
  {
    TaskGroup group(executor, log);
    for (std::size_t i = 0; i < concurrency; ++i) {
      group.add("renders", render_many(renderer, request, count / concurrency, tally, clock));
    }
    co_await group.join();
  }
  const double warm = Seconds(clock.now() - warm_from).count();
  std::ranges::sort(tally.seconds);
  const auto state = renderer.state();
  std::string lines;
  for (const auto& line : state.confinement.lines()) lines += (lines.empty() ? "" : "; ") + line;
  fmt::print(
      "{{\"cold_s\":{:.4f},\"documents\":{},\"warm_s\":{:.4f},\"median_s\":{:.4f},"
      "\"failures\":{},\"pages\":{},\"bytes\":{},\"starts\":{},\"missing_glyphs\":\"{}\","
      "\"confinement\":\"{}\"}}\n",
      cold, tally.seconds.size(), warm,
      tally.seconds.empty() ? 0 : tally.seconds[tally.seconds.size() / 2], tally.failures,
      first->page_count, first->bytes, state.starts, first->missing_glyphs, lines);
  if (tally.failures > 0) fmt::print(stderr, "{}\n", tally.last_error);
  co_await renderer.stop();
  co_return tally.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run_blocking(run(read_arguments(argc, argv))); }
