#include "api/raw_json.h"

#include "base/json.h"

#include <algorithm>
#include <cstddef>

namespace millrace::api {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// A cursor over text that is known to be JSON.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool done() const { return at_ >= text_.size(); }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }
  void step() { ++at_; }

  // With its quotes.
  std::string_view string() {
    const auto begin = at_;
    for (step(); !done() && !at('"'); step()) {
      if (at('\\')) step();
    }
    step();
    return cut(begin);
  }

  std::string_view value() {
    const auto begin = at_;
    if (at('"')) return string();
    if (!at('{') && !at('[')) {
      at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
      return cut(begin);
    }
    for (std::size_t depth = 0; !done();) {
      if (at('"')) {
        string();
        continue;
      }
      if (at('{') || at('[')) ++depth;
      if (at('}') || at(']')) --depth;
      step();
      if (depth == 0) break;
    }
    return cut(begin);
  }

 private:
  std::string_view cut(std::size_t begin) const {
    const auto end = std::min(at_, text_.size());
    return text_.substr(begin, end - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Whether a name, with its quotes and perhaps with escapes, is this one.
bool is_name(std::string_view quoted, std::string_view name) {
  if (!quoted.contains('\\')) {
    return quoted.size() == name.size() + 2 && quoted.substr(1, name.size()) == name;
  }
  const auto parsed = parse_json(quoted);
  return parsed && parsed->is_string() && std::string_view(parsed->get_string()) == name;
}

}  // namespace

std::optional<std::string_view> raw_member(std::string_view object, std::string_view name) {
  Scanner scanner(object);
  scanner.skip_blanks();
  if (!scanner.at('{')) return std::nullopt;
  scanner.step();
  for (;;) {
    scanner.skip_blanks();
    if (!scanner.at('"')) return std::nullopt;
    const auto key = scanner.string();
    scanner.skip_blanks();
    scanner.step();  // The colon.
    scanner.skip_blanks();
    const auto value = scanner.value();
    if (is_name(key, name)) return value;
    scanner.skip_blanks();
    if (!scanner.at(',')) return std::nullopt;
    scanner.step();
  }
}

std::vector<std::string_view> raw_elements(std::string_view array) {
  std::vector<std::string_view> out;
  Scanner scanner(array);
  scanner.skip_blanks();
  if (!scanner.at('[')) return out;
  scanner.step();
  for (;;) {
    scanner.skip_blanks();
    if (scanner.done() || scanner.at(']')) return out;
    out.push_back(scanner.value());
    scanner.skip_blanks();
    if (!scanner.at(',')) return out;
    scanner.step();
  }
}

}  // namespace millrace::api
