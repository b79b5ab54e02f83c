// The texts of chunk_bench and chunk_speed: what people write, and what is nothing but structure,
// white space or odd characters. The speed that is promised holds for each of them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::chunk::bench {

inline constexpr std::size_t kPiece = 1U << 20;

struct Text {
  std::string name;
  std::string head;  // Once.
  std::string body;  // Again and again, about a mebibyte.
};

// The same numbers everywhere.
class Numbers {
 public:
  std::uint64_t below(std::uint64_t bound) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33U) % bound;
  }
  char one_of(std::string_view letters) { return letters[below(letters.size())]; }

 private:
  std::uint64_t state_ = 7;
};

inline std::string repeat(std::string_view part) {
  std::string out;
  while (out.size() < kPiece) out += part;
  return out;
}

// `make` appends a little more each time.
template <class Make>
std::string fill(Make&& make) {
  std::string out;
  for (int i = 0; out.size() < kPiece; ++i) make(out, i);
  return out;
}

inline void append_character(std::string& out, std::uint32_t c) {
  if (c < 0x800) {
    out += static_cast<char>(0xc0U | c >> 6U);
  } else {
    out += static_cast<char>(0xe0U | c >> 12U);
    out += static_cast<char>(0x80U | (c >> 6U & 0x3fU));
  }
  out += static_cast<char>(0x80U | (c & 0x3fU));
}

inline std::vector<Text> written_texts() {
  const auto prose = fill([](std::string& out, int i) {
    if (i % 8 == 0) out += fmt::format("\n## Section {}\n\n", i / 8);
    out +=
        "The patient was seen on the ward and reported no pain. Blood pressure was measured\n"
        "twice, and the results were within the range that was expected, e.g. 120 to 80.\n\n";
    if (i % 11 == 0) out += "- one item of a list\n- another one\n  - and one below it\n\n";
    if (i % 17 == 0) out += "```py\nprint('# no heading')\n```\n\n";
  });
  const auto table =
      fill([](std::string& out, int i) { out += fmt::format("| {} | a value | 12.5 mg |\n", i); });
  return {
      {"prose, headings, lists", "", prose},
      {"prose, CR LF", "", repeat("The patient was seen on the ward.\r\nNo pain.\r\n\r\n")},
      {"German", "",
       repeat("Der Patient wurde auf der Station gesehen, ohne Schmerzen für ihn.\n\n")},
      {"Russian", "", repeat("Сегодня хорошая погода, и мы идём гулять в парк. Дети играют!\n\n")},
      {"Arabic with vowels", "", repeat("ذَهَبَ الوَلَدُ إلى المَدرَسَةِ. هل تَفهَمُ؟\n\n")},
      {"Hebrew with points", "", repeat("בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ.\n\n")},
      {"Hindi", "", repeat("सभी मनुष्यों को गौरव और अधिकारों के मामले में स्वतन्त्रता प्राप्त है।\n\n")},
      {"Thai", "", repeat("มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ\n\n")},
      {"Korean", "", repeat("모든 인간은 태어날 때부터 자유로우며 존엄하다.\n\n")},
      {"Chinese", "", repeat("今天天气很好，我们去公园散步。孩子们在那里玩耍！\n")},
      {"one table", "| id | what | dose |\n|---|---|---|\n", table},
      {"one fence, never closed", "```\n", repeat("    call(argument, other); // why\n")},
      {"one list", "", repeat("- item of the list\n    - nested, 2. more\n")},
      {"one line, sentences", "", repeat("A sentence of some words on one endless line. ")},
  };
}

inline std::vector<Text> structure_texts() {
  return {
      {"headings only", "", repeat("# A\n## B\n### C\n")},
      {"headings without titles", "", repeat("#\n")},
      {"headings, rising", "",
       repeat("###### F\n##### E\n#### D\n### C\n## B\n# A\n" + std::string(256, 'x') +
              "\n###### G\n" + std::string(256, 'y') + "\n")},
      {"underlined headings", "", repeat("A\n=\nb\n-\n")},
      {"rules", "", repeat("---\n***\n")},
      {"list of letters", "", repeat("- a\n")},
      {"list of nothing", "", repeat("-\n")},
      {"numbered list", "", repeat("1. a\n2) b\n")},
      {"list, ever deeper", "", fill([](std::string& out, int i) {
         out += std::string(static_cast<std::size_t>(i % 40) * 2, ' ') + "- a\n";
       })},
      {"lists in one line", "", repeat("- - - - - - - - - - - - - - - - a\n")},
      {"nearly a rule", "", repeat(repeat("- ").substr(0, 4000) + "a\n")},
      {"quotes in quotes", "", repeat("> > > > a\n> > b\n")},
      {"deep quotes", "",
       repeat("> > > > > > > > > > > > > > > > > > > > > > > > > > > > > > > a\n")},
      {"quote marks only", "", repeat(">\n")},
      {"quote and list by turns", "", repeat("> - > - > - a\n")},
      {"table of letters", "|a|b|\n|-|-|\n", repeat("|1|2|\n")},
      {"tiny tables", "", repeat("|a|\n|-|\n|b|\n\n")},
      {"table, never a table", "", repeat("|a|\n|-|-|\n\n")},
      {"tiny fences", "", repeat("```\n```\n")},
      {"tiny fences with code", "", repeat("~~~ c\nx\n~~~\n")},
      {"fences in lists", "", repeat("- ```\n  x\n  ```\n")},
      {"empty lines in a fence", "```\n", std::string(kPiece, '\n')},
      {"HTML tags", "", repeat("<p>a<b>c</b>\n</p>\n\n")},
      {"HTML tags, no lines", "", repeat("<div><p>a</p></div>")},
      {"HTML comment, never closed", "<!--\n", repeat("- a -- b\n")},
      {"lone tags", "", repeat("<a>\n\n")},
      {"links and quotes", "", repeat("<https://example.org/a> [b](c \"d\") `e`\n")},
      {"page markers", "", repeat("<!-- page 3 -->\n")},
      {"form feeds", "", std::string(kPiece, '\f')},
      {"form feeds and line ends", "", repeat("\f\n")},
  };
}

inline std::vector<Text> space_texts() {
  std::string deep;
  for (int i = 0; i < 32; ++i) deep += "- ";
  return {
      {"empty lines", "", std::string(kPiece, '\n')},
      {"empty lines, CR LF", "", repeat("\r\n")},
      {"CR only", "", std::string(kPiece, '\r')},
      {"empty lines in a list", "- a\n", std::string(kPiece, '\n')},
      {"empty lines, 32 lists deep", deep + "a\n", std::string(kPiece, '\n')},
      {"blank lines, 32 lists deep", deep + "a\n", repeat(std::string(80, ' ') + "\n")},
      {"spaces, one line", "", std::string(kPiece, ' ')},
      {"tabs, one line", "", std::string(kPiece, '\t')},
      {"lines of a space", "", repeat(" \n")},
      {"lines of spaces", "", repeat(std::string(60, ' ') + "\n")},
      {"lines of tabs", "", repeat("\t\t\t\n")},
      {"lines of a letter", "", repeat("a\n")},
      {"lines of two letters", "", repeat("ab\n")},
      {"letter, empty line", "", repeat("a\n\n")},
      {"indented letters", "", repeat("    a\n")},
      {"letters and spaces", "", repeat("a b ")},
      {"no-break spaces", "", repeat("\u00a0")},
      {"spaces of CJK", "", repeat("\u3000")},
      {"vertical tabs", "", std::string(kPiece, '\v')},
  };
}

inline std::vector<Text> character_texts() {
  Numbers numbers;
  const auto random_marks = fill([&](std::string& out, int) {
    out += numbers.one_of("abcdefgh");
    for (auto n = numbers.below(300); n > 0; --n) {
      append_character(out, static_cast<std::uint32_t>(0x300 + numbers.below(0x50)));
    }
  });
  const auto marked_words = fill([&](std::string& out, int) {
    for (auto n = 1 + numbers.below(6); n > 0; --n) {
      out += numbers.one_of("bcdfghjklmnpqrstvwxz");
      append_character(out, static_cast<std::uint32_t>(0x300 + numbers.below(0x14)));
    }
    out += ' ';
  });
  const auto bytes = [&](std::uint32_t from, std::uint32_t to) {
    return fill([&](std::string& out, int) {
      out += static_cast<char>(from + numbers.below(to - from + 1));
    });
  };
  return {
      {"flags and families", "", repeat("🇩🇪👩‍👩‍👧‍👦👍🏽")},
      {"flags", "", repeat("🇩🇪")},
      {"emoji, spaced", "", repeat("😀 ❤️ 👍🏽 ")},
      {"NFD, Latin", "", repeat("e\u0301a\u0300o\u0302 u\u0308n\u0303 ")},
      {"NFD, Vietnamese", "", repeat("vie\u0323\u0302t o\u031b\u0309 u\u031b\u0301\n")},
      {"NFD, Hangul", "", repeat("\u1112\u1161\u11ab\u1100\u116e\u11a8 ")},
      {"jamo that do not compose", "", repeat("\u1161\u11ab")},
      {"one mark on letters", "", repeat("x\u0302q\u0303 ")},
      {"marks on letters, words", "", marked_words},
      {"marks on one letter", "", repeat("\u0301")},
      {"marks in any order", "", random_marks},
      {"single accented letters", "", repeat("é ")},
      {"fractions, spaced", "", repeat("½ ")},
      {"ligatures and wide letters", "", repeat("ﬁｆｕｌｌ…① ")},
      {"compatibility ideographs", "", repeat("\uf900\uf901")},
      {"closing quotes", "", repeat("»")},
      {"full stops of CJK", "", repeat("。")},
      {"ellipses", "", repeat("…")},
      {"invisible", "", repeat("\u200b\u200d\u00ad")},
      {"right to left marks", "", repeat("\u200f\u05d0\u202e ")},
      {"ideographs, second plane", "", repeat("𠀀𠀁𪚥")},
      {"not UTF-8", "", repeat("\xff")},
      {"cut sequences", "", repeat("\xe2\x82 \xf0\x9f\x98")},
      {"NUL", "", std::string(kPiece, '\0')},
      {"random bytes", "", bytes(0, 255)},
      {"random high bytes", "", bytes(128, 255)},
      {"random ASCII", "", bytes(0, 127)},
  };
}

inline std::vector<Text> word_texts() {
  Numbers numbers;
  const auto lines_of = [&](std::string_view letters, std::size_t size) {
    return fill([&, letters, size](std::string& out, int) {
      for (auto n = size; n > 0; --n) out += numbers.one_of(letters);
      out += '\n';
    });
  };
  const auto varied = fill([&](std::string& out, int word) {
    for (auto n = 2 + numbers.below(9); n > 0; --n) {
      out += numbers.one_of("abcdefghijklmnopqrstuvwxyz");
    }
    out += word % 11 == 10 ? ". " : word % 97 == 96 ? "\n\n" : " ";
  });
  return {
      {"words never seen before", "", varied},
      {"one line, no space", "", std::string(kPiece, 'x')},
      {"one line, random letters", "",
       fill([&](std::string& out, int) { out += numbers.one_of("etaoinshrdlu"); })},
      {"base64 lines", "",
       lines_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 76)},
      {"hexadecimal lines", "", lines_of("0123456789abcdef", 64)},
      {"digits, one line", "",
       fill([&](std::string& out, int) { out += numbers.one_of("0123456789"); })},
      {"digits, spaced", "",
       fill([&](std::string& out, int) { out += fmt::format("{} ", numbers.below(100)); })},
      {"punctuation, one line", "",
       fill([&](std::string& out, int) { out += numbers.one_of("!\"$%&'()+,-./:;=?@[]^_{}~"); })},
      {"punctuation, spaced", "", fill([&](std::string& out, int) {
         out += numbers.one_of("!\"$%&'()+,./:;=?@[]^_{}~");
         out += ' ';
       })},
      {"full stops", "", std::string(kPiece, '.')},
      {"full stops, spaced", "", repeat(". ")},
      {"abbreviations", "", repeat("Dr. e.g. vs. 3. A. ")},
      {"backslashes and bars", "", repeat("\\|")},
      {"colons", "", std::string(kPiece, ':')},
      {"key: value", "---\n", repeat("a: b\n")},
  };
}

inline std::vector<Text> all_texts() {
  std::vector<Text> all;
  for (auto part :
       {written_texts(), structure_texts(), space_texts(), character_texts(), word_texts()}) {
    for (auto& text : part) all.push_back(std::move(text));
  }
  return all;
}

}  // namespace millrace::chunk::bench
