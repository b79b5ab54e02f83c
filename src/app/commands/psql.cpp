#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace millrace::app {

void add_psql_command(Command& root) {
  auto arguments = std::make_shared<std::vector<std::string>>();
  auto role = std::make_shared<std::optional<std::string>>();
  auto& command = root.add("psql", "Open psql on the database").group("Running");
  command.option("--role", "ROLE", *role, "Connect as this role of the private cluster");
  command.argument("ARGS", *arguments, "Passed on to psql, after --", false);
  command.footer("Example:\n  millrace psql -- -c '\\dt millrace.*'");
  command.action([arguments, role](Context& context) -> Result<int> {
    MR_TRY(const auto database, find_database(context.settings));
    auto url = database.url;
    if (*role) {
      if (!database.is_private) {
        return fail(ErrorKind::invalid_argument,
                    "--role works on the private cluster only; put the user into the URL");
      }
      const auto at = url.find("://");
      const auto host = url.find('@', at);
      if (at != url.npos && host != url.npos) url.replace(at + 3, host - at - 3, **role);
    }
    std::vector<const char*> argv{"psql", url.c_str()};
    for (const auto& argument : *arguments) argv.push_back(argument.c_str());
    argv.push_back(nullptr);
    ::execvp("psql", const_cast<char* const*>(argv.data()));
    const auto reason = errno;
    return fail(Error{.kind = reason == ENOENT ? ErrorKind::unavailable : ErrorKind::internal,
                      .message = fmt::format("cannot start psql: {}", std::strerror(reason)),
                      .hint = "install postgresql-client"});
  });
}

}  // namespace millrace::app
