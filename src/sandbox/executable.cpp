#include "sandbox/executable.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::sandbox {
namespace {

std::string in_folder(const std::string& folder, std::string_view name) {
  if (name.starts_with('/') || folder.empty()) return std::string(name);
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

// The child changes its directory before it executes the file.
Result<std::string> make_absolute(const std::string& file) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(file, error);
  if (!error) return absolute.string();
  return fail(ErrorKind::unavailable, fmt::format("cannot find '{}': {}", file, error.message()));
}

Result<void> check_executable(const std::string& file) {
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return fail(ErrorKind::not_found, fmt::format("program '{}' does not exist", file));
    }
    return fail(ErrorKind::invalid_argument, fmt::format("program '{}' cannot be reached: {}", file,
                                                         std::generic_category().message(error)));
  }
  if (S_ISDIR(info.st_mode)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("program '{}' is a directory, not a program", file));
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorKind::invalid_argument, fmt::format("program '{}' is not a file", file));
  }
  if (::faccessat(AT_FDCWD, file.c_str(), X_OK, AT_EACCESS) != 0) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("program '{}' is not executable (chmod +x)", file));
  }
  return ok();
}

}  // namespace

Result<std::string> find_executable(const ExecutableSearch& search) {
  if (search.program.empty()) return fail(ErrorKind::invalid_argument, "the program name is empty");
  if (search.program.contains('/')) {
    const std::string file = in_folder(search.cwd, search.program);
    MR_TRY_VOID(check_executable(file));
    return make_absolute(file);
  }

  std::optional<Error>
      unusable;  // A file of that name that cannot be run says more than "not found".
  std::string_view rest = search.path;
  while (true) {
    const auto end = rest.find(':');
    std::string folder(rest.substr(0, end));
    if (folder.empty()) folder = ".";
    const std::string file = in_folder(in_folder(search.cwd, folder), search.program);
    auto checked = check_executable(file);
    if (checked.has_value()) return make_absolute(file);
    if (checked.error().kind != ErrorKind::not_found && !unusable) unusable = checked.error();
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (unusable) return fail(std::move(*unusable));
  return fail(ErrorKind::not_found,
              fmt::format("program '{}' is not in PATH ({})", search.program, search.path));
}

}  // namespace millrace::sandbox
