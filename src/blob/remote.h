// Remote: requests to a store in the network, signed anew for each attempt and repeated while that
// can help.
//
// Flow: a store describes what it wants as a Call; its Dialect turns that into a signed request and
// the store's refusals into Errors; Remote sends, waits and repeats. Every Call can be repeated:
// the same bytes go to the same name; a removal that depends on the age looks at it again. What is
// repeated: no connection, no whole answer, throttled, failing server; up to attempts_max times
// within retry_for, with growing pauses, or those the server asks for.
// Threading: any. Lifetime: client, clock, random, dialect and spools outlive the calls.
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "base/task.h"
#include "blob/blob_store.h"
#include "blob/spool.h"
#include "blob/url.h"
#include "http/client.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::blob {

// What the three stores in the network are made of.
struct RemoteServices {
  http::Client& client;
  Executor disk;  // Runs blocking file work and hashing.
  Clock& clock;
  Random& random;
};

struct RemoteLimits {
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds request_timeout{60'000};  // One request, or one part of an upload.
  std::chrono::milliseconds retry_for{60'000};        // All attempts of one step.
  int attempts_max = 5;
  std::filesystem::path spool_folder = {};  // On a local disk with room for uploads under way.
  std::uint64_t spool_max_bytes = 16ULL << 30;
};

// A part of a spool, with the digests that the store shall check.
struct Part {
  Spool* spool = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::string sha256_hex;
  std::string md5_base64;  // Where the store wants one.
};

struct Call {
  std::string what;  // "put sha256/ab…", for messages: nothing secret.
  std::string method = "GET";
  std::string path;  // Behind the endpoint's own path; encoded.
  Query query = {};
  std::vector<http::Header> headers = {};
  std::string body = {};
  std::optional<Part> part = {};  // In place of body.
  std::vector<int> answers = {};  // Statuses that the caller wants to see, besides 2xx.
  // Asked before the call is repeated; its error is the answer then. May be nothing.
  std::function<Task<void>()> before_repeat = {};
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  // Without timeouts and a body from a spool, which Remote adds.
  virtual Result<http::Request> sign(const Call& call, Clock::Wall now) const = 0;
  // An answer that is neither 2xx nor expected, as an Error without the Call's name.
  virtual Error refusal(const http::Response& answer) const = 0;
  // Some stores say 200 before they know.
  virtual bool is_refusal(const http::Response&) const { return false; }
};

class Remote {
 public:
  Remote(std::string store, RemoteServices services, RemoteLimits limits, const Dialect& dialect);

  Task<http::Response> send(Call call);
  // The same for an answer that is read as it comes. The status is 2xx or one of call.answers.
  Task<http::ResponseStream> open(Call call);

  const RemoteServices& services() const { return services_; }
  const RemoteLimits& limits() const { return limits_; }
  Executor disk() const { return services_.disk; }
  Clock::Wall wall() const { return services_.clock.wall(); }

  // Of an error of one attempt: whether another may fare better.
  static bool worth_repeating(const Error& error);

 private:
  class Repeats;
  template <class T>
  using Once = Task<T> (Remote::*)(const Call* call, std::optional<std::string>* retry_after);

  template <class T>
  Task<T> repeat(Call call, Once<T> once);

  Result<http::Request> prepare(const Call& call) const;
  Task<http::Response> send_once(const Call* call, std::optional<std::string>* retry_after);
  Task<http::ResponseStream> open_once(const Call* call, std::optional<std::string>* retry_after);
  Error named(const Call& call, Error error) const;
  bool is_answer(const Call& call, const http::Response& answer) const;

  std::string store_;
  RemoteServices services_;
  RemoteLimits limits_;
  const Dialect& dialect_;
};

// Blocks. invalid_argument when the folder is not set.
Result<void> make_spool_folder(const RemoteLimits& limits);

// For stores that cannot compare the age and remove in one step. conflict: the blob was written at
// or after `before`, or may have been, since they tell whole seconds.
Result<void> check_older(const Result<BlobInfo>& info, Clock::Wall before);
// What a removal that ended with this error has come to. What is not there counts as removed.
Result<bool> removal_of(Error error);

// The kind that a status stands for when the store says nothing better.
ErrorKind kind_of_status(int status);

// "NoSuchKey" out of whatever a server calls its error: letters, digits and a few signs, 64 at
// most; empty when it is anything else, so that nothing it repeats of our request gets into a
// message.
std::string safe_code(std::string_view code);

}  // namespace millrace::blob
