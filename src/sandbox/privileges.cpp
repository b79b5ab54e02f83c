#include "sandbox/privileges.h"

#include <fmt/format.h>

#include <cerrno>
#include <grp.h>
#include <linux/capability.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(error)));
}

bool is_root() { return ::geteuid() == 0 || ::getuid() == 0; }

Result<void> become_nobody() {
  if (::setgroups(0, nullptr) != 0) return fail_errno("cannot leave the groups of root", errno);
  if (::setresgid(kNobody, kNobody, kNobody) != 0) {
    return fail_errno("cannot leave the group of root", errno);
  }
  if (::setresuid(kNobody, kNobody, kNobody) != 0) {
    return fail_errno("cannot stop being root", errno);
  }
  if (is_root()) return fail_errno("still root", EPERM);
  return ok();
}

Result<void> drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct sets[2] = {};
  if (::syscall(SYS_capset, &head, sets) != 0) {
    return fail_errno("cannot drop capabilities", errno);
  }
  if (::syscall(SYS_capget, &head, sets) != 0) {
    return fail_errno("cannot see the capabilities", errno);
  }
  for (const auto& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) {
      return fail_errno("capabilities are left", EPERM);
    }
  }
  return ok();
}

}  // namespace

Result<void> drop_privileges() {
  // While there is the right to: an ordinary user has none, and needs none, with no_new_privs.
  for (int capability = 0; capability < 64; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (is_root()) MR_TRY_VOID(become_nobody());
  return drop_capabilities();
}

bool can_become_nobody() {
  // The kernel says EINVAL for a user that this namespace does not have; -1 changes nothing.
  constexpr auto kSame = static_cast<uid_t>(-1);
  if (!is_root()) return false;
  const uid_t saved = ::geteuid();
  if (::setresuid(kSame, kSame, kNobody) != 0) return errno != EINVAL;
  return ::setresuid(kSame, kSame, saved) == 0;
}

std::string describe_user() {
  if (is_root()) return fmt::format("becomes user {}", kNobody);
  return fmt::format("stays user {}", ::geteuid());
}

}  // namespace millrace::sandbox
