// What a connection URL says, taken apart: one Attempt per host and address, so that connecting to
// one of several hosts has a deadline per host and names are resolved without blocking (libpq would
// block).
#pragma once

#include "base/result.h"
#include "pg/connect_options.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pg {

struct HostSpec {
  std::string host;      // A name, an address, or the folder of a unix socket; may be empty.
  std::string hostaddr;  // The address, when it is known.
  std::string port;      // May be empty: libpq's default.
};

struct ConnInfo {
  std::map<std::string, std::string> keywords;  // Everything but host, hostaddr and port.
  std::vector<HostSpec> hosts;                  // At least one.
  // The values of target_session_attrs to try over all hosts in turn.
  std::vector<std::string> session_passes;
};

// invalid_argument without any part of the url in the message, since it may hold a password.
Result<ConnInfo> parse_conninfo(const ConnectOptions& options);

// True when the name has to be looked up first.
bool needs_lookup(const HostSpec& host);

}  // namespace millrace::pg
