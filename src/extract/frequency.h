// How often and how long a medicine is taken: "twice daily", "1-0-1", "alle 8 Stunden", "for 7
// days".
#pragma once

#include "extract/token.h"

#include <span>
#include <string>
#include <string_view>

namespace millrace::extract {

// How many tokens say a frequency that begins here; 0 when none does. Several in a row count as one
// ("once daily at bedtime", "q6h prn").
std::size_t read_frequency(std::span<const Token> tokens, std::size_t at);

// "for 7 days", "x 10 Tage", "pendant 5 jours", "durante 2 semanas", "7 Tage lang"
std::size_t read_duration(std::span<const Token> tokens, std::size_t at);

// What a frequency says in one form for all languages: QD BID TID QID, QAM QNOON QPM QHS, Q8H, QOD,
// QW, QM, PRN, and their combinations ("Q6H PRN"). Empty when it is not known.
std::string normal_frequency(std::string_view text);

}  // namespace millrace::extract
