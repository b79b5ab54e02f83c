#include "render/process_memory.h"

#include "sandbox/unique_fd.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace millrace::render {
namespace {

struct Pages {
  std::uint64_t own = 0;
  std::uint64_t shared = 0;
};

std::string_view read_small(pid_t pid, const char* name, std::span<char> buffer) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  const sandbox::UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  const auto size = fd.valid() ? ::read(fd.get(), buffer.data(), buffer.size()) : -1;
  return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::uint64_t take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// The fourth field of stat, behind a name that may hold anything.
pid_t parent_of(pid_t pid) {
  char buffer[512];
  std::string_view text = read_small(pid, "stat", buffer);
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 4) return -1;
  text.remove_prefix(name_end + 4);
  return static_cast<pid_t>(take_number(text));
}

Pages pages_of(pid_t pid) {
  char buffer[128];
  std::string_view text = read_small(pid, "statm", buffer);
  take_number(text);  // Address space.
  const std::uint64_t resident = take_number(text);
  const std::uint64_t shared = take_number(text);
  return {.own = resident - std::min(resident, shared), .shared = shared};
}

std::multimap<pid_t, pid_t> all_children() {
  std::multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    std::string_view name = entry->d_name;
    if (name.front() < '1' || name.front() > '9') continue;
    const auto pid = static_cast<pid_t>(take_number(name));
    if (const pid_t parent = parent_of(pid); parent > 0) children.emplace(parent, pid);
  }
  return children;
}

}  // namespace

std::uint64_t memory_of_tree(pid_t leader) {
  const auto children = all_children();
  std::vector<pid_t> tree = {leader};
  Pages sum;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Pages pages = pages_of(tree[i]);
    sum.own += pages.own;
    sum.shared = std::max(sum.shared, pages.shared);
    const auto [first, last] = children.equal_range(tree[i]);
    for (auto child = first; child != last; ++child) tree.push_back(child->second);
  }
  return (sum.own + sum.shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace millrace::render
