// The classes of samples: how a document becomes a file that is easy or hard to read.
//
// Flow: a class picks the kind of document by the index, a writer writes it, typeset() lays it out,
// and the class paints, spoils and packs the pages. Same class, seed and index: same bytes.
#pragma once

#include "base/result.h"
#include "samples/sample.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::samples {

// All but `long`, which is big, and `hostile`, which has its own list (files/hostile.h).
std::vector<std::string> default_classes();

// `index` counts from 0. invalid_argument for a class that does not exist.
Result<Sample> make_sample(std::string_view sample_class, std::uint64_t seed, int index);

// A record of many pages without words in its truth: text and facts only.
Sample make_long(bool scanned, int pages, std::uint64_t seed);

}  // namespace millrace::samples
