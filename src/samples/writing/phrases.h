// Phrases: what letters of a language are made of. Patterns as Scribe reads them.
#pragma once

#include "samples/language.h"

#include <span>
#include <string_view>

namespace millrace::samples {

using Patterns = std::span<const std::string_view>;

struct LetterPhrases {
  std::string_view salutation;  // With {addressee}.
  std::string_view closing;
  std::string_view sincerely;
  std::string_view phone;
  std::string_view birth_key;
  std::string_view number_key;
  std::string_view date_key;
  std::string_view patient_key;
  std::string_view subject;
  std::string_view diagnoses_title;
  std::string_view history_title;
  std::string_view findings_title;
  std::string_view labs_title;
  std::string_view course_title;
  std::string_view medication_title;
  std::string_view allergies_title;
  std::string_view family_title;
  std::string_view plan_title;
  std::string_view role;  // Under the signature.
  std::string_view page_footer;

  Patterns openings;
  Patterns diagnoses;
  Patterns history;
  Patterns denials;
  Patterns findings;
  Patterns no_findings;
  Patterns labs;
  Patterns courses;
  Patterns stopped;
  Patterns allergies;
  Patterns no_allergies;
  Patterns family;
  Patterns plans;
  Patterns hypotheses;
};

const LetterPhrases& letter_phrases(Language language);

// One file each: phrases_<language>.cpp.
const LetterPhrases& english_phrases();
const LetterPhrases& german_phrases();
const LetterPhrases& french_phrases();
const LetterPhrases& spanish_phrases();

}  // namespace millrace::samples
