#include "layout/clinical/narrative.h"

#include "layout/clinical/clinical_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::layout::clinical {
namespace {

constexpr auto kAudiences = std::to_array<std::string_view>({"patient", "clinician"});

}  // namespace

std::span<const std::string_view> audiences() { return kAudiences; }

json::Value narrative_to_json(const Narrative& narrative) {
  json::Array sentences;
  for (const auto& sentence : narrative.sentences) {
    sentences.push_back(json::Object{{"text", sentence.text}, {"facts", ids_json(sentence.facts)}});
  }
  json::Array conflicts;
  for (const auto& conflict : narrative.conflicts) {
    conflicts.push_back(json::Object{{"facts", ids_json(conflict.facts)}, {"note", conflict.note}});
  }
  return json::Object{{"schema", schema_id(Pass::narrate)},
                      {"audience", narrative.audience},
                      {"sentences", std::move(sentences)},
                      {"uncertain", ids_json(narrative.uncertain)},
                      {"conflicts", std::move(conflicts)}};
}

Result<Narrative> narrative_from_json(const json::Value& value, const PassLimits& limits) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  MR_TRY_VOID(fields.only({"schema", "audience", "sentences", "uncertain", "conflicts"}));
  MR_TRY_VOID(check_schema(fields, Pass::narrate));
  Narrative out;
  MR_TRY(out.audience, text_of(fields, "audience", limits));
  if (std::ranges::find(kAudiences, out.audience) == kAudiences.end()) {
    return fields.wrong("audience", "is none of the audiences");
  }
  MR_TRY(const auto* sentences, fields.array("sentences", limits.items_max));
  for (std::size_t i = 0; i < sentences->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*sentences)[i], fields.path_of("sentences", i)));
    MR_TRY_VOID(part.only({"text", "facts"}));
    Sentence sentence;
    MR_TRY(sentence.text, text_of(part, "text", limits));
    MR_TRY(sentence.facts, ids_of(part, "facts", limits, limits.references_max));
    out.sentences.push_back(std::move(sentence));
  }
  MR_TRY(out.uncertain, ids_of(fields, "uncertain", limits, limits.items_max));
  MR_TRY(const auto* conflicts, fields.array("conflicts", limits.items_max));
  for (std::size_t i = 0; i < conflicts->size(); ++i) {
    MR_TRY(const auto part, Fields::of((*conflicts)[i], fields.path_of("conflicts", i)));
    MR_TRY_VOID(part.only({"facts", "note"}));
    Conflict conflict;
    MR_TRY(conflict.facts, ids_of(part, "facts", limits, limits.references_max));
    MR_TRY(conflict.note, text_of(part, "note", limits));
    out.conflicts.push_back(std::move(conflict));
  }
  return out;
}

}  // namespace millrace::layout::clinical
