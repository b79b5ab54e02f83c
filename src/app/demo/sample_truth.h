// What the makers of the sample documents know about them, and how near the results come.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct SampleFact {
  std::string type;  // medication, lab, allergy …
  std::string name;
};

struct Sample {
  std::string file;
  std::string expected_state;
  std::string expected_rule;      // Of one that is rejected.
  std::string text;               // Of all pages.
  std::vector<SampleFact> facts;  // Affirmed ones of the patient that have a name to look for.
};

Result<std::vector<Sample>> read_samples(const std::filesystem::path& truth);

// Share of characters that are wrong in what was read, page marks left out.
double character_error_rate(const Sample& sample, std::string_view text);

struct Found {
  std::size_t expected = 0;
  std::size_t found = 0;
};
// Of the expected names, how many a fact of that type has (facts/1).
Found find_facts(const Sample& sample, const json::Value& facts);

}  // namespace millrace::app
