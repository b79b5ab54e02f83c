// The kinds of documents that samples are, each written anew from a seed.
#pragma once

#include "samples/chance.h"
#include "samples/document.h"

#include <string_view>

namespace millrace::samples {

Document write_letter(Chance chance, Language language);      // Discharge or clinic letter.
Document write_lab_report(Chance chance, Language language);  // Tables with reference ranges.
Document write_invoice(Chance chance, Language language);
// English only.
Document write_prescription(Chance chance);
Document write_medication_list(Chance chance);
Document write_article(Chance chance);  // Two columns, one page.
Document write_form(Chance chance);     // Checkboxes, keys and values.
// A patient file of about `pages` pages with running headers: visits, tables, notes.
Document write_record(Chance chance, int pages);

}  // namespace millrace::samples
