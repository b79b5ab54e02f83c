// Vectors of the stand-in: texts that share words are near each other, and nothing else is meant.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::test {

// Of length 1. `call` stirs the last digits: real services do not repeat a vector bit by bit.
std::vector<float> stand_in_embedding(std::string_view text, std::size_t dimensions,
                                      std::string_view call = {});

}  // namespace millrace::test
