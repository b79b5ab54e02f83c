#include "layout/sources/vision.h"

#include "base/json.h"
#include "layout/code_points.h"
#include "layout/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr double kCoordinateMax = 1e7;
constexpr std::size_t kPartsMax = 1'000'000;  // Blocks, paragraphs or words in one list.
constexpr std::size_t kSymbolsMax = 1024;

// google.rpc.Code, by the reaction it asks for.
ErrorKind kind_of(std::uint32_t code) {
  switch (code) {
    case 8:  // RESOURCE_EXHAUSTED
      return ErrorKind::throttled;
    case 4:   // DEADLINE_EXCEEDED
    case 13:  // INTERNAL
    case 14:  // UNAVAILABLE
      return ErrorKind::unavailable;
    case 3:   // INVALID_ARGUMENT
    case 9:   // FAILED_PRECONDITION
    case 11:  // OUT_OF_RANGE
      return ErrorKind::invalid_argument;
    case 5:  // NOT_FOUND
      return ErrorKind::not_found;
    default:
      return ErrorKind::internal;
  }
}

// HTTP statuses, which the error of a whole answer has instead.
ErrorKind kind_of_status(std::uint32_t status) {
  if (status == 429) return ErrorKind::throttled;
  if (status >= 500) return ErrorKind::unavailable;
  return status == 400 || status == 413 ? ErrorKind::invalid_argument : ErrorKind::internal;
}

Error error_of(const json::Value& value, bool of_answer) {
  std::uint32_t code = 0;
  std::string message;
  if (const auto* object = value.if_object()) {
    if (const auto* number = object->if_contains("code")) code = to_count(*number).value_or(0);
    if (const auto* text = object->if_contains("message"); text != nullptr && text->is_string()) {
      message = std::string_view(text->get_string()).substr(0, 300);
    }
  }
  return {.kind = of_answer ? kind_of_status(code) : kind_of(code),
          .message = fmt::format("google-vision: error {}: {}", code, json_quote(message))};
}

struct Scale {
  double width = 1;
  double height = 1;
};

// Absent coordinates are zero. Normalised ones become those of the page.
Result<Quad> quad_of(const Fields& fields, Scale scale) {
  MR_TRY(const auto box, fields.object("boundingBox"));
  const bool normalised = !box.has("vertices") && box.has("normalizedVertices");
  const auto* name = normalised ? "normalizedVertices" : "vertices";
  MR_TRY(const auto* vertices, box.array(name, 4));
  if (vertices->size() != 4) return box.wrong(name, "must have 4 points");
  Quad quad;
  for (std::size_t i = 0; i < 4; ++i) {
    MR_TRY(const auto vertex, Fields::of((*vertices)[i], box.path_of(name, i)));
    MR_TRY(const auto x, vertex.optional_number("x", -kCoordinateMax, kCoordinateMax));
    MR_TRY(const auto y, vertex.optional_number("y", -kCoordinateMax, kCoordinateMax));
    quad[i] = {.x = x.value_or(0) * (normalised ? scale.width : 1),
               .y = y.value_or(0) * (normalised ? scale.height : 1)};
  }
  return quad;
}

// A hyphen at the end of a line is a break in this form, not a symbol; on the page it is there.
Result<bool> ends_with_hyphen(const Fields& symbol) {
  if (!symbol.has("property")) return false;
  MR_TRY(const auto property, symbol.object("property"));
  if (!property.has("detectedBreak")) return false;
  MR_TRY(const auto end, property.object("detectedBreak"));
  MR_TRY(const auto type, end.optional_text("type", 64));
  MR_TRY(const bool before, end.flag_or("isPrefix", false));
  return !before && type == "HYPHEN";
}

Result<RawWord> word_of(const Fields& fields, Scale scale, const PageLimits& limits) {
  RawWord word;
  MR_TRY(const auto* symbols, fields.array("symbols", kSymbolsMax));
  for (std::size_t i = 0; i < symbols->size(); ++i) {
    MR_TRY(const auto symbol, Fields::of((*symbols)[i], fields.path_of("symbols", i)));
    MR_TRY(const auto text, symbol.optional_text("text", 64));
    word.text += text.value_or("");
    MR_TRY(const bool hyphen, ends_with_hyphen(symbol));
    if (hyphen) word.text += '-';
  }
  if (word.text.size() > limits.word_bytes_max) {
    return fields.wrong("symbols", fmt::format("are more than {} bytes", limits.word_bytes_max));
  }
  MR_TRY(word.poly, quad_of(fields, scale));
  MR_TRY(word.conf, fields.optional_number("confidence", 0, 1));
  return word;
}

Result<void> add_words(const Fields& paragraph, Scale scale, const PageLimits& limits,
                       std::vector<RawWord>& words) {
  MR_TRY(const auto* list, paragraph.optional_array("words", kPartsMax));
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (words.size() >= limits.words_max) {
      return paragraph.wrong("words",
                             fmt::format("are more than {} on the page", limits.words_max));
    }
    MR_TRY(const auto part, Fields::of((*list)[i], paragraph.path_of("words", i)));
    MR_TRY(auto word, word_of(part, scale, limits));
    words.push_back(std::move(word));
  }
  return ok();
}

Result<std::vector<RawWord>> words_of(const Fields& page, Scale scale, const PageLimits& limits) {
  std::vector<RawWord> words;
  MR_TRY(const auto* blocks, page.optional_array("blocks", kPartsMax));
  for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
    MR_TRY(const auto block, Fields::of((*blocks)[b], page.path_of("blocks", b)));
    MR_TRY(const auto* paragraphs, block.optional_array("paragraphs", kPartsMax));
    for (std::size_t p = 0; paragraphs != nullptr && p < paragraphs->size(); ++p) {
      MR_TRY(const auto paragraph, Fields::of((*paragraphs)[p], block.path_of("paragraphs", p)));
      MR_TRY_VOID(add_words(paragraph, scale, limits, words));
    }
  }
  return words;
}

// How most of the text runs, by its length.
int main_direction(std::span<const RawWord> words) {
  std::array<std::size_t, 4> votes{};
  for (const auto& word : words) {
    // A single character has no direction to speak of.
    const auto length = count_code_points(word.text);
    if (length < 2) continue;
    votes[static_cast<std::size_t>(direction_of(*word.poly, 1)) / 90] += length;
  }
  const auto most = std::ranges::max_element(votes);
  return static_cast<int>(most - votes.begin()) * 90;
}

Result<RawPage> page_of(const Fields& response, const VisionImage& image,
                        const VisionOptions& options) {
  PageInfo info{.page = image.page,
                .width_px = image.width_px,
                .height_px = image.height_px,
                .dpi = image.dpi,
                .rotation_deg = image.rotation_deg,
                .engine = options.engine};
  MR_TRY_VOID(check_info(info, options.limits));
  // A page without text has no annotation, and that is no error.
  if (!response.has("fullTextAnnotation")) return RawPage{.info = std::move(info)};
  MR_TRY(const auto annotation, response.object("fullTextAnnotation"));
  MR_TRY(const auto* pages, annotation.optional_array("pages", 1));
  if (pages == nullptr || pages->empty()) return RawPage{.info = std::move(info)};
  MR_TRY(const auto page, Fields::of((*pages)[0], annotation.path_of("pages", 0)));
  MR_TRY(const auto width, page.count_or("width", image.width_px, options.limits.side_px_max));
  MR_TRY(const auto height, page.count_or("height", image.height_px, options.limits.side_px_max));
  const Scale scale{.width = static_cast<double>(width), .height = static_cast<double>(height)};
  MR_TRY(auto words, words_of(page, scale, options.limits));
  const auto turn = (360 - main_direction(words)) % 360;
  if (turn % 180 != 0) std::swap(info.width_px, info.height_px);
  info.rotation_deg = (info.rotation_deg + turn) % 360;
  const Frame frame{.visible = {.x1 = scale.width, .y1 = scale.height}, .rotation_deg = turn};
  return to_raw_page(std::move(info), frame, std::move(words));
}

Result<RawPage> content_of(const json::Value& value, std::string path, const VisionImage& image,
                           const VisionOptions& options) {
  MR_TRY(const auto response, Fields::of(value, std::move(path)));
  if (const auto* error = response.find("error")) return fail(error_of(*error, false));
  return page_of(response, image, options);
}

}  // namespace

Result<std::vector<VisionPage>> parse_vision(std::string_view text,
                                             std::span<const VisionImage> images,
                                             const VisionOptions& options) {
  MR_TRY(const auto value,
         parse_json(text, {.max_bytes = options.bytes_max, .max_depth = kDepthMax}));
  MR_TRY(const auto fields, Fields::of(value, ""));
  if (const auto* error = fields.find("error")) return fail(error_of(*error, true));
  MR_TRY(const auto* responses, fields.array("responses", images.size()));
  if (responses->size() != images.size()) {
    return fields.wrong("responses",
                        fmt::format("must have one entry for each of {} images", images.size()));
  }
  std::vector<VisionPage> pages;
  for (std::size_t i = 0; i < images.size(); ++i) {
    pages.push_back({.page = images[i].page,
                     .content = content_of((*responses)[i], fields.path_of("responses", i),
                                           images[i], options)});
  }
  return pages;
}

}  // namespace millrace::layout
