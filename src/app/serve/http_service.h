// HttpService: the HTTP server of this process: threads, listeners, and the API behind them.
//
// Flow: start() listens; from then on requests are served until stop(), which tells /readyz first,
// waits for server.drain_delay, lets running requests end until server.drain_timeout, and cuts what
// is left. Threading: all
// members from the owning thread. Lifetime: context outlives it.
#pragma once

#include "app/context.h"
#include "app/database.h"
#include "http/server.h"
#include "store/wake_source.h"

#include <memory>
#include <string>
#include <vector>

namespace millrace::app {

class HttpService {
 public:
  struct Options {
    Database database;
    // The default address, when it is taken, is replaced by a free port: for people who try things.
    bool any_port_if_taken = false;
  };

  HttpService(Context& context, Options options);
  ~HttpService();  // As stop(), without waiting.
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  Result<void> start();
  std::string url() const;  // "http://127.0.0.1:8080"
  std::vector<http::ListenAddress> endpoints() const;
  bool speaks_tls() const;
  // Certificate and key are read again; on error the ones in use stay.
  void reload();
  http::StopReport stop();
  // Hints of the session that listens for this process; after start(). Outlives the service if need
  // be, and says then that there are none.
  std::unique_ptr<store::WakeSource> wake_source();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::app
