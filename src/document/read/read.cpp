#include "document/read/read.h"

#include "document/bounded/mapped_file.h"
#include "document/ocr/page_reader.h"
#include "document/office/office.h"
#include "document/op.h"
#include "document/read/drawn_boxes.h"
#include "document/read/pdf_file.h"
#include "document/read/picture.h"
#include "document/read/request.h"
#include "document/read/text_source.h"
#include "layout/confidence.h"
#include "layout/form.h"
#include "layout/page_json.h"
#include "layout/reading_order.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace millrace::document {
namespace {

constexpr double kRenderDpi = 300;
constexpr double kPolyFrom = 0.3;  // Degrees of slant from which a box alone says too little.

struct ReadRequest {
  std::string kind;
  std::string mode;
  std::uint32_t page = 1;
  std::uint32_t last = 1;                 // Where pages are judged: from `page` to this one.
  std::vector<std::uint32_t> pages = {};  // Instead: those of them that bring their own text.
  std::vector<std::string> languages;
};

Result<ReadRequest> parse(const json::Object& request) {
  ReadRequest out;
  MR_TRY(out.kind, string_member(request, "kind"));
  MR_TRY(out.mode, string_member(request, "mode", "auto"));
  MR_TRY(out.page, page_member(request));
  MR_TRY(out.pages, pages_member(request));
  MR_TRY(out.languages, languages_member(request));
  if (out.mode == "judge") {
    MR_TRY(const auto last, number_member(request, "last", out.page, 1e6, out.page));
    out.last = static_cast<std::uint32_t>(last);
  } else if (out.mode != "auto" && out.mode != "text" && out.mode != "ocr") {
    return fail(ErrorKind::invalid_argument, "mode must be auto, text, ocr or judge");
  }
  return out;
}

struct Answer {
  layout::PageMap page = {};
  std::string source = "text";
  std::string why_ocr = {};
  double skew_deg = 0;
};

// One decimal more than anybody can see.
double rounded(double value, double steps) { return std::round(value * steps) / steps; }

json::Object to_result(const Answer& answer) {
  json::Object out;
  out["schema"] = "read/1";
  out["source"] = answer.source;
  if (!answer.why_ocr.empty()) out["why_ocr"] = answer.why_ocr;
  out["engine"] = answer.page.info.engine;
  out["page"] = layout::page_to_json(answer.page);
  out["skew_deg"] = rounded(answer.skew_deg, 100);
  out["confidence"] = rounded(layout::confidence_of(answer.page).mean, 10'000);
  return out;
}

Result<layout::PageMap> arranged(layout::RawPage raw) {
  MR_TRY(auto page, layout::arrange(std::move(raw)));
  layout::find_forms(page);
  return page;
}

// Fractions of the level page.
layout::Box slot_of(const OcrPage& read, const OcrWord& word) {
  return layout::rounded({.x0 = word.slot.x0 / read.level.width,
                          .y0 = word.slot.y0 / read.level.height,
                          .x1 = word.slot.x1 / read.level.width,
                          .y1 = word.slot.y1 / read.level.height});
}

using Corners = std::tuple<double, double, double, double>;
Corners corners_of(const layout::Box& box) { return {box.x0, box.y0, box.x1, box.y1}; }

// A box of the level page on the page as it came, in fractions.
layout::Quad upright_quad(const layout::Box& box, const OcrPage& read, Size upright) {
  layout::Quad quad = {layout::Point{.x = box.x0, .y = box.y0},
                       {.x = box.x1, .y = box.y0},
                       {.x = box.x1, .y = box.y1},
                       {.x = box.x0, .y = box.y1}};
  for (auto& corner : quad) {
    corner = read.to_upright(corner);
    corner.x /= upright.width;
    corner.y /= upright.height;
  }
  return quad;
}

layout::Box level_pixels(const layout::Box& box, const OcrPage& read) {
  return {.x0 = box.x0 * read.level.width,
          .y0 = box.y0 * read.level.height,
          .x1 = box.x1 * read.level.width,
          .y1 = box.y1 * read.level.height};
}

// Words of the level page go back to where they stand on the page as it came. They were put in
// order by the slots of their lines, while everything was level: that is easier than by the boxes
// of words of different height on a page that slants.
void put_back(layout::PageMap& page, const OcrPage& read, Size upright) {
  std::map<Corners, const OcrWord*> by_slot;
  for (const auto& word : read.words) by_slot[corners_of(slot_of(read, word))] = &word;
  for (auto& word : page.words) {
    const auto found = by_slot.find(corners_of(word.box));
    const auto box = found != by_slot.end() ? found->second->box : level_pixels(word.box, read);
    auto quad = upright_quad(box, read, upright);
    const double slant = std::atan2((quad[1].y - quad[0].y) * upright.height,
                                    (quad[1].x - quad[0].x) * upright.width) *
                         57.29578;
    quad = layout::rounded(quad);
    word.box = layout::rounded(layout::bounds(quad));
    if (std::abs(slant) >= kPolyFrom) word.poly = quad;
  }
  for (auto& check : page.checkboxes) {
    if (!check.box) continue;
    check.box = layout::rounded(
        layout::bounds(upright_quad(level_pixels(*check.box, read), read, upright)));
  }
}

Result<Answer> recognised(const Picture& picture, const ReadRequest& request, std::string why) {
  std::vector<LineReader*> readers;
  for (const auto& language : request.languages) {
    MR_TRY(auto* const reader, warm_engines().get(language));
    readers.push_back(reader);
  }
  const auto read = read_page(picture.gray, readers);
  const bool sideways = read.turn_deg % 180 != 0;
  const Size upright{.width = sideways ? picture.gray.height : picture.gray.width,
                     .height = sideways ? picture.gray.width : picture.gray.height};
  layout::RawPage raw;
  raw.info = {.page = request.page,
              .width_px = static_cast<std::uint32_t>(read.level.width),
              .height_px = static_cast<std::uint32_t>(read.level.height),
              .dpi = rounded(picture.dpi, 100),
              .rotation_deg = (picture.turn_deg + read.turn_deg) % 360,
              .engine = read.engine};
  for (const auto& word : read.words) {
    raw.words.push_back({.text = word.text, .box = slot_of(read, word), .conf = word.conf});
  }
  MR_TRY(auto page, arranged(std::move(raw)));
  layout::add_drawn_boxes(page, find_drawn_boxes(picture.gray, read, page));
  page.info.width_px = static_cast<std::uint32_t>(upright.width);
  page.info.height_px = static_cast<std::uint32_t>(upright.height);
  put_back(page, read, upright);
  return Answer{.page = std::move(page),
                .source = "ocr",
                .why_ocr = std::move(why),
                .skew_deg = read.skew_deg};
}

// The page by its text layer; without words and with the reason where that cannot be believed.
Result<Answer> own_text(PdfFile& pdf, const PdfPageContent& content, std::uint32_t page,
                        bool whatever) {
  MR_TRY(auto raw, text_layer_page(content, page));
  const auto choice = choose_text_layer(content, raw);
  if (!choice.use && !whatever)
    return Answer{.source = "ocr", .why_ocr = std::string(choice.why_not)};
  MR_TRY(auto map, arranged(std::move(raw)));
  layout::add_drawn_boxes(map, text_layer_boxes(content, pdf.fields(page)));
  return Answer{.page = std::move(map)};
}

Result<json::Object> judge_pdf(const ReadRequest& request, int fd) {
  MR_TRY(auto file, MappedFile::open(fd));
  MR_TRY(auto pdf, PdfFile::open(std::move(file)));
  json::Object out{{"schema", "judge/1"}, {"trusted", true}};
  for (auto page = request.page; page <= request.last; ++page) {
    MR_TRY(const auto content, pdf.content(page));
    MR_TRY(const auto raw, text_layer_page(content, page));
    const auto choice = choose_text_layer(content, raw);
    if (choice.use) continue;
    out["trusted"] = false;
    out["page"] = page;
    out["why_ocr"] = choice.why_not;
    break;
  }
  return out;
}

Result<Answer> read_pdf(const ReadRequest& request, int fd) {
  MR_TRY(auto file, MappedFile::open(fd));
  MR_TRY(auto pdf, PdfFile::open(std::move(file)));
  MR_TRY(const auto content, pdf.content(request.page));
  std::string why = "asked for";
  if (request.mode != "ocr") {
    MR_TRY(auto answer, own_text(pdf, content, request.page, request.mode == "text"));
    if (answer.source == "text") return answer;
    why = std::move(answer.why_ocr);
  }
  MR_TRY(auto stored, pdf.stored_image(request.page, content));
  if (stored) return recognised(*stored, request, std::move(why));
  // A scan with something on it is rendered as fine as it was scanned.
  const bool scan = content.image_share > 0.5 && content.image_dpi > 0;
  const double dpi = scan ? std::clamp(content.image_dpi, 150.0, 400.0) : kRenderDpi;
  MR_TRY(const auto picture, pdf.render(request.page, dpi));
  return recognised(picture, request, std::move(why));
}

Result<Answer> read_image(const ReadRequest& request, int fd) {
  if (request.mode == "text") {
    return fail(ErrorKind::invalid_argument, "mode must not be text: an image has no text layer");
  }
  MR_TRY(const auto file, MappedFile::open(fd));
  MR_TRY(const auto picture, decode_picture(file.bytes(), request.page));
  return recognised(picture, request, "an image");
}

Result<Answer> read_office(const ReadRequest& request, int fd) {
  MR_TRY(auto raw, office_page(request.kind, fd, request.page));
  MR_TRY(auto page, arranged(std::move(raw)));
  return Answer{.page = std::move(page)};
}

Result<void> write_line(const json::Object& line, OpSink& sink) {
  const auto text = to_json(line) + '\n';
  return sink.write(std::as_bytes(std::span(text)));
}

// A line for each page, in the order they were asked for: as the result of reading it alone, or
// why it must be recognised. One page that cannot be read ends it; those before it stand.
Result<json::Object> read_texts(const ReadRequest& request, int fd, OpSink& sink) {
  std::optional<PdfFile> pdf;
  if (request.kind == "pdf") {
    MR_TRY(auto file, MappedFile::open(fd));
    MR_TRY(pdf, PdfFile::open(std::move(file)));
  } else if (!is_office_kind(request.kind)) {
    return fail(ErrorKind::invalid_argument, "pages must not be given for this kind");
  }
  for (const auto page : request.pages) {
    Answer answer;
    if (pdf) {
      MR_TRY(const auto content, pdf->content(page));
      MR_TRY(answer, own_text(*pdf, content, page, false));
    } else {
      MR_TRY(auto raw, office_page(request.kind, fd, page));
      MR_TRY(answer.page, arranged(std::move(raw)));
    }
    if (answer.source == "text") {
      answer.page.info.page = page;
      MR_TRY_VOID(write_line(to_result(answer), sink));
    } else {
      MR_TRY_VOID(write_line({{"source", "ocr"}, {"why_ocr", answer.why_ocr}}, sink));
    }
  }
  return json::Object{{"schema", "read_texts/1"}, {"pages", request.pages.size()}};
}

}  // namespace

Engines& warm_engines() {
  static Engines engines;
  return engines;
}

Result<void> warm_up_reading(const std::vector<std::string>& languages) {
  PdfFile::warm_up();
  for (const auto& language : languages) {
    // A language that is not installed is an error of the page that asks for it.
    if (auto reader = warm_engines().get(language); reader.has_value()) {
      (*reader)->read(Gray(200, 40, 245));
    }
  }
  return ok();
}

Result<json::Object> read(const json::Object& request, const OpFiles& files, OpSink& sink) {
  MR_TRY(const auto asked, parse(request));
  if (files.fds.empty()) return fail(ErrorKind::invalid_argument, "there must be a file");
  sink.progress(0, 1);
  const int fd = files.fds.front();
  if (asked.mode == "judge") {
    if (asked.kind == "pdf") return judge_pdf(asked, fd);
    return fail(ErrorKind::invalid_argument, "mode must not be judge for this kind");
  }
  if (!asked.pages.empty()) return read_texts(asked, fd, sink);
  if (asked.kind == "pdf") {
    MR_TRY(const auto answer, read_pdf(asked, fd));
    return to_result(answer);
  }
  if (asked.kind == "image") {
    MR_TRY(const auto answer, read_image(asked, fd));
    return to_result(answer);
  }
  if (is_office_kind(asked.kind)) {
    MR_TRY(const auto answer, read_office(asked, fd));
    return to_result(answer);
  }
  return fail(ErrorKind::invalid_argument, "kind must be one that inspect answers");
}

}  // namespace millrace::document
