// chunk_speed: how fast texts are cut when their tokens are counted by a model's own tokenizer.
//
//   chunk_speed MODEL FOLDER [MEGABYTES per text, 16] [REPEATS, 3]     medians, one line per text
//   chunk_speed MODEL FOLDER --memory [MEGABYTES, 1024]                peak memory meanwhile
//
// chunk_bench measures the same with the bound by bytes. Not shipped.
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

constexpr std::size_t kPiece = 1U << 20;

struct Text {
  std::string name;
  std::string body;  // Again and again, about a mebibyte.
};

std::string repeat(std::string_view part) {
  std::string out;
  while (out.size() < kPiece) out += part;
  return out;
}

std::vector<Text> texts() {
  std::string prose;
  for (int i = 0; prose.size() < kPiece; ++i) {
    if (i % 8 == 0) prose += fmt::format("\n## Section {}\n\n", i / 8);
    prose +=
        "The patient was seen on the ward and reported no pain. Blood pressure was measured\n"
        "twice, and the results were within the range that was expected, e.g. 120 to 80.\n\n";
    if (i % 11 == 0) prose += "- one item of a list\n- another one\n  - and one below it\n\n";
  }
  std::string varied;
  std::uint64_t state = 7;
  for (int word = 0; varied.size() < kPiece; ++word) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    for (auto n = 2 + (state >> 60U) % 9, bits = state >> 8U; n > 0; --n, bits /= 26) {
      varied += static_cast<char>('a' + bits % 26);
    }
    varied += word % 11 == 10 ? ". " : word % 97 == 96 ? "\n\n" : " ";
  }
  std::string table = "| id | what | dose |\n|---|---|---|\n";
  for (int i = 0; table.size() < kPiece; ++i)
    table += fmt::format("| {} | a value | 12.5 mg |\n", i);
  return {
      {"prose, headings, lists", prose},
      {"words never seen before", varied},
      {"one table", table},
      {"one line, sentences", repeat("A sentence of some words on one endless line. ")},
      {"one line, no space", std::string(kPiece, 'x')},
      {"German",
       repeat("Der Patient wurde auf der Station gesehen und klagte nicht über Schmerzen.\n\n")},
      {"Chinese", repeat("今天天气很好，我们去公园散步。孩子们在那里玩耍！\n")}};
}

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "chunk_speed: {}\n", error.describe());
  std::exit(1);
}

struct Work {
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  double seconds = 0;
  double mb_per_second() const { return static_cast<double>(bytes) / 1e6 / seconds; }
};

Work run(const Text& text, std::size_t megabytes, const embed::Embedder& embedder) {
  const chunk::FunctionTokenCounter counter(
      "bench", [&](std::string_view part) { return embedder.count_tokens(part); });
  Work work;
  const auto most = embedder.tokens_max();
  auto chunker = chunk::Chunker::make(
      {.max_tokens = most, .target_tokens = most / 2, .min_tokens = most * 3 / 16}, counter,
      [&](const chunk::Chunk& part) {
        ++work.chunks;
        work.bytes = part.end_byte;
        return Result<void>();
      });
  if (!chunker) give_up(chunker.error());
  chunk::Normaliser normaliser;
  std::string out;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < megabytes; ++i) {
    out.clear();
    normaliser.feed(text.body, out);
    if (const auto fed = chunker->feed(out); !fed) give_up(fed.error());
  }
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
  const bool memory = argc > 3 && std::string_view(argv[3]) == "--memory";
  if (memory) {
    const auto megabytes = number(argc, argv, 4, 1024);
    fmt::print("before: peak {} KiB\n", peak_kib());
    const auto work = run(texts().front(), megabytes, **embedder);
    fmt::print("{} MiB, {} chunks, {:.1f} MB/s, peak {} KiB\n", work.bytes >> 20U, work.chunks,
               work.mb_per_second(), peak_kib());
    return 0;
  }
  const auto megabytes = number(argc, argv, 3, 16);
  const auto repeats = std::max<std::size_t>(number(argc, argv, 4, 3), 1);
  fmt::print("{} MiB each, median of {}, MB/s\n", megabytes, repeats);
  for (const auto& text : texts()) {
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
    fmt::print(stderr, "usage: chunk_speed MODEL FOLDER [MEGABYTES] [REPEATS] | --memory [MB]\n");
    return 2;
  }
  return millrace::main_of(argc, argv);
}
