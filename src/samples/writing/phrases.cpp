#include "samples/writing/phrases.h"

namespace millrace::samples {

const LetterPhrases& letter_phrases(Language language) {
  switch (language) {
    case Language::en:
      return english_phrases();
    case Language::de:
      return german_phrases();
    case Language::fr:
      return french_phrases();
    case Language::es:
      return spanish_phrases();
  }
  return english_phrases();
}

}  // namespace millrace::samples
