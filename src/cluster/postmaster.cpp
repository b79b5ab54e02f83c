#include "cluster/postmaster.h"

#include "base/file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace millrace::cluster {

namespace {

namespace fs = std::filesystem;

template <class T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr == text.data()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

std::optional<PostmasterPid> parse_postmaster_pid(std::string_view text) {
  // pid, data directory, start time, port, socket directory, listen address, shared memory, status
  // PostgreSQL writes in place: half a line is half a number, and would name another process.
  const auto lines = lines_of(text.substr(0, text.rfind('\n') + 1));
  if (lines.empty()) return std::nullopt;
  const auto pid = to_number<pid_t>(trim(lines[0]));
  if (!pid || *pid <= 0) return std::nullopt;
  PostmasterPid result{.pid = *pid, .socket_directory = {}, .status = {}};
  if (lines.size() > 4) result.socket_directory = fs::path(std::string(trim(lines[4])));
  if (lines.size() > 7) result.status = std::string(trim(lines[7]));
  return result;
}

std::optional<PostmasterPid> read_postmaster_pid(const fs::path& pgdata) {
  const auto text = read_file(pgdata / "postmaster.pid", 64 * 1024);
  return text ? parse_postmaster_pid(*text) : std::nullopt;
}

std::string telling_line(std::string_view log) {
  std::string_view last;
  std::string_view remark;
  std::string_view marked;
  for (const auto line : lines_of(log)) {
    const auto text = trim(line);
    if (text.empty()) continue;
    last = text;
    if (const auto at = text.find("LOG:"); at != std::string_view::npos) remark = text.substr(at);
    for (const std::string_view mark : {"PANIC:", "FATAL:", "ERROR:", "error:"}) {
      const auto at = text.find(mark);
      if (at == std::string_view::npos) continue;
      // Without the time stamp, and without initdb's "creating subdirectories ... ".
      const auto step = text.find(" ... ");
      marked = mark != "error:" ? text.substr(at) : step < at ? text.substr(step + 5) : text;
      // "FATAL:  configuration file ... contains errors": which, says the remark before.
      if (text.ends_with("contains errors") && !remark.empty()) marked = remark;
      break;
    }
  }
  return std::string(marked.empty() ? last : marked);
}

bool works_in(pid_t pid, const fs::path& pgdata) {
  struct stat wanted{};
  struct stat actual{};
  const auto proc = fmt::format("/proc/{}", pid);
  if (::stat(pgdata.c_str(), &wanted) != 0) return false;
  if (::stat((proc + "/cwd").c_str(), &actual) != 0) return false;
  if (wanted.st_dev != actual.st_dev || wanted.st_ino != actual.st_ino) return false;
  // A shell may stand in the directory, too. "(deleted)" follows after a package upgrade.
  std::error_code error;
  const auto program = fs::read_symlink(proc + "/exe", error);
  return !error && program.filename().string().starts_with("postgres");
}

std::vector<pid_t> processes_in(const fs::path& pgdata) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto pid = to_number<pid_t>(entry->path().filename().string());
    if (pid && works_in(*pid, pgdata)) found.push_back(*pid);
  }
  return found;
}

Result<std::string> read_system_identifier(const fs::path& pgdata) {
  // The first field of pg_control in every version: 64 bits in the machine's own order.
  MR_TRY(const auto text, read_file(pgdata / "global" / "pg_control", 1024 * 1024));
  std::uint64_t identifier = 0;
  if (text.size() < sizeof identifier) {
    return fail(ErrorKind::internal, "global/pg_control is too short");
  }
  std::memcpy(&identifier, text.data(), sizeof identifier);
  return std::to_string(identifier);
}

std::optional<std::uint64_t> process_start_ticks(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // "pid (name) state ...": the name may hold anything, so count from its last parenthesis.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::string field;
  std::string state;
  rest >> state;
  if (state == "Z" || state == "X") return std::nullopt;  // Dead, only not yet collected.
  for (int number = 4; number <= 22; ++number) {
    if (!(rest >> field)) return std::nullopt;
  }
  return to_number<std::uint64_t>(field);
}

}  // namespace millrace::cluster
