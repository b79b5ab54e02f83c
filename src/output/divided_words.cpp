#include "output/divided_words.h"

#include "layout/code_points.h"

#include <string_view>

namespace millrace::output {
namespace {

constexpr std::size_t kLettersMin = 2;

bool is_hyphen(char32_t code) { return code == '-' || code == 0xad || code == 0x2010; }

// The hyphen at the end of letters; empty when it is not like that.
std::string_view hyphen_of(std::string_view text) {
  std::size_t letters = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto next = layout::decode_at(text, i);
    const bool last = i + next.bytes == text.size();
    if (last && is_hyphen(next.code) && letters >= kLettersMin) return text.substr(i);
    if (!layout::is_letter(next.code)) return {};
    ++letters;
    i += next.bytes;
  }
  return {};
}

bool begins_small(std::string_view text) {
  const auto first = layout::decode_at(text, 0);
  return first.valid && layout::is_letter(first.code) && !layout::is_upper(first.code) &&
         !layout::is_ideograph(first.code) && !layout::is_right_to_left(first.code);
}

}  // namespace

DividedWords::DividedWords(const layout::PageMap& page) {
  for (std::size_t line = 0; line + 1 < page.lines.size(); ++line) {
    if (page.lines[line].block != page.lines[line + 1].block) continue;
    if (page.blocks[page.lines[line].block].kind == layout::BlockKind::table) continue;
    const auto at = page.lines[line].words.last;
    const std::string_view head = page.words[at].text;
    const std::string_view tail = page.words[at + 1].text;
    const auto hyphen = hyphen_of(head);
    if (hyphen.empty() || !begins_small(tail)) continue;
    if (parts_.contains(at)) continue;  // A part can be only one of the two: it stays the second.
    const auto stem = head.substr(0, head.size() - hyphen.size());
    const auto letters = static_cast<double>(layout::count_code_points(stem));
    const auto whole = std::string(stem) + std::string(tail);
    parts_[at] = {.first = true,
                  .hyphen = std::string(hyphen),
                  .share = letters / (letters + 1),
                  .whole = whole};
    parts_[at + 1] = {.whole = whole};
  }
}

const DividedPart* DividedWords::find(std::uint32_t word) const {
  const auto at = parts_.find(word);
  return at == parts_.end() ? nullptr : &at->second;
}

}  // namespace millrace::output
