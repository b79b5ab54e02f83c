#include "samples/writing/dosing.h"

#include <span>

namespace millrace::samples {
namespace {

constexpr Frequency kDailyEn[] = {
    {"QD", "once daily"},       {"BID", "twice daily"},     {"TID", "three times daily"},
    {"QAM", "in the morning"},  {"QHS", "at night"},        {"QD", "daily"},
    {"Q8H", "every 8 hours"},   {"Q12H", "every 12 hours"}, {"QD", "once a day"},
    {"BID", "two times a day"}, {"QPM", "in the evening"},
};
constexpr Frequency kShortEn[] = {
    {"QD", "OD"},     {"BID", "BID"}, {"BID", "b.i.d."}, {"TID", "TID"},
    {"QHS", "QHS"},   {"QD", "QD"},   {"BID", "1-0-1"},  {"QAM", "1-0-0"},
    {"TID", "1-1-1"}, {"Q8H", "q8h"}, {"QID", "QID"},    {"Q12H", "q12h"},
};
constexpr Frequency kNeedEn[] = {
    {"PRN", "as needed"},
    {"Q6H PRN", "every 6 hours as needed"},
    {"Q8H PRN", "every 8 hours if required"},
    {"PRN", "PRN"},
    {"Q4H PRN", "every 4 hours as needed"},
};
constexpr Frequency kWeekEn[] = {{"QW", "once weekly"}, {"QW", "once a week"}};

constexpr Frequency kDailyDe[] = {
    {"QD", "einmal täglich"}, {"BID", "zweimal täglich"}, {"TID", "dreimal täglich"},
    {"QAM", "morgens"},       {"QHS", "zur Nacht"},       {"Q8H", "alle 8 Stunden"},
};
constexpr Frequency kShortDe[] = {
    {"QAM", "1-0-0"}, {"BID", "1-0-1"}, {"TID", "1-1-1"}, {"QPM", "0-0-1"}, {"QHS", "0-0-0-1"},
};
constexpr Frequency kNeedDe[] = {{"PRN", "bei Bedarf"}, {"PRN", "b. Bed."}};
constexpr Frequency kWeekDe[] = {{"QW", "einmal wöchentlich"}};

constexpr Frequency kDailyFr[] = {
    {"QD", "une fois par jour"}, {"BID", "deux fois par jour"}, {"TID", "trois fois par jour"},
    {"QAM", "le matin"},         {"QHS", "au coucher"},         {"Q8H", "toutes les 8 heures"},
    {"BID", "matin et soir"},
};
constexpr Frequency kShortFr[] = {
    {"QAM", "1-0-0"}, {"BID", "1-0-1"}, {"TID", "1-1-1"}, {"BID", "2 fois/j"}, {"QD", "1 fois/j"},
};
constexpr Frequency kNeedFr[] = {{"PRN", "si besoin"}, {"PRN", "en cas de besoin"}};
constexpr Frequency kWeekFr[] = {{"QW", "une fois par semaine"}};

constexpr Frequency kDailyEs[] = {
    {"QD", "una vez al día"},  {"BID", "dos veces al día"}, {"TID", "tres veces al día"},
    {"QAM", "por la mañana"},  {"QHS", "por la noche"},     {"Q8H", "cada 8 horas"},
    {"Q12H", "cada 12 horas"},
};
constexpr Frequency kShortEs[] = {
    {"QAM", "1-0-0"}, {"BID", "1-0-1"}, {"TID", "1-1-1"}, {"Q8H", "c/8 h"}, {"Q12H", "c/12 h"},
};
constexpr Frequency kNeedEs[] = {{"PRN", "si precisa"}, {"PRN", "a demanda"}};
constexpr Frequency kWeekEs[] = {{"QW", "una vez por semana"}};

using List = std::span<const Frequency>;

struct Lists {
  List words;
  List shorts;
  List needs;
  List weeks;
};

Lists lists_of(Language language) {
  switch (language) {
    case Language::en:
      return {kDailyEn, kShortEn, kNeedEn, kWeekEn};
    case Language::de:
      return {kDailyDe, kShortDe, kNeedDe, kWeekDe};
    case Language::fr:
      return {kDailyFr, kShortFr, kNeedFr, kWeekFr};
    case Language::es:
      return {kDailyEs, kShortEs, kNeedEs, kWeekEs};
  }
  return {};
}

struct RouteWords {
  std::string_view normal;
  std::string_view words[kLanguages];
  std::string_view shorts[kLanguages];
};

constexpr RouteWords kRoutes[] = {
    {"oral",
     {"by mouth", "oral", "par voie orale", "por vía oral"},
     {"PO", "p.o.", "per os", "v.o."}},
    {"subcutaneous",
     {"subcutaneously", "subkutan", "par voie sous-cutanée", "por vía subcutánea"},
     {"SC", "s.c.", "SC", "s.c."}},
    {"inhaled",
     {"inhaled", "per inhalationem", "en inhalation", "inhalado"},
     {"INH", "inhalativ", "inhalé", "inh."}},
};

}  // namespace

const Frequency& pick_frequency(Chance& chance, const Drug& drug, Language language, int style) {
  const Lists lists = lists_of(language);
  if (drug.as_needed) return chance.pick(lists.needs);
  if (drug.names[0] == "methotrexate" || drug.names[0].ends_with("mab")) {
    return chance.pick(lists.weeks);
  }
  return chance.pick(style == 0 ? lists.words : lists.shorts);
}

std::string route_text(std::string_view route, Language language, int style) {
  for (const RouteWords& words : kRoutes) {
    if (words.normal != route) continue;
    return std::string(style == 0 ? words.words[at(language)] : words.shorts[at(language)]);
  }
  return {};
}

std::string unit_text(std::string_view unit, Language language) {
  if (unit == "mcg" && (language == Language::de || language == Language::fr)) return "µg";
  if (unit == "units") {
    constexpr std::string_view kUnits[kLanguages] = {"units", "IE", "UI", "UI"};
    return std::string(kUnits[at(language)]);
  }
  return std::string(unit);
}

}  // namespace millrace::samples
