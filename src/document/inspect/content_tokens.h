// ContentTokens: the operators of a PDF content stream, as far as counting text needs them.
//
// Takes pieces of any size and keeps a few bytes of state: strings are counted, not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace millrace::document {

class ContentTokens {
 public:
  struct Operation {
    std::string_view name;       // "Tj"
    std::string_view last_name;  // The last name before it: "/F1".
    std::uint64_t string_bytes;  // Of all strings before it.
  };
  using Taker = std::function<void(const Operation&)>;

  explicit ContentTokens(Taker take) : take_(std::move(take)) {}

  void add(std::string_view piece);
  void finish();

 private:
  enum class State { between, word, name, string, escape, hex, comment, image };

  void add_byte(char c);
  void begin(char c);
  void end_word();
  void in_image(char c);

  static constexpr std::size_t kWordMax = 128;

  Taker take_;
  State state_ = State::between;
  std::string word_;
  std::string name_;
  std::uint64_t string_bytes_ = 0;
  std::uint64_t hex_digits_ = 0;
  std::uint32_t depth_ = 0;      // Of parentheses in a string.
  std::uint32_t image_end_ = 0;  // How much of " EI " has been seen.
};

}  // namespace millrace::document
