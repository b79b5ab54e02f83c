#include "layout/sources/llamaparse.h"

#include "base/json.h"
#include "layout/code_points.h"
#include "layout/form.h"
#include "layout/json_fields.h"
#include "layout/raw_page.h"
#include "layout/sources/estimated_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr int kItemDepthMax = 8;
constexpr std::size_t kItemsMax = 50'000;
constexpr std::size_t kCellsMax = 50'000;
constexpr std::size_t kTextMax = 512 * 1024;  // Of one item.
constexpr std::size_t kCellMax = 64 * 1024;
constexpr double kPointsMax = 1e6;
constexpr double kPointsPerInch = 72;

// What the job says of its pages besides their items.
struct PageNote {
  std::optional<double> conf = {};
  double angle = 0;
};

// A region of v1's `layout`, in fractions of the page.
struct Region {
  Box box = {};
  std::optional<double> conf = {};
};

struct PlacedBox {
  Box box = {};  // In fractions of the page.
  std::optional<double> conf = {};
  std::optional<std::uint32_t> start = {};  // Where its part of the item's text begins.
};

struct PageSize {
  double width = 1;
  double height = 1;
};

Result<PlacedBox> box_of_object(const Fields& fields, PageSize size) {
  MR_TRY(const auto x, fields.number("x", -kPointsMax, kPointsMax));
  MR_TRY(const auto y, fields.number("y", -kPointsMax, kPointsMax));
  MR_TRY(const auto w, fields.number("w", 0, kPointsMax));
  MR_TRY(const auto h, fields.number("h", 0, kPointsMax));
  PlacedBox out{.box = rounded(Box{.x0 = x / size.width,
                                   .y0 = y / size.height,
                                   .x1 = (x + w) / size.width,
                                   .y1 = (y + h) / size.height})};
  MR_TRY(out.conf, fields.optional_number("confidence", 0, 1));
  for (const auto* name : {"start_index", "startIndex"}) {
    if (!fields.has(name)) continue;
    MR_TRY(out.start, fields.count(name, 0xffff'fffe));
  }
  return out;
}

// An object, a list of objects, or [x1, y1, x2, y2]: versions differ.
Result<std::vector<PlacedBox>> boxes_of(const Fields& item, PageSize size) {
  std::vector<PlacedBox> boxes;
  const std::string_view name = item.has("bbox") ? "bbox" : "bBox";
  const auto* value = item.find(name);
  if (value == nullptr) return boxes;
  if (value->is_object()) {
    MR_TRY(const auto fields, item.object(name));
    MR_TRY(const auto box, box_of_object(fields, size));
    boxes.push_back(box);
    return boxes;
  }
  MR_TRY(const auto* array, item.array(name, kItemsMax));
  if (array->size() == 4 && to_number((*array)[0])) {
    std::array<double, 4> corner{};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto number = to_number((*array)[i]);
      if (!number || std::abs(*number) > kPointsMax) {
        return item.wrong(name, "must be 4 numbers or boxes");
      }
      corner[i] = *number;
    }
    boxes.push_back({.box = rounded(Box{.x0 = std::min(corner[0], corner[2]) / size.width,
                                        .y0 = std::min(corner[1], corner[3]) / size.height,
                                        .x1 = std::max(corner[0], corner[2]) / size.width,
                                        .y1 = std::max(corner[1], corner[3]) / size.height})});
    return boxes;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    MR_TRY(const auto fields, Fields::of((*array)[i], item.path_of(name, i)));
    MR_TRY(const auto box, box_of_object(fields, size));
    boxes.push_back(box);
  }
  return boxes;
}

// The parts of an item's text that stand in each of its boxes.
std::vector<std::string> split_text(std::string_view text, std::span<const PlacedBox> boxes) {
  std::vector<std::string> parts;
  const OffsetIndex offsets(text);
  std::vector<std::uint32_t> cuts;  // Bytes at which parts begin.
  for (std::size_t b = 1; b < boxes.size(); ++b) {
    const auto byte = boxes[b].start ? offsets.byte_of(*boxes[b].start) : std::nullopt;
    if (!byte || (!cuts.empty() && *byte < cuts.back())) return {};
    cuts.push_back(*byte);
  }
  cuts.push_back(static_cast<std::uint32_t>(text.size()));
  std::uint32_t begin = 0;
  for (const auto cut : cuts) {
    parts.emplace_back(text.substr(begin, cut - begin));
    begin = cut;
  }
  return parts;
}

std::string cell_text(const json::Value& value) {
  if (value.is_string()) return std::string(std::string_view(value.get_string()));
  if (value.is_null() || value.is_object() || value.is_array()) return {};
  return to_json(value);
}

class PageReader {
 public:
  PageReader(PageSize size, PageInfo info, PageNote note, std::vector<Region> regions,
             const PageLimits& limits)
      : size_(size),
        info_(std::move(info)),
        note_(note),
        regions_(std::move(regions)),
        limits_(limits) {}

  Result<void> add_items(const Fields& owner, std::string_view name,
                         std::optional<BlockKind> as_kind, int depth) {
    if (depth > kItemDepthMax) {
      return owner.wrong(name, fmt::format("is nested deeper than {}", kItemDepthMax));
    }
    MR_TRY(const auto* items, owner.optional_array(name, kItemsMax));
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
      MR_TRY(const auto item, Fields::of((*items)[i], owner.path_of(name, i)));
      MR_TRY_VOID(add_item(item, as_kind, depth));
    }
    return ok();
  }

  Result<PageMap> finish() {
    MR_TRY(auto page,
           assemble_page(std::move(info_), std::move(words_), std::move(kinds_), limits_));
    page.tables = std::move(tables_);
    find_forms(page);
    return page;
  }

 private:
  Result<void> add_item(const Fields& item, std::optional<BlockKind> as_kind, int depth) {
    MR_TRY(const auto type, item.optional_text("type", 64));
    if (type == "header" || type == "footer") {
      const auto kind = type == "header" ? BlockKind::header : BlockKind::footer;
      if (item.has("items")) return add_items(item, "items", kind, depth + 1);
      return add_text(item, kind);
    }
    if (type == "table") return add_table(item, as_kind);
    if (type == "list" && item.has("items")) {
      return add_items(item, "items", as_kind.value_or(BlockKind::list), depth + 1);
    }
    const auto own = type == "heading" ? BlockKind::heading
                     : type == "list"  ? BlockKind::list
                                       : BlockKind::text;
    return add_text(item, as_kind.value_or(own));
  }

  Result<void> add_text(const Fields& item, BlockKind kind) {
    std::string_view text;
    for (const auto* name : {"value", "text", "caption", "md"}) {
      MR_TRY(const auto found, item.optional_text(name, kTextMax));
      if (!found || found->empty()) continue;
      text = *found;
      break;
    }
    MR_TRY(const auto boxes, boxes_of(item, size_));
    const auto parts = boxes.size() > 1 ? split_text(text, boxes) : std::vector<std::string>();
    if (parts.empty()) {
      add_words(text, whole_of(boxes));
    } else {
      for (std::size_t i = 0; i < parts.size(); ++i) add_words(parts[i], boxes[i]);
    }
    return end_block(item, kind);
  }

  // All boxes of an item, or the page when it has none.
  static PlacedBox whole_of(std::span<const PlacedBox> boxes) {
    if (boxes.empty()) return {.box = {.x1 = 1, .y1 = 1}};
    auto whole = boxes.front();
    for (const auto& box : boxes) whole.box = unite(whole.box, box.box);
    return whole;
  }

  std::optional<double> confidence_at(const PlacedBox& place) const {
    if (place.conf) return place.conf;
    std::optional<double> best = note_.conf;
    double best_overlap = 0.3;
    for (const auto& region : regions_) {
      const auto overlap = intersection_over_union(region.box, place.box);
      if (overlap <= best_overlap || !region.conf) continue;
      best_overlap = overlap;
      best = region.conf;
    }
    return best;
  }

  void add_words(std::string_view text, const PlacedBox& place) {
    const auto conf = confidence_at(place);
    std::uint32_t line = 0;
    for (auto& word : estimate_words(text, place.box, info_.aspect())) {
      if (word.line != line) ++line_;
      line = word.line;
      add_word(std::move(word.text), word.box, conf);
    }
    if (!words_.empty() && words_.back().line == line_) ++line_;
  }

  void add_word(std::string text, const Box& box, std::optional<double> conf) {
    words_.push_back({.text = std::move(text),
                      .box = box,
                      .conf = conf,
                      .line = line_,
                      .block = static_cast<std::uint32_t>(kinds_.size())});
  }

  // An item without a word makes no block.
  Result<void> end_block(const Fields& item, BlockKind kind) {
    if (words_.size() > limits_.words_max) {
      return item.wrong("value",
                        fmt::format("makes more than {} words on the page", limits_.words_max));
    }
    if (!words_.empty() && words_.back().block == kinds_.size()) kinds_.push_back(kind);
    return ok();
  }

  Result<void> add_table(const Fields& item, std::optional<BlockKind> as_kind) {
    MR_TRY(const auto* rows, item.optional_array("rows", kCellsMax));
    if (rows == nullptr) return add_text(item, as_kind.value_or(BlockKind::text));
    MR_TRY(const auto boxes, boxes_of(item, size_));
    const auto place = whole_of(boxes);
    std::size_t columns = 0;
    for (const auto& row : *rows) {
      if (!row.is_array()) return item.wrong("rows", "must be arrays of cells");
      for (const auto& cell : row.get_array()) {
        if (cell.is_string() && cell.get_string().size() > kCellMax) {
          return item.wrong("rows", fmt::format("have a cell of more than {} bytes", kCellMax));
        }
      }
      columns = std::max(columns, row.get_array().size());
    }
    if (columns * rows->size() > kCellsMax) {
      return item.wrong("rows", fmt::format("have more than {} cells", kCellsMax));
    }
    Table table{.block = static_cast<std::uint32_t>(kinds_.size()),
                .columns = static_cast<std::uint32_t>(columns)};
    for (std::size_t r = 0; r < rows->size(); ++r) {
      add_row((*rows)[r].get_array(), r, rows->size(), place, table);
    }
    if (!table.cells.empty()) tables_.push_back(std::move(table));
    return end_block(item, BlockKind::table);
  }

  // Cells share the box of the table evenly. A row is one line, whatever its cells hold.
  void add_row(const json::Array& cells, std::size_t row, std::size_t rows, const PlacedBox& place,
               Table& table) {
    const auto conf = confidence_at(place);
    const auto width = place.box.width() / std::max<double>(table.columns, 1);
    const auto height = place.box.height() / static_cast<double>(rows);
    bool filled = false;
    // One word more than allowed is enough to be refused.
    for (std::size_t c = 0; c < cells.size() && words_.size() <= limits_.words_max; ++c) {
      const Box box{.x0 = place.box.x0 + width * static_cast<double>(c),
                    .y0 = place.box.y0 + height * static_cast<double>(row),
                    .x1 = place.box.x0 + width * static_cast<double>(c + 1),
                    .y1 = place.box.y0 + height * static_cast<double>(row + 1)};
      const auto first = static_cast<std::uint32_t>(words_.size());
      for (auto& word : estimate_words(cell_text(cells[c]), rounded(box), info_.aspect())) {
        add_word(std::move(word.text), word.box, conf);
      }
      if (words_.size() == first) continue;
      filled = true;
      table.cells.push_back(
          {.row = table.rows,
           .column = static_cast<std::uint32_t>(c),
           .words = {.first = first, .last = static_cast<std::uint32_t>(words_.size() - 1)}});
    }
    if (!filled) return;
    ++table.rows;
    ++line_;
  }

  PageSize size_;
  PageInfo info_;
  PageNote note_;
  std::vector<Region> regions_;
  PageLimits limits_;
  std::vector<Word> words_;
  std::vector<BlockKind> kinds_;
  std::vector<Table> tables_;
  std::uint32_t line_ = 0;
};

Result<std::vector<Region>> regions_of(const Fields& page) {
  std::vector<Region> regions;
  MR_TRY(const auto* layout, page.optional_array("layout", kItemsMax));
  for (std::size_t i = 0; layout != nullptr && i < layout->size(); ++i) {
    MR_TRY(const auto entry, Fields::of((*layout)[i], page.path_of("layout", i)));
    MR_TRY(const bool noise, entry.flag_or("isLikelyNoise", false));
    if (noise || !entry.has("bbox")) continue;
    MR_TRY(const auto box, entry.object("bbox"));
    MR_TRY(const auto placed, box_of_object(box, {}));
    MR_TRY(const auto conf, entry.optional_number("confidence", 0, 1));
    regions.push_back({.box = placed.box, .conf = conf});
  }
  return regions;
}

Result<double> side_of(const Fields& page, std::string_view name, std::string_view older) {
  const auto side = page.has(name) || !page.has(older) ? name : older;
  return page.number(side, 1e-3, kPointsMax);
}

Result<PageMap> content_of(const Fields& page, std::uint32_t number, const PageNote& note,
                           const LlamaParseOptions& options) {
  MR_TRY(const bool success, page.flag_or("success", true));
  if (!success || page.has("error")) {
    // The service's words may repeat the page's: not passed on.
    return fail(ErrorKind::unavailable, fmt::format("llamaparse could not read page {}", number));
  }
  PageSize size;
  MR_TRY(size.width, side_of(page, "page_width", "width"));
  MR_TRY(size.height, side_of(page, "page_height", "height"));
  const auto pixels = [&](double points) {
    return static_cast<std::uint32_t>(
        std::max(1.0, std::round(points * options.dpi / kPointsPerInch)));
  };
  MR_TRY(const auto rotation, normal_rotation(note.angle, "original_orientation_angle"));
  PageInfo info{.page = number,
                .width_px = pixels(size.width),
                .height_px = pixels(size.height),
                .dpi = options.dpi,
                .rotation_deg = rotation,
                .engine = options.engine,
                .estimated = true};
  MR_TRY_VOID(check_info(info, options.limits));
  MR_TRY(auto regions, regions_of(page));
  PageReader reader(size, std::move(info), note, std::move(regions), options.limits);
  MR_TRY_VOID(reader.add_items(page, "items", std::nullopt, 0));
  return reader.finish();
}

Result<std::uint32_t> number_of(const Fields& page, std::uint32_t page_max) {
  return page.count(page.has("page_number") ? "page_number" : "page", page_max);
}

Result<std::map<std::uint32_t, PageNote>> notes_of(const Fields& answer, std::uint32_t page_max) {
  std::map<std::uint32_t, PageNote> notes;
  const auto* value = answer.find("metadata");
  if (value == nullptr || !value->is_object()) return notes;
  MR_TRY(const auto metadata, answer.object("metadata"));
  const auto* list = metadata.find("pages");
  if (list == nullptr || !list->is_array()) return notes;  // Older answers have a count there.
  MR_TRY(const auto* pages, metadata.array("pages", page_max));
  for (std::size_t i = 0; i < pages->size(); ++i) {
    MR_TRY(const auto page, Fields::of((*pages)[i], metadata.path_of("pages", i)));
    MR_TRY(const auto number, number_of(page, page_max));
    PageNote note;
    MR_TRY(note.conf, page.optional_number("confidence", 0, 1));
    MR_TRY(const auto angle, page.optional_number("original_orientation_angle", -3600, 3600));
    // Slants are taken out by the service; a quarter turn is what we keep.
    note.angle = std::round(angle.value_or(0) / 90) * 90;
    notes[number] = note;
  }
  return notes;
}

}  // namespace

Result<std::vector<LlamaParsePage>> parse_llamaparse(std::string_view text,
                                                     const LlamaParseOptions& options) {
  MR_TRY(const auto value,
         parse_json(text, {.max_bytes = options.bytes_max, .max_depth = kDepthMax}));
  MR_TRY(const auto answer, Fields::of(value, ""));
  const auto page_max = options.limits.page_max;
  MR_TRY(const auto notes, notes_of(answer, page_max));
  std::optional<Fields> items;
  if (answer.has("items")) {
    MR_TRY(items, answer.object("items"));
  } else if (answer.has("job")) {
    return answer.wrong("items", "is missing: the result must be fetched with expand=items");
  }
  const auto& owner = items ? *items : answer;
  MR_TRY(const auto* pages, owner.array("pages", page_max));
  std::vector<LlamaParsePage> out;
  std::map<std::uint32_t, bool> seen;
  for (std::size_t i = 0; i < pages->size(); ++i) {
    MR_TRY(const auto page, Fields::of((*pages)[i], owner.path_of("pages", i)));
    MR_TRY(const auto number, number_of(page, page_max));
    if (number == 0 || !seen.emplace(number, true).second) {
      return page.wrong("page_number", "must be greater than 0 and occur once");
    }
    const auto note = notes.find(number);
    const auto known = note == notes.end() ? PageNote() : note->second;
    out.push_back({.page = number, .content = content_of(page, number, known, options)});
  }
  return out;
}

}  // namespace millrace::layout
