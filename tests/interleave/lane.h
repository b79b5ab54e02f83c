// Lane: the worlds of jobs on a stage of their own, and what becomes of them when two transitions
// meet: what both answered and what the world looks like afterwards is the outcome.
#pragma once

#include "interleave/stage.h"
#include "interleave/transitions.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace millrace::test {

struct Outcome {
  std::string a;  // What A and B answered; an SQL error is "error <sqlstate>".
  std::string b;
  std::string state;    // After the notes were paid.
  std::string wrong;    // Rules that are broken.
  bool waited = false;  // B waited for A.

  std::string text() const { return "A " + a + " | B " + b + " | " + state; }
};

class Lane {
 public:
  using Functions = Stage::Functions;
  explicit Lane(Functions functions);

  // The boundaries that A passes when it is alone, as "function:number".
  std::vector<std::string> boundaries(std::string_view world, const Transition& a);
  // A world as it is; what one transition makes of it; and two, one after the other.
  Outcome untouched(std::string_view world);
  Outcome alone(std::string_view world, const Transition& transition);
  Outcome in_turn(std::string_view world, const Transition& a, const Transition& b, bool a_first);
  // B while A stands at its n-th boundary (from 1), or before its commit (0).
  Outcome interleaved(std::string_view world, const Transition& a, const Transition& b,
                      std::size_t boundary);
  // Runs what the last case left to its end; what is wrong then.
  std::string drain();
  // Sends the delivery of the world once more; the answer.
  std::string repeat(std::string_view world);

  // The statement before a boundary.
  std::string explain(const std::string& boundary) const { return stage_.explain(boundary); }

 private:
  struct World {
    std::string job, token, process, queue;
  };

  void build_worlds();
  std::string claim_lane(const Worker& worker, std::string_view name);
  World build(std::string_view name);
  std::string enqueue_world(std::string_view name);
  std::string enqueue(const std::string& type, const std::string& options);
  std::string sql_of(std::string_view world, const Transition& transition) const;
  Outcome outcome_of(Met met);
  void look(Outcome& outcome);

  Stage stage_;
  Session& director_ = stage_.director();
  std::map<std::string, World, std::less<>> worlds_;
};

}  // namespace millrace::test
