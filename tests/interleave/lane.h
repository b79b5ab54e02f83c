// Lane: a database of its own with the worlds in it, two connections that meet and a third that
// directs them.
//
// Flow: set a world, bring transition A to one of its boundaries, run B in full on the other
// connection (it ends, or waits for A), let A end; what both answered and what the world looks like
// afterwards is the outcome. No clock runs and nothing sleeps: states are asked for until they
// hold.
#pragma once

#include "interleave/boundaries.h"
#include "interleave/transitions.h"
#include "sql/engine.h"

#include <cstddef>
#include <future>
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
  enum class Functions { as_they_are, with_boundaries };
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
  std::string explain(const std::string& boundary) const;

 private:
  struct World {
    std::string job, token, process, queue;
  };

  void install(Functions functions);
  void build_worlds();
  std::string claim_lane(const Worker& worker, std::string_view name);
  World build(std::string_view name);
  std::string enqueue_world(std::string_view name);
  std::string enqueue(const std::string& type, const std::string& options);
  void set(std::string_view world);
  void stop_at(const std::string& stop);
  std::string sql_of(std::string_view world, const Transition& transition) const;
  std::string run(Session& session, const std::string& sql);
  std::future<std::string> start(Session& session, std::string sql);
  std::string run_to_boundary(std::string_view world, const Transition& a);
  bool waits(const std::future<std::string>& b);
  void look(Outcome& outcome);

  TestDatabase database_;
  Session director_{database_};
  Session setter_{database_};  // Of its own: its setting would throw away the plans of others.
  Session a_{database_};
  Session b_{database_};
  std::string changing_;  // The tables that transitions change.
  int sets_ = 0;
  std::map<std::string, World, std::less<>> worlds_;
  std::map<std::pair<std::string, int>, std::string> before_;
};

}  // namespace millrace::test
