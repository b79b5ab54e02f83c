#include "output/fhir/elements.h"

#include "layout/clinical/clinical_date.h"
#include "layout/clinical/ucum.h"
#include "layout/code_points.h"
#include "layout/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::output::fhir {
namespace {

namespace clinical = layout::clinical;

json::Object evidence_extension(const Located& located) {
  json::Array parts;
  const auto add = [&](std::string_view url, std::string_view type, json::Value value) {
    parts.push_back(extension(url, type, std::move(value)));
  };
  const auto say = [&](std::string_view url, std::string_view type, std::string_view text) {
    parts.push_back(text_extension(url, type, text));
  };
  add("page", "valuePositiveInt", located.page);
  add("charBegin", "valueUnsignedInt", located.char_begin);
  add("charEnd", "valueUnsignedInt", located.char_end);
  if (const auto text = clean(located.text); !text.empty()) say("text", "valueString", text);
  for (const auto& box : located.boxes) {
    say("bbox", "valueString",
        fmt::format("{} {} {} {}", json_number(box.x0), json_number(box.y0), json_number(box.x1),
                    json_number(box.y1)));
  }
  return {{"url", kEvidenceExtension}, {"extension", std::move(parts)}};
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto next = layout::decode_at(text, i);
    i += next.bytes;
    if (layout::is_space(next.code)) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else if (!next.valid || layout::is_control(next.code)) {
      layout::append_utf8(out, layout::kReplacement);
    } else {
      layout::append_utf8(out, next.code);
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string text_field(const clinical::Fact& fact, std::string_view name) {
  const auto* value = fact.value.if_contains(name);
  return value != nullptr && value->is_string() ? clean(value->get_string()) : std::string();
}

std::string choice_field(const clinical::Fact& fact, std::string_view name) {
  auto text = text_field(fact, name);
  const auto rules = clinical::fields_of(fact.type);
  const auto rule = std::ranges::find(rules, name, &clinical::FieldRule::name);
  const bool known =
      rule != rules.end() && std::ranges::find(rule->choices, text) != rule->choices.end();
  return known ? text : std::string();
}

std::optional<std::string> date_field(const clinical::Fact& fact, std::string_view name) {
  auto text = text_field(fact, name);
  if (!clinical::parse_clinical_date(text)) return std::nullopt;
  return text;
}

const json::Object* object_field(const clinical::Fact& fact, std::string_view name) {
  const auto* value = fact.value.if_contains(name);
  return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

json::Object reference(std::string_view full_url) { return {{"reference", full_url}}; }

json::Object text_concept(std::string_view text) { return {{"text", clean(text)}}; }

json::Object coding(std::string_view system, std::string_view code, std::string_view display) {
  return {{"system", system}, {"code", code}, {"display", display}};
}

json::Object coded(std::string_view system, std::string_view code, std::string_view display) {
  return {{"coding", json::Array{coding(system, code, display)}}};
}

json::Object concept_of(const clinical::Fact& fact) {
  json::Array codings;
  for (const auto& code : fact.codes) {
    const auto value = clean(code.code);
    if (value.empty() || code.system == clinical::kUcumSystem) continue;
    const auto status = code.status == clinical::CodeStatus::confirmed ? "confirmed" : "candidate";
    json::Object item{
        {"extension", json::Array{text_extension(kCodeStatusExtension, "valueCode", status)}},
        {"system", code.system},
        {"code", value}};
    if (const auto display = clean(code.display); !display.empty()) item["display"] = display;
    codings.push_back(std::move(item));
  }
  json::Object out;
  if (!codings.empty()) out["coding"] = std::move(codings);
  if (const auto name = clean(fact.name()); !name.empty()) out["text"] = name;
  return out;
}

std::optional<json::Object> quantity(const json::Object* value) {
  if (value == nullptr) return std::nullopt;
  const auto* number = value->if_contains("value");
  const auto amount = number == nullptr ? std::nullopt : layout::to_number(*number);
  if (!amount || !std::isfinite(*amount)) return std::nullopt;
  const auto* unit = value->if_contains("unit");
  const bool has_unit = unit != nullptr && unit->is_string();
  return quantity(*amount, has_unit ? std::string_view(unit->get_string()) : std::string_view());
}

json::Object quantity(double value, std::string_view unit) {
  json::Object out{{"value", value}};
  const auto printed = clean(unit);
  if (printed.empty()) return out;
  out["unit"] = printed;
  if (const auto code = clinical::to_ucum(printed)) {
    out["system"] = clinical::kUcumSystem;
    out["code"] = *code;
  }
  return out;
}

json::Object period(const std::optional<std::string>& start,
                    const std::optional<std::string>& end) {
  json::Object out;
  if (start) out["start"] = *start;
  if (end) out["end"] = *end;
  return out;
}

json::Object extension(std::string_view url, std::string_view type, json::Value value) {
  json::Object out{{"url", url}};
  out[type] = std::move(value);
  return out;
}

json::Object text_extension(std::string_view url, std::string_view type, std::string_view text) {
  json::Object out{{"url", url}};
  out[type] = text;
  return out;
}

json::Array extensions_of(const clinical::Fact& fact, std::string_view route,
                          const EvidenceTable& evidence) {
  json::Array parts;
  const auto add = [&](std::string_view url, std::string_view type, json::Value value) {
    parts.push_back(extension(url, type, std::move(value)));
  };
  const auto say = [&](std::string_view url, std::string_view type, std::string_view text) {
    parts.push_back(text_extension(url, type, text));
  };
  say("id", "valueString", fact.id);
  add("confidence", "valueDecimal", fact.conf);
  say("polarity", "valueCode", to_string(fact.assertion.polarity));
  say("certainty", "valueCode", to_string(fact.assertion.certainty));
  say("temporality", "valueCode", to_string(fact.assertion.temporality));
  if (!route.empty()) say("route", "valueCode", route);
  json::Array out{json::Object{{"url", kFactExtension}, {"extension", std::move(parts)}}};
  for (const auto* located : evidence.of(fact)) out.push_back(evidence_extension(*located));
  return out;
}

}  // namespace millrace::output::fhir
