#include "samples/writing/phrases.h"

namespace millrace::samples {

const LetterPhrases& letter_phrases(Language) { return english_phrases(); }

}  // namespace millrace::samples
