// Embedder: texts → vectors whose angles say how alike they are. Offline, in this process.
//
// The caller hands in the folder of a published model (docs/embeddings.md says which, and how it is
// installed); open_embedder() maps its files, compares them with what is known of them and builds
// the model. Threading: all calls are const and may come from any number of threads; each runs on
// its caller's thread and takes milliseconds to seconds, so never on an I/O thread.
//
// Vectors have length 1: the cosine of two is their inner product. On one machine a text always has
// the same vector, bit for bit, whatever is embedded beside it; another processor may give other
// last bits. Vectors of different names or versions do not belong into one index.
#pragma once

#include "base/result.h"
#include "embed/text/tokenizer.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::embed {

inline constexpr std::size_t kTextsMax = 256;              // Of one call of embed().
inline constexpr std::size_t kTextMaxBytes = 1024 * 1024;  // Of one text.

struct Embedding {
  std::vector<float> vector = {};
  std::size_t tokens = 0;  // Of the whole text.
  bool truncated = false;  // There were more than tokens_max; the vector is that of the first ones.
};

class Embedder {
 public:
  virtual ~Embedder() = default;

  virtual std::string_view name() const = 0;
  virtual std::string_view version() const = 0;
  virtual std::size_t dimension() const = 0;
  virtual std::size_t tokens_max() const = 0;  // As count_tokens() counts.

  // Any text; what is longer than tokens_max() will be truncated by embed().
  virtual std::size_t count_tokens(std::string_view text) const = 0;
  // Counts alike, and faster for who counts many texts: it remembers words. For one thread.
  virtual std::unique_ptr<TokenTally> tally() const = 0;

  // One embedding for each text, in order. invalid_argument names the text that is empty, too long
  // or no UTF-8, and then there are none at all.
  virtual Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts) const = 0;
};

inline constexpr std::string_view kUseLite = "universal-sentence-encoder-lite";
inline constexpr std::string_view kMiniLm = "all-MiniLM-L6-v2";

struct EmbedderOptions {
  std::string model = std::string(kUseLite);
  std::filesystem::path folder;
};

// invalid_argument for a model of another name; not_found or internal, with what to install, for a
// folder that has not got the model.
Result<std::unique_ptr<const Embedder>> open_embedder(const EmbedderOptions& options);

}  // namespace millrace::embed
