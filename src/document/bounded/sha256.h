// Sha256: the digest of a page's content, made of pieces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::document {

using Sha256Value = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  // With its length before it, so that no two lists of pieces are the same bytes.
  void add_piece(std::string_view bytes);
  void add_number(std::uint64_t value);
  Sha256Value value();  // Once.
  std::string hex();    // Once.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::document
