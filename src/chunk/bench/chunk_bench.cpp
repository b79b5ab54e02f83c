// chunk_bench: how fast texts are normalised and chunked, and in how much memory.
//
//   chunk_bench [MEGABYTES per text, 16] [REPEATS, 3] [NAME]   medians, one line per text
//   chunk_bench --memory [MEGABYTES, 1024] [NAME]              peak memory while that much passes
//
// Megabytes are those of the text as it came. NAME is a part of the names of the texts that are
// tried. Texts are made block by block while they are fed: nothing but the work is in memory.
#include "chunk/bench/texts.h"
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

using bench::Text;

struct Work {
  std::uint64_t bytes = 0;  // That were fed.
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
  auto chunker = Chunker::make({}, counter, [&](const Chunk& /*chunk*/) {
    ++work.chunks;
    return Result<void>();
  });
  if (!chunker) give_up(chunker.error());
  Normaliser normaliser;
  std::string out;
  const auto feed = [&](std::string_view piece) {
    out.clear();
    work.bytes += piece.size();
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

std::vector<Text> texts_named(std::string_view name) {
  auto all = bench::all_texts();
  std::erase_if(all, [&](const Text& text) { return !text.name.contains(name); });
  return all;
}

int measure_speed(std::size_t megabytes, std::size_t repeats, std::string_view name) {
  fmt::print("{} MiB each, median of {}, MB/s\n{:28} {:>10} {:>10} {:>10}\n", megabytes, repeats,
             "text", "normalise", "chunk", "both");
  for (const auto& text : texts_named(name)) {
    const Text normal{text.name, normalise(text.head), normalise(text.body)};
    fmt::print("{:28} {:10.0f} {:10.0f} {:10.0f}\n", text.name,
               median(repeats, [&] { return normalise_only(text, megabytes); }),
               median(repeats, [&] { return run(normal, megabytes, false); }),
               median(repeats, [&] { return run(text, megabytes, true); }));
    std::fflush(stdout);
  }
  return 0;
}

int measure_memory(std::size_t megabytes, std::string_view name) {
  const auto all = texts_named(name);
  fmt::print("before: peak {} KiB\n", peak_kib());
  for (const auto& text : all) {
    const auto work = run(text, megabytes, true);
    fmt::print("{:28} {:5} MiB {:8} chunks {:6.0f} MB/s, peak so far {} KiB\n", text.name,
               work.bytes >> 20U, work.chunks, work.mb_per_second(), peak_kib());
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
  const auto word = [&](int place) { return place < argc ? argv[place] : nullptr; };
  const auto name = [&](int place) { return std::string_view(place < argc ? argv[place] : ""); };
  if (name(1) == "--memory") return measure_memory(number(word(2), 1024), name(3));
  return measure_speed(number(word(1), 16), number(word(2), 3), name(3));
}
