#include "app/exit_code.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

TEST(ExitCodeTest, FollowsTheSqlstateBeforeTheKind) {
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::invalid_argument, .sqlstate = "42501"}), 6);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::invalid_argument, .sqlstate = "MR015"}), 6);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::unavailable, .sqlstate = "3F000"}), 8);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::invalid_argument, .sqlstate = "MR002"}), 2);
}

TEST(ExitCodeTest, EveryKindHasItsCode) {
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::invalid_argument}), 2);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::not_found}), 3);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::conflict}), 4);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::lease_lost}), 4);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::throttled}), 5);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::unavailable}), 5);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::in_doubt}), 5);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::cancelled}), 130);
  EXPECT_EQ(exit_code_of({.kind = ErrorKind::internal}), 1);
}

TEST(ErrorLineTest, IsOneLineWithHintAndState) {
  EXPECT_EQ(error_line({.kind = ErrorKind::not_found,
                        .message = "queue 'x'\ndoes not exist.",
                        .sqlstate = "MR007",
                        .hint = "see 'millrace queues list'."}),
            "millrace: queue 'x' does not exist; see 'millrace queues list' [MR007]");
  EXPECT_EQ(error_line({.message = "unknown command 'job'; did you mean 'jobs'?",
                        .hint = "see 'millrace --help'"}),
            "millrace: unknown command 'job'; did you mean 'jobs'? see 'millrace --help'");
}

}  // namespace
}  // namespace millrace::app
