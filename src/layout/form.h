// Forms: what a page asks and what was filled in: "Name: Jane Doe", "☑ smoker".
//
// Read from words, lines and tables; boxes that only the picture shows come from whoever has it.
#pragma once

#include "layout/page.h"

#include <span>

namespace millrace::layout {

// Fills `pairs` and `checkboxes` from the rest of the page. Running it again changes nothing.
void find_forms(PageMap& page);

// A box that is drawn on the page.
struct DrawnBox {
  Box box = {};  // Fractions, as those of words.
  bool checked = false;
  bool field = false;  // The file itself says that it is one, of a form to be filled in.
  friend bool operator==(const DrawnBox&, const DrawnBox&) = default;
};
// Adds those that words stand behind, on their line: a box without a label is an ornament. A field
// is none: it may have its label in front, when those words are no other box's, or none at all.
// A word that the box itself was read as ("O", "[]") is its mark. To be run once, after find_forms.
void add_drawn_boxes(PageMap& page, std::span<const DrawnBox> boxes);

}  // namespace millrace::layout
