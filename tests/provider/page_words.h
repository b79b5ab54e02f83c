// The lines of a question as the passes write them ("12| Metformin 500 mg"), taken apart into
// words, and the little that the stand-in knows about such words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct PageWord {
  std::string text;
  std::uint32_t index = 0;  // On its page.
};

// "    e7 DOSE \"500 mg\"" under a line, in pass 2.
struct ListedEntity {
  std::string id;
  std::string category;
  std::string text;
};

struct PageLine {
  std::uint32_t page = 0;
  std::string text;  // As it came, without the number.
  std::vector<PageWord> words = {};
  std::vector<ListedEntity> entities = {};
};

std::vector<PageLine> read_page_lines(std::string_view input);

struct Quantity {
  double value = 0;
  std::string unit = {};
};

// Words of a line that say one thing, both ends included.
struct Mention {
  std::string category;
  std::size_t first = 0;
  std::size_t last = 0;
};

// In the order of the line, none overlapping another.
std::vector<Mention> mentions_in(const PageLine& line);

// Without brackets and marks around it: "(12.0" is "12.0".
std::string_view core_of(std::string_view word);
std::string text_of(const PageLine& line, const Mention& mention);

// "500 mg", "13.5 g/dL", "500mg"
std::optional<Quantity> quantity_of(std::string_view text);
// "12 March 1970" and "1970-03-12" as the latter.
std::optional<std::string> date_of(std::string_view text);

// What the sentence says before the mention.
bool is_negated(std::string_view line, std::string_view mention);
bool is_of_family(std::string_view line, std::string_view mention);

}  // namespace millrace::test
