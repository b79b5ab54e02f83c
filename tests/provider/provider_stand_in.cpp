// provider_stand_in [PORT [SETTINGS]]: the stand-in as a program, for campaigns and end-to-end
// tests. Says "listening on http://127.0.0.1:PORT" once it does; SETTINGS is the JSON of
// /control/settings. Ends with its parent, and at SIGTERM.
#include "stand_in.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>

int main(int argc, char** argv) {
  using namespace millrace;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  boost::asio::io_context io(1);
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&io](boost::system::error_code, int) { io.stop(); });
  const SystemClock clock;
  test::StandInOptions options;
  options.port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
  test::StandIn stand_in(io, clock, options);
  if (argc > 2) {
    const auto settings = parse_json_object(argv[2]);
    const auto done = settings ? stand_in.apply(*settings) : Result<void>(fail(settings.error()));
    if (!done) {
      std::fprintf(stderr, "provider_stand_in: %s\n", done.error().message.c_str());
      return 2;
    }
  }
  std::printf("listening on %s\n", stand_in.url().c_str());
  std::fflush(stdout);
  io.run();
  return 0;
}
