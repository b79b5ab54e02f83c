// SupabaseStandIn: Supabase Storage as far as its documentation and source say what it does, in
// memory, on a loopback port.
//
// Enforced: keys (newer ones are no bearer tokens), buckets, the characters of names, upsert and
// Duplicate, size limit and types of a bucket, ranges, errors as 400 with the true status as text
// in the body (HEAD has no body), list by folder, offset and limit with folders of null id, removal
// of at most 1000 that leaves out what is not there, signed URLs bound to one path and a time, TUS
// with pieces of exactly 6 MiB, offsets, and an object that shows only when it is whole. Not
// enforced: row level security, TUS expiry, rate limits by themselves (fail_next makes one), image
// transformations, the CDN.
//
// Time is its own: advance() moves it. Requests are kept as they came, without bodies.
// Threading: the thread that runs `io`.
#pragma once

#include "base/task.h"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::test {

class SupabaseStandIn {
 public:
  struct Options {
    std::string api_key = "sb_secret_abc";        // With sb_: refused as a bearer.
    std::string jwt = "eyJhbGciOi.service.role";  // The legacy key; also accepted as apikey.
    std::string bucket = "docs";
    std::uint64_t size_max_bytes = 64ULL << 20;
  };

  SupabaseStandIn(boost::asio::io_context& io, Options options);
  ~SupabaseStandIn();
  SupabaseStandIn(const SupabaseStandIn&) = delete;
  SupabaseStandIn& operator=(const SupabaseStandIn&) = delete;

  std::string url() const;  // Of the project.
  void advance(std::chrono::seconds by);

  // The next request is answered so, without being carried out.
  void fail_next(int status, std::string body);
  // The next request whose method is that is carried out and its answer lost.
  void lose_answer_to(std::string method);

  // So many pieces of resumable uploads are refused, as if somebody else held the lock.
  void lock_uploads(int times);

  bool has(const std::string& name) const;
  void replace(const std::string& name, std::string bytes);  // Behind everybody's back.
  const std::vector<std::string>& requests() const;          // "POST /storage/v1/object/…"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::test
