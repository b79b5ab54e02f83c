#include "cluster/os_user.h"

#include "base/assert.h"
#include "cluster/unique_fd.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <unistd.h>

namespace millrace::cluster {

namespace {

OsUser from_entry(const passwd& entry) {
  OsUser user{.uid = entry.pw_uid, .gid = entry.pw_gid, .name = entry.pw_name, .groups = {}};
  int count = 32;
  user.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(entry.pw_name, entry.pw_gid, user.groups.data(), &count) < 0) {
    user.groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(entry.pw_name, entry.pw_gid, user.groups.data(), &count);
  }
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

// getfsuid does not exist; an impossible value leaves the id unchanged and returns it.
uid_t thread_fsuid() { return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))); }

}  // namespace

Result<OsUser> find_user(uid_t uid) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (!found) {
    return fail(ErrorKind::not_found,
                fmt::format("user id {} has no name on this machine; PostgreSQL needs one", uid));
  }
  return from_entry(entry);
}

Result<OsUser> find_user(const std::string& name) {
  std::array<char, 16384> buffer;
  passwd entry{};
  passwd* found = nullptr;
  ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (!found) return fail(ErrorKind::not_found, fmt::format("there is no user \"{}\"", name));
  return from_entry(entry);
}

Result<OsUser> current_user() { return find_user(::geteuid()); }

Result<OsUser> choose_unprivileged_user(std::optional<uid_t> sudo_uid) {
  if (sudo_uid && *sudo_uid != 0) {
    if (auto user = find_user(*sudo_uid)) return user;
  }
  for (const char* name : {"postgres", "nobody"}) {
    if (auto user = find_user(std::string(name)); user && user->uid != 0) return user;
  }
  return fail(ErrorKind::unavailable,
              "PostgreSQL cannot run as root, and there is neither a user \"postgres\" nor "
              "\"nobody\" to run it as");
}

AsUser::AsUser(const OsUser& user) {
  if (::geteuid() != 0 || user.uid == 0) return;
  gid_before_ = static_cast<gid_t>(::setfsgid(user.gid));
  uid_before_ = static_cast<uid_t>(::setfsuid(user.uid));
  active_ = true;
  // Writing with root's rights where we meant to drop them would be a hole, not an error.
  MR_ASSERT(thread_fsuid() == user.uid);
}

AsUser::~AsUser() {
  if (!active_) return;
  ::setfsuid(uid_before_);
  ::setfsgid(gid_before_);
}

std::optional<std::filesystem::path> first_blocked_directory(const std::filesystem::path& path,
                                                             const OsUser& user) {
  const AsUser as_user(user);
  std::filesystem::path prefix;
  for (const auto& part : path) {
    prefix /= part;
    // Opening "directory/." needs the right to enter it and nothing more.
    const UniqueFd fd(::open((prefix / ".").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd && errno == EACCES) return prefix;
  }
  return std::nullopt;
}

}  // namespace millrace::cluster
