// Clamd: asks a ClamAV daemon whether bytes are known to be harmful.
//
// Flow: bytes go from a source to the daemon in chunks as it takes them (INSTREAM), never all in
// memory; the daemon's one line is the verdict. A connection per scan. That nothing was found and
// that nobody looked are different things: every way of not looking is a CallFailure.
//
//   no connection                                                retry, and is_away
//   closed early, silence                                        retry
//   the daemon's own trouble, an answer that is none             retry
//   longer than the daemon takes (StreamMaxLength)               permanent "too_large"
//   the source failed                                            retry "source"
//   we cancelled                                                 cancelled
//
// What a daemon does not look at because of its own limits (MaxFileSize, MaxScanSize) is "clean"
// unless it runs with AlertExceedsMax; then the verdict is found and `incomplete`.
// Threading: any thread. Lifetime: it outlives its scans.
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "provider/call.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::provider {

struct ClamdOptions {
  std::string socket_path = "/run/clamav/clamd.ctl";  // Empty: TCP.
  std::string host = "127.0.0.1";
  std::uint16_t port = 3310;
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds idle_timeout{60'000};  // For each chunk, and for the verdict.
  std::chrono::milliseconds total_timeout{300'000};
  std::size_t chunk_bytes = 64 * 1024;
};

// invalid_argument names the setting that is wrong.
Result<void> check_options(const ClamdOptions& options);

struct ScanVerdict {
  bool found = false;
  std::string signature = {};  // Of what was found, without control characters.
  bool incomplete = false;     // Not harmful for all we know, but too large to be looked at.
  std::uint64_t scanned_bytes = 0;
};

// Fills the front of the buffer and says how much of it; 0 at the end.
using ByteSource = std::function<Task<std::size_t>(std::span<std::byte> buffer)>;

class Clamd final {
 public:
  explicit Clamd(ClamdOptions options);

  awaitable<Answer<ScanVerdict>> scan(ByteSource source, CancelToken cancel) const;
  // "ClamAV 1.0.3/27000/…": that it runs, and with which database.
  awaitable<Answer<std::string>> version(CancelToken cancel) const;

 private:
  ClamdOptions options_;
};

// Nobody looked, because nobody was there: that says nothing of the bytes.
bool is_away(const CallFailure& failure);

// One line of the daemon, as a verdict or as what went wrong.
Answer<ScanVerdict> parse_clamd_reply(std::string_view reply);

}  // namespace millrace::provider
