// Detection, the result of pass 1: where is what, without saying what it means.
//
// Every entity is text of the document, by page, words and bytes.
#pragma once

#include "base/json.h"
#include "layout/clinical/finding.h"
#include "layout/clinical/pass.h"
#include "layout/evidence.h"
#include "layout/spatial_map.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

enum class Category {
  medication_name,
  dose,
  frequency,
  route,
  duration,
  lab_name,
  lab_value,
  reference_range,
  vital_sign,
  condition,
  allergen,
  reaction,
  procedure,
  immunization,
  body_site,
  person,
  date,
  identifier,
  organization,
  other,
};

std::string_view to_string(Category category);  // "MEDICATION_NAME"
std::optional<Category> parse_category(std::string_view text);
std::vector<std::string_view> category_names();
std::span<const std::string_view> document_types();
std::span<const std::string_view> section_kinds();

struct DocumentType {
  std::string value = "other";
  double conf = 0;
  friend bool operator==(const DocumentType&, const DocumentType&) = default;
};

// A stretch of a page about one thing.
struct Section {
  std::string id;
  std::uint32_t page = 0;
  std::string kind;
  WordRange words = {};
  double conf = 0;
  friend bool operator==(const Section&, const Section&) = default;
};

struct Entity {
  std::string id;
  Category category = Category::other;
  std::string text;  // As it stands on the page, once it is grounded.
  Evidence at = {};  // Of an answer: page and words as claimed, no bytes.
  double conf = 0;
  // What grounding found about it that a person has to look at; empty in an answer.
  std::vector<Rule> doubts = {};
  friend bool operator==(const Entity&, const Entity&) = default;
};

struct Illegible {
  std::uint32_t page = 0;
  Box box = {};
  friend bool operator==(const Illegible&, const Illegible&) = default;
};

struct Detection {
  DocumentType document_type = {};
  std::string language = {};  // BCP 47; empty when it is not known.
  std::vector<Section> sections = {};
  std::vector<Entity> entities = {};
  std::vector<Illegible> illegible = {};

  const Entity* entity(std::string_view id) const;
  friend bool operator==(const Detection&, const Detection&) = default;
};

// What may be doubted of an entity that was found.
std::span<const std::string_view> doubt_names();

// The stored form. Entities must be grounded in `map`.
json::Value detection_to_json(const Detection& detection, const SpatialMap& map);

// Form and bounds only; whether it is true is checked by ground() and validate_detection(). The
// stored form has offsets, and those must be in the text.
Result<Detection> detection_from_json(const json::Value& value, Form form, const SpatialMap& map,
                                      const PassLimits& limits = {});

}  // namespace millrace::layout::clinical
