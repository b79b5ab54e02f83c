// Narrative, the result of pass 3: the document told in sentences, each of which names its facts.
#pragma once

#include "base/json.h"
#include "layout/clinical/pass.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

struct Sentence {
  std::string text;
  std::vector<std::string> facts = {};
  friend bool operator==(const Sentence&, const Sentence&) = default;
};

struct Conflict {
  std::vector<std::string> facts = {};
  std::string note;
  friend bool operator==(const Conflict&, const Conflict&) = default;
};

struct Narrative {
  std::string audience = "patient";
  std::vector<Sentence> sentences = {};
  std::vector<std::string> uncertain = {};  // Facts that a person has to look at.
  std::vector<Conflict> conflicts = {};
  friend bool operator==(const Narrative&, const Narrative&) = default;
};

std::span<const std::string_view> audiences();

json::Value narrative_to_json(const Narrative& narrative);
// Form and bounds only. Both forms are the same.
Result<Narrative> narrative_from_json(const json::Value& value, const PassLimits& limits = {});

}  // namespace millrace::layout::clinical
