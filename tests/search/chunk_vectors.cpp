// chunk_vectors: parsed documents cut and embedded as ingest does it, a line of JSON for each
// chunk.
//
//   chunk_vectors MODEL FOLDER MAX TARGET MIN OVERLAP file.md … > chunks
//
// For measuring searches without a database, a worker or a server. Not shipped.
#include "base/json.h"
#include "chunk/chunker.h"
#include "chunk/normalise.h"
#include "embed/embedder.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace millrace {
namespace {

struct Made {
  json::Object row;
  std::string text;  // What is embedded.
};

std::size_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "chunk_vectors: {}\n", error.describe());
  std::exit(1);
}

std::vector<Made> cut(const std::string& path, const chunk::ChunkOptions& options,
                      const chunk::TokenCounter& counter) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto text = chunk::normalise(bytes);
  std::vector<Made> made;
  auto chunker = chunk::Chunker::make(options, counter, [&](const chunk::Chunk& part) {
    json::Object row;
    row["document"] = path;
    row["chunk_ord"] = part.ordinal;
    row["start_byte"] = part.start_byte;
    row["end_byte"] = part.end_byte;
    row["text"] = part.text;
    row["headings"] = json::Array(part.heading_path.begin(), part.heading_path.end());
    row["tokens"] = part.token_count;
    if (part.page_start) row["page_start"] = *part.page_start;
    if (part.page_end) row["page_end"] = *part.page_end;
    made.push_back({.row = std::move(row), .text = part.embedding_text()});
    return Result<void>();
  });
  if (!chunker) give_up(chunker.error());
  if (const auto fed = chunker->feed(text); !fed) give_up(fed.error());
  if (const auto done = chunker->finish(); !done) give_up(done.error());
  return made;
}

int run(int argc, char** argv) {
  const auto embedder = embed::open_embedder({.model = argv[1], .folder = argv[2]});
  if (!embedder) give_up(embedder.error());
  const chunk::ChunkOptions options{.max_tokens = number(argv[3]),
                                    .target_tokens = number(argv[4]),
                                    .min_tokens = number(argv[5]),
                                    .overlap_tokens = number(argv[6])};
  const auto tally = (*embedder)->tally();
  const chunk::FunctionTokenCounter counter(
      fmt::format("{}@{}", (*embedder)->name(), (*embedder)->version()),
      [&](std::string_view text) { return tally->count(text); });
  for (int i = 7; i < argc; ++i) {
    for (auto& one : cut(argv[i], options, counter)) {
      const std::vector<std::string_view> texts{one.text};
      const auto vectors = (*embedder)->embed(texts);
      if (vectors) {  // Blank chunks have none.
        one.row["vector"] =
            json::Array(vectors->front().vector.begin(), vectors->front().vector.end());
      }
      fmt::print("{}\n", to_json(one.row));
    }
  }
  return 0;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc < 8) {
    fmt::print(stderr, "usage: chunk_vectors MODEL FOLDER MAX TARGET MIN OVERLAP file.md …\n");
    return 2;
  }
  return millrace::run(argc, argv);
}
