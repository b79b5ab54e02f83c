// DividedWords: words that the end of a line has cut in two, "hyper-" and "tension".
//
// Only within a block, and only letters on both sides of which the second part begins small:
// "X-ray" at the end of a line and lists with dashes stay what they are.
#pragma once

#include "layout/page.h"

#include <cstdint>
#include <map>
#include <string>

namespace millrace::output {

struct DividedPart {
  bool first = false;
  std::string hyphen = {};  // Of the first part, as it is written.
  double share = 1;         // How much of its width the first part has without the hyphen.
  std::string whole = {};
};

class DividedWords {
 public:
  explicit DividedWords(const layout::PageMap& page);

  const DividedPart* find(std::uint32_t word) const;  // Null for a word that is whole.

 private:
  std::map<std::uint32_t, DividedPart> parts_;
};

}  // namespace millrace::output
