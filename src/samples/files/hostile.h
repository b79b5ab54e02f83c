// Hostile files: what somebody sends who means harm, or whose disk was full. Harmless themselves.
#pragma once

#include "samples/sample.h"

#include <cstdint>
#include <vector>

namespace millrace::samples {

std::vector<Sample> hostile_samples(std::uint64_t seed);

}  // namespace millrace::samples
