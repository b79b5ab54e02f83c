#include "provider/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::provider {
namespace {

CallFailure bad_request(std::string message) {
  return {.kind = CallFailure::Kind::permanent,
          .error_type = "bad_request",
          .message = std::move(message)};
}

CallFailure mismatch(std::string message) {
  return {.kind = CallFailure::Kind::retry,
          .error_type = "vectors_mismatch",
          .message = std::move(message)};
}

}  // namespace

std::optional<CallFailure> check_embed_request(const EmbeddingProvider& provider,
                                               std::span<const std::string> texts) {
  const auto limits = provider.limits();
  if (texts.empty()) return bad_request("no text to embed");
  if (texts.size() > limits.inputs_max) {
    return bad_request(fmt::format("{} texts in one call, at most {} are allowed", texts.size(),
                                   limits.inputs_max));
  }
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) return bad_request(fmt::format("text {} is empty", i));
    const auto tokens = provider.count_tokens(texts[i]);
    if (tokens > limits.tokens_per_input_max) {
      return bad_request(fmt::format("text {} has up to {} tokens, the model takes {}", i, tokens,
                                     limits.tokens_per_input_max));
    }
    total += tokens;
  }
  if (total > limits.tokens_total_max) {
    return bad_request(fmt::format("{} tokens in one call, at most {} are allowed", total,
                                   limits.tokens_total_max));
  }
  return std::nullopt;
}

std::optional<CallFailure> check_vectors(std::span<const std::vector<float>> vectors,
                                         std::size_t inputs, int dimension) {
  if (vectors.size() != inputs) {
    return mismatch(fmt::format("{} vectors for {} texts", vectors.size(), inputs));
  }
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const auto expected =
        dimension > 0 ? static_cast<std::size_t>(dimension) : vectors.front().size();
    if (vectors[i].size() != expected || expected == 0) {
      return mismatch(fmt::format("vector {} has {} components, {} are expected", i,
                                  vectors[i].size(), expected));
    }
    if (!std::ranges::all_of(vectors[i], [](float x) { return std::isfinite(x); })) {
      return mismatch(fmt::format("vector {} has a component that is no number", i));
    }
    if (std::ranges::all_of(vectors[i], [](float x) { return x == 0; })) {
      return mismatch(fmt::format("vector {} has no direction", i));
    }
  }
  return std::nullopt;
}

}  // namespace millrace::provider
