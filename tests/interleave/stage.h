// Stage: a database of its own with worlds that can be put back, two connections that meet and a
// third that directs them.
//
// Flow: set a world, bring call A to one of its boundaries, run call B in full on the other
// connection (it ends, or waits for A), let A end. No clock runs and nothing sleeps: states are
// asked for until they hold.
#pragma once

#include "interleave/boundaries.h"
#include "sql/engine.h"

#include <cstddef>
#include <future>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::test {

// What two calls answered; an SQL error is "error <sqlstate>".
struct Met {
  std::string a;
  std::string b;
  bool waited = false;  // B waited for A.
};

class Stage {
 public:
  enum class Functions { as_they_are, with_boundaries };
  // `scripts` are files of this folder that are installed behind stage.sql. `only`: the functions
  // that get boundaries; empty: all.
  Stage(Functions functions, const std::vector<std::string>& scripts,
        const std::set<std::string>& only = {});

  Session& director() { return director_; }
  Session& a() { return a_; }
  Session& b() { return b_; }

  // Keeps the world as it is now under a name, and brings it back.
  void keep(std::string_view world);
  void set(std::string_view world);

  // The boundaries that A passes when it is alone, as "function:number".
  std::vector<std::string> boundaries(std::string_view world, const std::string& a);
  std::string alone(std::string_view world, const std::string& a);
  Met in_turn(std::string_view world, const std::string& a, const std::string& b, bool a_first);
  // B while A stands at its n-th boundary (from 1), or before its commit (0).
  Met interleaved(std::string_view world, const std::string& a, const std::string& b,
                  std::size_t boundary);

  // The first value that a call answers.
  static std::string run(Session& session, const std::string& sql);
  // The statement before a boundary.
  std::string explain(const std::string& boundary) const;

 private:
  void install(const std::set<std::string>& only);
  void stop_at(const std::string& stop);
  std::string run_to_boundary(const std::string& sql);
  bool waits(const std::future<std::string>& b);

  TestDatabase database_;
  Session director_{database_};
  Session setter_{database_};  // Of its own: its setting would throw away the plans of others.
  Session a_{database_};
  Session b_{database_};
  std::string changing_;  // The tables that calls change.
  int sets_ = 0;
  std::map<std::pair<std::string, int>, std::string> before_;
};

}  // namespace millrace::test
