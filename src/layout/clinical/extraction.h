// Extraction, the result of pass 2: facts, each with the entities it rests on.
//
// Whom a fact is about and whether it is affirmed are parts of it that cannot be left out: negation
// and family history are where such systems go wrong.
#pragma once

#include "base/json.h"
#include "layout/clinical/fact_type.h"
#include "layout/clinical/pass.h"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

enum class Subject { patient, family, other };
enum class Polarity { affirmed, negated };
enum class Certainty { definite, probable, possible };
enum class Temporality { current, historical, future, hypothetical };

std::string_view to_string(Subject subject);
std::string_view to_string(Polarity polarity);
std::string_view to_string(Certainty certainty);
std::string_view to_string(Temporality temporality);

struct Assertion {
  Polarity polarity = Polarity::affirmed;
  Certainty certainty = Certainty::definite;
  Temporality temporality = Temporality::current;
  friend bool operator==(const Assertion&, const Assertion&) = default;
};

enum class CodeStatus {
  candidate,  // Written by a model: nobody has looked it up.
  confirmed,  // Code and display are in a terminology table.
};

struct Code {
  std::string system;
  std::string code;
  std::string display;
  CodeStatus status = CodeStatus::candidate;
  friend bool operator==(const Code&, const Code&) = default;
};

// The systems that codes may be from, by their exact URIs.
std::span<const std::string_view> code_systems();

struct Fact {
  std::string id;
  FactType type = FactType::Condition;
  Subject subject = Subject::patient;
  std::vector<std::string> evidence = {};  // Ids of entities.
  Assertion assertion = {};
  json::Object value = {};  // Every field of the type, null where nothing is said.
  std::vector<Code> codes = {};
  double conf = 0;

  // What the fact is about: the drug, the laboratory test.
  std::string_view name() const;
  friend bool operator==(const Fact&, const Fact&) = default;
};

struct Relation {
  std::string from;
  std::string to;
  std::string type;
  friend bool operator==(const Relation&, const Relation&) = default;
};

// What was seen and is no fact, with the reason.
struct Rejected {
  std::vector<std::string> evidence = {};
  std::string why;
  friend bool operator==(const Rejected&, const Rejected&) = default;
};

struct Extraction {
  std::vector<Fact> facts = {};
  std::vector<Relation> relations = {};
  std::vector<Rejected> rejected = {};
  friend bool operator==(const Extraction&, const Extraction&) = default;
};

std::span<const std::string_view> relation_types();

json::Value extraction_to_json(const Extraction& extraction);
json::Value fact_to_json(const Fact& fact);

// Form and bounds only. Codes of an answer are candidates, whatever it says.
Result<Extraction> extraction_from_json(const json::Value& value, Form form,
                                        const PassLimits& limits = {});

}  // namespace millrace::layout::clinical
