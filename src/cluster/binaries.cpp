#include "cluster/binaries.h"

#include "cluster/process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <unistd.h>

namespace millrace::cluster {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCommandTimeout{20};

std::optional<int> leading_number(std::string_view text) {
  int value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) return std::nullopt;
  return value;
}

// Asks every pg_config on the usual path; Debian's belongs to libpq-dev and names the server's
// folder.
std::vector<fs::path> configured_directories() {
  std::vector<fs::path> found;
  for (const char* program : {"/usr/local/bin/pg_config", "/usr/bin/pg_config", "/bin/pg_config"}) {
    if (::access(program, X_OK) != 0) continue;
    const auto run = run_command({.argv = {program, "--bindir"}, .user = {}}, kCommandTimeout);
    if (!run || !run->succeeded) continue;
    const auto& text = run->output;
    found.emplace_back(text.substr(0, text.find('\n')));
  }
  return found;
}

std::vector<fs::path> packaged_directories() {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    if (const auto major = leading_number(entry.path().filename().string())) {
      found.emplace_back(*major, entry.path() / "bin");
    }
  }
  std::ranges::sort(found, std::greater{}, &std::pair<int, fs::path>::first);
  std::vector<fs::path> directories;
  for (auto& [major, directory] : found) directories.push_back(std::move(directory));
  return directories;
}

std::optional<Binaries> inspect(const fs::path& directory) {
  Binaries binaries{.directory = directory, .major = 0, .version = {}};
  for (const auto& program : {binaries.initdb(), binaries.postgres()}) {
    if (::access(program.c_str(), X_OK) != 0) return std::nullopt;
  }
  const auto run =
      run_command({.argv = {binaries.postgres(), "--version"}, .user = {}}, kCommandTimeout);
  if (!run || !run->succeeded) return std::nullopt;
  const auto version = parse_version(run->output);
  if (!version) return std::nullopt;
  binaries.version = *version;
  binaries.major = leading_number(*version).value_or(0);
  return binaries;
}

}  // namespace

std::optional<std::string> parse_version(std::string_view output) {
  constexpr std::string_view kMark = "(PostgreSQL) ";
  const auto at = output.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rest = output.substr(at + kMark.size());
  if (!leading_number(rest)) return std::nullopt;
  return std::string(rest.substr(0, rest.find_first_of(" \n")));
}

Result<Binaries> find_binaries(const BinarySearch& search) {
  auto directories = search.directories;
  if (directories.empty()) {
    directories = configured_directories();
    for (auto& directory : packaged_directories()) directories.push_back(std::move(directory));
  }
  std::vector<std::string> seen;
  for (const auto& directory : directories) {
    const auto binaries = inspect(directory);
    if (!binaries) continue;
    const bool fits =
        search.major ? binaries->major == *search.major : binaries->major >= kOldestMajor;
    if (fits) return *binaries;
    seen.push_back(fmt::format("{} in {}", binaries->version, directory.string()));
  }
  if (search.major) {
    return fail(
        ErrorKind::unavailable,
        fmt::format("this data directory was made by PostgreSQL {0}, which is not installed "
                    "here (found: {1}); install PostgreSQL {0} (run tools/setup)",
                    *search.major,
                    seen.empty() ? "none" : fmt::format("{}", fmt::join(seen, ", "))));
  }
  return fail(
      ErrorKind::unavailable,
      fmt::format("PostgreSQL {} or newer is not installed (found: {}); run tools/setup, or "
                  "set DATABASE_URL to use another server",
                  kOldestMajor, seen.empty() ? "none" : fmt::format("{}", fmt::join(seen, ", "))));
}

}  // namespace millrace::cluster
