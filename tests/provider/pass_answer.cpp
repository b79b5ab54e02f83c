#include "pass_answer.h"

#include "page_words.h"
#include "strict_schema.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace millrace::test {
namespace {

json::Array words_of(const PageLine& line, const Mention& mention) {
  return {line.words[mention.first].index, line.words[mention.last].index};
}

std::string document_type_of(std::string_view text) {
  if (text.contains("DISCHARGE") || text.contains("Discharge")) return "discharge_summary";
  if (text.contains("LABORATORY") || text.contains("Laboratory")) return "lab_report";
  if (text.contains("PRESCRIPTION") || text.contains("Prescription")) return "prescription";
  return "other";
}

std::string detect(const PassQuestion& question) {
  json::Array entities;
  const auto lines = read_page_lines(question.user);
  for (const auto& line : lines) {
    for (const auto& mention : mentions_in(line)) {
      entities.push_back(json::Object{{"id", fmt::format("e{}", entities.size() + 1)},
                                      {"category", mention.category},
                                      {"text", text_of(line, mention)},
                                      {"page", line.page},
                                      {"words", words_of(line, mention)},
                                      {"conf", 0.95}});
    }
  }
  if (question.invented && !lines.empty()) {
    entities.push_back(json::Object{{"id", "e9999"},
                                    {"category", "MEDICATION_NAME"},
                                    {"text", "Inventedolumab"},
                                    {"page", lines.front().page},
                                    {"words", json::Array{0, 0}},
                                    {"conf", 0.99}});
  }
  return to_json(json::Object{
      {"schema", "clinical.detect/1"},
      {"document_type", json::Object{{"value", document_type_of(question.user)}, {"conf", 0.9}}},
      {"language", "en"},
      {"segments", json::Array()},
      {"entities", std::move(entities)},
      {"illegible", json::Array()}});
}

// Fields of each type, all of which must be there; what is not said is null.
json::Object empty_value(std::string_view type) {
  static const std::map<std::string_view, std::vector<std::string_view>> kFields = {
      {"MedicationStatement", {"drug", "dose", "route", "frequency", "duration", "start", "end"}},
      {"Observation", {"name", "value", "text", "comparator", "range", "flag", "effective"}},
      {"Condition", {"name", "onset", "end", "severity", "site"}},
      {"AllergyIntolerance", {"substance", "reaction", "severity"}},
      {"Immunization", {"vaccine", "date", "lot"}},
      {"Procedure", {"name", "date", "site"}},
      {"Patient", {"name", "birth_date", "sex", "identifier"}},
  };
  json::Object value;
  for (const auto field : kFields.at(type)) value[field] = nullptr;
  return value;
}

json::Value quantity_json(std::string_view text) {
  const auto quantity = quantity_of(text);
  if (!quantity) return nullptr;
  return json::Object{{"value", quantity->value}, {"unit", quantity->unit}};
}

json::Value range_json(std::string_view text) {
  const auto space = text.find(' ');
  const auto last = text.rfind(' ');
  if (space == text.npos) return nullptr;
  const auto low = quantity_of(std::string(text.substr(0, space)) + " x");
  const auto high = quantity_of(std::string(text.substr(last + 1)) + " x");
  if (!low || !high) return nullptr;
  return json::Object{{"low", low->value}, {"high", high->value}};
}

// The facts of one line, in the order of its entities.
class LineFacts {
 public:
  LineFacts(const PageLine& line, json::Array& facts, json::Array& rejected)
      : line_(line), facts_(facts), rejected_(rejected) {}

  void read() {
    for (const auto& entity : line_.entities) {
      if (!opens(entity) && !continues(entity)) reject(entity);
    }
  }

 private:
  bool opens(const ListedEntity& entity) {
    static const std::map<std::string_view, std::pair<std::string_view, std::string_view>> kOpen = {
        {"MEDICATION_NAME", {"MedicationStatement", "drug"}},
        {"LAB_NAME", {"Observation", "name"}},
        {"CONDITION", {"Condition", "name"}},
        {"ALLERGEN", {"AllergyIntolerance", "substance"}},
        {"IMMUNIZATION", {"Immunization", "vaccine"}},
        {"PROCEDURE", {"Procedure", "name"}},
        {"PERSON", {"Patient", "name"}}};
    const auto at = kOpen.find(entity.category);
    if (at == kOpen.end()) return false;
    type_ = at->second.first;
    const bool family = is_of_family(line_.text, entity.text);
    const bool negated = is_negated(line_.text, entity.text);
    auto value = empty_value(type_);
    value[at->second.second] = entity.text;
    facts_.push_back(
        json::Object{{"id", fmt::format("f{}", facts_.size() + 1)},
                     {"type", type_},
                     {"subject", family ? "family" : "patient"},
                     {"evidence", json::Array{entity.id}},
                     {"assertion", json::Object{{"polarity", negated ? "negated" : "affirmed"},
                                                {"certainty", "definite"},
                                                {"temporality", "current"}}},
                     {"value", std::move(value)},
                     {"codes", json::Array()},
                     {"conf", 0.93}});
    return true;
  }

  bool continues(const ListedEntity& entity) {
    const auto field = field_of(entity.category);
    if (field.empty()) return false;
    auto& fact = facts_.back().as_object();
    auto& place = fact["value"].as_object()[field];
    if (!place.is_null()) return false;
    json::Value said = json::Value(entity.text);
    if (field == "dose" || field == "value") said = quantity_json(entity.text);
    if (field == "range") said = range_json(entity.text);
    if (entity.category == "DATE") {
      const auto date = date_of(entity.text);
      said = date ? json::Value(*date) : json::Value(nullptr);
    }
    if (said.is_null()) return false;
    place = std::move(said);
    fact["evidence"].as_array().emplace_back(entity.id);
    return true;
  }

  std::string_view field_of(std::string_view category) const {
    if (type_ == "MedicationStatement" && category == "DOSE") return "dose";
    if (type_ == "MedicationStatement" && category == "FREQUENCY") return "frequency";
    if (type_ == "MedicationStatement" && category == "ROUTE") return "route";
    if (type_ == "MedicationStatement" && category == "DURATION") return "duration";
    if (type_ == "Observation" && category == "LAB_VALUE") return "value";
    if (type_ == "Observation" && category == "REFERENCE_RANGE") return "range";
    if (type_ == "AllergyIntolerance" && category == "REACTION") return "reaction";
    const bool birth = line_.text.contains("DOB") || line_.text.contains("orn");
    if (type_ == "Patient" && category == "DATE" && birth) return "birth_date";
    return {};
  }

  void reject(const ListedEntity& entity) {
    rejected_.push_back(
        json::Object{{"evidence", json::Array{entity.id}}, {"why", "nothing is said about it"}});
  }

  const PageLine& line_;
  json::Array& facts_;
  json::Array& rejected_;
  std::string_view type_;  // Of the fact that this line opened last.
};

std::string extract(const PassQuestion& question) {
  json::Array facts;
  json::Array rejected;
  for (const auto& line : read_page_lines(question.user)) LineFacts(line, facts, rejected).read();
  if (question.invented && !facts.empty()) {
    auto fact = facts.front().as_object();
    fact["id"] = "f9999";
    fact["evidence"] = json::Array{"e9999"};
    facts.push_back(std::move(fact));
  }
  return to_json(json::Object{{"schema", "clinical.extract/1"},
                              {"facts", std::move(facts)},
                              {"relations", json::Array()},
                              {"rejected", std::move(rejected)}});
}

std::string text_in(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string amount_in(const json::Object& value, std::string_view name) {
  const auto* quantity = value.if_contains(name);
  if (quantity == nullptr || !quantity->is_object()) return {};
  const auto& object = quantity->get_object();
  const auto* number = object.if_contains("value");
  if (number == nullptr) return {};
  return " " + to_json(*number) + " " + text_in(object, "unit");
}

std::string sentence_of(const json::Object& fact) {
  const auto& value = fact.at("value").as_object();
  const auto type = text_in(fact, "type");
  std::string name = text_in(value, "name");
  for (const auto* other : {"drug", "substance", "vaccine", "kind"}) {
    if (name.empty()) name = text_in(value, other);
  }
  const auto* assertion = fact.if_contains("assertion");
  const bool negated = assertion != nullptr && assertion->is_object() &&
                       text_in(assertion->get_object(), "polarity") == "negated";
  if (negated) return fmt::format("There is no {}.", name);
  if (text_in(fact, "subject") == "family") return fmt::format("A relative has {}.", name);
  if (type == "MedicationStatement") {
    const auto often = text_in(value, "frequency");
    return fmt::format("The medication is {}{}{}.", name, amount_in(value, "dose"),
                       often.empty() ? "" : " " + often);
  }
  if (type == "Observation") return fmt::format("{} is{}.", name, amount_in(value, "value"));
  if (type == "AllergyIntolerance") return fmt::format("There is an allergy to {}.", name);
  return fmt::format("The document names {}.", name);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string narrate(const PassQuestion& question) {
  json::Array sentences;
  json::Array uncertain;
  json::Array conflicts;
  std::string audience = "patient";
  bool in_conflicts = false;
  for (const auto line : split(question.user, '\n')) {
    if (line.starts_with("audience: ")) audience = line.substr(10);
    if (line.starts_with("uncertain:")) {
      for (const auto id : split(line.substr(10), ' ')) uncertain.emplace_back(id);
    }
    if (in_conflicts && line.contains(": ")) {
      json::Array facts;
      for (const auto id : split(line.substr(0, line.find(": ")), ' ')) facts.emplace_back(id);
      conflicts.push_back(
          json::Object{{"facts", std::move(facts)}, {"note", line.substr(line.find(": ") + 2)}});
    }
    in_conflicts = in_conflicts || line == "conflicts:";
    if (!line.starts_with('{')) continue;
    const auto fact = parse_json_object(line);
    if (!fact || !fact->contains("value")) continue;
    sentences.push_back(
        json::Object{{"text", sentence_of(*fact)}, {"facts", json::Array{text_in(*fact, "id")}}});
  }
  if (question.invented) {
    sentences.push_back(
        json::Object{{"text", "Take 987654 mg at once."}, {"facts", json::Array{"f9999"}}});
  }
  return to_json(json::Object{{"schema", "clinical.narrative/1"},
                              {"audience", audience},
                              {"sentences", std::move(sentences)},
                              {"uncertain", std::move(uncertain)},
                              {"conflicts", std::move(conflicts)}});
}

}  // namespace

std::string pass_answer(const PassQuestion& question) {
  const auto form =
      question.schema == nullptr ? std::string(question.system) : to_json(*question.schema);
  if (form.contains("clinical.detect/1")) return detect(question);
  if (form.contains("clinical.extract/1")) return extract(question);
  if (form.contains("clinical.narrative/1")) return narrate(question);
  if (question.schema != nullptr) return to_json(smallest_instance(*question.schema));
  return "The stand-in has read the question.";
}

}  // namespace millrace::test
