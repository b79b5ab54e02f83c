// ComputeStore: questions for the compute pipeline and what became of them.
//
// The server has checked the inputs against their contract and filled in defaults; this runs as the
// server itself, for the caller's tenant. Results and artifacts are written by the transaction that
// settles the job: a handler puts output_effects_json into its outcome. Threading and lifetime: as
// ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"
#include "store/api/uploads.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

struct NewCompute {
  std::string app_id;
  std::string definition;
  std::string version;
  std::string inputs_json;             // With defaults.
  std::string inputs_hash;             // As clients know it: 64 hexadecimal digits.
  std::array<std::uint8_t, 32> key{};  // Of all that the answer depends on.
  std::optional<Uuid> owner = {};
  std::optional<int> priority = {};
  std::string correlation_id = {};
  std::string traceparent = {};
  std::optional<std::chrono::seconds> ttl = {};      // Of results; nothing: as the database has it.
  std::optional<std::chrono::seconds> max_age = {};  // Of one that may answer; 0: none.
};

struct ComputeAnswer {
  JobId job;
  enum class State { created, running, cached } state = State::created;
};

// A file that a job made, stored already.
struct NewArtifact {
  std::string kind;
  std::string file_name;
  StoredBlob blob;
  std::optional<std::chrono::seconds> expires_in = {};
};

class ComputeStore {
 public:
  virtual ~ComputeStore() = default;

  virtual Task<ComputeAnswer> submit_compute(CallContext caller, NewCompute question,
                                             RequestKey key) = 0;
  // State, outputs, score, artifacts (with store_key: for signing, not for clients), last error.
  virtual Task<std::string> get_result(CallContext caller, JobId job) = 0;
};

std::unique_ptr<ComputeStore> make_compute_store(ApiSession& session);

// Reads the kept effect of a submit_compute that is asked again.
Result<ComputeAnswer> read_compute_answer(std::string_view effect_json);

// {"output": …} for Outcome::effects_json: committed with the settlement. `outputs_json` is any
// JSON value of 256 KiB at most.
std::string output_effects_json(const std::string& outputs_json, std::optional<double> score,
                                const std::vector<NewArtifact>& artifacts);

}  // namespace millrace::store
