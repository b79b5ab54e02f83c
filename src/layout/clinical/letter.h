// A short discharge letter and what should be read from it. For tests only.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/evidence.h"
#include "layout/sheet.h"
#include "layout/spatial_map.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

inline SpatialMap letter() {
  Sheet first;
  first.text(60, 60, "DISCHARGE SUMMARY");
  first.text(60, 90, "Name: Zoë Müller DOB: 12 March 1970");
  first.lines(60, 130,
              {"She was admitted on 5 May 2024 with pneumonia. She denies chest",
               "pain. Her mother had diabetes. There was no evidence of heart failure."});
  first.text(60, 190, "MEDICATION");
  first.lines(60, 215, {"Metformin 500 mg twice daily", "Ramipril 2.5 mg once daily"});
  Sheet second;
  second.lines(60, 100, {"Haemoglobin 13.5 g/dL (12.0 - 16.0)", "Allergic to penicillin: rash"});
  return merge_pages({first.map(1), second.map(2)}).value();
}

// The entity of this text, in its place.
inline Entity entity(const SpatialMap& map, std::string id, Category category,
                     std::string_view text, double conf = 0.95) {
  for (const auto& page : map.pages) {
    const auto at = page.text.find(text);
    if (at == std::string::npos) continue;
    const ByteRange bytes{.begin = static_cast<std::uint32_t>(at),
                          .end = static_cast<std::uint32_t>(at + text.size())};
    return {.id = std::move(id),
            .category = category,
            .text = std::string(text),
            .at = evidence_at(page, bytes).value(),
            .conf = conf};
  }
  return {.id = std::move(id), .category = category, .text = std::string(text)};
}

inline Detection letter_detection(const SpatialMap& map) {
  Detection out{.document_type = {.value = "discharge_summary", .conf = 0.9}, .language = "en"};
  out.entities = {entity(map, "e1", Category::person, "Zoë Müller"),
                  entity(map, "e2", Category::date, "12 March 1970"),
                  entity(map, "e3", Category::condition, "pneumonia"),
                  entity(map, "e4", Category::condition, "chest\npain"),
                  entity(map, "e5", Category::condition, "diabetes"),
                  entity(map, "e6", Category::condition, "heart failure"),
                  entity(map, "e7", Category::medication_name, "Metformin"),
                  entity(map, "e8", Category::dose, "500 mg"),
                  entity(map, "e9", Category::frequency, "twice daily"),
                  entity(map, "e10", Category::medication_name, "Ramipril"),
                  entity(map, "e11", Category::dose, "2.5 mg"),
                  entity(map, "e12", Category::lab_name, "Haemoglobin"),
                  entity(map, "e13", Category::lab_value, "13.5 g/dL"),
                  entity(map, "e14", Category::reference_range, "12.0 - 16.0"),
                  entity(map, "e15", Category::allergen, "penicillin"),
                  entity(map, "e16", Category::reaction, "rash")};
  out.sections = {{.id = "s1",
                   .page = 1,
                   .kind = "demographics",
                   .words = {.first = 2, .last = 8},
                   .conf = 0.8}};
  return out;
}

inline Fact fact(std::string id, FactType type, std::vector<std::string> evidence,
                 std::string_view value, double conf = 0.95) {
  // Read by the reader, so that it has the form of every other fact.
  const auto text = fmt::format(
      R"({{"schema":"clinical.extract/1","relations":[],"rejected":[],"facts":[{{)"
      R"("id":"{}","type":"{}",)"
      R"("subject":"patient","evidence":["{}"],"assertion":{{"polarity":"affirmed",)"
      R"("certainty":"definite","temporality":"current"}},"value":{},"codes":[],"conf":{}}}]}})",
      id, to_string(type), fmt::join(evidence, R"(",")"), value, conf);
  return extraction_from_json(parse_json(text).value(), Form::answer).value().facts[0];
}

inline Extraction letter_extraction() {
  Extraction out;
  out.facts = {
      fact("f1", FactType::MedicationStatement, {"e7", "e8", "e9"},
           R"({"drug":"metformin","dose":{"value":500,"unit":"mg"},"frequency":"twice daily"})"),
      fact("f2", FactType::MedicationStatement, {"e10", "e11"},
           R"({"drug":"Ramipril","dose":{"value":2.5,"unit":"mg"}})"),
      fact("f3", FactType::Observation, {"e12", "e13", "e14"},
           R"({"name":"Haemoglobin","value":{"value":13.5,"unit":"g/dL"},
               "range":{"low":12,"high":16}})"),
      fact("f4", FactType::AllergyIntolerance, {"e15", "e16"},
           R"({"substance":"penicillin","reaction":"rash"})"),
      fact("f5", FactType::Condition, {"e3"}, R"({"name":"pneumonia","onset":"2024-05-05"})"),
      fact("f6", FactType::Patient, {"e1", "e2"},
           R"({"name":"Zoë Müller","birth_date":"1970-03-12"})")};
  out.relations = {{.from = "f1", .to = "f5", .type = "follows"}};
  return out;
}

}  // namespace millrace::layout::clinical
