// EmbeddingProvider: texts → vectors, by a service outside or by a model in this process.
//
// Flow: the stage `embed` plans a batch within limits() and hands in its texts; the provider gives
// one vector for each, in the order of the inputs whatever the order of the service's answer was.
// Count, index, dimension and finiteness are checked by the provider (check_vectors) and again by
// the database: an answer that does not fit is a failure, never a shifted list (G12). Search asks
// the same interface for the vector of a question. Nothing is retried here.
// Threading: any thread. Lifetime: a provider outlives its calls.
#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "provider/call.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::provider {

// error_type of a request that the service found too large, whatever its size by our own count: the
// batch is to be cut, and asked for again in parts.
inline constexpr std::string_view kTooLarge = "too_large";

// Vectors of one model and version can be compared, others cannot.
struct EmbeddingModelInfo {
  std::string model = {};
  std::string version = {};
  int dimension = 0;  // 0: learned from the first answer.
};

// Of one call. A text with more than tokens_per_input_max is refused before anything is sent.
struct EmbedBatchLimits {
  std::size_t inputs_max = 256;
  std::uint64_t tokens_per_input_max = 0;
  std::uint64_t tokens_total_max = 0;
};

struct EmbedInput {
  std::string_view text;  // UTF-8, not empty.
};

struct EmbedAnswer {
  std::vector<std::vector<float>> vectors = {};  // As many as inputs, by their index.
  Usage usage = {};
  std::string response_id = {};
  std::string model = {};  // That answered, as the service says it.
  RateState rate = {};
};

class EmbeddingProvider {
 public:
  virtual ~EmbeddingProvider() = default;

  // As limits and records of calls name it: "local:universal-sentence-encoder-lite",
  // "openai:text-embedding-3-small".
  virtual std::string_view name() const = 0;
  virtual const EmbeddingModelInfo& info() const = 0;
  virtual EmbedBatchLimits limits() const = 0;
  // Names the vocabulary of count_tokens(): part of what decides where texts are cut.
  virtual std::string_view tokenizer() const = 0;
  // A safe upper bound of what the service counts.
  virtual std::uint64_t count_tokens(std::string_view text) const = 0;
  // Counts alike, for one thread that counts many texts: what it learns of one makes others
  // faster. The provider outlives it.
  using TokenCount = std::function<std::uint64_t(std::string_view)>;
  virtual TokenCount token_count() const {
    return [this](std::string_view text) { return count_tokens(text); };
  }
  // Calls cost money: intent on record before, budget and limits of the tenant apply.
  virtual bool paid() const = 0;
  virtual awaitable<Answer<EmbedAnswer>> embed(std::vector<std::string> texts,
                                               CancelToken cancel) = 0;
};

// permanent "bad_request" for what no service would take (no input or too many, an empty text, one
// with too many tokens, too many in all): found before anything is sent or paid.
std::optional<CallFailure> check_embed_request(const EmbeddingProvider& provider,
                                               std::span<const std::string> texts);

// retry "vectors_mismatch" unless there are `inputs` vectors of `dimension` finite numbers (0: all
// of the first one's), none of them all zeros.
std::optional<CallFailure> check_vectors(std::span<const std::vector<float>> vectors,
                                         std::size_t inputs, int dimension);

}  // namespace millrace::provider
