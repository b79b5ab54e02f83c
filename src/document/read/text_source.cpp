#include "document/read/text_source.h"

#include "layout/code_points.h"
#include "layout/sources/pdf_text.h"
#include "layout/text_layer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::document {
namespace {

constexpr double kScanShare = 0.5;        // Of the page, from which an image may be what it shows.
constexpr std::size_t kStampChars = 160;  // So few beside such an image are a stamp or a footer.

// Corners as the text runs, from where it begins at the top.
layout::Quad quad_of(const layout::Box& box, int direction_deg) {
  const std::array<layout::Point, 4> corners = {layout::Point{.x = box.x0, .y = box.y0},
                                                {.x = box.x1, .y = box.y0},
                                                {.x = box.x1, .y = box.y1},
                                                {.x = box.x0, .y = box.y1}};
  const auto first = static_cast<std::size_t>(direction_deg / 90);
  layout::Quad out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = corners[(first + i) % 4];
  return out;
}

int main_direction(const PdfPageContent& content) {
  std::array<std::size_t, 4> characters{};
  for (const auto& word : content.words) {
    characters[static_cast<std::size_t>(word.direction_deg / 90)] += word.text.size();
  }
  const auto most = std::ranges::max_element(characters);
  return 90 * static_cast<int>(most - characters.begin());
}

}  // namespace

Result<layout::RawPage> text_layer_page(const PdfPageContent& content, std::uint32_t page) {
  const int direction = main_direction(content);
  const int turn = (360 - direction) % 360;
  const layout::PdfPage shown{.page = page,
                              .crop = {.x1 = content.width_pt, .y1 = content.height_pt},
                              .rotate = static_cast<double>(turn),
                              .origin = layout::Origin::top_left};
  MR_TRY(auto info, layout::pdf_page_info(shown));
  info.rotation_deg = (content.rotate_deg + turn) % 360;
  std::vector<layout::RawWord> words;
  words.reserve(content.words.size());
  for (const auto& word : content.words) {
    layout::RawWord raw{.text = word.text, .box = word.box, .conf = 1.0};
    if (word.direction_deg != direction) raw.poly = quad_of(word.box, word.direction_deg);
    words.push_back(std::move(raw));
  }
  const layout::Frame frame{
      .visible = shown.crop, .origin = layout::Origin::top_left, .rotation_deg = turn};
  return layout::to_raw_page(std::move(info), frame, std::move(words));
}

TextLayerChoice choose_text_layer(const PdfPageContent& content, const layout::RawPage& page) {
  std::size_t characters = 0;
  for (const auto& word : page.words) characters += layout::count_code_points(word.text);
  // A blank page has nothing to read, with or without a text layer.
  if (characters == 0 && content.images == 0 && content.drawings == 0) return {.use = true};
  if (content.image_share >= kScanShare && characters < kStampChars) {
    return {.why_not = characters == 0 ? "no text layer" : "a stamp on a scan"};
  }
  const auto verdict = layout::judge_text_layer(page);
  if (verdict.trusted) return {.use = true};
  if (characters == 0) return {.why_not = "no text layer"};
  // A few words on a page that shows nothing else are all there is.
  if (verdict.reason == "too little text" && content.images == 0 && content.drawings < 20) {
    return {.use = true};
  }
  return {.why_not = verdict.reason};
}

}  // namespace millrace::document
