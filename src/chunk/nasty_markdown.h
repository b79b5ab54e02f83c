// Markdown as nobody should write it, for tests: made of a seed, the same everywhere.
#pragma once

#include "base/random.h"
#include "chunk/unicode.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace millrace::chunk::testing {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// The generator that the expected hashes of the Unicode tests were made with, in other languages.
class Congruential {
 public:
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % bound;
  }
  std::string text_of(std::span<const CodePointRange> ranges) {
    std::string out;
    for (auto left = 1 + below(12); left > 0; --left) {
      const auto& range = ranges[below(ranges.size())];
      append_utf8(out, range.first + static_cast<char32_t>(below(range.last - range.first + 1)));
    }
    return out;
  }

 private:
  std::uint64_t state_ = 1;
};

class NastyMarkdown {
 public:
  explicit NastyMarkdown(std::uint64_t seed) : random_(seed) {}

  std::string document() {
    if (random_.below(12) == 0) return bytes(random_.below(3000));
    std::string out;
    if (random_.below(20) == 0) out += "---\ntitle: x\nlist: [a, b]\n---\n";
    for (auto blocks = random_.below(24); blocks > 0; --blocks) {
      out += block();
      if (random_.below(3) != 0) out += "\n";
    }
    if (random_.below(3) == 0) out += words(random_.below(30));
    if (random_.below(10) == 0) out.insert(random_.below(out.size() + 1), bytes(random_.below(40)));
    return out;
  }

  std::string bytes(std::size_t size) {
    constexpr std::string_view kMarkup = "#`~->|*_=:\n\n\n \t\f<!.";
    std::string out;
    for (; size > 0; --size) {
      out += random_.below(2) == 0 ? kMarkup[random_.below(kMarkup.size())]
                                   : static_cast<char>(random_.below(256));
    }
    return out;
  }

  std::string words(std::size_t count) {
    static constexpr std::string_view kWords[] = {"the",
                                                  "Dr.",
                                                  "e.g.",
                                                  "end.",
                                                  "Stop!",
                                                  "why?",
                                                  "3.",
                                                  "naïve",
                                                  "e\u0301",
                                                  "日本語。",
                                                  "改行！",
                                                  "👩‍👩‍👧‍👦",
                                                  "🇩🇪🇫🇷🇯🇵",
                                                  "👍🏽",
                                                  "שלום",
                                                  "مرحبا؟",
                                                  "a\u00a0b",
                                                  "한국어",
                                                  "\u1112\u1161\u11ab",
                                                  "क्षि",
                                                  "x",
                                                  "\\|",
                                                  "`code`",
                                                  "**bold.**",
                                                  "[a](b)",
                                                  "|",
                                                  "#no",
                                                  "\u202eRTL",
                                                  "word\u200bword",
                                                  "…",
                                                  "https://x.y",
                                                  "\u0645\u064f\u0646",
                                                  "Z\u0300\u0301\u0302\u0303"};
    std::string out;
    for (; count > 0; --count) {
      out += kWords[random_.below(std::size(kWords))];
      if (random_.below(8) != 0) out += random_.below(9) == 0 ? "\n" : " ";
    }
    return out;
  }

 private:
  std::string block() {
    switch (random_.below(16)) {
      case 0:
      case 1:
        return std::string(1 + random_.below(7), '#') + (random_.below(9) == 0 ? "" : " ") +
               (random_.below(3) == 0 ? "Same" : words(random_.below(6))) + "\n";
      case 2:
        return words(1 + random_.below(5)) + "\n" + (random_.below(2) == 0 ? "===" : "---") + "\n";
      case 3:
        return table();
      case 4:
        return fence("");
      case 5:
        return list(0);
      case 6:
        return "> " + words(8) + "\n> > " + words(5) + "\n> ```\n> # no\n> ```\n";
      case 7:
        return words(400) + "\n";
      case 8:
        return "<!-- page " + std::to_string(random_.below(50)) + " -->\n";
      case 9:
        return "\f" + words(4) + "\n";
      case 10:
        return "<div>\n# not a heading\n" + words(5) + "\n</div>\n\n";
      case 11:
        return "    indented\n\n    # code\n";
      case 12:
        return std::string(random_.below(3000), random_.below(2) == 0 ? 'x' : ' ') + "\n";
      case 13:
        return long_cluster();
      default:
        return words(random_.below(60)) + "\n";
    }
  }

  std::string long_cluster() {
    std::string out = "a";
    for (auto marks = random_.below(800); marks > 0; --marks) out += "\u0301";
    for (auto flags = random_.below(200); flags > 0; --flags) out += "🇩🇪";
    return out + "\n";
  }

  std::string table() {
    std::string out = "| a | b |\n|---|:-:|\n";
    for (auto rows = random_.below(60); rows > 0; --rows) {
      out += "| " + std::to_string(rows) + " | cell. Next |\n";
    }
    return out;
  }

  std::string fence(const std::string& indent) {
    const std::string ticks(3 + random_.below(3), random_.below(2) == 0 ? '`' : '~');
    std::string out = indent + ticks + "py\n";
    for (auto lines = random_.below(60); lines > 0; --lines) {
      out += indent + "# not a heading " + std::to_string(lines) + "\n";
      if (random_.below(6) == 0) out += "\n";
    }
    return random_.below(10) == 0 ? out : out + indent + ticks + "\n";
  }

  std::string list(std::size_t depth) {
    const std::string indent(depth * 2, ' ');
    std::string out;
    for (auto items = 1 + random_.below(8); items > 0; --items) {
      out += indent + (random_.below(4) == 0 ? "1. " : "- ") + words(1 + random_.below(12)) + "\n";
      if (depth < 4 && random_.below(4) == 0) out += list(depth + 1);
      if (random_.below(5) == 0) out += "\n" + fence(indent + "  ");
    }
    return out;
  }

  SeededRandom random_;
};

}  // namespace millrace::chunk::testing
