#include "app/commands/commands.h"
#include "app/compute/mock_app_server.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "app/ready_file.h"
#include "app/serve/server_options.h"
#include "app/signals.h"
#include "base/run.h"
#include "http/server.h"
#include "http/server_threads.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

using std::chrono::milliseconds;

struct Options {
  std::vector<std::string> listen;
  std::optional<std::string> contracts;
  std::optional<std::string> ready_file;
  bool throttle_once = false;
  bool exit_on_crash = false;
};

Result<void> apply_flags(Context& context, const Options& options) {
  if (!options.listen.empty()) {
    std::string joined;
    for (const auto& address : options.listen) joined += (joined.empty() ? "" : ",") + address;
    MR_TRY_VOID(context.settings.set_flag("appserver.listen", joined, "--listen"));
  }
  if (options.contracts) {
    MR_TRY_VOID(
        context.settings.set_flag("compute.contracts_dir", *options.contracts, "--contracts"));
  }
  const auto& settings = context.settings;
  if (settings.boolean("appserver.use_compute")) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = "appserver.use_compute is true, and this is a mock without a "
                                 "compute engine",
                      .hint = "let compute.app_server_url lead to the real one"});
  }
  if (settings.text("compute.contracts_dir").empty()) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = "compute.contracts_dir is not set",
                      .hint = "give --contracts DIR, such as examples/contracts"});
  }
  return {};
}

Result<http::ServerOptions> listen_options(const Context& context) {
  http::ServerOptions options;
  options.listen.clear();
  for (const auto& text : context.settings.list("appserver.listen")) {
    auto address = http::parse_listen(text);
    if (!address) return fail_with_context("appserver.listen", address.error());
    options.listen.push_back(*std::move(address));
  }
  if (options.listen.empty()) {
    return fail(ErrorKind::invalid_argument, "appserver.listen must not be empty");
  }
  options.limits.request_time_max =
      context.settings.duration("appserver.timeout") + milliseconds(10'000);
  return options;
}

Result<int> run_appserver(Context& context, const Options& options) {
  MR_TRY_VOID(apply_flags(context, options));
  SignalWaiter signals;
  auto ready = options.ready_file ? std::make_unique<ReadyFile>(*options.ready_file)
                                  : std::make_unique<ReadyFile>();
  MR_TRY_VOID(ready->remove_stale());
  MR_TRY(auto contracts,
         api::ContractDirectory::open(context.settings.text("compute.contracts_dir"), context.log));
  contracts->watch();
  MockAppServer mock(*contracts, context.clock, context.log,
                     {.timeout = context.settings.duration("appserver.timeout"),
                      .throttle_once = options.throttle_once,
                      .exit_on_crash = options.exit_on_crash});
  MR_TRY(auto server_options, listen_options(context));
  MR_TRY(auto router, http::Router::make(mock.routes()));
  http::ServerThreads threads(1);
  http::Server server(threads.executors(), std::move(router), std::move(server_options),
                      context.clock, context.random, context.log);
  MR_TRY_VOID(server.start());

  const auto url = http_url(server.endpoints(), false);
  json::Object content{{"http_url", url},
                       {"app_server_url", fmt::format("{}/gh/{{def}}:{{ver}}/solve", url)},
                       {"mock", true}};
  MR_TRY_VOID(ready->write(content));
  if (context.json()) context.print_json(content);
  context.note(fmt::format("mock app server at {}; {} contracts", url, contracts->all().size()));
  while (!signals.wait(milliseconds(500))) {
  }
  (void)run_blocking(server.stop(milliseconds(1'000)));
  return kExitOk;
}

}  // namespace

void add_appserver_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command =
      root.add("appserver", "Run the mock app server of the compute pipeline").group("Running");
  command.option("--listen", "ADDRESS", options->listen,
                 "host:port (port 0: a free one) or unix:/path; default: appserver.listen");
  command.option("--contracts", "DIR", options->contracts, "Instead of compute.contracts_dir")
      .files();
  command.flag("--throttle-once", options->throttle_once, "429 to the first delivery of every job");
  command.flag("--exit-on-crash", options->exit_on_crash,
               "A simulated crash ends this process, not only the connection");
  command.option("--ready-file", "PATH", options->ready_file, "JSON file written once ready")
      .files();
  command.footer(
      "  millrace appserver --contracts examples/contracts &\n"
      "  APP_SERVER_URL='http://127.0.0.1:8090/gh/{def}:{ver}/solve' millrace worker\n"
      "It computes the example contracts and says that it is a mock. 'simulate' in the inputs\n"
      "makes it answer 429 once, crash, be slow or break the contract.");
  command.service();
  command.action([options](Context& context) { return run_appserver(context, *options); });
}

}  // namespace millrace::app
