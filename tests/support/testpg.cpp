// millrace_testpg start|stop: ctest's fixture. The server stays up until stop, or until ctest has
// died and the next run cleans up.
#include "support/server.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  using millrace::test::Server;
  const std::string_view verb = argc == 2 ? argv[1] : "";
  if (verb != "start" && verb != "stop") {
    std::fprintf(stderr, "usage: millrace_testpg start|stop\n");
    return 64;
  }
  const auto done = verb == "start" ? Server::start_for_parent() : Server::stop_for_parent();
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().describe().c_str());
  return 1;
}
