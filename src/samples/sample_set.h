// The set of samples: for every class some files, and truth.json beside them.
//
// Flow: a class picks kinds of documents, a writer writes them, typeset() lays them out, and the
// class decides how the pages become a file. The same options give the same bytes.
#pragma once

#include "base/result.h"
#include "samples/truth.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::samples {

struct Sample {
  std::string bytes;
  TruthFile truth;
};

struct SetOptions {
  std::uint64_t seed = 7;
  std::vector<std::string> classes = {};  // None: all but `long`.
  int count = 4;                          // Files of each class.
};

std::vector<std::string_view> sample_classes();

// One file of a class; `index` counts from 0.
Result<Sample> make_sample(std::string_view sample_class, std::uint64_t seed, int index);

// Writes the files and truth.json; gives the number of files.
Result<int> write_set(const SetOptions& options, const std::filesystem::path& folder);

}  // namespace millrace::samples
