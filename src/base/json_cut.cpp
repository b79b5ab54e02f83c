#include "base/json_cut.h"

namespace millrace {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  void skip_space() {
    const auto next = text_.find_first_not_of(kSpace, at_);
    at_ = next == std::string_view::npos ? text_.size() : next;
  }
  bool skip(char c) {
    skip_space();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // With its quotes.
  std::optional<std::string_view> string() {
    skip_space();
    if (at_end() || text_[at_] != '"') return std::nullopt;
    const auto begin = at_++;
    for (;;) {
      at_ = text_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) {
        at_ = text_.size();
        return std::nullopt;
      }
      if (text_[at_] == '"') return text_.substr(begin, ++at_ - begin);
      at_ += 2;
    }
  }
  std::optional<std::string_view> value() {
    skip_space();
    if (at_end()) return std::nullopt;
    const auto begin = at_;
    const char first = text_[at_];
    if (first == '"') return string();
    if (first != '{' && first != '[') {
      const auto end = text_.find_first_of(",]} \t\r\n", at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
      if (at_ == begin) return std::nullopt;
      return text_.substr(begin, at_ - begin);
    }
    for (std::size_t depth = 0;;) {
      at_ = text_.find_first_of("\"{}[]", at_);
      if (at_ == std::string_view::npos) {
        at_ = text_.size();
        return std::nullopt;
      }
      const char c = text_[at_];
      if (c == '"') {
        if (!string()) return std::nullopt;
        continue;
      }
      ++at_;
      depth += c == '{' || c == '[' ? 1 : 0;
      if (c != '}' && c != ']') continue;
      if (--depth == 0) return text_.substr(begin, at_ - begin);
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<JsonCut> cut_json_member(std::string_view text, std::string_view name) {
  Cursor cursor(text);
  if (!cursor.skip('{')) return std::nullopt;
  do {
    const auto key = cursor.string();
    if (!key || !cursor.skip(':')) return std::nullopt;
    const auto before = cursor.at();
    const auto value = cursor.value();
    if (!value) return std::nullopt;
    if (key->substr(1, key->size() - 2) == name) {
      return JsonCut{
          .before = text.substr(0, before), .value = *value, .after = text.substr(cursor.at())};
    }
  } while (cursor.skip(','));
  return std::nullopt;
}

bool for_json_elements(std::string_view array, std::size_t count,
                       const std::function<bool(std::string_view elements)>& take) {
  Cursor cursor(array);
  if (!cursor.skip('[')) return false;
  if (cursor.skip(']')) {
    cursor.skip_space();
    return cursor.at_end();
  }
  auto begin = cursor.at();
  for (std::size_t gathered = 1;; ++gathered) {
    if (!cursor.value()) return false;
    const auto end = cursor.at();
    const bool more = cursor.skip(',');
    if (!more && !cursor.skip(']')) return false;
    if (more && gathered < count) continue;
    if (!take(array.substr(begin, end - begin))) return false;
    if (!more) break;
    begin = cursor.at();
    gathered = 0;
  }
  cursor.skip_space();
  return cursor.at_end();
}

}  // namespace millrace
