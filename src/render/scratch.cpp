#include "render/scratch.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

namespace millrace::render {
namespace {

using sandbox::UniqueFd;
constexpr std::string_view kPrefix = "browsers-";

std::unexpected<Error> fail_errno(const std::filesystem::path& path, int error) {
  return fail(ErrorKind::unavailable, fmt::format("scratch folder {}: {}", path.string(),
                                                  std::generic_category().message(error)));
}

Result<UniqueFd> lock_file(const std::filesystem::path& path, int how) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid() || ::flock(fd.get(), how) != 0) return fail_errno(path, errno);
  return fd;
}

// The folders of renderers that are gone.
std::uint64_t sweep(const std::filesystem::path& root) {
  std::uint64_t swept = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    if (!entry.is_directory(error) || entry.is_symlink(error)) continue;
    if (!lock_file(entry.path() / "lock", LOCK_EX | LOCK_NB).has_value()) continue;
    remove_scratch(entry.path());
    ++swept;
  }
  return swept;
}

}  // namespace

Result<Scratch> Scratch::open(const std::filesystem::path& root) {
  std::error_code error;
  std::filesystem::create_directories(root, error);
  if (error) return fail_errno(root, error.value());
  // Nobody sweeps while a new folder has no lock yet.
  MR_TRY(const UniqueFd turn, lock_file(root / "lock", LOCK_EX));
  Scratch scratch;
  scratch.swept_ = sweep(root);
  std::string name = (root / kPrefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return fail_errno(root, errno);
  scratch.folder_ = std::filesystem::absolute(name);
  // A browser of another user must be able to pass, not to look around.
  if (::chmod(name.c_str(), 0711) != 0) return fail_errno(name, errno);
  if (::mkdir(scratch.stage().c_str(), 0755) != 0) return fail_errno(scratch.stage(), errno);
  MR_TRY(scratch.lock_, lock_file(scratch.folder_ / "lock", LOCK_EX | LOCK_NB));
  return scratch;
}

Scratch::~Scratch() {
  if (lock_.valid()) remove_scratch(folder_);
}

std::filesystem::path Scratch::next() { return folder_ / fmt::format("{}", ++made_); }

void remove_scratch(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

}  // namespace millrace::render
