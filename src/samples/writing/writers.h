// The kinds of documents that samples are, each written anew from a seed.
#pragma once

#include "samples/chance.h"
#include "samples/document.h"

namespace millrace::samples {

Document write_letter(Chance chance, Language language);      // Discharge or referral letter.
Document write_lab_report(Chance chance, Language language);  // Tables with reference ranges.

}  // namespace millrace::samples
