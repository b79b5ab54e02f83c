// The sets of samples: for every class some files, and truth.json beside them.
//
// The same options give the same bytes. Threading: none; each call has its own state.
#pragma once

#include "base/result.h"
#include "samples/sample.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace millrace::samples {

struct SetOptions {
  std::uint64_t seed = 7;
  std::vector<std::string> classes = {};  // None: all that are made unasked.
  int count = 4;                          // Files of each class.
};

// Each gives the number of files. Folders are made.
Result<int> write_set(const SetOptions& options, const std::filesystem::path& folder);
// One or a few of each class and all hostile files.
Result<int> write_demo(std::uint64_t seed, const std::filesystem::path& folder);

enum class LongForm { scanned, born };
// One long PDF and its truth in `<file>.truth.json`.
Result<int> write_long(LongForm form, int pages, std::uint64_t seed,
                       const std::filesystem::path& file);

}  // namespace millrace::samples
