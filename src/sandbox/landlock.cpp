#include "sandbox/landlock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

// The kernel's structures and numbers are spelled out: the headers of the build machine may be
// older than the kernel that runs.
namespace millrace::sandbox {
namespace {

struct RulesetAttribute {
  std::uint64_t access_fs;
  std::uint64_t access_net;  // From ABI 4 on.
  std::uint64_t scoped;      // From ABI 6 on.
};

struct [[gnu::packed]] PathAttribute {
  std::uint64_t access;
  std::int32_t parent_fd;
};

constexpr unsigned kVersion = 1;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kReadFile = 1ULL << 2U;
constexpr std::uint64_t kReadFolder = 1ULL << 3U;

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(error)));
}

// Everything that this version can refuse.
RulesetAttribute everything(int abi) {
  RulesetAttribute all{.access_fs = (1ULL << 13U) - 1, .access_net = 0, .scoped = 0};
  if (abi >= 2) all.access_fs |= 1ULL << 13U;  // Moving between folders.
  if (abi >= 3) all.access_fs |= 1ULL << 14U;  // Truncating.
  if (abi >= 4) all.access_net = 3;            // TCP: bind, connect.
  if (abi >= 5) all.access_fs |= 1ULL << 15U;  // ioctl on devices.
  if (abi >= 6) all.scoped = 3;                // Abstract sockets, signals.
  return all;
}

std::size_t attribute_size(int abi) {
  const std::size_t words = abi >= 6 ? 3 : abi >= 4 ? 2 : 1;
  return words * sizeof(std::uint64_t);
}

Result<void> allow_reading(const UniqueFd& ruleset, const std::string& path) {
  const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid() && (errno == ENOENT || errno == ENOTDIR)) return ok();
  if (!place.valid()) return fail_errno(fmt::format("landlock: {}", path), errno);
  struct stat info{};
  if (::fstat(place.get(), &info) != 0) return fail_errno(fmt::format("landlock: {}", path), errno);
  const PathAttribute rule{.access = S_ISDIR(info.st_mode) ? kReadFile | kReadFolder : kReadFile,
                           .parent_fd = place.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), kPathBeneath, &rule, 0) != 0) {
    return fail_errno(fmt::format("landlock: {}", path), errno);
  }
  return ok();
}

}  // namespace

Result<LandlockRules> build_landlock(const std::vector<std::string>& read_paths) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersion);
  if (abi < 1) {
    return fail_errno("this kernel gives no Landlock (Linux 5.13, enabled at boot)",
                      abi < 0 ? errno : ENOSYS);
  }
  LandlockRules rules{.ruleset = {}, .abi = static_cast<int>(abi)};
  const RulesetAttribute all = everything(rules.abi);
  rules.ruleset.reset(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all, attribute_size(rules.abi), 0)));
  if (!rules.ruleset.valid()) return fail_errno("landlock", errno);
  for (const auto& path : read_paths) MR_TRY_VOID(allow_reading(rules.ruleset, path));
  return rules;
}

int apply_landlock(const UniqueFd& ruleset) noexcept {
  return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

}  // namespace millrace::sandbox
