// PaidTexts: which texts were embedded, and how often: each time it was done, it was charged.
//
// A call counts as soon as the work is done, whether or not its answer arrives: what a client that
// died, or whose connection was cut, asks for again is paid for twice here as it is outside.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace millrace::test {

class PaidTexts {
 public:
  void note(std::uint64_t call, const std::vector<std::string>& texts);
  void forget();

  std::uint64_t times(std::string_view text) const;
  // {"calls","texts_paid","texts","times_max"}
  json::Object report() const;
  // [{"sha256","times","calls"}] of texts paid for more often than `over`, at most `count_max`.
  json::Array list(std::uint64_t over, std::size_t count_max) const;

 private:
  std::unordered_map<std::string, std::vector<std::uint64_t>> calls_by_text_;  // By SHA-256.
  std::uint64_t calls_ = 0;
  std::uint64_t paid_ = 0;
};

std::string sha256_hex(std::string_view text);

}  // namespace millrace::test
