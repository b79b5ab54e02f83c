// Assertion: whom a mention is about, and whether it is said to be so, from the words around it.
//
// Cues reach forwards or backwards within their passage, a bounded number of words, and not past
// words that turn a sentence: "denies chest pain but reports fever". A bare answer behind a mention
// ("Diabetes: no") is said of it and of nothing else. A relative is spoken of only where he is not
// company ("lives with her daughter") nor the one who tells ("mother reports").
#pragma once

#include "extract/reading.h"
#include "layout/clinical/extraction.h"

#include <cstdint>
#include <span>

namespace millrace::extract {

struct Judgement {
  layout::clinical::Subject subject = layout::clinical::Subject::patient;
  layout::clinical::Assertion assertion = {};
  bool denied_behind = false;  // The denial stands behind the mention only.
  bool doubtful = false;       // Whether the denial still reaches it is for a person to say.
};

// What is mentioned: medicines are stopped and avoided, allergies denied one by one.
enum class Mentioned : std::uint8_t { other, medicine, allergy, result };

// What is known before the words are read. `others` are the mentions of the passage, in order: what
// is said behind the next one is said of that one, unless both are listed together. `neutral` are
// stretches without cues ("if required" of a frequency).
struct Surroundings {
  std::span<const TokenRange> others = {};
  std::span<const TokenRange> neutral = {};
  Mentioned mentioned = Mentioned::other;
  bool family = false;      // What the section says,
  bool historical = false;  // likewise.
};

Judgement judge(const PageReading& page, const Passage& passage, TokenRange mention,
                const Surroundings& around);

}  // namespace millrace::extract
