// IngestStore: what the stages of ingest ask of the database, and write into it, between claim and
// settlement.
//
// Everything that writes is fenced by the lease of the delivery (job and token): lease_lost for a
// stale one, and nothing happened. Every call is safe to repeat. Threading: any. Lifetime: the pool
// outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "base/uuid.h"
#include "model/outcome.h"
#include "store/document_store.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::pg {
class Pool;
}

namespace millrace::store {

// As millrace.generation_json tells it.
struct Generation {
  Uuid id;
  std::string state;  // building, published
  std::string model;
  std::string version;
  std::optional<int> dimension = {};
  std::optional<int> chunks_total = {};  // Nothing while they are being cut.
  int chunks_done = 0;
  int embeds_done = 0;
  int placed = 0;  // Of both: no longer in the buffers.
  // Of find_generation: of the last twenty deliveries, those to workers with another model.
  int turned_away = 0;

  bool building() const { return state == "building"; }
  json::Object progress() const;  // B-24
};

struct PendingChunk {
  Uuid id;
  int ord = 0;
  std::string embed_sha256;
  std::string text;  // What is embedded.
};

// Vectors as they are sent: each list has one entry for the chunk at the same place.
struct VectorBatch {
  Uuid id;
  std::vector<Uuid> chunks = {};
  std::vector<std::string> vectors = {};
  std::vector<std::string> shas = {};
  std::vector<std::string> signatures = {};

  // Takes milliseconds: for a thread that computes.
  void add(Uuid chunk, const std::vector<float>& vector);
};

// The end of the call that was paid for a batch, committed with it.
struct CallSettled {
  Uuid call;
  json::Object end;
};

struct CapacityGrant {
  bool granted = false;
  json::Object capacity = {};    // For the end of the call.
  std::int64_t tokens_room = 0;  // When it is not granted.
  std::chrono::milliseconds retry{0};
};

// Of a generation: those behind `after`, up to `through`.
struct ChunkRange {
  int after = -1;
  int through = 0;
};

class IngestStore {
 public:
  virtual ~IngestStore() = default;

  // A parse that an imported job brought along; nothing: it must be made.
  virtual Task<std::optional<ContentRef>> find_parsed(JobId job) = 0;
  // `generation` as millrace.begin_generation takes it.
  virtual Task<Generation> begin_generation(Held held, json::Object generation) = 0;
  // Nothing: the document has none.
  virtual Task<std::optional<Generation>> find_generation(JobId job) = 0;
  virtual Task<void> put_chunks(Held held, Uuid generation, json::Array chunks) = 0;
  // In order, behind `after`; -1: from the first one.
  virtual Task<std::vector<PendingChunk>> pending_chunks(Uuid generation, int after, int limit) = 0;
  // How many chunks of the range got the vector of an equal text; at most a thousand.
  virtual Task<int> reuse_vectors(Held held, Uuid generation, ChunkRange range) = 0;
  // invalid_argument with MR045 when they do not fit.
  virtual Task<void> put_vectors(Held held, Uuid generation, VectorBatch batch,
                                 std::optional<CallSettled> call) = 0;
  // Puts the next chunks where they will be read once the generation is published. How many; 0: all
  // of them are in place.
  virtual Task<int> place_chunks(Held held, Uuid generation) = 0;
  // Room for a call at the limits of a provider ("openai:gpt-4o-mini"); `requests` is 0 for the
  // call that the claim took, which is one more where it took none there.
  virtual Task<CapacityGrant> take_capacity(Held held, int requests, std::uint64_t tokens,
                                            std::string provider) = 0;
  // Published chunks as JSON, behind `after`.
  virtual Task<std::vector<std::string>> list_chunks(Uuid file, int after, int limit) = 0;
};

std::unique_ptr<IngestStore> make_ingest_store(pg::Pool& pool);

// For the settlement of a job; see sql/functions/generation.
SqlStatement settle_chunks_statement(JobId job, Uuid generation, int total);
SqlStatement publish_generation_statement(JobId job, Uuid generation);

// B-18: SHA-256 of the base64 of the numbers as little-endian float32, hexadecimal.
std::string vector_sha(const std::vector<float>& vector);
// A bit for each component, as millrace.vector_signature: 1 where it is above zero.
std::string signature_of(const std::vector<float>& vector);
// "{0.5,-1}", so that each number is read back bit for bit.
std::string vector_text(const std::vector<float>& vector);

}  // namespace millrace::store
