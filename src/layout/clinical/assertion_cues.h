// Assertion cues: words beside a mention that change what it means. "Denies chest pain", "mother
// had diabetes", "return if fever".
//
// English only, and only good enough to ask a person: whoever made a fact has decided already, and
// this says when that decision should be looked at.
#pragma once

#include "layout/page.h"

#include <string_view>

namespace millrace::layout::clinical {

struct Cues {
  bool negated = false;
  bool family = false;
  bool hypothetical = false;
  bool purpose = false;  // "Prophylaxis", "risk of": hypothetical, unless it is a medicine.
};

// Of the mention at `at`, from the rest of its sentence.
Cues cues_around(std::string_view text, ByteRange at);

}  // namespace millrace::layout::clinical
