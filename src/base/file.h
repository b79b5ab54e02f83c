// Whole files: small ones, read at once and replaced atomically. Blocking; not for I/O threads.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace millrace {

inline constexpr std::size_t kReadFileMaxBytes = 64 * 1024 * 1024;

// not_found when there is no such file, invalid_argument when it is larger than `max_bytes`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t max_bytes = kReadFileMaxBytes);

// Readers see the old text or the new, also after a crash: a temporary file beside it is written,
// synced and renamed, then the folder is synced. `mode` is exact, whatever the umask.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view text,
                                   mode_t mode = 0644);

}  // namespace millrace
