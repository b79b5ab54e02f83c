#include "document/read/text_source.h"

#include "document/read/square_boxes.h"
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

// Clockwise, that makes its text run from left to right.
int turn_of(const PdfPageContent& content) { return (360 - main_direction(content)) % 360; }

}  // namespace

Result<layout::RawPage> text_layer_page(const PdfPageContent& content, std::uint32_t page) {
  const int direction = main_direction(content);
  const int turn = turn_of(content);
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

std::vector<layout::DrawnBox> text_layer_boxes(const PdfPageContent& content,
                                               std::span<const PdfField> fields) {
  const layout::Frame frame{.visible = {.x1 = content.width_pt, .y1 = content.height_pt},
                            .origin = layout::Origin::top_left,
                            .rotation_deg = turn_of(content)};
  std::vector<layout::DrawnBox> out;
  const auto add = [&](const layout::Box& box, bool checked, bool field) {
    if (!layout::is_visible(frame, box)) return;
    out.push_back({.box = layout::to_page(frame, box), .checked = checked, .field = field});
  };
  for (const auto& field : fields) add(field.box, field.checked, true);
  for (const auto& square : find_square_boxes(content.ink, content.words, content.pictures)) {
    // A field draws its own box.
    const bool of_field = std::ranges::any_of(fields, [&square](const PdfField& field) {
      return layout::overlap_x(field.box, square.box) * layout::overlap_y(field.box, square.box) >
             0.25 * square.box.area();
    });
    if (!of_field) add(square.box, square.checked, false);
  }
  std::ranges::sort(
      out, {}, [](const layout::DrawnBox& drawn) { return std::pair(drawn.box.y0, drawn.box.x0); });
  return out;
}

TextLayerChoice choose_text_layer(const PdfPageContent& content, const layout::RawPage& page) {
  std::size_t characters = 0;
  for (const auto& word : page.words) characters += layout::count_code_points(word.text);
  // A blank page has nothing to read, with or without a text layer.
  if (characters == 0 && content.images == 0 && content.drawings == 0) return {.use = true};
  if (content.image_share >= kScanShare && characters < kStampChars) {
    return {.why_not = characters == 0 ? "no text layer" : "a stamp on a scan"};
  }
  // Somebody else's recognition, and how good it was nobody can see; what little is printed beside
  // it is a stamp.
  if (content.image_share >= kScanShare && content.invisible_chars > 0 &&
      content.visible_chars < static_cast<int>(kStampChars)) {
    return {.why_not = "invisible text on a scan"};
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
