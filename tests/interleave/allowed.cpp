#include "interleave/allowed.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace millrace::test {
namespace {

bool found_nothing(const std::string& answer) { return answer == "none" || answer == "0"; }

bool declares_dead(const Transition& transition) {
  return transition.name == "sweep" || transition.name == "hand_back_process";
}

// "J ready a0 d1, w +30s" by its first words: J, w. Whether a job waits in line or for its key
// follows from the others, and the judge looks at that: here it is the same.
std::map<std::string, std::string> items(const std::string& state) {
  static const std::regex waits("(serial|concurrency) never");
  std::map<std::string, std::string> all;
  std::stringstream in(std::regex_replace(state, waits, "ready"));
  for (std::string item; std::getline(in >> std::ws, item, ',');) {
    all[item.substr(0, item.find(' '))] = item;
  }
  return all;
}

// `dead` is what the transition answered that declares w dead: it passed over what the other held.
bool passed_over(const std::string& dead, const Outcome& outcome, const Outcome& other_alone) {
  auto expected = items(other_alone.state);
  expected["w"] = "w gone";
  return found_nothing(dead) && items(outcome.state) == expected;
}

// Just what was claimed is leased, the rest is what the other transition makes of it alone. (The
// provider's figures follow the leases.)
bool claimed_beside(const std::string& claimed, const Outcome& outcome,
                    const Outcome& other_alone) {
  auto expected = items(other_alone.state);
  auto got = items(outcome.state);
  expected.erase("provider");
  got.erase("provider");
  std::stringstream words(claimed);
  for (std::string job, delivery; words >> job >> delivery;) {
    if (!got[job].starts_with(job + " leased ") && !got[job].starts_with(job + " claimed ")) {
      return false;
    }
    got.erase(job);
    expected.erase(job);
  }
  return got == expected;
}

bool is_apart(const Outcome& outcome, const Orders& orders, const Transition& a,
              const Transition& b) {
  return (a.name.starts_with("claim") && outcome.b == orders.only_b.a &&
          claimed_beside(outcome.a, outcome, orders.only_b)) ||
         (b.name.starts_with("claim") && outcome.a == orders.only_a.a &&
          claimed_beside(outcome.b, outcome, orders.only_a));
}

bool is_orphan(const Outcome& outcome, const Orders& orders, const Transition& a,
               const Transition& b) {
  if (outcome.state.find(", w gone") == std::string::npos ||
      (outcome.state.find(" leased ") == std::string::npos &&
       outcome.state.find(" claimed ") == std::string::npos)) {
    return false;
  }
  return is_apart(outcome, orders, a, b) ||
         (declares_dead(a) && outcome.b == orders.only_b.a &&
          passed_over(outcome.a, outcome, orders.only_b)) ||
         (declares_dead(b) && outcome.a == orders.only_a.a &&
          passed_over(outcome.b, outcome, orders.only_a));
}

}  // namespace

std::map<PairName, AllowedLine> read_allowed(const std::string& path) {
  static const std::regex form(R"(^(\w+), (\w+): ([\w ]+) \| (.+)$)");
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::map<PairName, AllowedLine> table;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    std::smatch parts;
    if (!std::regex_match(line, parts, form)) throw std::runtime_error("not understood: " + line);
    AllowedLine allowed{.why = parts[4]};
    std::stringstream words(parts[3]);
    for (std::string word; words >> word;) allowed.outcomes.insert(word);
    if (!table.emplace(PairName{parts[1], parts[2]}, std::move(allowed)).second) {
      throw std::runtime_error("named twice: " + line);
    }
  }
  return table;
}

std::string name_of(const Outcome& outcome, const Orders& orders, const Transition& a,
                    const Transition& b) {
  const auto text = outcome.text();
  const bool ab = text == orders.ab.text();
  const bool ba = text == orders.ba.text();
  if (ab && ba) return "either";
  if (ab) return "AB";
  if (ba) return "BA";
  if ((found_nothing(outcome.b) && outcome.a == orders.only_a.a &&
       outcome.state == orders.only_a.state) ||
      (found_nothing(outcome.a) && outcome.b == orders.only_b.a &&
       outcome.state == orders.only_b.state)) {
    return "passed";
  }
  if (is_orphan(outcome, orders, a, b)) return "orphan";
  if (is_apart(outcome, orders, a, b)) return "apart";
  if ((outcome.b == "busy" && outcome.a == orders.only_a.a &&
       outcome.state == orders.only_a.state) ||
      (outcome.a == "busy" && outcome.b == orders.only_b.a &&
       outcome.state == orders.only_b.state)) {
    return "busy";
  }
  return "other";
}

}  // namespace millrace::test
