// ParserKeys: who may speak for a job to /webhooks/llamaparse (W-02 to W-05).
//
// X-LlamaParse-Signature is the hexadecimal HMAC-SHA256 of the body as it came, with the secret
// that the parser was given with the job: hex HMAC-SHA256 of the job's id with our master secret.
// It is derived when it is needed and kept nowhere. Because the key follows from the job that the
// body names, a secret of one job is nothing for another (H04).
//
// By setting only: one secret for all jobs; and signatures over the JSON as its sender's library
// would write it again (sorted, compact), for parsers that sign that.
// Threading: immutable, any thread.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/uuid.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// hex HMAC-SHA256(master, job id).
std::string job_secret(const Secret<std::string>& master, JobId job);

struct ParserKeyOptions {
  std::vector<Secret<std::string>> masters = {};  // The present one, and those before it.
  Secret<std::string> global = {};                // Empty: there is none for all jobs.
  bool canonical_json = false;
};

class ParserKeys {
 public:
  explicit ParserKeys(ParserKeyOptions options) : options_(std::move(options)) {}

  bool any() const { return !options_.masters.empty() || !options_.global.reveal().empty(); }
  bool canonical() const { return options_.canonical_json; }
  // Whether the bytes are signed for this job. Nothing: for whichever, with the secret for all.
  bool fits(std::optional<JobId> job, std::string_view raw, std::string_view signature) const;
  // The same of the JSON as its sender's library would write it again.
  bool fits_canonical(JobId job, const json::Value& body, std::string_view signature) const;

 private:
  std::vector<std::string> keys_of(std::optional<JobId> job) const;

  ParserKeyOptions options_;
};

// As Python's json.dumps(sort_keys=True, separators=(',', ':')) writes it: what is not ASCII as
// \uXXXX, numbers with a fraction or an exponent as floats.
std::string sorted_ascii_json(const json::Value& value);

}  // namespace millrace::api
