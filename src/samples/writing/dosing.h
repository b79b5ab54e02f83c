// How the languages say how often and by which way a drug is taken.
#pragma once

#include "samples/chance.h"
#include "samples/data/terms.h"
#include "samples/language.h"

#include <string>
#include <string_view>

namespace millrace::samples {

struct Frequency {
  std::string_view normal;  // "BID"
  std::string_view text;    // "twice daily"
};

// `style` 0: words, 1: abbreviations (English) or the scheme morning-noon-evening (others).
const Frequency& pick_frequency(Chance& chance, const Drug& drug, Language language, int style);
std::string route_text(std::string_view route, Language language, int style);
std::string unit_text(std::string_view unit, Language language);

}  // namespace millrace::samples
