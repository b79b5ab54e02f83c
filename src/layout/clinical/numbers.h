// Numbers in text: what a sentence or a quote says in figures.
//
// "1,000" may be a thousand or one, "250 000" one number or two, "1/2" a half: both readings are
// kept, and two numbers agree when they share one. A sign is not part of a number here: in
// documents it is a dash more often than a minus.
#pragma once

#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

struct Number {
  double value = 0;
  double other = 0;  // The second reading, or the same again.

  bool agrees_with(const Number& number) const;
  bool agrees_with(double number) const { return agrees_with({.value = number, .other = number}); }
};

enum class Spelled {
  ignored,
  counted,  // "two", "half", "twice", "once" count as well.
};

std::vector<Number> numbers_in(std::string_view text, Spelled spelled = Spelled::ignored);

// Whether each number of `needed` occurs among `known`.
bool all_occur(const std::vector<Number>& needed, const std::vector<Number>& known);

// How often a day, for the usual ways of writing it: "BID" 2, "q8h" 3, "once daily" 1; 0 when it
// does not say. A text that says "twice a day" for BID has put in no new number.
double times_a_day(std::string_view frequency);

}  // namespace millrace::layout::clinical
