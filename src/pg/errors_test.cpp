#include "pg/errors.h"

#include <gtest/gtest.h>

namespace millrace::pg {
namespace {

TEST(KindOfSqlstate, FollowsTheReaction) {
  const std::pair<const char*, ErrorKind> cases[] = {{"08006", ErrorKind::unavailable},
                                                     {"57P01", ErrorKind::unavailable},
                                                     {"57P03", ErrorKind::unavailable},
                                                     {"53300", ErrorKind::unavailable},
                                                     {"53100", ErrorKind::unavailable},
                                                     {"40001", ErrorKind::unavailable},
                                                     {"40P01", ErrorKind::unavailable},
                                                     {"55P03", ErrorKind::unavailable},
                                                     {"57014", ErrorKind::unavailable},
                                                     {"25006", ErrorKind::unavailable},
                                                     {"23505", ErrorKind::conflict},
                                                     {"23503", ErrorKind::conflict},
                                                     {"23514", ErrorKind::invalid_argument},
                                                     {"22P02", ErrorKind::invalid_argument},
                                                     {"42501", ErrorKind::invalid_argument},
                                                     {"42P01", ErrorKind::invalid_argument},
                                                     {"25P02", ErrorKind::internal},
                                                     {"XX000", ErrorKind::internal},
                                                     {"MR001", ErrorKind::internal},
                                                     {"P0001", ErrorKind::internal},
                                                     {"", ErrorKind::internal}};
  for (const auto& [sqlstate, kind] : cases)
    EXPECT_EQ(kind_of_sqlstate(sqlstate), kind) << sqlstate;
}

TEST(FirstLine, KeepsTheUsefulPart) {
  EXPECT_EQ(first_line("ERROR:  it broke\nLINE 1: select\n"), "it broke");
  EXPECT_EQ(first_line("\n server closed the connection unexpectedly\n\tThis probably"),
            "server closed the connection unexpectedly");
  EXPECT_EQ(first_line(""), "");
  EXPECT_EQ(first_line("FATAL:\n"), "");
}

}  // namespace
}  // namespace millrace::pg
