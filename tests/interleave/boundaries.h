// Boundaries: puts a place to stop after every statement of a PL/pgSQL function that looks at the
// database or changes it, so that a test can bring one session exactly there.
//
// Flow: function texts in, as pg_get_functiondef gives them; the same functions out, each with
// calls of millrace_test.boundary('<function>', <n>) between its statements, and what stands before
// each. The calls are `if … then end if`, not `perform`: those would change FOUND and ROW_COUNT.
//
// A boundary is left out where it would be the same place as another: after a statement that only
// computes, and after a bare call of a function whose own last boundary is the same moment.
// It understands the house style of sql/functions (lower case, one statement after another), not
// PL/pgSQL in general; what it does not understand it refuses by throwing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millrace::test {

struct FunctionText {
  std::string name;        // Without the schema.
  std::string definition;  // create or replace function …
};

struct Bounded {
  std::vector<FunctionText> functions;
  // The statement before each boundary, for the story of a failure.
  std::map<std::pair<std::string, int>, std::string> before;
};

// `looking` are the names in schema millrace whose mention means that the database is looked at:
// its tables and views and the functions that read or write them.
Bounded with_boundaries(const std::vector<FunctionText>& functions,
                        const std::set<std::string>& looking);

}  // namespace millrace::test
