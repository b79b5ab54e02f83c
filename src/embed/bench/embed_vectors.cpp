// embed_vectors: a line of JSON with tokens and vector for every line of text on standard input.
//
//   embed_vectors model folder < texts > vectors
//
// For comparing with other implementations and for measuring searches.
#include "base/json.h"
#include "embed/embedder.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace millrace::embed {
namespace {

int run(const EmbedderOptions& options) {
  const auto embedder = open_embedder(options);
  if (!embedder.has_value()) {
    fmt::print(stderr, "{}\n", embedder.error().describe());
    return 1;
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  for (std::size_t begin = 0; begin < lines.size(); begin += kTextsMax) {
    const auto end = std::min(begin + kTextsMax, lines.size());
    const std::vector<std::string_view> texts(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                              lines.begin() + static_cast<std::ptrdiff_t>(end));
    const auto made = (*embedder)->embed(texts);
    if (!made.has_value()) {
      fmt::print(stderr, "from line {}: {}\n", begin + 1, made.error().describe());
      return 1;
    }
    for (const auto& embedding : *made) {
      json::Object out;
      out["tokens"] = embedding.tokens;
      out["truncated"] = embedding.truncated;
      out["vector"] = json::Array(embedding.vector.begin(), embedding.vector.end());
      fmt::print("{}\n", to_json(out));
    }
  }
  return 0;
}

}  // namespace
}  // namespace millrace::embed

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: embed_vectors model folder < texts\n");
    return 2;
  }
  return millrace::embed::run({.model = argv[1], .folder = argv[2]});
}
