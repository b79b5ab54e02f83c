#include "app/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::app {
namespace {

using ::testing::HasSubstr;

TEST(CannotConnect, SaysWhichDatabaseAndWhatToDo) {
  const Database database{.origin = "environment DATABASE_URL"};
  const auto refused = cannot_connect(database, Error{.message = "connection refused"});
  EXPECT_EQ(refused.message,
            "cannot connect to the database (environment DATABASE_URL): connection refused");
  EXPECT_THAT(refused.hint, HasSubstr("millrace config"));

  const auto full = cannot_connect(
      database, Error{.message = "could not write lock file: No space left on device"});
  EXPECT_THAT(full.hint, HasSubstr("make room"));
  EXPECT_THAT(cannot_connect(database, Error{.sqlstate = "53100"}).hint, HasSubstr("make room"));
  EXPECT_EQ(cannot_connect(database, Error{.hint = "as it was"}).hint, "as it was");
}

}  // namespace
}  // namespace millrace::app
