#include "app/serve/http_service.h"

#include "app/serve/api_parts.h"
#include "app/serve/server_options.h"
#include "app/serve/signing_secrets.h"
#include "base/run.h"
#include "http/server_threads.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace millrace::app {

struct HttpService::Parts {
  Parts(Context& owner, Options chosen)
      : context(owner), options(std::move(chosen)), threads(server_threads(owner.settings)) {}

  Result<void> listen();
  Result<void> open(http::ServerOptions server_options);

  Context& context;
  Options options;
  http::ServerThreads threads;
  std::unique_ptr<ApiParts> api;
  std::optional<http::Server> server;
  bool tls = false;
  bool running = false;
};

Result<void> HttpService::Parts::open(http::ServerOptions server_options) {
  server_options.problem = api::Pipeline::reply_refused;
  server_options.on_error = [this](const Error& error, const http::ServerRequest& request,
                                   http::ResponseWriter& response) {
    api->requests().reply_error(error, request, response);
  };
  server_options.access_log = [this](const http::AccessRecord& record) {
    api->note_request(record);
  };
  MR_TRY(auto router, http::Router::make(api->requests().routes()));
  server.emplace(threads.executors(), std::move(router), std::move(server_options), context.clock,
                 context.random, context.log);
  // Before anybody can ask for the page of metrics.
  api->on_metrics([this] { return server->connections(); });
  return server->start();
}

Result<void> HttpService::Parts::listen() {
  MR_TRY(auto chosen, server_options(context.settings));
  tls = chosen.tls.has_value();
  auto opened = open(chosen);
  const bool may_move = options.any_port_if_taken && !context.settings.is_set("server.listen");
  if (!opened && opened.error().kind == ErrorKind::unavailable && may_move) {
    context.log.info("port_taken", {{"address", chosen.listen.front().to_string()}});
    chosen.listen.front().port = 0;
    opened = open(std::move(chosen));
  }
  return opened;
}

HttpService::HttpService(Context& context, Options options)
    : parts_(std::make_unique<Parts>(context, std::move(options))) {}

HttpService::~HttpService() {
  if (parts_->running) (void)run_blocking(parts_->server->stop(std::chrono::milliseconds(0)));
  if (parts_->api) run_blocking(parts_->api->stop());
  parts_->threads.stop();
}

Result<void> HttpService::start() {
  auto& parts = *parts_;
  http::raise_open_files_limit();
  MR_TRY(auto secrets, find_signing_secrets(parts.context.settings, parts.options.database,
                                            parts.context.random));
  if (secrets.ephemeral) {
    parts.context.log.warn("no_jwt_secret",
                           {{"meaning",
                             "auth.jwt_secret is not set: API keys work, tokens of users need "
                             "auth.jwks_url, and stream tokens end with this process"}});
  }
  MR_TRY(parts.api,
         ApiParts::make(parts.context, parts.threads.executors().front(),
                        {.database = parts.options.database, .secrets = std::move(secrets)}));
  MR_TRY_VOID(parts.api->start());
  MR_TRY_VOID(parts.listen());
  parts.running = true;
  for (const auto& address : parts.server->endpoints()) {
    parts.context.log.info(
        "listening", {{"address", address.to_string()}, {"tls", parts.tls && !address.is_unix()}});
  }
  return {};
}

std::string HttpService::url() const { return http_url(endpoints(), parts_->tls); }

std::vector<http::ListenAddress> HttpService::endpoints() const {
  return parts_->server->endpoints();
}

bool HttpService::speaks_tls() const { return parts_->tls; }

void HttpService::reload() {
  if (!parts_->tls) return;
  const auto reloaded = parts_->server->reload_tls();
  if (reloaded) {
    parts_->context.log.info("tls_reloaded");
  } else {
    parts_->context.log.error("tls_reload", {{"error", reloaded.error().message}});
  }
}

http::StopReport HttpService::stop() {
  if (!parts_->running) return {};
  parts_->running = false;
  parts_->api->health().drain();
  // Balancers learn from /readyz, and not from closed doors.
  if (const auto delay = parts_->context.settings.duration("server.drain_delay");
      delay.count() > 0) {
    run_blocking(parts_->context.clock.sleep_for(delay));
  }
  const auto deadline = parts_->context.settings.duration("server.drain_timeout");
  const auto report = run_blocking(parts_->server->stop(deadline));
  parts_->context.log.info("server_stopped", {{"cut", report.cut_connections}});
  return report;
}

std::unique_ptr<store::WakeSource> HttpService::wake_source() { return parts_->api->wake_source(); }

}  // namespace millrace::app
