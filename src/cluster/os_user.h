// OsUser: the account PostgreSQL runs under, and doing file work as that account.
//
// PostgreSQL refuses to run as root, so a root process picks an unprivileged user. That user owns
// the data directory and may be broken into through the database, so root never touches the
// directory's contents with root's rights: every file operation below it happens inside an AsUser
// guard, which a planted symbolic link cannot abuse.
#pragma once

#include "base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace millrace::cluster {

struct OsUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::vector<gid_t> groups;

  friend bool operator==(const OsUser&, const OsUser&) = default;
};

// not_found when the password file has no such entry; PostgreSQL would refuse it too.
Result<OsUser> find_user(uid_t uid);
Result<OsUser> find_user(const std::string& name);

// Who runs this process (effective user).
Result<OsUser> current_user();

// For a process of root that creates a cluster: the user behind sudo, else postgres, else nobody.
Result<OsUser> choose_unprivileged_user(std::optional<uid_t> sudo_uid);

// While it lives, this thread's file accesses are checked as `user`. Does nothing unless the
// process is root and `user` is not. May be nested; not to be held while a coroutine suspends.
class AsUser {
 public:
  explicit AsUser(const OsUser& user);
  ~AsUser();
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;

 private:
  bool active_ = false;
  uid_t uid_before_ = 0;
  gid_t gid_before_ = 0;
};

// The first directory on the way to `path`, itself included, that `user` may not enter.
std::optional<std::filesystem::path> first_blocked_directory(const std::filesystem::path& path,
                                                             const OsUser& user);

}  // namespace millrace::cluster
