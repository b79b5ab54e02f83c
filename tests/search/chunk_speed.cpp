// chunk_speed: how fast texts are cut when their tokens are counted by a model's own tokenizer.
//
//   chunk_speed MODEL FOLDER [MEGABYTES per text, 4] [REPEATS, 3] [NAME]   medians, a line per text
//   chunk_speed MODEL FOLDER --memory [MEGABYTES, 1024] [NAME]             peak memory meanwhile
//
// NAME is a part of the names of the texts that are tried; for memory the first one is. chunk_bench
// measures the same with the bound by bytes. Not shipped.
#include "chunk/bench/texts.h"
#include "chunk/chunker.h"
#include "chunk/normalise.h"
#include "embed/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace millrace {
namespace {

using chunk::bench::Text;

std::vector<Text> texts_named(std::string_view name) {
  auto all = chunk::bench::all_texts();
  std::erase_if(all, [&](const Text& text) { return !text.name.contains(name); });
  return all;
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "chunk_speed: {}\n", error.describe());
  std::exit(1);
}

struct Work {
  std::uint64_t bytes = 0;  // That were fed.
  std::uint64_t chunks = 0;
  double seconds = 0;
  double mb_per_second() const { return static_cast<double>(bytes) / 1e6 / seconds; }
};

Work run(const Text& text, std::size_t megabytes, const embed::Embedder& embedder) {
  const auto tally = embedder.tally();
  const chunk::FunctionTokenCounter counter(
      "bench", [&](std::string_view part) { return tally->count(part); });
  Work work;
  const auto most = embedder.tokens_max();
  auto chunker = chunk::Chunker::make(
      {.max_tokens = most, .target_tokens = most / 2, .min_tokens = most * 3 / 16}, counter,
      [&](const chunk::Chunk& /*part*/) {
        ++work.chunks;
        return Result<void>();
      });
  if (!chunker) give_up(chunker.error());
  chunk::Normaliser normaliser;
  std::string out;
  const auto begin = std::chrono::steady_clock::now();
  const auto feed = [&](std::string_view piece) {
    out.clear();
    work.bytes += piece.size();
    normaliser.feed(piece, out);
    if (const auto fed = chunker->feed(out); !fed) give_up(fed.error());
  };
  feed(text.head);
  for (std::size_t i = 0; i < megabytes; ++i) feed(text.body);
  if (const auto done = chunker->finish(); !done) give_up(done.error());
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return work;
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::size_t number(int argc, char** argv, int place, std::size_t otherwise) {
  return place < argc ? std::strtoull(argv[place], nullptr, 10) : otherwise;
}

int main_of(int argc, char** argv) {
  const auto embedder = embed::open_embedder({.model = argv[1], .folder = argv[2]});
  if (!embedder) give_up(embedder.error());
  const auto named = [&](int place) {
    return texts_named(place < argc ? std::string_view(argv[place]) : "");
  };
  const bool memory = argc > 3 && std::string_view(argv[3]) == "--memory";
  if (memory) {
    const auto megabytes = number(argc, argv, 4, 1024);
    fmt::print("before: peak {} KiB\n", peak_kib());
    const auto work = run(named(5).at(0), megabytes, **embedder);
    fmt::print("{} MiB, {} chunks, {:.1f} MB/s, peak {} KiB\n", work.bytes >> 20U, work.chunks,
               work.mb_per_second(), peak_kib());
    return 0;
  }
  const auto megabytes = number(argc, argv, 3, 4);
  const auto repeats = std::max<std::size_t>(number(argc, argv, 4, 3), 1);
  fmt::print("{} MiB each, median of {}, MB/s\n", megabytes, repeats);
  for (const auto& text : named(5)) {
    std::vector<double> speeds;
    for (std::size_t i = 0; i < repeats; ++i) {
      speeds.push_back(run(text, megabytes, **embedder).mb_per_second());
    }
    std::ranges::sort(speeds);
    fmt::print("{:28} {:8.1f}\n", text.name, speeds[speeds.size() / 2]);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: chunk_speed MODEL FOLDER [--memory] [MEGABYTES] [REPEATS] [NAME]\n");
    return 2;
  }
  return millrace::main_of(argc, argv);
}
