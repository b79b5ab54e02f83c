#include "chunk/line_shapes.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::chunk {
namespace {

constexpr auto npos = std::string_view::npos;

// Tags that begin a block wherever they stand. Sorted.
constexpr std::string_view kBlockTags[] = {
    "address",  "article",  "aside",    "base",       "basefont", "blockquote", "body",   "caption",
    "center",   "col",      "colgroup", "dd",         "details",  "dialog",     "dir",    "div",
    "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer",     "form",   "frame",
    "frameset", "h1",       "h2",       "h3",         "h4",       "h5",         "h6",     "head",
    "header",   "hr",       "html",     "iframe",     "legend",   "li",         "link",   "main",
    "menu",     "menuitem", "nav",      "noframes",   "ol",       "optgroup",   "option", "p",
    "param",    "section",  "source",   "summary",    "table",    "tbody",      "td",     "tfoot",
    "th",       "thead",    "title",    "tr",         "track",    "ul"};

// By first letter and length, which exclude most other names.
constexpr std::array<std::uint16_t, 26> kBlockTagSizes = [] {
  std::array<std::uint16_t, 26> out{};
  for (const auto tag : kBlockTags)
    out[tag[0] - 'a'] |= static_cast<std::uint16_t>(1U << tag.size());
  return out;
}();
bool is_block_tag(std::string_view name) {
  if (name.empty() || name.size() > 15 || name[0] < 'a' || name[0] > 'z') return false;
  return (kBlockTagSizes[static_cast<std::size_t>(name[0] - 'a')] >> name.size() & 1U) != 0 &&
         std::ranges::binary_search(kBlockTags, name);
}

char lower_of(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f'; }
bool is_letter(char c) { return lower_of(c) >= 'a' && lower_of(c) <= 'z'; }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

// A whole tag and nothing else on the line; attributes are only walked over.
bool is_lone_tag(std::string_view content) {
  const auto text = trim_blank(content);
  if (text.size() < 3 || !text.ends_with('>')) return false;
  std::size_t i = text[1] == '/' ? 2 : 1;
  if (!is_letter(text[i])) return false;
  while (i < text.size() && is_name(text[i])) ++i;
  if (text[i] == ':' || text[i] == '@') return false;  // <https://…> is a link.
  char quote = 0;
  for (; i + 1 < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '<' || c == '>') {
      return false;
    }
  }
  return quote == 0;
}

}  // namespace

std::string_view trim_blank(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<AtxHeading> atx_heading_of(std::string_view content) {
  std::size_t level = 0;
  while (level < content.size() && content[level] == '#') ++level;
  if (level == 0 || level > 6) return std::nullopt;
  auto title = content.substr(level);
  if (!title.empty() && title[0] != ' ' && title[0] != '\t') return std::nullopt;
  title = trim_blank(title);
  const auto last = title.find_last_not_of('#');
  if (last == npos) {
    title = {};
  } else if (last + 1 < title.size() && (title[last] == ' ' || title[last] == '\t')) {
    title = trim_blank(title.substr(0, last));
  }
  return AtxHeading{static_cast<std::uint8_t>(level), title};
}

std::uint8_t underline_level_of(std::string_view content) {
  const auto text = trim_blank(content);
  if (text.empty() || (text[0] != '=' && text[0] != '-')) return 0;
  if (text.find_first_not_of(text[0]) != npos) return 0;
  return text[0] == '=' ? 1 : 2;
}

std::optional<Fence> fence_of(std::string_view content) {
  if (content.empty() || (content[0] != '`' && content[0] != '~')) return std::nullopt;
  const auto end = std::min(content.find_first_not_of(content[0]), content.size());
  if (end < 3) return std::nullopt;
  const auto info = trim_blank(content.substr(end));
  if (content[0] == '`' && info.contains('`')) return std::nullopt;
  return Fence{content[0], end, info};
}

std::size_t cell_count(std::string_view content) {
  const auto text = trim_blank(content);
  std::size_t bars = 0;
  bool escaped = false;
  bool last_is_bar = false;
  for (const char c : text) {
    last_is_bar = c == '|' && !escaped;
    if (last_is_bar) ++bars;
    escaped = c == '\\' && !escaped;
  }
  if (bars == 0) return 0;
  const std::size_t edges = (text.starts_with('|') ? 1U : 0U) + (last_is_bar ? 1U : 0U);
  return bars + 1 - std::min(edges, bars);
}

bool is_delimiter_row(std::string_view content) {
  auto text = trim_blank(content);
  const auto is_of_row = [](char c) {
    return c == '|' || c == ':' || c == '-' || c == ' ' || c == '\t';
  };
  if (!std::ranges::all_of(text, is_of_row) || !text.contains('-')) return false;
  if (text.starts_with('|')) text.remove_prefix(1);
  if (text.ends_with('|')) text.remove_suffix(1);
  while (true) {
    const auto bar = text.find('|');
    auto cell = trim_blank(text.substr(0, bar));
    if (cell.starts_with(':')) cell.remove_prefix(1);
    if (cell.ends_with(':')) cell.remove_suffix(1);
    if (cell.empty() || cell.find_first_not_of('-') != npos) return false;
    if (bar == npos) return true;
    text.remove_prefix(bar + 1);
  }
}

bool contains_lower(std::string_view text, std::string_view lower) {
  if (lower.empty()) return false;
  // Ends of HTML blocks are rare: find their first, caseless byte fast.
  for (auto at = text.find(lower[0]); at != npos; at = text.find(lower[0], at + 1)) {
    const auto part = text.substr(at, lower.size());
    if (std::ranges::equal(part, lower, {}, lower_of)) return true;
  }
  return false;
}

std::optional<HtmlStart> html_start_of(std::string_view content) {
  if (content.size() < 2 || content[0] != '<') return std::nullopt;
  if (content.starts_with("<!--")) return HtmlStart{"-->"};
  if (content.starts_with("<?")) return HtmlStart{"?>"};
  if (content.starts_with("<![CDATA[")) return HtmlStart{"]]>"};
  if (content.size() > 2 && content[1] == '!' && is_letter(content[2])) return HtmlStart{">"};
  const bool closes = content[1] == '/';
  std::array<char, 12> lower{};
  std::size_t size = 0;
  for (auto i = closes ? 2U : 1U;
       i < content.size() && size < lower.size() && is_name(content[i]);) {
    lower[size++] = lower_of(content[i++]);
  }
  const std::string_view name(lower.data(), size);
  const auto after = content.substr(size + (closes ? 2 : 1));
  const bool ends = after.empty() || after[0] == ' ' || after[0] == '\t' || after[0] == '>' ||
                    after.starts_with("/>");
  if (ends && !closes && name.size() >= 3) {
    if (name == "script") return HtmlStart{"</script>"};
    if (name == "pre") return HtmlStart{"</pre>"};
    if (name == "style") return HtmlStart{"</style>"};
    if (name == "textarea") return HtmlStart{"</textarea>"};
  }
  if (ends && is_block_tag(name)) return HtmlStart{};
  if (is_lone_tag(content)) return HtmlStart{.interrupts = false};
  return std::nullopt;
}

std::optional<std::uint32_t> page_marker_of(std::string_view content) {
  auto text = trim_blank(content);
  if (!text.starts_with("<!--") || !text.ends_with("-->") || text.size() < 12) return std::nullopt;
  text = trim_blank(text.substr(4, text.size() - 7));
  constexpr std::string_view kWord = "page";
  if (!std::ranges::equal(text.substr(0, kWord.size()), kWord, {}, lower_of)) return std::nullopt;
  text.remove_prefix(kWord.size());
  if (text.empty() || (text[0] != ' ' && text[0] != '\t')) return std::nullopt;
  text = trim_blank(text);
  std::uint32_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || text.size() > 9 || number == 0) return std::nullopt;
  return number;
}

bool looks_like_yaml(std::string_view line) {
  if (line.starts_with('#')) return true;
  const auto colon = line.find(':');
  if (colon == npos || colon == 0) return false;
  if (line[0] != '"' && line[0] != '\'' && line[0] != '_' && !is_letter(line[0])) return false;
  return colon + 1 >= line.size() || line[colon + 1] == ' ' || line[colon + 1] == '\n';
}

}  // namespace millrace::chunk
