#include "app/observe/probe_service.h"

#include "api/wire_time.h"
#include "app/observe/process_metrics.h"
#include "app/serve/server_options.h"
#include "base/json.h"
#include "base/run.h"
#include "base/version.h"
#include "http/response.h"
#include "http/router.h"
#include "http/server.h"
#include "http/server_threads.h"

#include <boost/json/object.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace millrace::app {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::size_t kConnectionsMax = 256;  // Scrapers and probes, no clients.

Task<void> done() { co_return ok(); }

}  // namespace

struct ProbeService::Parts {
  Parts(Context& owner, std::function<ProbeStatus()> ask)
      : context(owner), status(std::move(ask)), process(owner.metrics, owner.clock) {}

  std::vector<http::Route> routes();
  http::Route get(std::string path, void (Parts::*page)(http::ResponseWriter& response));
  void livez(http::ResponseWriter& response);
  void readyz(http::ResponseWriter& response);
  void health(http::ResponseWriter& response);
  void metrics(http::ResponseWriter& response);

  Context& context;
  std::function<ProbeStatus()> status;
  ProcessMetrics process;
  http::ServerThreads threads{1};
  std::optional<http::Server> server;
};

http::Route ProbeService::Parts::get(std::string path,
                                     void (Parts::*page)(http::ResponseWriter& response)) {
  return {.method = "GET",
          .pattern = std::move(path),
          .handler = [this, page](http::ServerRequest&, http::ResponseWriter& response) {
            response.header("Cache-Control", "no-store");
            (this->*page)(response);
            return done();
          }};
}

std::vector<http::Route> ProbeService::Parts::routes() {
  std::vector<http::Route> out;
  out.push_back(get("/livez", &Parts::livez));
  out.push_back(get("/readyz", &Parts::readyz));
  out.push_back(get("/health", &Parts::health));
  out.push_back(get("/metrics", &Parts::metrics));
  return out;
}

void ProbeService::Parts::livez(http::ResponseWriter& response) {
  response.reply(200, kJson, R"({"answer":"alive"})");
}

void ProbeService::Parts::readyz(http::ResponseWriter& response) {
  const auto now = status();
  if (now.draining) {
    response.reply(503, kJson, R"({"answer":"draining"})");
  } else if (!now.ready) {
    response.reply(503, kJson, R"({"answer":"not ready"})");
  } else {
    response.reply(200, kJson, R"({"answer":"ready"})");
  }
}

void ProbeService::Parts::health(http::ResponseWriter& response) {
  const auto now = status();
  const bool good = now.ready && !now.draining;
  const auto use = process.update();
  json::Object worker{{"status", good ? "ok" : "failed"}};
  json::Object memory{{"status", "ok"}, {"value", use.resident_bytes}};
  json::Object body{
      {"status", good ? "healthy" : "degraded"},
      {"timestamp", api::wire_time(context.clock.wall())},
      {"version", kVersion},
      {"checks", json::Object{{"worker", std::move(worker)}, {"memory", std::move(memory)}}}};
  if (!now.worker_id.empty()) body["worker_id"] = now.worker_id;
  response.reply(200, kJson, to_json(body));
}

void ProbeService::Parts::metrics(http::ResponseWriter& response) {
  process.update();
  response.reply(200, MetricRegistry::kContentType, context.metrics.render());
}

ProbeService::ProbeService(Context& context, std::function<ProbeStatus()> status)
    : parts_(std::make_unique<Parts>(context, std::move(status))) {}

ProbeService::~ProbeService() {
  if (parts_->server) (void)run_blocking(parts_->server->stop(std::chrono::milliseconds(0)));
  parts_->threads.stop();
}

Result<void> ProbeService::start(const http::ListenAddress& address) {
  auto& parts = *parts_;
  MR_TRY(auto router, http::Router::make(parts.routes()));
  http::ServerOptions options;
  options.listen = {address};
  options.limits.connections_max = kConnectionsMax;
  parts.server.emplace(parts.threads.executors(), std::move(router), std::move(options),
                       parts.context.clock, parts.context.random, parts.context.log);
  MR_TRY_VOID(parts.server->start());
  parts.context.log.info("probes_listening", {{"address", url()}});
  return {};
}

std::string ProbeService::url() const { return http_url(parts_->server->endpoints(), false); }

}  // namespace millrace::app
