// embed_bench: how fast texts become tokens and vectors.
//
//   embed_bench model folder [tokens a text] [seconds]
//
// Prints one line of JSON: time and memory that opening takes, texts a second on one thread and on
// two, time for a short question, megabytes of text a second through the tokenizer.
#include "base/json.h"
#include "embed/embedder.h"
#include "embed/kernels/kernels.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace millrace::embed {
namespace {

using Clock = std::chrono::steady_clock;  // What is measured is real time.

constexpr std::string_view kText =
    "The patient was admitted on Monday with shortness of breath and swelling of both ankles. "
    "She has taken metoprolol 50 mg twice daily since 2019 and reports no known allergies. "
    "Laboratory results: sodium 138 mmol/L, potassium 4.1 mmol/L, creatinine 1.2 mg/dL. "
    "The echocardiogram shows an ejection fraction of 35 %, reduced from 45 % a year ago. "
    "We recommend starting a diuretic and repeating the laboratory tests within two weeks; "
    "follow-up in the heart failure clinic is scheduled for the 14th. "
    "Invoices are to be sent to the insurer, whose policy covers the stay except for the single "
    "room. "
    "Please contact us when symptoms become worse, when weight rises by more than two kilograms "
    "in three days, or when dizziness occurs after standing up. ";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double memory_mb(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}

// Words of the text, begun at a different place each time, up to the wanted number of tokens.
std::vector<std::string> make_texts(const Embedder& embedder, std::size_t tokens) {
  std::vector<std::string> words;
  std::string_view rest = kText;
  while (!rest.empty()) {
    const auto end = rest.find(' ');
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < 64; ++i) {
    std::string text;
    for (std::size_t at = i;; ++at) {
      const auto longer = text + words[at % words.size()] + " ";
      if (!text.empty() && embedder.count_tokens(longer) > tokens) break;
      text = longer;
    }
    out.push_back(text);
  }
  return out;
}

double texts_per_second(const Embedder& embedder, const std::vector<std::string>& texts,
                        unsigned threads, double seconds) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::atomic<std::size_t> done = 0;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> runners;
    for (unsigned i = 0; i < threads; ++i) {
      runners.emplace_back([&] {
        while (seconds_since(begin) < seconds) {
          if (embedder.embed(views).has_value()) done += views.size();
        }
      });
    }
  }
  return static_cast<double>(done) / seconds_since(begin);
}

double tokenizer_mb_per_second(const Embedder& embedder, double seconds) {
  std::string text;
  while (text.size() < 256 * 1024) text += kText;
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) {
    tokens += embedder.count_tokens(text);
    bytes += text.size();
  }
  return tokens == 0 ? 0 : static_cast<double>(bytes) / 1e6 / seconds_since(begin);
}

double question_ms(const Embedder& embedder, double seconds) {
  const std::vector<std::string_view> question = {"which drugs does the patient take?"};
  std::size_t done = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds) done += embedder.embed(question).has_value() ? 1 : 0;
  return done == 0 ? 0 : seconds_since(begin) * 1000 / static_cast<double>(done);
}

int run(const EmbedderOptions& options, std::size_t tokens, double seconds) {
  const auto begin = Clock::now();
  const auto embedder = open_embedder(options);
  if (!embedder.has_value()) {
    fmt::print(stderr, "{}\n", embedder.error().describe());
    return 1;
  }
  json::Object out;
  out["model"] = (*embedder)->name();
  out["kernels"] = kernel_name();
  out["open_ms"] = seconds_since(begin) * 1000;
  out["open_rss_mb"] = memory_mb("VmRSS:");
  const auto texts = make_texts(**embedder, tokens);
  std::size_t count = 0;
  for (const auto& text : texts) count += (*embedder)->count_tokens(text);
  out["tokens_per_text"] = static_cast<double>(count) / static_cast<double>(texts.size());
  out["texts_per_s_1_thread"] = texts_per_second(**embedder, texts, 1, seconds);
  out["texts_per_s_2_threads"] = texts_per_second(**embedder, texts, 2, seconds);
  out["question_ms"] = question_ms(**embedder, seconds / 2);
  out["tokenizer_mb_per_s"] = tokenizer_mb_per_second(**embedder, seconds / 2);
  out["peak_rss_mb"] = memory_mb("VmHWM:");
  fmt::print("{}\n", to_json(out));
  return 0;
}

}  // namespace
}  // namespace millrace::embed

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: embed_bench model folder [tokens a text] [seconds]\n");
    return 2;
  }
  const std::size_t tokens = argc > 3 ? std::stoul(argv[3]) : 100;
  const double seconds = argc > 4 ? std::stod(argv[4]) : 4;
  return millrace::embed::run({.model = argv[1], .folder = argv[2]}, tokens, seconds);
}
