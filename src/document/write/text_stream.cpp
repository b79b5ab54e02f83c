#include "document/write/text_stream.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace millrace::document {
namespace {

using layout::Point;

constexpr std::uint16_t kFirstSurrogate = 0xd800;
constexpr std::size_t kOthersMax = 0x800;
constexpr double kGlyphWidth = 0.5;  // Of the font, in its size; /DW says the same.
constexpr double kDescent = 0.2;
constexpr double kWordGap = 0.22;  // White between words at least, in sizes of the line.
constexpr double kSlantMax = 0.8;  // Degrees; more is too much for readers that expect level lines.

class ToSpace {
 public:
  ToSpace(const PdfSpace& space, int rotation_deg)
      : space_(space), back_deg_((360 - rotation_deg) % 360) {}
  Point operator()(Point upright) const {
    const auto raw = layout::turned(upright, back_deg_);
    return {.x = space_.x0 + raw.x * space_.width, .y = space_.y0 + (1 - raw.y) * space_.height};
  }

 private:
  PdfSpace space_;
  int back_deg_;
};

layout::Quad quad_of(const layout::Word& word) {
  if (word.poly) return *word.poly;
  const auto& box = word.box;
  return {Point{.x = box.x0, .y = box.y0},
          {.x = box.x1, .y = box.y0},
          {.x = box.x1, .y = box.y1},
          {.x = box.x0, .y = box.y1}};
}

double length(Point from, Point to) { return std::hypot(to.x - from.x, to.y - from.y); }

// Words of one line share size and base line, or readers would take them for several lines.
struct LineForm {
  Point along = {.x = 1, .y = 0};  // Unit vectors in points.
  Point up = {.x = 0, .y = 1};
  double size = 1;
  double base = 0;  // The base line's place along `up`.
};

double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }

LineForm form_of(const std::vector<layout::Quad>& quads) {
  LineForm form;
  const auto& first = quads.front();
  const Point own{.x = first[1].x - first[0].x, .y = first[1].y - first[0].y};
  const double run = length(first[0], first[1]);
  if (run > 1e-6) form.along = {.x = own.x / run, .y = own.y / run};
  form.up = {.x = -form.along.y, .y = form.along.x};
  const auto mirrored = dot({.x = first[0].x - first[3].x, .y = first[0].y - first[3].y}, form.up);
  if (mirrored < 0) form.up = {.x = -form.up.x, .y = -form.up.y};
  double low = 1e18;
  double high = -1e18;
  for (const auto& quad : quads) {
    for (const auto& corner : quad) {
      low = std::min(low, dot(corner, form.up));
      high = std::max(high, dot(corner, form.up));
    }
  }
  form.size = std::max(high - low, 0.5);
  form.base = low + kDescent * form.size;
  return form;
}

double start_of(const layout::Quad& quad, const LineForm& form) {
  return std::min(dot(quad[0], form.along), dot(quad[3], form.along));
}

bool runs_right_to_left(std::u32string_view text) {
  return std::ranges::any_of(text, layout::is_right_to_left);
}

void append_word(std::string& out, const layout::Word& word, const layout::Quad& quad,
                 const LineForm& form, const TextCodes& codes, double room, bool last) {
  auto text = layout::to_code_points(word.text);
  // Glyphs stand from left to right; readers turn such words round again.
  if (runs_right_to_left(text)) std::ranges::reverse(text);
  // Readers take words for one that stand closer than this.
  const double widest = std::max(room - kWordGap * form.size, 0.4 * room);
  const double width = std::max(std::min(length(quad[0], quad[1]), widest), 0.1);
  const double stretch =
      width / (kGlyphWidth * static_cast<double>(std::max<std::size_t>(1, text.size())));
  const double start = start_of(quad, form);
  const Point at{.x = form.along.x * start + form.up.x * form.base,
                 .y = form.along.y * start + form.up.y * form.base};
  fmt::format_to(std::back_inserter(out), "{:.4f} {:.4f} {:.4f} {:.4f} {:.3f} {:.3f} Tm <",
                 form.along.x * stretch, form.along.y * stretch, form.up.x * form.size,
                 form.up.y * form.size, at.x, at.y);
  for (const auto character : text) {
    fmt::format_to(std::back_inserter(out), "{:04X}", codes.code(character));
  }
  out += last ? "> Tj\n" : "0020> Tj\n";
}

void add_other(std::map<char32_t, std::uint16_t>& others, char32_t character) {
  if (others.size() >= kOthersMax) return;
  const auto next = static_cast<std::uint16_t>(kFirstSurrogate + others.size());
  others.try_emplace(character, next);
}

std::string utf16_hex(char32_t character) {
  if (character < 0x10000) return fmt::format("{:04X}", static_cast<std::uint32_t>(character));
  const auto rest = static_cast<std::uint32_t>(character) - 0x10000;
  return fmt::format("{:04X}{:04X}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

// Lines of a CMap come in groups of at most a hundred.
void append_groups(std::string& out, const std::vector<std::string>& lines, std::string_view what) {
  for (std::size_t i = 0; i < lines.size(); i += 100) {
    const auto count = std::min<std::size_t>(100, lines.size() - i);
    fmt::format_to(std::back_inserter(out), "{} begin{}\n", count, what);
    for (std::size_t j = i; j < i + count; ++j) out += lines[j];
    fmt::format_to(std::back_inserter(out), "end{}\n", what);
  }
}

void put16(std::string& out, std::uint32_t value) {
  out.push_back(static_cast<char>(value >> 8 & 0xff));
  out.push_back(static_cast<char>(value & 0xff));
}
void put32(std::string& out, std::uint32_t value) {
  put16(out, value >> 16);
  put16(out, value & 0xffff);
}

struct FontTable {
  std::string_view tag;
  std::string bytes;
};

std::uint32_t checksum(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) {
      sum += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) << (24 - 8 * k);
    }
  }
  return sum;
}

std::string head_table() {
  std::string out;
  put32(out, 0x00010000);
  put32(out, 0x00010000);
  put32(out, 0);           // The whole file's checksum, put in later.
  put32(out, 0x5f0f3cf5);  // Magic.
  put16(out, 0);
  put16(out, 1000);      // Units.
  out.append(16, '\0');  // Dates.
  put16(out, 0);         // Box.
  put16(out, 0xff38);    // -200
  put16(out, 500);
  put16(out, 800);
  put16(out, 0);
  put16(out, 8);
  put16(out, 2);
  put16(out, 0);  // Short offsets.
  put16(out, 0);
  return out;
}

std::string hhea_table() {
  std::string out;
  put32(out, 0x00010000);
  put16(out, 800);
  put16(out, 0xff38);
  put16(out, 0);
  put16(out, 500);
  out.append(22, '\0');
  put16(out, 1);  // One width.
  out[19] = 1;    // The caret stands upright: rise 1, run 0.
  return out;
}

std::string maxp_table() {
  std::string out;
  put32(out, 0x00010000);
  put16(out, 1);        // Glyphs.
  out.append(8, '\0');  // Points and contours.
  put16(out, 1);        // Zones.
  out.append(16, '\0');
  return out;
}

}  // namespace

TextCodes TextCodes::of(std::string_view json_lines) {
  TextCodes out;
  for (std::size_t i = 0; i < json_lines.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json_lines[i]);
    if (byte >= 0xf0) {
      const auto decoded = layout::decode_at(json_lines, i);
      if (decoded.valid) add_other(out.others_, decoded.code);
    } else if (byte == '\\' && i + 11 < json_lines.size() && json_lines[i + 1] == 'u') {
      unsigned high = 0;
      unsigned low = 0;
      const std::string pair(json_lines.substr(i, 12));
      const bool found = std::sscanf(pair.c_str(), "\\u%4x\\u%4x", &high, &low) == 2;
      if (found && high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
        add_other(out.others_, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
      }
    }
  }
  return out;
}

std::uint16_t TextCodes::code(char32_t character) const {
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  if (character < 0x10000 && !surrogate) return static_cast<std::uint16_t>(character);
  const auto found = others_.find(character);
  return found == others_.end() ? static_cast<std::uint16_t>(layout::kReplacement) : found->second;
}

std::string TextCodes::to_unicode() const {
  std::string out =
      "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
      "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
      "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
      "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n";
  std::vector<std::string> ranges;
  for (unsigned high = 0; high < 256; ++high) {  // A range keeps its first byte.
    if (high >= 0xd8 && high < 0xe0) continue;
    ranges.push_back(fmt::format("<{0:02X}00> <{0:02X}FF> <{0:02X}00>\n", high));
  }
  append_groups(out, ranges, "bfrange");
  std::vector<std::string> single;
  for (const auto& [character, code] : others_) {
    single.push_back(fmt::format("<{:04X}> <{}>\n", code, utf16_hex(character)));
  }
  append_groups(out, single, "bfchar");
  out += "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n";
  return out;
}

namespace {

// Degrees between the line and the nearest direction in which pages are read.
double slant_of(const LineForm& form) {
  const double low = std::min(std::abs(form.along.x), std::abs(form.along.y));
  return std::asin(std::min(1.0, low)) * 57.29578;
}

// The words of a line once more as one text. Programs that sort words by where they stand would
// deal a slanted line out over its neighbours.
std::string spoken(const layout::PageMap& page, const layout::Line& line) {
  std::string out = "/Span << /ActualText <FEFF";
  for (const auto character : layout::to_code_points(page.text_of(line.words))) {
    out += utf16_hex(character);
  }
  return out + "> >> BDC\n";
}

}  // namespace

std::string text_stream(const layout::PageMap& page, const PdfSpace& space, const TextCodes& codes,
                        std::string_view font) {
  const ToSpace to_space(space, page.info.rotation_deg);
  std::string out = fmt::format("q\nBT\n3 Tr\n{} 1 Tf\n", font);
  for (const auto& line : page.lines) {
    std::vector<layout::Quad> quads;
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      auto quad = quad_of(page.words[i]);
      for (auto& corner : quad) corner = to_space(corner);
      quads.push_back(quad);
    }
    const auto form = form_of(quads);
    const bool slanted = slant_of(form) > kSlantMax;
    if (slanted) out += spoken(page, line);
    for (auto i = line.words.first; i <= line.words.last; ++i) {
      const auto k = i - line.words.first;
      const bool last = i == line.words.last;
      append_word(out, page.words[i], quads[k], form, codes,
                  last ? 1e9 : start_of(quads[k + 1], form) - start_of(quads[k], form), last);
    }
    if (slanted) out += "EMC\n";
  }
  out += "ET\nQ\n";
  return out;
}

std::string empty_font() {
  std::string metrics;
  put16(metrics, 500);
  put16(metrics, 0);
  std::string places;
  put16(places, 0);
  put16(places, 0);
  const std::vector<FontTable> tables = {{.tag = "glyf", .bytes = std::string(4, '\0')},
                                         {.tag = "head", .bytes = head_table()},
                                         {.tag = "hhea", .bytes = hhea_table()},
                                         {.tag = "hmtx", .bytes = metrics},
                                         {.tag = "loca", .bytes = places},
                                         {.tag = "maxp", .bytes = maxp_table()}};
  std::string out;
  put32(out, 0x00010000);
  put16(out, static_cast<std::uint32_t>(tables.size()));
  put16(out, 64);  // Search range, selector and shift for six tables.
  put16(out, 2);
  put16(out, static_cast<std::uint32_t>(tables.size()) * 16 - 64);
  std::uint32_t at = static_cast<std::uint32_t>(12 + 16 * tables.size());
  std::size_t head_at = 0;
  for (const auto& table : tables) {
    out += table.tag;
    put32(out, checksum(table.bytes));
    put32(out, at);
    put32(out, static_cast<std::uint32_t>(table.bytes.size()));
    if (table.tag == "head") head_at = at;
    at += static_cast<std::uint32_t>((table.bytes.size() + 3) / 4 * 4);
  }
  for (const auto& table : tables) {
    out += table.bytes;
    out.resize((out.size() + 3) / 4 * 4, '\0');
  }
  std::string adjustment;
  put32(adjustment, 0xb1b0afba - checksum(out));
  out.replace(head_at + 8, 4, adjustment);
  return out;
}

}  // namespace millrace::document
