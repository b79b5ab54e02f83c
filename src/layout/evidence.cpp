#include "layout/evidence.h"

#include "layout/code_points.h"
#include "layout/json_fields.h"

#include <algorithm>
#include <utility>

namespace millrace::layout {
namespace {

constexpr std::size_t kQuoteBytesMax = 16 * 1024;

Result<std::pair<std::uint32_t, std::uint32_t>> pair_of(const Fields& fields,
                                                        std::string_view name) {
  MR_TRY(const auto* array, fields.array(name, 2));
  const auto first = array->size() == 2 ? to_count((*array)[0]) : std::nullopt;
  const auto last = array->size() == 2 ? to_count((*array)[1]) : std::nullopt;
  if (!first || !last || *first > *last) {
    return fields.wrong(name, "must be two whole numbers in order");
  }
  return std::pair(*first, *last);
}

}  // namespace

std::optional<WordRange> words_covering(const PageMap& page, ByteRange bytes) {
  if (bytes.begin >= bytes.end || bytes.end > page.text.size()) return std::nullopt;
  const auto end_of = [](const Word& word) { return word.bytes.end; };
  const auto first = std::ranges::upper_bound(page.words, bytes.begin, {}, end_of);
  if (first == page.words.end() || first->bytes.begin >= bytes.end) return std::nullopt;
  auto last = std::ranges::lower_bound(first, page.words.end(), bytes.end, {}, end_of);
  if (last == page.words.end() || last->bytes.begin >= bytes.end) --last;
  return WordRange{.first = static_cast<std::uint32_t>(first - page.words.begin()),
                   .last = static_cast<std::uint32_t>(last - page.words.begin())};
}

std::optional<Evidence> evidence_at(const PageMap& page, ByteRange bytes) {
  const auto words = words_covering(page, bytes);
  if (!words) return std::nullopt;
  return Evidence{.page = page.info.page, .words = *words, .bytes = bytes};
}

std::optional<Evidence> evidence_at(const PageMap& page, WordRange words) {
  if (words.first > words.last || words.last >= page.words.size()) return std::nullopt;
  return Evidence{.page = page.info.page, .words = words, .bytes = page.bytes_of(words)};
}

std::string_view quoted(const SpatialMap& map, const Evidence& evidence) {
  const auto* page = map.page(evidence.page);
  return page == nullptr ? std::string_view() : page->text_of(evidence.bytes);
}

std::vector<Box> highlight(const PageMap& page, WordRange words) {
  std::vector<Box> boxes;
  if (words.last >= page.words.size()) return boxes;
  for (auto i = words.first; i <= words.last; ++i) {
    const auto& word = page.words[i];
    if (i > words.first && word.line == page.words[i - 1].line) {
      boxes.back() = unite(boxes.back(), word.box);
    } else {
      boxes.push_back(word.box);
    }
  }
  return boxes;
}

json::Value evidence_to_json(const SpatialMap& map, const Evidence& evidence) {
  const auto* page = map.page(evidence.page);
  if (page == nullptr) return nullptr;
  const OffsetIndex offsets(page->text);
  return json::Object{
      {"page", evidence.page},
      {"words", json::Array{evidence.words.first, evidence.words.last}},
      {"char", json::Array{offsets.code_points_before(evidence.bytes.begin),
                           offsets.code_points_before(evidence.bytes.end)}},
      {"text", page->text_of(evidence.bytes)},
  };
}

Result<Evidence> evidence_from_json(const json::Value& value, const SpatialMap& map,
                                    std::string path) {
  MR_TRY(const auto fields, Fields::of(value, std::move(path)));
  MR_TRY(const auto number, fields.count("page", 0xffff'fffe));
  const auto* page = map.page(number);
  if (page == nullptr) return fields.wrong("page", "is not in the document");
  MR_TRY(const auto words, pair_of(fields, "words"));
  MR_TRY(const auto chars, pair_of(fields, "char"));
  MR_TRY(const auto text, fields.text("text", kQuoteBytesMax));
  const OffsetIndex offsets(page->text);
  const auto begin = offsets.byte_of(chars.first);
  const auto end = offsets.byte_of(chars.second);
  if (!begin || !end) return fields.wrong("char", "is outside the text of the page");
  const auto found = evidence_at(*page, ByteRange{.begin = *begin, .end = *end});
  if (!found) return fields.wrong("char", "covers no word");
  if (found->words != WordRange{.first = words.first, .last = words.second}) {
    return fields.wrong("words", "are not those that char covers");
  }
  if (page->text_of(found->bytes) != text) {
    return fields.wrong("text", "is not what stands at char");
  }
  return *found;
}

}  // namespace millrace::layout
