#include "samples/prose.h"

namespace millrace::samples {
namespace {

void raise(std::string& text) {
  if (text.empty()) return;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first >= 'a' && first <= 'z') {
    text[0] = static_cast<char>(first - 'a' + 'A');
  } else if (first == 0xC3 && text.size() > 1) {
    // Latin letters with accents: the capitals lie 0x20 before the small ones.
    const auto second = static_cast<unsigned char>(text[1]);
    if (second >= 0xA0 && second <= 0xBE && second != 0xB7) {
      text[1] = static_cast<char>(second - 0x20);
    }
  }
}

}  // namespace

void Prose::capitalise(std::size_t from) {
  if (from >= text_.size()) return;
  std::string rest = text_.substr(from);
  raise(rest);
  text_.replace(from, std::string::npos, rest);
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (starts_[i] != from) continue;
    if (facts_[i].text.starts_with(facts_[i].name)) raise(facts_[i].name);
    raise(facts_[i].text);
  }
}

}  // namespace millrace::samples
