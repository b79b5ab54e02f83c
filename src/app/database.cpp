#include "app/database.h"

#include "base/file.h"
#include "base/json.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace millrace::app {
namespace {

bool process_lives(std::int64_t pid) {
  return pid > 0 && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM);
}

}  // namespace

Result<std::optional<std::string>> running_cluster_url(const std::filesystem::path& data_dir) {
  const auto file = data_dir / "owner.lock";
  const auto text = read_file(file, 64 * 1024);
  if (!text && ::access(data_dir.c_str(), F_OK) == 0 && ::access(data_dir.c_str(), X_OK) != 0) {
    return fail(Error{.kind = ErrorKind::unavailable,
                      .message = fmt::format("the private cluster in {} belongs to another user",
                                             data_dir.string()),
                      .sqlstate = "42501",
                      .hint = "run this as the user who started it, or give a DATABASE_URL"});
  }
  if (!text) return std::nullopt;
  const auto lock = parse_json_object(*text);
  if (!lock) return std::nullopt;
  const auto* pid = lock->if_contains("pid");
  const auto* url = lock->if_contains("database_url");
  if (pid == nullptr || !pid->is_int64() || !process_lives(pid->as_int64())) return std::nullopt;
  if (url == nullptr || !url->is_string() || url->as_string().empty()) return std::nullopt;
  return std::optional<std::string>(url->as_string());
}

Result<Database> find_database(const Settings& settings) {
  const auto& given = settings.get("database.url");
  if (!given.value.empty()) return Database{.url = given.value, .origin = given.origin};
  const auto& data_dir = settings.text("database.data_dir");
  MR_TRY(auto url, running_cluster_url(data_dir));
  if (url) {
    return Database{.url = std::move(*url),
                    .origin = fmt::format("private cluster in {}", data_dir),
                    .is_private = true};
  }
  return fail(Error{
      .kind = ErrorKind::unavailable,
      .message =
          fmt::format("cannot connect: no DATABASE_URL and no private cluster in {}", data_dir),
      .hint = data_dir == ".millrace"
                  ? "start one with 'millrace up'"
                  : fmt::format("start one with 'millrace up --data-dir {}'", data_dir)});
}

pg::ConnectOptions connect_as(const Database& database, const std::string& role,
                              std::string application_name) {
  auto options = pg::connect_options(database.url);
  options.application_name = std::move(application_name);
  if (database.is_private && !role.empty()) options.overrides["user"] = role;
  return options;
}

Error cannot_connect(const Database& database, Error error) {
  // The address is right when the server itself answers: it may still be unable to serve.
  const bool full =
      error.sqlstate.starts_with("5310") || error.message.contains("No space left on device");
  error.message =
      fmt::format("cannot connect to the database ({}): {}", database.origin, error.message);
  if (error.hint.empty()) {
    error.hint = full ? "make room on the database's disk, then try again"
                      : "check the address with 'millrace config'";
  }
  return error;
}

}  // namespace millrace::app
