#include "layout/sources/tesseract.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::size_t kColumns = 12;
constexpr auto kNames =
    std::to_array<std::string_view>({"level", "page_num", "block_num", "par_num", "line_num",
                                     "word_num", "left", "top", "width", "height", "conf", "text"});
constexpr double kPageLevel = 1;
constexpr double kWordLevel = 5;

struct TsvRow {
  std::array<double, kColumns - 1> numbers{};
  std::string_view text;

  double level() const { return numbers[0]; }
  double page() const { return numbers[1]; }
  TesseractWord word() const {
    return {.left = numbers[6],
            .top = numbers[7],
            .width = numbers[8],
            .height = numbers[9],
            .conf = numbers[10],
            .text = std::string(text)};
  }
};

std::unexpected<Error> wrong(std::size_t line, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("line {}: {}", line, rule));
}

Result<TsvRow> parse_row(std::string_view line, std::size_t number) {
  TsvRow row;
  for (std::size_t column = 0; column + 1 < kColumns; ++column) {
    const auto tab = line.find('\t');
    // The text of a row without any may be missing together with its tab.
    const bool last = column + 2 == kColumns;
    if (tab == std::string_view::npos && !last) {
      return wrong(number, fmt::format("there must be {} columns", kColumns));
    }
    const auto field = line.substr(0, tab);
    auto& value = row.numbers[column];
    const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (code != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) {
      return wrong(number, fmt::format("{} must be a number", kNames[column]));
    }
    line = tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1);
  }
  row.text = line;
  return row;
}

struct TsvPage {
  PageInfo info = {};
  std::vector<TesseractWord> words = {};
};

Result<void> add_row(std::vector<TsvPage>& pages, const TsvRow& row, std::size_t number,
                     const TsvOptions& options) {
  const auto& limits = options.limits;
  if (row.level() == kPageLevel) {
    const auto width = row.numbers[8];
    const auto height = row.numbers[9];
    const bool fits =
        width >= 1 && height >= 1 && width <= limits.side_px_max && height <= limits.side_px_max;
    if (!fits) return wrong(number, "width and height of a page must be greater than 0");
    const auto before = pages.empty() ? 0 : pages.back().info.page;
    if (!(row.page() > before && row.page() <= limits.page_max)) {
      return wrong(number, "page_num must rise from page to page");
    }
    pages.push_back({.info = {.page = static_cast<std::uint32_t>(row.page()),
                              .width_px = static_cast<std::uint32_t>(width),
                              .height_px = static_cast<std::uint32_t>(height),
                              .dpi = options.dpi,
                              .engine = options.engine}});
    return ok();
  }
  if (row.level() != kWordLevel) return ok();
  if (pages.empty() || row.page() != pages.back().info.page) {
    return wrong(number, "a word must follow the row of its page");
  }
  if (pages.back().words.size() >= limits.words_max) {
    return wrong(number, fmt::format("more words than the limit of {}", limits.words_max));
  }
  pages.back().words.push_back(row.word());
  return ok();
}

}  // namespace

Result<RawPage> from_tesseract(PageInfo info, std::span<const TesseractWord> words, int turn_deg) {
  MR_TRY_VOID(check_info(info));
  const bool sideways = turn_deg % 180 != 0;
  const Frame frame{
      .visible = {.x1 = static_cast<double>(sideways ? info.height_px : info.width_px),
                  .y1 = static_cast<double>(sideways ? info.width_px : info.height_px)},
      .rotation_deg = turn_deg};
  std::vector<RawWord> raw;
  raw.reserve(words.size());
  for (const auto& word : words) {
    raw.push_back({.text = word.text,
                   .box = {.x0 = word.left,
                           .y0 = word.top,
                           .x1 = word.left + word.width,
                           .y1 = word.top + word.height}});
    if (word.conf >= 0) raw.back().conf = word.conf / 100;
  }
  return to_raw_page(std::move(info), frame, std::move(raw));
}

Result<std::vector<RawPage>> parse_tesseract_tsv(std::string_view text, const TsvOptions& options) {
  if (text.size() > options.bytes_max) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("a TSV of {} bytes is larger than the limit of {}", text.size(),
                            options.bytes_max));
  }
  std::vector<TsvPage> pages;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("level\t"))) continue;
    MR_TRY(const auto row, parse_row(line, number));
    MR_TRY_VOID(add_row(pages, row, number, options));
  }
  std::vector<RawPage> out;
  for (auto& page : pages) {
    MR_TRY(auto raw, from_tesseract(std::move(page.info), page.words));
    out.push_back(std::move(raw));
  }
  return out;
}

}  // namespace millrace::layout
