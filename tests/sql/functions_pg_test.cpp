// Every SQL function runs: names resolve, types fit, nothing is ambiguous (DEFECTS A02, A04, A06).
#include "session.h"

#include <string>

namespace millrace::test {
namespace {

class Functions : public ::testing::Test {
 protected:
  TestDatabase database_;
  Session owner_{database_};
};

// A function that is given nothing may refuse (MR…, a null where none may be), but its statements
// must be sound.
TEST_F(Functions, CanAllBeCalled) {
  const auto calls = owner_.rows(
      "select format('select * from millrace.%I(%s)', p.proname, (select string_agg('null::' || "
      "format_type(a.oid, null), ', ' order by a.i) from unnest(p.proargtypes) with ordinality "
      "a(oid, i))) "
      "from pg_proc p where p.pronamespace = 'millrace'::regnamespace and p.prokind = 'f' and "
      "p.prorettype <> "
      "'trigger'::regtype order by p.proname");
  EXPECT_GT(calls.rows(), 100U);
  for (const auto row : calls) {
    owner_.script("begin");
    const auto result = owner_.connection().query(std::string(row.text(0)));
    if (!result) {
      const auto& error = result.error();
      EXPECT_FALSE(error.sqlstate.starts_with("42") || error.sqlstate.starts_with("XX") ||
                   error.sqlstate == "55000" || error.sqlstate.empty())
          << row.text(0) << ": " << error.describe();
    }
    owner_.script("rollback");
  }
}

// One signature per name: PostgREST cannot resolve overloads.
TEST_F(Functions, HaveOneSignaturePerName) {
  for (const auto row : owner_.rows("select p.proname from pg_proc p where p.pronamespace = "
                                    "'millrace'::regnamespace group by 1 having count(*) > 1")) {
    ADD_FAILURE() << row.text(0) << " is overloaded";
  }
}

// Every error code that a function raises is registered.
TEST_F(Functions, RaiseRegisteredErrors) {
  for (const auto row :
       owner_.rows("select distinct p.proname, m.code[1] from pg_proc p cross join lateral "
                   "regexp_matches(p.prosrc, 'MR[0-9]{3}', 'g') m(code) where p.pronamespace = "
                   "'millrace'::regnamespace and not exists (select from millrace.sqlstate s where "
                   "s.code = "
                   "m.code[1])")) {
    ADD_FAILURE() << row.text(0) << " raises " << row.text(1) << ", which is not registered";
  }
}

}  // namespace
}  // namespace millrace::test
