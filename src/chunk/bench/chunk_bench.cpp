// chunk_bench: how fast texts are normalised and chunked, and in how much memory.
//
//   chunk_bench [MEGABYTES per text, 64] [REPEATS, 5]    medians, one line per text
//   chunk_bench --memory [MEGABYTES, 1024]               peak memory while a text of that size
//   passes
//
// Texts are made block by block while they are fed, so that nothing but the work is in memory.
#include "chunk/chunker.h"
#include "chunk/normalise.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace millrace::chunk {
namespace {

constexpr std::size_t kPiece = 1U << 20;

std::string repeat(std::string_view part, std::size_t size) {
  std::string out;
  while (out.size() < size) out += part;
  return out;
}

struct Text {
  std::string name;
  std::string head;  // Once.
  std::string body;  // Again and again, about a mebibyte.
};

std::vector<Text> texts() {
  std::string prose;
  for (int i = 0; prose.size() < kPiece; ++i) {
    if (i % 8 == 0) prose += fmt::format("\n## Section {}\n\n", i / 8);
    prose +=
        "The patient was seen on the ward and reported no pain. Blood pressure was measured\n"
        "twice, and the results were within the range that was expected, e.g. 120 to 80.\n\n";
    if (i % 11 == 0) prose += "- one item of a list\n- another one\n  - and one below it\n\n";
    if (i % 17 == 0) prose += "```py\nprint('# no heading')\n```\n\n";
  }
  std::string table;
  for (int i = 0; table.size() < kPiece; ++i)
    table += fmt::format("| {} | a value | 12.5 mg |\n", i);
  return {
      {"prose, headings, lists", "", prose},
      {"one line, sentences", "", repeat("A sentence of some words on one endless line. ", kPiece)},
      {"one line, no space", "", std::string(kPiece, 'x')},
      {"one table", "| id | what | dose |\n|---|---|---|\n", table},
      {"one fence, never closed", "```\n", repeat("    call(argument, other); // why\n", kPiece)},
      {"Chinese", "", repeat("今天天气很好，我们去公园散步。孩子们在那里玩耍！\n", kPiece)},
      {"headings only", "", repeat("# A\n## B\n### C\n", kPiece)},
      {"empty lines", "", std::string(kPiece, '\n')},
      {"flags and families", "", repeat("🇩🇪👩‍👩‍👧‍👦👍🏽", kPiece)},
      {"one list", "", repeat("- item of the list\n    - nested, 2. more\n", kPiece)},
  };
}

struct Work {
  std::uint64_t bytes = 0;
  std::uint64_t chunks = 0;
  double seconds = 0;
  double mb_per_second() const { return static_cast<double>(bytes) / 1e6 / seconds; }
};

[[noreturn]] void give_up(const Error& error) {
  fmt::print(stderr, "chunk_bench: {}\n", error.describe());
  std::exit(1);
}

Work run(const Text& text, std::size_t megabytes, bool normalised) {
  const ByteBound counter;
  Work work;
  auto chunker = Chunker::make({}, counter, [&](const Chunk& chunk) {
    ++work.chunks;
    work.bytes = chunk.end_byte;
    return Result<void>();
  });
  if (!chunker) give_up(chunker.error());
  Normaliser normaliser;
  std::string out;
  const auto feed = [&](std::string_view piece) {
    out.clear();
    if (normalised) normaliser.feed(piece, out);
    const auto fed = chunker->feed(normalised ? std::string_view(out) : piece);
    if (!fed) give_up(fed.error());
  };
  const auto begin = std::chrono::steady_clock::now();
  feed(text.head);
  for (std::size_t i = 0; i < megabytes; ++i) feed(text.body);
  if (const auto done = chunker->finish(); !done) give_up(done.error());
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return work;
}

Work normalise_only(const Text& text, std::size_t megabytes) {
  Normaliser normaliser;
  std::string out;
  Work work;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < megabytes; ++i) {
    out.clear();
    normaliser.feed(text.body, out);
    work.bytes += text.body.size();
  }
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return work;
}

double median(std::size_t repeats, const std::function<Work()>& measure) {
  std::vector<double> speeds;
  for (std::size_t i = 0; i < repeats; ++i) speeds.push_back(measure().mb_per_second());
  std::ranges::sort(speeds);
  return speeds[speeds.size() / 2];
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int measure_speed(std::size_t megabytes, std::size_t repeats) {
  fmt::print("{} MiB each, median of {}, MB/s\n{:28} {:>10} {:>10} {:>10}\n", megabytes, repeats,
             "text", "normalise", "chunk", "both");
  for (const auto& text : texts()) {
    fmt::print("{:28} {:10.0f} {:10.0f} {:10.0f}\n", text.name,
               median(repeats, [&] { return normalise_only(text, megabytes); }),
               median(repeats, [&] { return run(text, megabytes, false); }),
               median(repeats, [&] { return run(text, megabytes, true); }));
  }
  return 0;
}

int measure_memory(std::size_t megabytes) {
  const auto all = texts();
  fmt::print("before: peak {} KiB\n", peak_kib());
  for (const auto& text : all) {
    const auto work = run(text, megabytes, true);
    fmt::print("{:28} {:5} MiB {:8} chunks {:6.0f} MB/s, peak so far {} KiB\n", text.name,
               work.bytes >> 20, work.chunks, work.mb_per_second(), peak_kib());
    std::fflush(stdout);  // A gigabyte takes its time: show each line when it is there.
  }
  return 0;
}

std::size_t number(const char* word, std::size_t fallback) {
  if (word == nullptr) return fallback;
  const std::string_view text(word);
  std::size_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || value == 0) {
    give_up({.kind = ErrorKind::invalid_argument, .message = "a number above 0 is expected"});
  }
  return value;
}

}  // namespace
}  // namespace millrace::chunk

int main(int argc, char** argv) {
  using namespace millrace::chunk;
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--memory") return measure_memory(number(argc > 2 ? argv[2] : nullptr, 1024));
  return measure_speed(number(argc > 1 ? argv[1] : nullptr, 64),
                       number(argc > 2 ? argv[2] : nullptr, 5));
}
