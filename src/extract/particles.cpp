#include "extract/particles.h"

#include "extract/terms.h"

#include <algorithm>

namespace millrace::extract {

bool is_and(const Token& token) {
  return one_of(token.fold, {"and", "und", "et", "y", "e", "sowie"});
}

bool is_or(const Token& token) {
  return one_of(token.fold, {"or", "nor", "oder", "noch", "ou", "ni", "o", "u"});
}

bool says_degree(const Token& token) {
  return one_of(
      token.fold,
      {"still",     "ongoing",     "persistent",   "weiterhin",  "anhaltende", "persistierende",
       "toujours",  "persistante", "persistente",  "sigue",      "moderate",   "mild",
       "severe",    "marked",      "significant",  "slight",     "minimal",    "trace",
       "some",      "occasional",  "several",      "multiple",   "a",          "an",
       "his",       "her",         "their",        "massige",    "massiger",   "massiges",
       "leichte",   "leichter",    "leichtes",     "starke",     "starker",    "starkes",
       "schwere",   "schwerer",    "schweres",     "deutliche",  "deutlicher", "deutliches",
       "geringe",   "ausgepragte", "ausgepragter", "ein",        "eine",       "einige",
       "mehrere",   "zunehmende",  "modere",       "moderee",    "moderes",    "moderees",
       "severes",   "leger",       "legere",       "important",  "importante", "discret",
       "discrete",  "marquee",     "un",           "une",        "quelques",   "moderado",
       "moderada",  "moderados",   "leve",         "leves",      "severo",     "severa",
       "marcado",   "marcada",     "intenso",      "intensa",    "ligero",     "ligera",
       "una",       "algunos",     "algunas",      "importants", "graves",     "discrets",
       "moderadas", "importantes"});
}

bool is_taking(const Token& token) {
  return one_of(token.fold,
                {"takes",  "took",    "taking",   "take",      "on",      "uses",    "used",
                 "using",  "treated", "receives", "received",  "nimmt",   "nahm",    "nehmen",
                 "erhalt", "erhielt", "bekommt",  "behandelt", "prend",   "prenait", "prennent",
                 "recoit", "sous",    "traite",   "traitee",   "toma",    "tomaba",  "toman",
                 "recibe", "usa",     "tratado",  "tratada",   "started", "needs",   "requires"});
}

bool is_possessive(const Token& token) {
  return one_of(
      token.fold,
      {"his",   "her",     "their",  "the",     "a",       "an",       "two",    "three",
       "adult", "elderly", "older",  "elder",   "younger", "youngest", "oldest", "eldest",
       "wife",  "husband", "spouse", "partner", "seiner",  "seinem",   "seinen", "ihrer",
       "ihrem", "ihren",   "der",    "dem",     "den",     "des",      "frau",   "ehefrau",
       "mann",  "ehemann", "sa",     "son",     "ses",     "la",       "le",     "les",
       "sus",   "su",      "el",     "los",     "las",     "un",       "une",    "una",
       "femme", "mari",    "epouse", "esposa",  "esposo",  "marido",   "mujer",  "l",
       "d",     "'"});
}

bool is_allergy(const Token& token) {
  return one_of(token.fold, {"allergies", "allergy", "allergic", "allergien", "allergie",
                             "allergisch", "allergique", "alergias", "alergia", "alergico",
                             "alergica", "intolerance", "intolerances", "unvertraglichkeit",
                             "unvertraglichkeiten", "intolerancia", "intolerancias"});
}

bool leads_on(const Token& token) {
  return one_of(token.fold, {"to", "with", "by", "for", "auf", "durch", "zu", "a", "par", "pour",
                             "por", "con", "au"});
}

bool says_history(std::span<const Token> tokens) {
  return std::ranges::any_of(tokens, [](const Token& token) {
    return one_of(token.fold, {"history", "fhx", "familienanamnese", "familienanamnestisch",
                               "antecedents", "antecedentes"});
  });
}

bool says_discharge(std::span<const Token> tokens) {
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const bool parted = at + 2 < tokens.size() && tokens[at].is("d") && tokens[at + 1].is("/") &&
                        tokens[at + 2].fold.starts_with('c');
    if (parted || one_of(tokens[at].fold, {"dc", "dc'd", "dc'ed", "dced", "dcd"})) return true;
  }
  return false;
}

bool says_purpose(std::span<const Token> tokens) {
  return std::ranges::any_of(tokens, [](const Token& token) {
    return one_of(token.fold, {"prevent", "prevention", "prophylaxis", "prophylaxe", "risk",
                               "risque", "riesgo", "prevencion", "prevenir", "vorbeugung"});
  });
}

bool falls_supposes(std::span<const Token> tokens, std::size_t at) {
  constexpr std::size_t kAround = 40;  // Tokens to either side.
  constexpr unsigned kEnglish = 1;     // Bits of kLanguageNames.
  constexpr unsigned kGerman = 2;
  int german = 0;
  for (auto i = at - std::min(at, kAround); i < std::min(tokens.size(), at + kAround); ++i) {
    const unsigned languages = i == at ? 0 : Terms::get().languages(tokens[i].key);
    german += (languages & kGerman) != 0 ? 1 : 0;
    german -= (languages & kEnglish) != 0 ? 1 : 0;
  }
  if (german != 0) return german > 0;
  // "Falls Fieber, …": a noun follows.
  return at + 1 < tokens.size() && tokens[at + 1].capital && !tokens[at + 1].caps;
}

bool is_ordered(const Token& token) {
  return one_of(token.fold, {"take", "use", "uses", "give", "try", "nehmen", "verwenden", "prendre",
                             "utiliser", "donner", "tomar", "usar", "administrar"});
}

bool is_harm(const Token& token) {
  return one_of(token.fold,
                {"effects", "effect", "reaction", "reactions", "problems", "problem", "issues",
                 "complications", "nebenwirkungen", "nebenwirkung", "reaktion", "reaktionen",
                 "indesirables", "indesirable", "adversos", "adversa", "adversas", "reacciones"});
}

bool ends_with_harm_seen(std::span<const Token> tokens) {
  auto end = tokens.size();
  while (end > 0 && tokens.size() - end < 3 &&
         one_of(tokens[end - 1].fold,
                {"was", "were", "noted", "seen", "observed", "reported", "documented", "occurred"}))
    --end;
  return end > 0 && is_harm(tokens[end - 1]);
}

bool has_object(const Token& token) {
  return one_of(token.fold,
                {"have",       "had",         "having",  "show",      "showed",      "shown",
                 "reveal",     "revealed",    "see",     "seen",      "find",        "found",
                 "note",       "noted",       "report",  "reported",  "endorse",     "endorsed",
                 "describe",   "mention",     "admit",   "complain",  "any",         "identify",
                 "detect",     "detected",    "suggest", "indicate",  "demonstrate", "demonstrated",
                 "experience", "experienced", "develop", "developed", "take",        "taking",
                 "taken",      "took",        "use",     "using",     "need",        "require",
                 "receive",    "tolerate",    "want",    "get",       "on",          "nimmt",
                 "hat",        "haben",       "hatte",   "zeigt",     "zeigte",      "berichtet"});
}

bool is_between_denial_and_on(const Token& token) {
  return is_taking(token) || token.is(",") ||
         one_of(token.fold,
                {"been",      "being",     "be",         "currently",    "presently",  "now",
                 "ever",      "yet",       "still",      "actively",     "previously", "already",
                 "regularly", "routinely", "longer",     "at",           "this",       "present",
                 "the",       "moment",    "time",       "chronically",  "placed",     "put",
                 "kept",      "restarted", "maintained", "discharged",   "sent",       "home",
                 "remain",    "remained",  "remains",    "stay",         "stayed",     "also",
                 "recently",  "to",        "him",        "her",          "them",       "patient",
                 "aktuell",   "derzeit",   "mehr",       "actuellement", "etait",      "est",
                 "plus"});
}

}  // namespace millrace::extract
