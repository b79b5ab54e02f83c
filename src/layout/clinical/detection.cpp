#include "layout/clinical/detection.h"

#include "layout/clinical/clinical_fields.h"
#include "layout/code_points.h"

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::layout::clinical {
namespace {

constexpr auto kCategories = std::to_array<Label<Category>>({
    {Category::medication_name, "MEDICATION_NAME"},
    {Category::dose, "DOSE"},
    {Category::frequency, "FREQUENCY"},
    {Category::route, "ROUTE"},
    {Category::duration, "DURATION"},
    {Category::lab_name, "LAB_NAME"},
    {Category::lab_value, "LAB_VALUE"},
    {Category::reference_range, "REFERENCE_RANGE"},
    {Category::vital_sign, "VITAL_SIGN"},
    {Category::condition, "CONDITION"},
    {Category::allergen, "ALLERGEN"},
    {Category::reaction, "REACTION"},
    {Category::procedure, "PROCEDURE"},
    {Category::immunization, "IMMUNIZATION"},
    {Category::body_site, "BODY_SITE"},
    {Category::person, "PERSON"},
    {Category::date, "DATE"},
    {Category::identifier, "IDENTIFIER"},
    {Category::organization, "ORGANIZATION"},
    {Category::other, "OTHER"},
});

constexpr auto kDocumentTypes = std::to_array<std::string_view>(
    {"discharge_summary", "lab_report", "prescription", "referral_letter", "clinic_letter",
     "imaging_report", "operation_note", "immunization_record", "form", "invoice", "other"});

constexpr auto kSectionKinds = std::to_array<std::string_view>(
    {"medication_list", "lab_results", "vital_signs", "allergies", "diagnoses", "history",
     "family_history", "procedures", "immunizations", "plan", "demographics", "signature",
     "other"});

constexpr std::uint32_t kPageMax = 0xffff'fffe;

Result<Section> section_of(const Fields& fields, const PassLimits& limits) {
  MR_TRY_VOID(fields.only({"id", "page", "kind", "words", "conf"}));
  Section section;
  MR_TRY(section.id, id_of(fields, "id", limits));
  MR_TRY(section.page, fields.count("page", kPageMax));
  MR_TRY(section.kind, text_of(fields, "kind", limits));
  if (std::ranges::find(kSectionKinds, section.kind) == kSectionKinds.end()) {
    return fields.wrong("kind", "is none of the kinds of segments");
  }
  MR_TRY(section.words, words_of(fields, "words"));
  MR_TRY(section.conf, conf_of(fields));
  return section;
}

Result<Entity> entity_of(const Fields& fields, const PassLimits& limits) {
  Entity entity;
  MR_TRY(entity.id, id_of(fields, "id", limits));
  MR_TRY(const auto category, fields.text("category", 64));
  const auto parsed = parse_category(category);
  if (!parsed) return fields.wrong("category", "is none of the categories");
  entity.category = *parsed;
  MR_TRY(const auto text, fields.text("text", limits.entity_bytes_max));
  entity.text = text;
  if (entity.text.empty()) return fields.wrong("text", "must not be empty");
  MR_TRY(entity.at.page, fields.count("page", kPageMax));
  MR_TRY(entity.at.words, words_of(fields, "words"));
  MR_TRY(entity.conf, conf_of(fields));
  return entity;
}

constexpr auto kDoubts = std::to_array({Rule::evidence_approximate, Rule::unknown_page});
constexpr auto kDoubtNames =
    std::to_array<std::string_view>({"evidence_approximate", "unknown_page"});
static_assert(kDoubts.size() == kDoubtNames.size());

json::Array doubts_json(const Entity& entity) {
  json::Array out;
  for (const auto rule : entity.doubts) out.emplace_back(to_string(rule));
  return out;
}

// Entities that were kept before doubts were have none.
Result<std::vector<Rule>> doubts_of(const Fields& fields) {
  std::vector<Rule> out;
  MR_TRY(const auto* names, fields.optional_array("doubts", kDoubts.size()));
  if (names == nullptr) return out;
  for (const auto& name : *names) {
    const auto at = name.is_string()
                        ? std::ranges::find(kDoubtNames, std::string_view(name.get_string()))
                        : kDoubtNames.end();
    if (at == kDoubtNames.end()) return fields.wrong("doubts", "has one that is not known");
    out.push_back(kDoubts[static_cast<std::size_t>(at - kDoubtNames.begin())]);
  }
  return out;
}

// Offsets of pages, made once for each page that is asked for.
class Offsets {
 public:
  explicit Offsets(const SpatialMap& map) : map_(map) {}

  const OffsetIndex* of(std::uint32_t number) {
    const auto* page = map_.page(number);
    if (page == nullptr) return nullptr;
    return &indexes_.try_emplace(number, page->text).first->second;
  }

 private:
  const SpatialMap& map_;
  std::map<std::uint32_t, OffsetIndex> indexes_;
};

Result<ByteRange> bytes_of(const Fields& fields, std::uint32_t page, Offsets& offsets) {
  const auto* index = offsets.of(page);
  if (index == nullptr) return fields.wrong("page", "is not in the document");
  MR_TRY(const auto chars, words_of(fields, "char"));  // The same form: two numbers in order.
  const auto begin = index->byte_of(chars.first);
  const auto end = index->byte_of(chars.last);
  if (!begin || !end) return fields.wrong("char", "is outside the text of the page");
  return ByteRange{.begin = *begin, .end = *end};
}

Result<Illegible> illegible_of(const Fields& fields) {
  MR_TRY_VOID(fields.only({"page", "bbox"}));
  Illegible out;
  MR_TRY(out.page, fields.count("page", kPageMax));
  MR_TRY(const auto* box, fields.array("bbox", 4));
  std::array<double, 4> corner{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto number = i < box->size() ? to_number((*box)[i]) : std::nullopt;
    if (!number || !(*number >= 0 && *number <= 1)) {
      return fields.wrong("bbox", "must be 4 numbers between 0 and 1");
    }
    corner[i] = *number;
  }
  if (corner[0] > corner[2] || corner[1] > corner[3]) {
    return fields.wrong("bbox", "must be [x0,y0,x1,y1] with x0 <= x1 and y0 <= y1");
  }
  out.box = {.x0 = corner[0], .y0 = corner[1], .x1 = corner[2], .y1 = corner[3]};
  return out;
}

Result<void> read_head(const Fields& fields, Detection& out) {
  MR_TRY_VOID(
      fields.only({"schema", "document_type", "language", "segments", "entities", "illegible"}));
  MR_TRY_VOID(check_schema(fields, Pass::detect));
  MR_TRY(const auto type, fields.object("document_type"));
  MR_TRY_VOID(type.only({"value", "conf"}));
  MR_TRY(const auto value, type.text("value", 64));
  if (std::ranges::find(kDocumentTypes, value) == kDocumentTypes.end()) {
    return type.wrong("value", "is none of the types of documents");
  }
  out.document_type.value = value;
  MR_TRY(out.document_type.conf, conf_of(type));
  MR_TRY(const auto language, fields.optional_text("language", 35));
  out.language = language.value_or("");
  return ok();
}

}  // namespace

std::string_view to_string(Category category) { return name_in(kCategories, category); }

std::optional<Category> parse_category(std::string_view text) {
  return value_in(kCategories, text);
}

std::vector<std::string_view> category_names() {
  std::vector<std::string_view> names;
  for (const auto& label : kCategories) names.push_back(label.name);
  return names;
}

std::span<const std::string_view> document_types() { return kDocumentTypes; }
std::span<const std::string_view> section_kinds() { return kSectionKinds; }
std::span<const std::string_view> doubt_names() { return kDoubtNames; }

const Entity* Detection::entity(std::string_view id) const {
  const auto at = std::ranges::find(entities, id, &Entity::id);
  return at == entities.end() ? nullptr : &*at;
}

json::Value detection_to_json(const Detection& detection, const SpatialMap& map) {
  json::Array sections;
  for (const auto& section : detection.sections) {
    sections.push_back(json::Object{{"id", section.id},
                                    {"page", section.page},
                                    {"kind", section.kind},
                                    {"words", words_json(section.words)},
                                    {"conf", section.conf}});
  }
  Offsets offsets(map);
  json::Array entities;
  for (const auto& entity : detection.entities) {
    json::Array chars;
    if (const auto* index = offsets.of(entity.at.page)) {
      chars = {index->code_points_before(entity.at.bytes.begin),
               index->code_points_before(entity.at.bytes.end)};
    }
    entities.push_back(json::Object{{"id", entity.id},
                                    {"category", to_string(entity.category)},
                                    {"text", entity.text},
                                    {"page", entity.at.page},
                                    {"char", std::move(chars)},
                                    {"words", words_json(entity.at.words)},
                                    {"conf", entity.conf},
                                    {"doubts", doubts_json(entity)}});
  }
  json::Array illegible;
  for (const auto& area : detection.illegible) {
    const auto& box = area.box;
    illegible.push_back(
        json::Object{{"page", area.page}, {"bbox", json::Array{box.x0, box.y0, box.x1, box.y1}}});
  }
  const auto& type = detection.document_type;
  return json::Object{
      {"schema", schema_id(Pass::detect)},
      {"document_type", json::Object{{"value", type.value}, {"conf", type.conf}}},
      {"language",
       detection.language.empty() ? json::Value(nullptr) : json::Value(detection.language)},
      {"segments", std::move(sections)},
      {"entities", std::move(entities)},
      {"illegible", std::move(illegible)},
  };
}

Result<Detection> detection_from_json(const json::Value& value, Form form, const SpatialMap& map,
                                      const PassLimits& limits) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  Detection out;
  MR_TRY_VOID(read_head(fields, out));
  MR_TRY(const auto* sections, fields.array("segments", limits.items_max));
  for (std::size_t i = 0; i < sections->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*sections)[i], fields.path_of("segments", i)));
    MR_TRY(auto section, section_of(part, limits));
    out.sections.push_back(std::move(section));
  }
  Offsets offsets(map);
  MR_TRY(const auto* entities, fields.array("entities", limits.items_max));
  for (std::size_t i = 0; i < entities->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*entities)[i], fields.path_of("entities", i)));
    MR_TRY(auto entity, entity_of(part, limits));
    if (form == Form::stored) {
      MR_TRY_VOID(part.only({"id", "category", "text", "page", "char", "words", "conf", "doubts"}));
      MR_TRY(entity.doubts, doubts_of(part));
      MR_TRY(entity.at.bytes, bytes_of(part, entity.at.page, offsets));
    } else {
      MR_TRY_VOID(part.only({"id", "category", "text", "page", "words", "conf"}));
    }
    out.entities.push_back(std::move(entity));
  }
  MR_TRY(const auto* illegible, fields.array("illegible", limits.items_max));
  for (std::size_t i = 0; i < illegible->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*illegible)[i], fields.path_of("illegible", i)));
    MR_TRY(const auto area, illegible_of(part));
    out.illegible.push_back(area);
  }
  return out;
}

}  // namespace millrace::layout::clinical
