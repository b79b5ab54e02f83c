#include "app/observe/telemetry.h"

#include "app/observe/process_metrics.h"
#include "base/cancel.h"
#include "base/either.h"
#include "base/run.h"
#include "base/spawn.h"
#include "base/version.h"
#include "http/server_threads.h"

#include <fmt/format.h>

#include <charconv>
#include <unistd.h>
#include <utility>

namespace millrace::app {
namespace {

using namespace either;

constexpr std::chrono::seconds kMemoryInterval{60};
constexpr std::int64_t kMegabyte = 1024 * 1024;

std::string instance_id() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return fmt::format("{}", ::getpid());
  return fmt::format("{}-{}", name, ::getpid());
}

Result<double> read_ratio(const std::string& text) {
  double ratio = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(ratio >= 0 && ratio <= 1)) {
    return fail(ErrorKind::invalid_argument, "trace.sample_ratio must be a number from 0 to 1");
  }
  return ratio;
}

}  // namespace

Result<std::optional<http::OtlpOptions>> otlp_options(const Settings& settings) {
  MR_TRY(const auto ratio, read_ratio(settings.text("trace.sample_ratio")));
  if (settings.text("trace.otlp_url").empty()) return std::optional<http::OtlpOptions>();
  http::OtlpOptions options;
  options.url = settings.text("trace.otlp_url");
  options.sample_ratio = ratio;
  options.trust_callers = settings.boolean("trace.trust_callers");
  options.service_name = settings.text("trace.service_name");
  options.service_version = kVersion;
  options.instance_id = instance_id();
  auto headers = http::parse_otlp_headers(Secret(settings.text("trace.otlp_headers")));
  if (!headers) return fail_with_context("trace.otlp_headers", headers.error());
  options.headers = *std::move(headers);
  auto good = http::check_otlp_options(options);
  if (!good) return fail_with_context("trace.otlp_url", good.error());
  return std::optional(std::move(options));
}

struct Telemetry::Parts {
  explicit Parts(Context& owner) : context(owner) {}

  awaitable<void> watch_memory();
  awaitable<void> stop();

  Context& context;
  http::ServerThreads threads{1};
  http::Client client{threads.executors().front()};
  std::optional<http::OtlpExporter> exporter;
  CancelSource stopping;
  TaskGroup tasks{threads.executors().front(), context.log};
};

// A line when there is news: a quarter more than at the last line, or more than there should be
// (O-10).
awaitable<void> Telemetry::Parts::watch_memory() {
  const auto most = context.settings.integer("log.memory_max_mb") * kMegabyte;
  std::int64_t told = 0;
  while (!stopping.cancelled()) {
    const auto use = read_process_use();
    const bool too_much = most > 0 && use.resident_bytes > most;
    if (too_much || use.resident_bytes > told + told / 4) {
      told = use.resident_bytes;
      context.log.log(too_much ? LogLevel::error : LogLevel::info, "memory",
                      {{"resident_bytes", use.resident_bytes},
                       {"limit_bytes", most},
                       {"open_files", use.open_files}});
    }
    co_await (context.clock.sleep_for(kMemoryInterval) || stopping.token().wait());
  }
}

awaitable<void> Telemetry::Parts::stop() {
  stopping.cancel("stopping");
  co_await tasks.join();
  if (exporter) co_await exporter->stop();
}

Telemetry::Telemetry(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Telemetry::~Telemetry() {
  parts_->context.tracer = nullptr;
  run_blocking(parts_->stop());
}

Result<std::unique_ptr<Telemetry>> Telemetry::start(Context& context) {
  MR_TRY(auto options, otlp_options(context.settings));
  auto parts = std::make_unique<Parts>(context);
  if (options) {
    parts->exporter.emplace(
        http::OtlpExporter::Services{.executor = parts->threads.executors().front(),
                                     .client = parts->client,
                                     .clock = context.clock,
                                     .random = context.random,
                                     .log = context.log,
                                     .metrics = context.metrics},
        *std::move(options));
    parts->exporter->start();
    context.tracer = &*parts->exporter;
  }
  parts->tasks.add("memory", parts->watch_memory());
  return std::unique_ptr<Telemetry>(new Telemetry(std::move(parts)));
}

}  // namespace millrace::app
