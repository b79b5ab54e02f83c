#include "layout/page_json.h"

#include "base/assert.h"
#include "base/json_cut.h"
#include "layout/code_points.h"
#include "layout/json_fields.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::uint32_t kRangeMax = 0xffff'fffe;
constexpr std::size_t kWholeBytesMax = std::size_t{256} * 1024;  // Larger ones are read in parts.
constexpr std::size_t kWordsAtOnce = 512;

// -- writing --

json::Array box_json(const Box& box) { return {box.x0, box.y0, box.x1, box.y1}; }

json::Array range_json(WordRange range) { return {range.first, range.last}; }

json::Value poly_json(const std::optional<Quad>& poly) {
  if (!poly) return nullptr;
  json::Array points;
  for (const auto& point : *poly) points.push_back(json::Array{point.x, point.y});
  return points;
}

json::Object word_json(const Word& word, std::size_t index, const OffsetIndex& offsets) {
  return {
      {"i", index},
      {"text", word.text},
      {"bbox", box_json(word.box)},
      {"poly", poly_json(word.poly)},
      {"conf", word.conf ? json::Value(*word.conf) : json::Value(nullptr)},
      {"line", word.line},
      {"block", word.block},
      {"char", json::Array{offsets.code_points_before(word.bytes.begin),
                           offsets.code_points_before(word.bytes.end)}},
  };
}

// Behind what is there already: the bytes that canonical_json makes of word_json. Words are nearly
// all of a page, and pages are written many times.
void append_word(std::string& out, const Word& word, std::size_t index,
                 const OffsetIndex& offsets) {
  const auto numbers = [&out](std::initializer_list<double> values) {
    for (const auto value : values) {
      if (out.back() != '[') out += ',';
      out += json_number(value);
    }
  };
  out += R"({"bbox":[)";
  numbers({word.box.x0, word.box.y0, word.box.x1, word.box.y1});
  fmt::format_to(std::back_inserter(out), R"(],"block":{},"char":[{},{}],"conf":{},"i":{},)",
                 word.block, offsets.code_points_before(word.bytes.begin),
                 offsets.code_points_before(word.bytes.end),
                 word.conf ? json_number(*word.conf) : "null", index);
  fmt::format_to(std::back_inserter(out), R"("line":{},"poly":)", word.line);
  if (word.poly) {
    out += '[';
    for (const auto& point : *word.poly) {
      if (out.back() != '[') out += ',';
      out += '[';
      numbers({point.x, point.y});
      out += ']';
    }
    out += ']';
  } else {
    out += "null";
  }
  out += R"(,"text":)";
  out += json_quote(word.text);
  out += '}';
}

json::Object table_json(const Table& table) {
  json::Array cells;
  for (const auto& cell : table.cells) {
    cells.push_back(json::Object{
        {"row", cell.row}, {"column", cell.column}, {"words", range_json(cell.words)}});
  }
  return {{"block", table.block},
          {"rows", table.rows},
          {"columns", table.columns},
          {"cells", std::move(cells)}};
}

// -- reading --

Result<std::vector<double>> numbers_of(const Fields& fields, std::string_view name,
                                       std::size_t size) {
  const auto rule = fmt::format("must be an array of {} numbers", size);
  MR_TRY(const auto* array, fields.array(name, size));
  if (array->size() != size) return fields.wrong(name, rule);
  std::vector<double> numbers;
  for (const auto& element : *array) {
    const auto number = to_number(element);
    if (!number) return fields.wrong(name, rule);
    numbers.push_back(*number);
  }
  return numbers;
}

Result<Box> box_of(const Fields& fields) {
  MR_TRY(const auto box, numbers_of(fields, "bbox", 4));
  return Box{.x0 = box[0], .y0 = box[1], .x1 = box[2], .y1 = box[3]};
}

Result<WordRange> range_of(const Fields& fields, std::string_view name) {
  MR_TRY(const auto* array, fields.array(name, 2));
  const auto first = array->size() == 2 ? to_count((*array)[0]) : std::nullopt;
  const auto last = array->size() == 2 ? to_count((*array)[1]) : std::nullopt;
  if (!first || !last || *first > *last || *last > kRangeMax) {
    return fields.wrong(name, "must be [first, last], both included");
  }
  return WordRange{.first = *first, .last = *last};
}

Result<std::optional<Quad>> poly_of(const Fields& fields) {
  const auto rule = "must be null or an array of 4 points";
  MR_TRY(const auto* array, fields.optional_array("poly", 4));
  if (array == nullptr) return std::nullopt;
  if (array->size() != 4) return fields.wrong("poly", rule);
  Quad quad;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto* point = (*array)[i].if_array();
    if (point == nullptr || point->size() != 2) return fields.wrong("poly", rule);
    const auto x = to_number((*point)[0]);
    const auto y = to_number((*point)[1]);
    if (!x || !y) return fields.wrong("poly", rule);
    quad[i] = {.x = *x, .y = *y};
  }
  return quad;
}

Result<Word> word_of(const Fields& fields, const PageLimits& limits) {
  Word word;
  MR_TRY(const auto text, fields.text("text", limits.word_bytes_max));
  word.text = text;
  MR_TRY(word.box, box_of(fields));
  MR_TRY(word.poly, poly_of(fields));
  MR_TRY(word.conf, fields.optional_number("conf", 0, 1));
  MR_TRY(word.line, fields.count("line", kRangeMax));
  MR_TRY(word.block, fields.count("block", kRangeMax));
  return word;
}

Result<PageInfo> info_of(const Fields& fields, const PageLimits& limits) {
  PageInfo info;
  MR_TRY(info.page, fields.count("page", limits.page_max));
  MR_TRY(info.width_px, fields.count("width_px", limits.side_px_max));
  MR_TRY(info.height_px, fields.count("height_px", limits.side_px_max));
  MR_TRY(const auto dpi, fields.optional_number("dpi", 0, 10'000));
  info.dpi = dpi.value_or(0);
  MR_TRY(const auto rotation, fields.count("rotation_deg", 270));
  info.rotation_deg = static_cast<int>(rotation);
  MR_TRY(const auto engine, fields.text("engine", 100));
  info.engine = engine;
  MR_TRY(info.estimated, fields.flag_or("estimated", false));
  return info;
}

Result<std::vector<BlockKind>> kinds_of(const Fields& fields, std::size_t words,
                                        std::size_t blocks) {
  MR_TRY(const auto* array, fields.optional_array("blocks", words));
  std::vector<BlockKind> kinds;
  // The smallest form has words only: its blocks are text.
  if (array == nullptr) return std::vector<BlockKind>(blocks, BlockKind::text);
  for (std::size_t i = 0; i < array->size(); ++i) {
    MR_TRY(const auto block, Fields::of((*array)[i], fields.path_of("blocks", i)));
    MR_TRY(const auto name, block.text("kind", 32));
    const auto kind = parse_block_kind(name);
    if (!kind) return block.wrong("kind", "is none of the kinds of blocks");
    kinds.push_back(*kind);
  }
  return kinds;
}

// Words one after the other, and where the JSON says that they stand: only all of them together say
// whether that is so.
class WordReader {
 public:
  WordReader(std::string path, const PageLimits& limits)
      : path_(std::move(path)), limits_(limits) {}

  Result<void> add(const json::Value& value) {
    const auto i = words_.size();
    MR_TRY(const auto fields, Fields::of(value, fmt::format("{}[{}]", path_, i)));
    MR_TRY(auto word, word_of(fields, limits_));
    MR_TRY(const auto index, fields.count_or("i", static_cast<std::uint32_t>(i), kRangeMax));
    if (index != i) return fields.wrong("i", "must be the word's position");
    MR_TRY(const auto* range, fields.array("char", 2));
    places_.push_back(range->size() == 2 ? Place{to_count((*range)[0]), to_count((*range)[1])}
                                         : Place{});
    words_.push_back(std::move(word));
    return ok();
  }

  std::size_t size() const { return words_.size(); }
  std::size_t blocks() const { return words_.empty() ? 0 : std::size_t{words_.back().block} + 1; }
  std::vector<Word> take() { return std::move(words_); }

  // The offsets in the JSON are the ones that the words give.
  Result<void> check_offsets(const PageMap& page) const {
    const OffsetIndex offsets(page.text);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const auto& bytes = page.words[i].bytes;
      const bool right = places_[i].begin == offsets.code_points_before(bytes.begin) &&
                         places_[i].end == offsets.code_points_before(bytes.end);
      if (right) continue;
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("{}[{}].char must be the word's place in the text of the page", path_, i));
    }
    return ok();
  }

 private:
  struct Place {
    std::optional<std::uint32_t> begin = {};
    std::optional<std::uint32_t> end = {};
  };

  std::string path_;
  PageLimits limits_;
  std::vector<Word> words_;
  std::vector<Place> places_;
};

Result<Table> table_of(const Fields& fields, std::size_t words) {
  Table table;
  MR_TRY(table.block, fields.count("block", kRangeMax));
  MR_TRY(table.rows, fields.count("rows", kRangeMax));
  MR_TRY(table.columns, fields.count("columns", kRangeMax));
  MR_TRY(const auto* cells, fields.array("cells", words));
  for (std::size_t i = 0; i < cells->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*cells)[i], fields.path_of("cells", i)));
    Cell cell;
    MR_TRY(cell.row, part.count("row", kRangeMax));
    MR_TRY(cell.column, part.count("column", kRangeMax));
    MR_TRY(cell.words, range_of(part, "words"));
    table.cells.push_back(cell);
  }
  return table;
}

Result<void> read_structures(const Fields& fields, PageMap& page) {
  const auto size_max = page.words.size();
  MR_TRY(const auto* tables, fields.optional_array("tables", size_max));
  for (std::size_t i = 0; tables != nullptr && i < tables->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*tables)[i], fields.path_of("tables", i)));
    MR_TRY(auto table, table_of(part, size_max));
    page.tables.push_back(std::move(table));
  }
  MR_TRY(const auto* pairs, fields.optional_array("pairs", size_max));
  for (std::size_t i = 0; pairs != nullptr && i < pairs->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*pairs)[i], fields.path_of("pairs", i)));
    KeyValue pair;
    MR_TRY(pair.key, range_of(part, "key"));
    MR_TRY(pair.value, range_of(part, "value"));
    page.pairs.push_back(pair);
  }
  MR_TRY(const auto* boxes, fields.optional_array("checkboxes", size_max));
  for (std::size_t i = 0; boxes != nullptr && i < boxes->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*boxes)[i], fields.path_of("checkboxes", i)));
    Checkbox box;
    if (part.has("mark")) {
      MR_TRY(box.mark, range_of(part, "mark"));
    }
    if (part.has("bbox")) {
      MR_TRY(box.box, box_of(part));
    }
    MR_TRY(box.checked, part.flag_or("checked", false));
    if (part.has("label")) {
      MR_TRY(box.label, range_of(part, "label"));
    }
    page.checkboxes.push_back(box);
  }
  return check_structures(page);
}

json::Object page_object(const PageMap& page, json::Array words) {
  json::Array blocks;
  for (const auto& block : page.blocks) {
    blocks.push_back(json::Object{{"kind", to_string(block.kind)}});
  }
  json::Array tables;
  for (const auto& table : page.tables) tables.push_back(table_json(table));
  json::Array pairs;
  for (const auto& pair : page.pairs) {
    pairs.push_back(json::Object{{"key", range_json(pair.key)}, {"value", range_json(pair.value)}});
  }
  json::Array checkboxes;
  for (const auto& box : page.checkboxes) {
    json::Object object{
        {"mark", box.mark ? json::Value(range_json(*box.mark)) : json::Value(nullptr)},
        {"checked", box.checked},
        {"label", box.label ? json::Value(range_json(*box.label)) : json::Value(nullptr)}};
    if (box.box) object["bbox"] = box_json(*box.box);
    checkboxes.push_back(std::move(object));
  }
  const auto& info = page.info;
  return json::Object{
      {"schema", kSpatialSchema},
      {"page", info.page},
      {"width_px", info.width_px},
      {"height_px", info.height_px},
      {"dpi", info.dpi > 0 ? json::Value(info.dpi) : json::Value(nullptr)},
      {"rotation_deg", info.rotation_deg},
      {"engine", info.engine},
      {"estimated", info.estimated},
      {"words", std::move(words)},
      {"blocks", std::move(blocks)},
      {"tables", std::move(tables)},
      {"pairs", std::move(pairs)},
      {"checkboxes", std::move(checkboxes)},
  };
}

// What a page says, with its words from wherever they come.
template <class ReadWords>
Result<PageMap> read_page(const Fields& fields, const SpatialJsonLimits& limits,
                          ReadWords read_words) {
  MR_TRY(const auto schema, fields.optional_text("schema", 100));
  if (schema && *schema != kSpatialSchema) {
    return fields.wrong("schema", fmt::format("must be {}", kSpatialSchema));
  }
  MR_TRY(auto info, info_of(fields, limits.page));
  WordReader words(fields.path_of("words"), limits.page);
  MR_TRY_VOID(read_words(words));
  if (words.blocks() > words.size()) {
    return fields.wrong("words", "have a block without words before them");
  }
  MR_TRY(auto kinds, kinds_of(fields, words.size(), words.blocks()));
  MR_TRY(auto page, assemble_page(std::move(info), words.take(), std::move(kinds), limits.page));
  MR_TRY_VOID(words.check_offsets(page));
  MR_TRY_VOID(read_structures(fields, page));
  return page;
}

// A few words of a long array.
Result<void> add_words(WordReader& words, std::string_view elements, const Fields& fields,
                       const SpatialJsonLimits& limits) {
  MR_TRY(const auto value,
         parse_json(fmt::format("[{}]", elements),
                    {.max_bytes = limits.page_bytes_max, .max_depth = kDepthMax}));
  for (const auto& word : value.as_array()) {
    if (words.size() == limits.page.words_max) {
      return fields.wrong(
          "words", fmt::format("has more elements than the limit of {}", limits.page.words_max));
    }
    MR_TRY_VOID(words.add(word));
  }
  return ok();
}

}  // namespace

json::Value page_to_json(const PageMap& page) {
  const OffsetIndex offsets(page.text);
  json::Array words;
  words.reserve(page.words.size());
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    words.push_back(word_json(page.words[i], i, offsets));
  }
  return page_object(page, std::move(words));
}

std::string page_json(const PageMap& page) {
  auto out = canonical_json(page_object(page, {}));
  // The words come last: no other member's name is behind theirs.
  MR_ASSERT(out.ends_with(R"("words":[]})"));
  out.resize(out.size() - 2);
  constexpr std::size_t kWordBytes = 136;  // Of an ordinary one, without its text.
  out.reserve(out.size() + page.words.size() * kWordBytes + page.text.size());
  const OffsetIndex offsets(page.text);
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    if (i > 0) out += ',';
    append_word(out, page.words[i], i, offsets);
  }
  out += "]}";
  return out;
}

std::string spatial_json(const SpatialMap& map) {
  std::string out = R"({"pages":[)";
  for (const auto& page : map.pages) {
    if (&page != &map.pages.front()) out += ',';
    out += page_json(page);
  }
  out += fmt::format(R"(],"schema":"{}"}})", kSpatialSchema);
  return out;
}

Result<PageMap> page_from_json(const json::Value& value, const SpatialJsonLimits& limits) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  return read_page(fields, limits, [&](WordReader& words) -> Result<void> {
    MR_TRY(const auto* array, fields.array("words", limits.page.words_max));
    for (const auto& word : *array) MR_TRY_VOID(words.add(word));
    return ok();
  });
}

Result<PageMap> parse_page_json(std::string_view text, const SpatialJsonLimits& limits) {
  const JsonLimits whole{.max_bytes = limits.page_bytes_max, .max_depth = kDepthMax};
  const bool large = text.size() > kWholeBytesMax && text.size() <= limits.page_bytes_max;
  const auto cut = large ? cut_json_member(text, "words") : std::nullopt;
  if (!cut) {
    MR_TRY(const auto value, parse_json(text, whole));
    return page_from_json(value, limits);
  }
  // The tree of all words would take ten times the room of their text.
  MR_TRY(const auto rest, parse_json(fmt::format("{}[]{}", cut->before, cut->after), whole));
  MR_TRY(const auto fields, Fields::of(rest, ""));
  return read_page(fields, limits, [&](WordReader& words) -> Result<void> {
    Result<void> read = ok();
    const auto take = [&](std::string_view elements) {
      read = add_words(words, elements, fields, limits);
      return read.has_value();
    };
    if (!for_json_elements(cut->value, kWordsAtOnce, take) && read) {
      return fields.wrong("words", "must be an array");
    }
    return read;
  });
}

Result<SpatialMap> parse_spatial_json(std::string_view text, const SpatialJsonLimits& limits) {
  MR_TRY(const auto value,
         parse_json(text, {.max_bytes = limits.document_bytes_max, .max_depth = kDepthMax}));
  MR_TRY(const auto fields, Fields::of(value, ""));
  MR_TRY(const auto schema, fields.text("schema", 100));
  if (schema != kSpatialSchema) {
    return fields.wrong("schema", fmt::format("must be {}", kSpatialSchema));
  }
  MR_TRY(const auto* array, fields.array("pages", limits.page.page_max));
  SpatialMap map;
  for (std::size_t i = 0; i < array->size(); ++i) {
    auto page = page_from_json((*array)[i], limits);
    if (!page) return fail_with_context(fields.path_of("pages", i), std::move(page.error()));
    if (!map.pages.empty() && page->info.page <= map.pages.back().info.page) {
      return fields.wrong("pages", "must be in the order of their numbers, each once");
    }
    map.pages.push_back(*std::move(page));
  }
  return map;
}

}  // namespace millrace::layout
