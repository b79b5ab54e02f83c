// SHA-256, whole and in pieces, and the SHA-1 that UUIDv5 is made of.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::chunk {

using Sha256Digest = std::array<std::uint8_t, 32>;
using Sha1Digest = std::array<std::uint8_t, 20>;

std::string to_hex(const Sha256Digest& digest);  // Lower case.
Sha1Digest sha1_of(std::string_view text);

// Usable again after finish().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void update(std::string_view text);
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256Digest sha256_of(std::string_view text);

}  // namespace millrace::chunk
