// A client of the provider limiter for chaos runs: asks for capacity as fast as it can and, when it
// is granted, tells the stand-in (a datagram socket owned by another process) that a request has
// been sent. It may be killed anywhere.
#include "pg/sync_connection.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

class StandIn {
 public:
  explicit StandIn(const char* path) : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    address_.sun_family = AF_UNIX;
    std::strncpy(address_.sun_path, path, sizeof(address_.sun_path) - 1);
  }
  ~StandIn() { close(socket_); }
  void send(const std::string& text) {
    sendto(socket_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&address_),
           sizeof(address_));
  }

 private:
  int socket_;
  sockaddr_un address_{};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: limit_client DATABASE_URL SOCKET PROVIDER ENDPOINT COST\n", stderr);
    return 2;
  }
  auto connection = millrace::pg::SyncConnection::connect(std::string(argv[1]));
  if (!connection) {
    std::fprintf(stderr, "%s\n", connection.error().message.c_str());
    return 1;
  }
  StandIn stand_in(argv[2]);
  const std::string cost = argv[5];
  for (;;) {
    // The grant lies between the two readings of the database's clock.
    auto answer = connection->query(
        "select extract(epoch from clock_timestamp())::text, millrace.acquire_api_capacity($1, $2, "
        "$3::integer)::text, "
        "extract(epoch from clock_timestamp())::text",
        millrace::pg::Params()
            .add(std::string_view(argv[3]))
            .add(std::string_view(argv[4]))
            .add(std::string_view(cost)));
    if (!answer) {
      std::fprintf(stderr, "%s\n", answer.error().message.c_str());
      return 1;
    }
    if ((*answer)[0].text(1) == "true") {
      stand_in.send(cost + " " + std::string((*answer)[0].text(0)) + " " +
                    std::string((*answer)[0].text(2)));
      auto released = connection->query("select millrace.release_api_capacity($1, $2, $3::integer)",
                                        millrace::pg::Params()
                                            .add(std::string_view(argv[3]))
                                            .add(std::string_view(argv[4]))
                                            .add(std::string_view(cost)));
      if (!released) return 1;
    } else {
      // Refused: ask again when a sub-bucket may have passed. pg_sleep keeps the wait on the
      // server, where a kill ends it too.
      if (!connection->query("select pg_sleep(0.02 + random() * 0.03)")) return 1;
    }
  }
}
