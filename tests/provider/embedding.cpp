#include "embedding.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <string>

namespace millrace::test {
namespace {

constexpr int kPlacesPerWord = 6;
constexpr float kStir = 1e-6F;

// FNV-1a, then mixed: the same on every machine.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 14'695'981'039'346'656'037ULL;
  for (const unsigned char c : text) value = (value ^ c) * 1'099'511'628'211ULL;
  return value;
}

std::uint64_t next(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

void add_word(std::vector<float>& vector, std::string_view word) {
  auto state = hash(word);
  for (int i = 0; i < kPlacesPerWord; ++i) {
    const auto bits = next(state);
    vector[bits % vector.size()] += (bits >> 63) != 0 ? 1.0F : -1.0F;
  }
}

}  // namespace

std::vector<float> stand_in_embedding(std::string_view text, std::size_t dimensions,
                                      std::string_view call) {
  std::vector<float> vector(dimensions, 0.0F);
  std::string word;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0 || c >= 0x80) {
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (!word.empty()) add_word(vector, word);
    word.clear();
  }
  if (!word.empty()) add_word(vector, word);
  // Never nothing, however the places fell.
  vector.front() += 0.01F;
  auto state = hash(call);
  float length = 0;
  for (float& number : vector) {
    if (!call.empty()) number += kStir * static_cast<float>(next(state) % 1'000) / 1'000.0F;
    length += number * number;
  }
  length = std::sqrt(length);
  for (float& number : vector) number /= length;
  return vector;
}

}  // namespace millrace::test
