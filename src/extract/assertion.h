// Assertion: whom a mention is about, and whether it is said to be so, from the words around it.
//
// Cues reach forwards or backwards within their passage, a bounded number of words, and not past
// words that turn a sentence: "denies chest pain but reports fever".
#pragma once

#include "extract/reading.h"
#include "layout/clinical/extraction.h"

#include <span>

namespace millrace::extract {

struct Judgement {
  layout::clinical::Subject subject = layout::clinical::Subject::patient;
  layout::clinical::Assertion assertion = {};
  bool denied_behind = false;  // The denial stands behind the mention only.
};

// `others` are the mentions of the passage, in order: what is said behind the next one is said of
// that one, unless both are listed together. `neutral` are stretches without cues ("if required" of
// a frequency). `family` and `historical` are what the section says.
Judgement judge(const PageReading& page, const Passage& passage, TokenRange mention,
                std::span<const TokenRange> others, std::span<const TokenRange> neutral,
                bool family, bool historical);

}  // namespace millrace::extract
