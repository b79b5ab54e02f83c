// UploadLoad: many uploads at once to one HTTP server, and whether all of them are there
// afterwards.
//
// Every upload is a connection of its own over loopback; all are open before the first byte of a
// body is sent, and one thread feeds them in turn, so that the server holds all of them at the same
// time. Each has content of its own. An upload counts as lost when it was accepted and its content
// cannot be read back, whole, from the server.
#pragma once

#include "app/context.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace millrace::app {

struct UploadLoadOptions {
  std::string url = {};  // http://127.0.0.1:8080
  std::string token = {};
  int uploads = 1000;
  std::int64_t size_bytes = 1'000'000;
  std::string name = "bench";  // Makes keys and content of this load its own.
};

struct UploadOutcome {
  std::int64_t accepted = 0;
  std::int64_t refused = 0;  // Another status, or no answer at all.
  std::int64_t lost = 0;
  double seconds = 0;         // From the first byte of a body to the last answer.
  std::vector<double> times;  // Milliseconds of each, likewise.
  std::string first_refusal;  // For people.
  std::vector<std::string> files;

  double bytes_per_second(std::int64_t size_bytes) const {
    return seconds > 0 ? static_cast<double>(accepted * size_bytes) / seconds : 0;
  }
};

// `tick` is called every few milliseconds meanwhile: the place to look at the server's memory.
Result<UploadOutcome> run_upload_load(const UploadLoadOptions& options, const Clock& clock,
                                      const std::function<void()>& tick);

// Reads every file back and notes in `outcome` which are not there, or are not what was sent.
Result<void> read_back(const UploadLoadOptions& options, UploadOutcome& outcome);

// What upload `number` is made of, from byte `offset` on; as much as is at hand.
std::string_view upload_bytes(const UploadLoadOptions& options, int number, std::int64_t offset,
                              std::string& scratch);

}  // namespace millrace::app
