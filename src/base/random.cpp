#include "base/random.h"

#include "base/assert.h"

#include <cmath>
#include <sys/random.h>

namespace millrace {

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  MR_ASSERT(bound > 0);
  const std::uint64_t skip = (0 - bound) % bound;  // 2^64 mod bound: these would be too frequent.
  for (;;) {
    const auto value = next();
    if (value >= skip) return value % bound;
  }
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  MR_ASSERT(low <= high);
  const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const auto offset = width == 0 ? next() : below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

Uuid Random::uuid() {
  Uuid uuid;
  for (std::size_t half = 0; half < 2; ++half) {
    const auto bits = next();
    for (std::size_t i = 0; i < 8; ++i) {
      uuid.bytes[half * 8 + i] = static_cast<std::uint8_t>(bits >> (8U * i));
    }
  }
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0fU) | 0x40U);  // Version 4.
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3fU) | 0x80U);  // RFC 4122.
  return uuid;
}

std::chrono::milliseconds Random::jitter(std::chrono::milliseconds duration, double share) {
  const double factor = 1.0 + share * (2.0 * uniform() - 1.0);
  return std::chrono::milliseconds(std::llround(static_cast<double>(duration.count()) * factor));
}

std::uint64_t SystemRandom::next() {
  std::uint64_t value = 0;
  // Eight bytes never come in part, and a signal cannot interrupt so small a request.
  const auto got = ::getrandom(&value, sizeof value, 0);
  MR_ASSERT(got == static_cast<ssize_t>(sizeof value));
  return value;
}

std::uint64_t SeededRandom::next() {
  const std::lock_guard lock(mutex_);
  state_ += 0x9e3779b97f4a7c15ULL;  // splitmix64.
  auto z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace millrace
