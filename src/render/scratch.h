// Scratch: the folder of one renderer, with a folder in it for each of its browsers.
//
// Flow: open() first removes what renderers that are gone left below `root` (a worker that was
// killed cannot clean up), then makes a folder of its own and keeps a lock in it for as long as it
// lives. Who holds a lock is alive; the kernel drops it with the process. Two renderers may open
// the same root at once. Blocking, but only names are touched.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <cstdint>
#include <filesystem>

namespace millrace::render {

class Scratch {
 public:
  static Result<Scratch> open(const std::filesystem::path& root);
  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();  // Removes its folder.

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path stage() const { return folder_ / "stage"; }  // Empty; for mounts.
  std::filesystem::path next();  // A name for a browser's folder, never used before.
  std::uint64_t swept() const { return swept_; }

 private:
  Scratch() = default;

  std::filesystem::path folder_;
  sandbox::UniqueFd lock_;
  std::uint64_t made_ = 0;
  std::uint64_t swept_ = 0;
};

void remove_scratch(const std::filesystem::path& folder);

}  // namespace millrace::render
