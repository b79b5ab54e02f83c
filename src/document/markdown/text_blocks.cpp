#include "document/markdown/text_blocks.h"

#include "document/markdown/escape.h"
#include "document/markdown/plain_lines.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kWrappedFrom = 40;  // Shorter lines end where their writer wanted.
constexpr double kWrappedShare = 0.7;     // Of the longest line.

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Text stands in columns: two blanks or a tab between words, on more than half of the lines.
bool has_columns(const std::vector<std::string_view>& lines) {
  if (lines.size() < 2) return false;
  const auto count = std::ranges::count_if(lines, [](std::string_view line) {
    const auto text = trimmed(line);
    const auto gap = text.find("   ");
    return gap != text.npos || text.find('\t') != text.npos;
  });
  return static_cast<std::size_t>(count) * 2 > lines.size();
}

// Boxes and arrows drawn with characters.
bool is_drawing(const std::vector<std::string_view>& lines) {
  std::size_t drawn = 0;
  for (const auto line : lines) {
    const auto text = trimmed(line);
    const auto marks = std::ranges::count_if(text, [](char c) {
      return std::string_view("+-|/\\=_<>*#~").find(c) != std::string_view::npos;
    });
    if (text.size() >= 3 && static_cast<std::size_t>(marks) * 2 > text.size()) ++drawn;
  }
  return lines.size() >= 3 && drawn * 2 >= lines.size();
}

std::string joined(const std::vector<std::string_view>& lines) {
  std::string out;
  for (const auto line : lines) out.append(line).append("\n");
  return out;
}

std::size_t longest_of(const std::vector<std::string_view>& lines) {
  std::size_t longest = 0;
  for (const auto line : lines) longest = std::max(longest, trimmed(line).size());
  return longest;
}

// Scripts whose words are not parted by spaces, with their punctuation.
bool is_unspaced(char32_t code) {
  struct Range {
    char32_t first;
    char32_t last;
  };
  static constexpr auto kRanges = std::to_array<Range>({{0x0e00, 0x0eff},    // Thai, Lao.
                                                        {0x1000, 0x109f},    // Burmese.
                                                        {0x1780, 0x17ff},    // Khmer.
                                                        {0x3001, 0x303f},    // 、。「」
                                                        {0x3100, 0x312f},    // Bopomofo.
                                                        {0x31f0, 0x31ff},    // Kana.
                                                        {0xff61, 0xff9f}});  // Kana of half width.
  return layout::is_ideograph(code) || std::ranges::any_of(kRanges, [code](const Range& range) {
           return code >= range.first && code <= range.last;
         });
}

char32_t last_code(std::string_view text) {
  auto at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xc0U) == 0x80U) continue;
  return text.empty() ? 0 : layout::decode_at(text, at).code;
}

// Markdown of a text whose lines are breaks.
std::string with_breaks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (!out.empty()) out += "\\\n";
    out += escaped(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void write_list(const std::vector<std::string_view>& lines, MarkdownWriter& out) {
  std::vector<std::size_t> indents;
  LineJoiner item;
  const auto finish = [&] {
    if (!item.empty()) out.paragraph(with_breaks(item.take()));
  };
  for (const auto line : lines) {
    const auto found = list_marker(line);
    if (!found) {
      item.add(trimmed(line));
      continue;
    }
    finish();
    while (!indents.empty() && indents.back() > found.indent) {
      indents.pop_back();
      out.end_list();
    }
    if (indents.empty() || indents.back() < found.indent) {
      indents.push_back(found.indent);
      out.begin_list();
    }
    out.begin_item(found.marker);
    item.add(trimmed(found.rest));
  }
  finish();
  for (std::size_t i = 0; i < indents.size(); ++i) out.end_list();
}

}  // namespace

ListMarker list_marker(std::string_view line) {
  static constexpr auto kBullets =
      std::to_array<std::string_view>({"-", "*", "+", "•", "–", "·", "▪", "◦", "‣", "●", "○"});
  const auto indent = std::min(line.find_first_not_of(" \t"), line.size());
  const auto text = line.substr(indent);
  for (const auto bullet : kBullets) {
    if (!text.starts_with(bullet)) continue;
    const auto rest = text.substr(bullet.size());
    if (rest.starts_with(' ') || rest.starts_with('\t')) {
      return {.marker = "-", .rest = rest, .indent = indent};
    }
  }
  const auto digits = text.find_first_not_of("0123456789");
  if (digits == text.npos || digits == 0 || digits > 3) return {};
  if (text[digits] != '.' && text[digits] != ')') return {};
  const auto rest = text.substr(digits + 1);
  if (!rest.starts_with(' ') && !rest.starts_with('\t')) return {};
  return {.marker = std::string(text.substr(0, digits)) + ".", .rest = rest, .indent = indent};
}

void LineJoiner::add(std::string_view line) {
  if (text_.empty() || std::exchange(broken_, false)) {
    if (!text_.empty()) text_ += '\n';
    text_ += line;
    broken_ = false;
    return;
  }
  const bool soft = text_.ends_with("\xc2\xad");
  const bool hyphen = text_.ends_with('-') && text_.size() > 1;
  const auto next = line.empty() ? layout::Decoded{} : layout::decode_at(line, 0);
  const bool goes_on = layout::is_letter(next.code) && !layout::is_upper(next.code);
  const bool letter_before =
      hyphen && std::isalpha(static_cast<unsigned char>(text_[text_.size() - 2])) != 0;
  if (soft && goes_on) {
    text_.resize(text_.size() - 2);
  } else if (letter_before && goes_on) {
    text_.pop_back();
  } else if (is_unspaced(next.code) && is_unspaced(last_code(text_))) {
    // Nothing stands between them on one line either.
  } else if (!hyphen || !goes_on) {
    text_ += ' ';
  }
  text_ += line;
}

void LineJoiner::line_break() { broken_ = true; }

std::string LineJoiner::take() {
  broken_ = true;
  return std::exchange(text_, {});
}

void write_text_block(const std::vector<std::string_view>& lines, MarkdownWriter& out) {
  if (lines.empty()) return;
  if (lines.size() == 2) {
    // A heading with a line under it.
    const auto under = trimmed(lines[1]);
    const bool drawn = under.size() >= 3 && (under.find_first_not_of('=') == under.npos ||
                                             under.find_first_not_of('-') == under.npos);
    if (drawn) return out.heading(under[0] == '=' ? 1 : 2, escaped(trimmed(lines[0])));
  }
  if (list_marker(lines.front())) return write_list(lines, out);
  const auto delimited = delimited_lines(lines);
  if (!delimited.rows.empty()) return out.table(delimited.rows);
  if (has_columns(lines) || is_drawing(lines)) return out.code(joined(lines));
  const auto longest = longest_of(lines);
  const bool is_log = std::ranges::count_if(lines, starts_with_time) > 1;
  LineJoiner paragraph;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto text = trimmed(lines[i]);
    // A list may follow right under its introduction.
    if (i > 0 && list_marker(lines[i]) && !trimmed(lines[i - 1]).ends_with('-')) {
      out.paragraph(with_breaks(paragraph.take()));
      return write_list({lines.begin() + static_cast<std::ptrdiff_t>(i), lines.end()}, out);
    }
    // An entry of a log, or what is set in under one.
    const bool set_in = lines[i].starts_with(' ') || lines[i].starts_with('\t');
    if (is_log && (set_in || starts_with_time(lines[i]))) paragraph.line_break();
    paragraph.add(text);
    const bool long_enough =
        text.size() >= kWrappedFrom &&
        static_cast<double>(text.size()) >= kWrappedShare * static_cast<double>(longest);
    const bool wrapped = long_enough || (text.ends_with('-') && text.size() > 1);
    if (!wrapped || delimited.keeps_breaks) paragraph.line_break();
  }
  out.paragraph(with_breaks(paragraph.take()));
}

}  // namespace millrace::document
