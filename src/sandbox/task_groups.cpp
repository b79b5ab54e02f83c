#include "sandbox/task_groups.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::sandbox {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "millrace-task-";
constexpr std::uint64_t kTrialBytes = 64ULL * 1024 * 1024;

std::unexpected<Error> unavailable(std::string message) {
  return fail(ErrorKind::unavailable, std::move(message));
}

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return unavailable(fmt::format("{}: {}", what, std::generic_category().message(error)));
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return std::move(text).str();
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool hands_on_memory(const std::string& folder) {
  for (const auto& word : words_of(text_of(folder + "/cgroup.subtree_control"))) {
    if (word == "memory") return true;
  }
  return false;
}

bool has_memory(const std::string& folder) {
  for (const auto& word : words_of(text_of(folder + "/cgroup.controllers"))) {
    if (word == "memory") return true;
  }
  return false;
}

Result<void> write_into(int folder, const char* name, std::string_view text) {
  const UniqueFd file(::openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return fail_errno(name, errno);
  const auto written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) return fail_errno(name, errno);
  return ok();
}

// systemd marks what it leaves to others. An ordinary user can write only what was handed over.
bool is_delegated(const std::string& folder) {
  for (const char* mark : {"user.delegate", "trusted.delegate"}) {
    char value = '0';
    if (::getxattr(folder.c_str(), mark, &value, 1) == 1 && value == '1') return true;
  }
  return ::geteuid() != 0 && ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
}

std::string name_of(pid_t owner, std::uint64_t id) {
  return fmt::format("{}{}-{}", kPrefix, owner, id);
}

// The owner of a group by its name; 0 if it is none of ours.
pid_t owner_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  name.remove_prefix(kPrefix.size());
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
  const bool whole = error == std::errc() && end != name.data() + name.size() && *end == '-';
  return whole ? owner : 0;
}

// Of mountinfo the fields are: id, parent, device, root, mount point, options, …, "-", type, …
struct Mount {
  std::string root;
  std::string point;
};

std::optional<Mount> unified_mount(std::string_view mountinfo) {
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    for (std::size_t i = 6; i + 1 < words.size(); ++i) {
      if (words[i] != "-") continue;
      if (words[i + 1] == "cgroup2") return Mount{.root = words[3], .point = words[4]};
      break;
    }
  }
  return {};
}

}  // namespace

Result<OwnGroup> find_own_group(std::string_view mountinfo, std::string_view cgroup) {
  const auto mount = unified_mount(mountinfo);
  if (!mount) return unavailable("no cgroup v2 is mounted");
  std::istringstream lines{std::string(cgroup)};
  std::string own;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) own = line.substr(3);
  }
  if (own.empty()) return unavailable("this process is in no cgroup v2");
  const std::string root = mount->root == "/" ? "" : mount->root;
  const bool inside =
      own.starts_with(root) && (own.size() == root.size() || own[root.size()] == '/');
  if (!inside || own.contains("/..")) {
    return unavailable(fmt::format("the cgroup {} of this process is not mounted here", own));
  }
  std::string folder = mount->point + own.substr(root.size());
  if (folder.ends_with('/')) folder.pop_back();
  return OwnGroup{.mount = mount->point, .folder = std::move(folder)};
}

Result<TaskGroups> TaskGroups::open() {
  MR_TRY(const OwnGroup own,
         find_own_group(text_of("/proc/self/mountinfo"), text_of("/proc/self/cgroup")));
  if (!has_memory(own.folder)) {
    return unavailable(fmt::format("cgroup v2 has no memory controller at {}", own.folder));
  }
  // A cgroup hands controllers on only while no process is in it, and this one is.
  if (own.folder != own.mount && !hands_on_memory(own.folder)) {
    const auto around = fs::path(own.folder).parent_path().string();
    if (hands_on_memory(around) && is_delegated(around)) return open_in(around);
    return unavailable(
        fmt::format("the cgroup {} was not delegated with a subgroup for this process", around));
  }
  return open_in(own.folder);
}

Result<TaskGroups> TaskGroups::open_in(const std::string& path) {
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return fail_errno(path, errno);
  if (!hands_on_memory(path)) {
    auto written = write_into(folder.get(), "cgroup.subtree_control", "+memory");
    if (!written.has_value()) return fail_with_context(path, written.error());
  }
  TaskGroups groups(std::move(folder), path);
  groups.remove_stale();
  MR_TRY_VOID(groups.try_out());
  return groups;
}

Result<UniqueFd> TaskGroups::make(pid_t owner, std::uint64_t id, std::uint64_t memory_bytes) const {
  const auto name = name_of(owner, id);
  // One that is there has been left by a process that had this number before.
  if (::mkdirat(folder_.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail_errno(name, errno);
  }
  UniqueFd group(::openat(folder_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid()) return fail_errno(name, errno);
  auto limited = write_into(group.get(), "memory.max", std::to_string(memory_bytes));
  if (limited.has_value()) limited = write_into(group.get(), "memory.oom.group", "1");
  if (!limited.has_value()) {
    remove(owner, id);
    return fail(limited.error());
  }
  // Not there without swap.
  static_cast<void>(write_into(group.get(), "memory.swap.max", "0"));
  return group;
}

bool TaskGroups::ran_out(pid_t owner, std::uint64_t id) const {
  const auto name = name_of(owner, id) + "/memory.events";
  const UniqueFd file(::openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::array<char, 512> text{};
  if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return false;
  const auto words = words_of(text.data());
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "oom_kill") return words[i + 1] != "0";
  }
  return false;
}

void TaskGroups::remove(pid_t owner, std::uint64_t id) const {
  ::unlinkat(folder_.get(), name_of(owner, id).c_str(), AT_REMOVEDIR);
}

void TaskGroups::remove_stale() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const auto name = entry.path().filename().string();
    const pid_t owner = owner_of(name);
    if (owner <= 0 || (::kill(owner, 0) == 0 || errno != ESRCH)) continue;
    ::unlinkat(folder_.get(), name.c_str(), AT_REMOVEDIR);
  }
}

// Whether a child gets in is known only when one has.
Result<void> TaskGroups::try_out() const {
  const pid_t self = ::getpid();
  MR_TRY(const UniqueFd group, make(self, 0, kTrialBytes));
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(join_group(group.get()) ? 0 : (errno == 0 ? EIO : errno));
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  remove(self, 0);
  if (pid < 0) return fail_errno("no process to try it with", EAGAIN);
  if (!WIFEXITED(status)) return unavailable("the process that tried it did not end well");
  if (WEXITSTATUS(status) != 0) return fail_errno("cannot join a cgroup", WEXITSTATUS(status));
  return ok();
}

bool join_group(int group) {
  const UniqueFd file(::openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.valid() && ::write(file.get(), "0", 1) == 1;
}

}  // namespace millrace::sandbox
