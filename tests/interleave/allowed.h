// The table of allowed outcomes, and the names of outcomes that are those of neither order.
#pragma once

#include "interleave/lane.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::test {

using PairName = std::pair<std::string, std::string>;

struct AllowedLine {
  std::set<std::string> outcomes;
  std::string why;
};

// Reads "a, b: outcome outcome | why"; throws on a line that it does not understand and on a pair
// that is named twice.
std::map<PairName, AllowedLine> read_allowed(const std::string& path);

// What a pair comes to in one world when nothing overlaps.
struct Orders {
  Outcome ab, ba;
  Outcome only_a, only_b;  // Both have their answer in `a`.
};

// The name of an outcome:
//   AB, BA   that of A before B, or of B before A;
//   either   both orders come to the same, and so did this;
//   passed   one of them found nothing, because the other held it; the rest as if it had not come;
//   apart    a claim took other jobs than the other transition moved, among them some that it could
//            take, or could not, only at that moment: a claim looks before it judges keys;
//   orphan   a process was declared dead while another transition gave it a job or held one of its
//            jobs: that lease is left to a process that is gone, and the next sweep takes it;
//   busy     the job was named, but somebody else moved it: it is answered so and not redriven;
//   other    anything else.
std::string name_of(const Outcome& outcome, const Orders& orders, const Transition& a,
                    const Transition& b);

}  // namespace millrace::test
