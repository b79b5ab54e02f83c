// main() of test programs that may use PostgreSQL: leaves the server when the tests are done.
#include "support/server.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  millrace::test::Server::leave();
  return result;
}
