// Chunks of any bytes: what docs/chunking.md promises.
#include "chunk/chunker.h"
#include "chunk/normalise.h"
#include "chunk/unicode.h"
#include "fuzz/targets.h"

#include <string>
#include <vector>

namespace millrace::fuzz {
namespace {

std::string normalised_by(Input input, std::size_t piece) {
  chunk::Normaliser normaliser;
  std::string out;
  for (; !input.empty(); input.remove_prefix(std::min(piece, input.size()))) {
    normaliser.feed(input.substr(0, piece), out);
  }
  normaliser.finish(out);
  return out;
}

// Every chunk in one text; checks what must hold of each on the way.
std::string chunked_by(std::string_view text, std::size_t piece,
                       const chunk::ChunkOptions& options) {
  const chunk::ByteBound counter;
  std::string all;
  std::uint64_t at = 0;
  auto chunker = chunk::Chunker::make(options, counter, [&](const chunk::Chunk& chunk) {
    property(chunk.start_byte == at && chunk.end_byte > at, "slices tile the text");
    property(chunk.text == text.substr(at, chunk.end_byte - at), "a slice is what stands there");
    at = chunk.end_byte;
    const auto embedded = chunk.embedding_text();
    property(embedded.size() == chunk.token_count, "tokens are counted as they are");
    property(chunk.token_count <= options.max_tokens, "the hard limit holds");
    all += embedded + "\x1e" + std::to_string(chunk.end_byte) + "\x1e";
    for (const auto& title : chunk.heading_path) all += title + "\x1f";
    return Result<void>();
  });
  property(chunker.has_value(), "the options can be kept");
  for (auto rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    property(chunker->feed(rest.substr(0, piece)).has_value(), "every text can be chunked");
  }
  property(chunker->finish().has_value(), "every text can be ended");
  property(at == text.size(), "nothing is lost at the end");
  return all;
}

}  // namespace

// The first two bytes choose the limits and the size of pieces.
void fuzz_chunks(Input input) {
  const std::size_t limit = 64 + take_byte(input) * std::size_t{4};
  const std::size_t piece = 1 + take_byte(input);
  const auto text = normalised_by(input, input.size() + 1);
  property(is_utf8(text), "what is normalised is UTF-8");
  property(!text.contains('\r') && !text.contains('\0'), "line ends are one, NUL is gone");
  property(normalised_by(input, piece) == text, "pieces do not matter");
  property(normalised_by(text, text.size() + 1) == text, "normal text stays as it is", text);
  const chunk::ChunkOptions options{.max_tokens = limit,
                                    .target_tokens = limit * 3 / 4,
                                    .min_tokens = limit / 8,
                                    .overlap_tokens = limit / 10};
  property(chunked_by(text, piece, options) == chunked_by(text, text.size() + 1, options),
           "pieces do not matter", text);
  static_cast<void>(chunked_by(input, piece, options));
  check_linear(input, [&](std::string_view many) {
    static_cast<void>(chunked_by(normalised_by(many, 4096), 4096, options));
  });
}

}  // namespace millrace::fuzz
