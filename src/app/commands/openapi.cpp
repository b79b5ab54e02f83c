#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "app/serve/api_parts.h"

#include <boost/asio/io_context.hpp>

namespace millrace::app {
namespace {

// The table needs no database: nothing is asked of it.
Result<int> run_openapi(Context& context) {
  boost::asio::io_context io(1);
  ApiParts::Options options;
  options.secrets.all.emplace_back(std::string(64, '-'));  // Signs nothing.
  options.secrets.ephemeral = true;
  MR_TRY(const auto api, ApiParts::make(context, io.get_executor(), std::move(options)));
  MR_TRY(const auto document,
         parse_json(api->documents().openapi, {.max_bytes = 64 * 1024 * 1024, .max_depth = 128}));
  context.print(to_pretty_json(document));
  return kExitOk;
}

}  // namespace

void add_openapi_command(Command& root) {
  root.add("openapi", "Print the OpenAPI document of the HTTP API")
      .group("Help")
      .action(run_openapi);
}

}  // namespace millrace::app
