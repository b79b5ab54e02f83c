#include "sandbox/file_view.h"

#include "sandbox/unique_fd.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace millrace::sandbox {
namespace {

// Any folder will do: it is covered in this namespace only, and then left behind.
constexpr const char* kStage = "/tmp";
constexpr unsigned long kHarmless = MS_NOSUID | MS_NODEV | MS_NOEXEC;

std::unexpected<Error> fail_errno(std::string_view what, int error) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(error)));
}

struct Place {
  UniqueFd fd;
  std::string path;  // Absolute.
  bool is_folder;
};

// Opened before anything is covered, since a path may lie below the stage.
Result<std::vector<Place>> open_places(const std::vector<std::string>& paths) {
  std::vector<Place> places;
  for (const auto& path : paths) {
    UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd.valid() && (errno == ENOENT || errno == ENOTDIR)) continue;
    struct stat info{};
    if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return fail_errno(path, errno);
    const auto clean = std::filesystem::path(path).lexically_normal();
    if (!clean.is_absolute()) return fail(ErrorKind::invalid_argument, path + " is not absolute");
    places.push_back(
        {.fd = std::move(fd), .path = clean.string(), .is_folder = S_ISDIR(info.st_mode)});
  }
  return places;
}

Result<void> show(const Place& place) {
  const std::string target = kStage + place.path;
  std::error_code error;
  const std::filesystem::path folder =
      place.is_folder ? target : std::filesystem::path(target).parent_path().string();
  std::filesystem::create_directories(folder, error);
  if (error) {
    // Inside one that is there already.
    if (std::filesystem::exists(target)) return ok();
    return fail_errno(place.path, error.value());
  }
  if (!place.is_folder) {
    const UniqueFd made(::open(target.c_str(), O_CREAT | O_RDONLY | O_CLOEXEC, 0444));
    if (!made.valid()) return std::filesystem::exists(target) ? ok() : fail_errno(target, errno);
  }
  const std::string source = fmt::format("/proc/self/fd/{}", place.fd.get());
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return fail_errno(place.path, errno);
  }
  // Where a flag of the source is locked, Landlock is the one who refuses to write.
  ::mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | kHarmless, nullptr);
  return ok();
}

Result<void> move_in(const std::vector<Place>& places) {
  for (const auto& place : places) MR_TRY_VOID(show(place));
  ::mount(nullptr, kStage, nullptr, MS_REMOUNT | MS_RDONLY | kHarmless, nullptr);
  if (::chdir(kStage) != 0) return fail_errno(kStage, errno);
  // The old root ends up on top of the new one, and is taken off.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail_errno("pivot_root", errno);
  if (::umount2(".", MNT_DETACH) != 0) return fail_errno("old root", errno);
  return ok();
}

}  // namespace

Result<void> hide_files(const std::vector<std::string>& read_paths) {
  MR_TRY(const auto places, open_places(read_paths));
  if (::mount("tmpfs", kStage, "tmpfs", kHarmless, "size=1m,mode=755") != 0) {
    return fail_errno("cannot mount", errno);
  }
  auto moved = move_in(places);
  if (::chdir("/") != 0) return fail_errno("/", errno);
  if (!moved.has_value()) ::umount2(kStage, MNT_DETACH);
  return moved;
}

}  // namespace millrace::sandbox
