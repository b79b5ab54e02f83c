// ProbeService: what a worker says of itself over HTTP: /livez, /readyz, /health, /metrics (H-19).
//
// For processes without the API. Nothing here needs the database, so that the pages answer while it
// is away: what the whole installation does is told by the server's /metrics. Threading: start and
// stop by the owning thread, `status` is asked on a thread of its own. Lifetime: context outlives
// it, and so does whatever `status` refers to.
#pragma once

#include "app/context.h"
#include "http/server_listen.h"

#include <functional>
#include <memory>
#include <string>

namespace millrace::app {

struct ProbeStatus {
  bool ready = false;
  bool draining = false;
  std::string worker_id = {};  // Empty while it has none.
};

class ProbeService {
 public:
  ProbeService(Context& context, std::function<ProbeStatus()> status);
  ~ProbeService();  // Stops.
  ProbeService(const ProbeService&) = delete;
  ProbeService& operator=(const ProbeService&) = delete;

  // unavailable when the address is taken.
  Result<void> start(const http::ListenAddress& address);
  std::string url() const;  // "http://127.0.0.1:9464"

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace::app
