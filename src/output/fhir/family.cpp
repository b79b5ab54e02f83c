#include "output/fhir/family.h"

#include "layout/code_points.h"
#include "output/fhir/elements.h"

#include <array>

namespace millrace::output::fhir {
namespace {

constexpr std::string_view kRoles = "http://terminology.hl7.org/CodeSystem/v3-RoleCode";

struct Relative {
  std::string_view word;
  std::string_view code;
  std::string_view display;
};

constexpr auto kRelatives = std::to_array<Relative>({
    {"mother", "MTH", "mother"},
    {"father", "FTH", "father"},
    {"mother's", "MTH", "mother"},
    {"father's", "FTH", "father"},
    {"parent", "PRN", "parent"},
    {"parents", "PRN", "parent"},
    {"sister", "SIS", "sister"},
    {"brother", "BRO", "brother"},
    {"sibling", "SIB", "sibling"},
    {"siblings", "SIB", "sibling"},
    {"son", "SONC", "son"},
    {"daughter", "DAUC", "daughter"},
    {"grandmother", "GRMTH", "grandmother"},
    {"grandfather", "GRFTH", "grandfather"},
    {"grandparent", "GRPRN", "grandparent"},
    {"aunt", "AUNT", "aunt"},
    {"uncle", "UNCLE", "uncle"},
    {"cousin", "COUSN", "cousin"},
});

const Relative* last_in(std::string_view sentence) {
  const auto text = layout::to_lower(sentence);
  const Relative* found = nullptr;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find_first_of(" \n\t,.:;()", begin), text.size());
    const auto word = std::string_view(text).substr(begin, end - begin);
    for (const auto& relative : kRelatives) {
      if (relative.word == word) found = &relative;
    }
    begin = end + 1;
  }
  return found;
}

}  // namespace

json::Object relationship_of(std::span<const Located* const> evidence) {
  for (const auto* located : evidence) {
    if (const auto* relative = last_in(located->sentence)) {
      return coded(kRoles, relative->code, relative->display);
    }
  }
  return coded(kRoles, "FAMMEMB", "family member");
}

}  // namespace millrace::output::fhir
