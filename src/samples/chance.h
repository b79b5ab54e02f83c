// Chance: the generator's own source of choices, small enough to be drawn once per pixel.
//
// SplitMix64: the same seed gives the same documents on every machine. A part of a document takes
// its own Chance (`fork`), so that adding a sentence in one place does not change the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::samples {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : seed_(seed), state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

  // For another part: depends on the seed and the name, not on what was drawn so far.
  Chance fork(std::string_view name, std::uint64_t number = 0) const {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    Chance mixed(seed_ ^ hash ^ (number * 0xD6E8FEB86659FD93U));
    return Chance(mixed.next());
  }

  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }  // In [0, 1).
  double between(double low, double high) { return low + (high - low) * uniform(); }
  int whole(int low, int high) {  // Both ends included.
    return low + static_cast<int>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool happens(double probability) { return uniform() < probability; }
  double bell() {  // About a standard normal distribution, by the sum of four.
    return (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.7320508;
  }
  std::size_t index(std::size_t count) { return static_cast<std::size_t>(next() % count); }

  template <class List>
  const auto& pick(const List& list) {
    return list[index(list.size())];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t state_;
};

}  // namespace millrace::samples
