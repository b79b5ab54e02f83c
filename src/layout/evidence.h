// Evidence: the words of a page that something rests on.
//
// A fact is worth what it can show: page, words by index, and the exact bytes among them. Whoever
// holds the page can reproduce the text from it, and draw it.
#pragma once

#include "base/json.h"
#include "layout/page.h"
#include "layout/spatial_map.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout {

struct Evidence {
  std::uint32_t page = 0;
  WordRange words = {};
  ByteRange bytes = {};  // Of the page's text, within the words.
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

// The words that these bytes touch; nothing for bytes outside the text, or between words only.
std::optional<WordRange> words_covering(const PageMap& page, ByteRange bytes);
std::optional<Evidence> evidence_at(const PageMap& page, ByteRange bytes);
std::optional<Evidence> evidence_at(const PageMap& page, WordRange words);

// The exact text; empty when the page is not there or the bytes are not in it.
std::string_view quoted(const SpatialMap& map, const Evidence& evidence);

// One box for each line that the words stand on, to be drawn over the page.
std::vector<Box> highlight(const PageMap& page, WordRange words);

// {"page":1,"words":[214,214],"char":[812,821],"text":"Metformin"}; offsets count code points.
json::Value evidence_to_json(const SpatialMap& map, const Evidence& evidence);
// invalid_argument unless offsets and words belong together and reproduce the text.
Result<Evidence> evidence_from_json(const json::Value& value, const SpatialMap& map,
                                    std::string path = {});

}  // namespace millrace::layout
