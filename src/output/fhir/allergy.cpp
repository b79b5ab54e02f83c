#include "output/fhir/allergy.h"

#include "layout/code_points.h"
#include "output/fhir/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace millrace::output::fhir {
namespace {

namespace clinical = layout::clinical;

constexpr std::string_view kClinical =
    "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical";
constexpr std::string_view kVerification =
    "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification";
constexpr std::string_view kSnomed = "http://snomed.info/sct";

// What documents say that there is nothing of, in the words of four languages. A word that is none
// of these makes it an allergy like any other: "no other allergies" is no statement about all.
enum class Word { unknown, none, known, link, allergy, intolerance, any, drug, food, place, latex };

Word word_of(std::string_view word) {
  using Words = std::vector<std::string_view>;
  static const std::vector<std::pair<Word, Words>> kWords = {
      {Word::none,
       {"no", "none", "nil", "denies", "without", "kein", "keine", "keinen", "keinerlei", "ohne",
        "aucun", "aucune", "pas", "sans", "sin", "ninguna", "ninguno", "niega"}},
      {Word::known,
       {"known",    "any",      "anything",  "documented",   "recorded",      "reported",
        "bekannt",  "bekannte", "bekannten", "dokumentiert", "dokumentierte", "dokumentierten",
        "connu",    "connue",   "connues",   "connus",       "conocida",      "conocidas",
        "conocido", "conocidos"}},
      {Word::link,
       {"to",  "of", "or", "and", "gegen", "auf", "von", "oder", "und", "à", "aux", "au", "de",
        "des", "d",  "ou", "et",  "a",     "al",  "los", "las",  "o",   "u", "y",   "e"}},
      {Word::allergy,
       {"allergy", "allergies", "allergic", "allergie", "allergien", "allergisch", "allergique",
        "alergia", "alergias", "alérgico", "alérgica"}},
      {Word::intolerance,
       {"intolerance", "intolerances", "unverträglichkeit", "unverträglichkeiten", "intolérance",
        "intolérances", "intolerancia", "intolerancias"}},
      {Word::any, {"nka"}},
      {Word::drug,
       {"nkda",
        "drug",
        "drugs",
        "medication",
        "medications",
        "medicine",
        "medicines",
        "medikamente",
        "medikamenten",
        "arzneimittel",
        "arzneimittelallergie",
        "arzneimittelallergien",
        "medikamentenallergie",
        "medikamentenallergien",
        "medikamentöse",
        "medikamentösen",
        "médicament",
        "médicaments",
        "medicaments",
        "médicamenteuse",
        "médicamenteuses",
        "medicamenteuse",
        "medicamenteuses",
        "medicamento",
        "medicamentos",
        "medicamentosa",
        "medicamentosas",
        "fármacos",
        "farmacos"}},
      {Word::food,
       {"nkfa", "food", "foods", "nahrungsmittel", "nahrungsmittelallergie",
        "nahrungsmittelallergien", "lebensmittel", "lebensmittelallergie", "lebensmittelallergien",
        "alimentaire", "alimentaires", "aliments", "alimentaria", "alimentarias", "alimentos"}},
      {Word::place,
       {"environmental", "umweltallergie", "umweltallergien", "environnementale",
        "environnementales", "ambiental", "ambientales"}},
      {Word::latex, {"latex", "látex", "latexallergie", "latexallergien"}},
  };
  for (const auto& [kind, words] : kWords) {
    if (std::ranges::find(words, word) != words.end()) return kind;
  }
  return Word::unknown;
}

bool is_code(std::string_view word) { return word == "nka" || word == "nkda" || word == "nkfa"; }

bool is_only(std::string_view text, std::string_view word) {
  const auto begin = text.find_first_not_of(' ');
  return begin != text.npos && text.substr(begin, text.find_last_not_of(' ') - begin + 1) == word;
}

// An allergy of no kind in particular, or to nothing in particular.
struct Nothing {
  bool said = false;          // "No known allergies", "NKDA": the denial is in the words.
  std::set<Word> kinds = {};  // Empty: of any kind.
};

// Nothing: it is about something.
std::optional<Nothing> nothing_in(std::string_view name) {
  Nothing found;
  bool allergy = false;
  bool intolerance = false;
  auto rest = layout::to_lower(clean(name));
  for (auto at = rest.find("\u2019"); at != rest.npos; at = rest.find("\u2019")) {
    rest.replace(at, 3, " ");
  }
  std::ranges::replace_if(
      rest, [](char c) { return std::string_view(".,;:()!/-'&").contains(c); }, ' ');
  for (std::size_t begin = 0; begin < rest.size();) {
    const auto end = std::min(rest.find(' ', begin), rest.size());
    const auto text = std::string_view(rest).substr(begin, end - begin);
    begin = end + 1;
    if (text.empty()) continue;
    const auto word = word_of(text);
    switch (word) {
      case Word::unknown:
        return std::nullopt;
      case Word::none:
        found.said = true;
        break;
      case Word::allergy:
        allergy = true;
        break;
      case Word::intolerance:
        intolerance = true;
        break;
      case Word::known:
      case Word::link:
      case Word::any:
        break;
      case Word::drug:
      case Word::food:
      case Word::place:
      case Word::latex:
        found.kinds.insert(word);
        break;
    }
    found.said |= is_code(text);
    // The kind and the word are one: "Arzneimittelallergien".
    allergy |= is_code(text) || text.contains("allergie");
  }
  // "Keine bekannt", under a heading that says of what. "PAS" by itself is a medicine.
  const bool bare = found.said && found.kinds.empty() && !intolerance && !is_only(rest, "pas");
  return allergy || bare ? std::optional(found) : std::nullopt;
}

struct NoneKnown {
  std::string_view code;
  std::string_view display;
};

// Nothing: there is no code for several kinds at once.
std::optional<NoneKnown> code_of(const std::set<Word>& kinds) {
  if (kinds.size() > 1) return std::nullopt;
  switch (kinds.empty() ? Word::any : *kinds.begin()) {
    case Word::drug:
      return NoneKnown{"409137002", "No known drug allergy"};
    case Word::food:
      return NoneKnown{"429625007", "No known food allergy"};
    case Word::place:
      return NoneKnown{"428607008", "No known environmental allergy"};
    case Word::latex:
      return NoneKnown{"1003774007", "No known Hevea brasiliensis latex allergy"};
    default:
      return NoneKnown{"716186003", "No known allergy"};
  }
}

json::Object none_known(const Nothing& nothing, std::string_view name) {
  const auto code = code_of(nothing.kinds);
  if (!code) return text_concept(nothing.said ? std::string(name) : fmt::format("no {}", name));
  auto out = coded(kSnomed, code->code, code->display);
  out["text"] = nothing.said ? clean(name) : std::string(code->display);
  return out;
}

json::Object allergy_of(const Links& links, json::Object code, std::string_view clinical_status,
                        std::string_view verification) {
  const auto shown = clinical_status == "active" ? "Active" : "Inactive";
  return {{"resourceType", "AllergyIntolerance"},
          {"clinicalStatus", coded(kClinical, clinical_status, shown)},
          {"verificationStatus", coded(kVerification, verification,
                                       verification == "refuted" ? "Refuted" : "Unconfirmed")},
          {"code", std::move(code)},
          {"patient", reference(links.patient)}};
}

void add_reaction(json::Object& out, const clinical::Fact& fact) {
  const auto reaction = text_field(fact, "reaction");
  const auto severity = choice_field(fact, "severity");
  if (!reaction.empty()) {
    json::Object item{{"manifestation", json::Array{text_concept(reaction)}}};
    if (!severity.empty()) item["severity"] = severity;
    out["reaction"] = json::Array{std::move(item)};
  } else if (!severity.empty()) {
    // A reaction without a manifestation is not allowed.
    out["note"] = json::Array{json::Object{{"text", "severity: " + severity}}};
  }
}

}  // namespace

Projection allergy(const clinical::Fact& fact, const Links& links) {
  const bool negated = fact.assertion.polarity == clinical::Polarity::negated;
  const auto nothing = nothing_in(fact.name());
  // What denies itself stays so, whether the denial was read into its polarity or not.
  if (nothing && (nothing->said || negated)) {
    return {.resource =
                allergy_of(links, none_known(*nothing, fact.name()), "active", "unconfirmed")};
  }
  // An allergy that is history still holds until somebody says otherwise.
  auto out = allergy_of(links, concept_of(fact), negated ? "inactive" : "active",
                        negated ? "refuted" : "unconfirmed");
  if (!negated) add_reaction(out, fact);
  return {.resource = std::move(out)};
}

}  // namespace millrace::output::fhir
