#include "output/evidence_table.h"

#include "layout/code_points.h"
#include "layout/evidence.h"

#include <algorithm>

namespace millrace::output {
namespace {

constexpr std::size_t kSentenceBytesMax = 200;

// Back to the end of the sentence before, or the paragraph's beginning.
std::string sentence_before(std::string_view text, std::size_t end) {
  auto begin = end;
  while (begin > 0 && end - begin < kSentenceBytesMax) {
    const char c = text[begin - 1];
    const bool stop = c == '.' || c == '!' || c == '?' || c == ';';
    if (stop && begin < text.size() && (text[begin] == ' ' || text[begin] == '\n')) break;
    if (c == '\n' && begin >= 2 && text[begin - 2] == '\n') break;
    --begin;
  }
  // The bound may have fallen into a character.
  while (begin < end && (static_cast<unsigned char>(text[begin]) & 0xc0U) == 0x80U) ++begin;
  return std::string(text.substr(begin, end - begin));
}

}  // namespace

EvidenceTable::EvidenceTable(const layout::SpatialMap& map,
                             const layout::clinical::Detection& detection) {
  for (const auto& page : map.pages) add_page(page, detection);
}

void EvidenceTable::only_for(const layout::clinical::Extraction& extraction) {
  wanted_.emplace();
  for (const auto& fact : extraction.facts) {
    wanted_->insert(fact.evidence.begin(), fact.evidence.end());
  }
}

void EvidenceTable::add_page(const layout::PageMap& page,
                             const layout::clinical::Detection& detection) {
  const layout::OffsetIndex offsets(page.text);
  for (const auto& entity : detection.entities) {
    const auto& at = entity.at;
    if (at.page != page.info.page) continue;
    const bool placed = at.bytes.begin < at.bytes.end && at.bytes.end <= page.text.size() &&
                        at.words.first <= at.words.last && at.words.last < page.words.size();
    if (!placed || (wanted_ && !wanted_->contains(entity.id))) continue;
    entities_.insert_or_assign(entity.id,
                               Located{.entity = entity.id,
                                       .category = entity.category,
                                       .page = at.page,
                                       .words = at.words,
                                       .char_begin = offsets.code_points_before(at.bytes.begin),
                                       .char_end = offsets.code_points_before(at.bytes.end),
                                       .text = std::string(page.text_of(at.bytes)),
                                       .sentence = sentence_before(page.text, at.bytes.begin),
                                       .boxes = layout::highlight(page, at.words)});
  }
}

const Located* EvidenceTable::find(std::string_view entity) const {
  const auto at = entities_.find(entity);
  return at == entities_.end() ? nullptr : &at->second;
}

std::vector<const Located*> EvidenceTable::of(const layout::clinical::Fact& fact) const {
  std::vector<const Located*> out;
  for (const auto& id : fact.evidence) {
    if (const auto* located = find(id)) out.push_back(located);
  }
  return out;
}

json::Object located_json(const Located& located) {
  json::Array boxes;
  for (const auto& box : located.boxes) {
    boxes.push_back(json::Array{box.x0, box.y0, box.x1, box.y1});
  }
  return {{"entity", located.entity},
          {"page", located.page},
          {"words", json::Array{located.words.first, located.words.last}},
          {"char", json::Array{located.char_begin, located.char_end}},
          {"text", located.text},
          {"boxes", std::move(boxes)}};
}

}  // namespace millrace::output
