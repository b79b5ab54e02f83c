#include "sandbox/memory_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace millrace::sandbox {
namespace {

std::unexpected<Error> fail_errno(std::string_view what, const char* name, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("cannot {} {}: {}", what, name, std::generic_category().message(error)));
}

}  // namespace

Result<UniqueFd> make_memory_file(const char* name, std::string_view data) {
  constexpr unsigned kNoExecSeal = 8U;  // MFD_NOEXEC_SEAL, Linux 6.3; older kernels say EINVAL.
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd file(::memfd_create(name, kFlags | kNoExecSeal));
  if (!file.valid() && errno == EINVAL) file.reset(::memfd_create(name, kFlags));
  if (!file.valid()) return fail_errno("make", name, errno);
  off_t offset = 0;
  while (!data.empty()) {
    const auto written = ::pwrite(file.get(), data.data(), data.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_errno("fill", name, errno);
    offset += written;
    data.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    return fail_errno("seal", name, errno);
  }
  return file;
}

}  // namespace millrace::sandbox
