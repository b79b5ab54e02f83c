// Texts in the charsets of the world, with and without somebody who says which.
#include "document/markdown/charset.h"

#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

#include <iconv.h>
#include <vector>

namespace millrace::document {
namespace {

std::string encoded(std::string_view text, const char* charset) {
  const auto converter = iconv_open(charset, "UTF-8");
  std::string out(text.size() * 4 + 16, '\0');
  auto* in = const_cast<char*>(text.data());
  auto left = text.size();
  auto* to = out.data();
  auto room = out.size();
  EXPECT_NE(iconv(converter, &in, &left, &to, &room), static_cast<std::size_t>(-1)) << charset;
  iconv_close(converter);
  out.resize(out.size() - room);
  return out;
}

constexpr std::string_view kPolish =
    "Młyn wodny stoi nad rzeką. Koło młyńskie ma dwanaście łopatek, a woda płynie przez śluzę; "
    "młynarz otwiera ją rano i zamyka wieczorem. Źródło rzeki leży wśród gór.\n";
constexpr std::string_view kRussian =
    "Мельница стоит на берегу реки. Колесо имеет двенадцать лопастей, и вода течёт через шлюз; "
    "мельник открывает его утром и закрывает вечером.\n";
constexpr std::string_view kJapanese =
    "水車小屋は川のほとりに立っています。水車には十二枚の羽根があり、水は水門を通って流れます。粉"
    "屋は朝に門を開け、夜に閉めます。\n";
constexpr std::string_view kKorean =
    "물레방아는 강가에 서 있습니다. 바퀴에는 열두 개의 날개가 있고 물은 수문을 통해 흐릅니다. "
    "방앗간 주인은 아침에 문을 열고 저녁에 닫습니다.\n";
constexpr std::string_view kChinese =
    "水磨坊坐落在河边。水轮有十二个叶片，水流过水闸；磨坊主早上打开水闸，晚上关闭水闸。这条河的源"
    "头在山里，我们的研究说明了这一点。\n";
constexpr std::string_view kTaiwanese =
    "水磨坊坐落在河邊。水輪有十二個葉片，水流過水閘；磨坊主早上打開水閘，晚上關閉水閘。這條河的源"
    "頭在山裡，我們的研究說明了這一點。\n";
constexpr std::string_view kGerman =
    "Die Mühle steht am Fluss. Das Rad hat zwölf Schaufeln, und das Wasser fließt durch die "
    "Schleuse; der Müller öffnet sie früh.\n";

struct Sample {
  const char* charset;
  std::string_view text;
  std::string_view name;  // As it is reported.
};
const std::vector<Sample> kSamples = {
    {"ISO-8859-2", kPolish, "iso-8859-2"},
    {"KOI8-R", kRussian, "koi8-r"},
    {"Shift_JIS", kJapanese, "shift_jis"},
    {"EUC-KR", kKorean, "euc-kr"},
    {"GB18030", kChinese, "gb18030"},
    {"Big5", kTaiwanese, "big5"},
    {"windows-1251", kRussian, "windows-1251"},
    {"windows-1250", kPolish, "windows-1250"},
    {"EUC-JP", kJapanese, "euc-jp"},
    {"windows-1252", kGerman, "windows-1252"},
    {"UTF-16LE", kRussian, "utf-16le"},
    {"UTF-16BE", kRussian, "utf-16be"},
    {"UTF-16LE", kGerman, "utf-16le"},
    {"UTF-16BE", kJapanese, "utf-16be"},
};

TEST(Charset, ADeclaredCharsetIsHonoured) {
  for (const auto& [charset, text, name] : kSamples) {
    const auto out = parsed(encoded(text, charset), {{"file_name", "a.txt"}, {"charset", charset}});
    EXPECT_EQ(out.error, "") << charset;
    if (!out.error.empty()) continue;
    EXPECT_EQ(out.markdown, text) << charset;
    EXPECT_EQ(out.text("encoding"), name);
    EXPECT_EQ(out.warnings(), "") << charset;
  }
}

TEST(Charset, AnUndeclaredOneIsGuessedAndToldToBeAGuess) {
  for (const auto& [charset, text, name] : kSamples) {
    const auto out = parsed(encoded(text, charset), {{"file_name", "a.txt"}});
    EXPECT_EQ(out.error, "") << charset;
    if (!out.error.empty()) continue;
    EXPECT_EQ(out.markdown, text) << charset;
    EXPECT_EQ(out.text("encoding"), name);
    EXPECT_EQ(out.warnings(), "charset_guess") << charset;
  }
}

// A few letters are enough for who is told, and too few to guess.
TEST(Charset, ADeclarationDecidesWhereBytesDoNot) {
  EXPECT_EQ(
      markdown_of(encoded("日本", "Shift_JIS"), {{"file_name", "a.txt"}, {"charset", "Shift_JIS"}}),
      "日本\n");
  EXPECT_EQ(
      markdown_of(encoded("ąę", "ISO-8859-2"), {{"file_name", "a.txt"}, {"charset", "ISO-8859-2"}}),
      "ąę\n");
  EXPECT_EQ(markdown_of("\x1b$BF|K\\\x1b(B", {{"file_name", "a.txt"}, {"charset", "iso-2022-jp"}}),
            "日本\n");
}

TEST(Charset, AMarkAndValidUtf8ComeBeforeADeclaration) {
  EXPECT_EQ(markdown_of("Łódź", {{"file_name", "a.txt"}, {"charset", "windows-1251"}}), "Łódź\n");
  EXPECT_EQ(markdown_of("\xef\xbb\xbfŁódź", {{"file_name", "a.txt"}, {"charset", "koi8-r"}}),
            "Łódź\n");
}

TEST(Charset, AnXmlDeclarationIsADeclaration) {
  EXPECT_EQ(html_charset("<?xml version='1.0' encoding='KOI8-R'?><html>"), "KOI8-R");
  EXPECT_EQ(html_charset("<?xml version=\"1.0\"?><html><meta charset=big5>"), "big5");
  const auto page = encoded("<html><body><p>Мир</p></body></html>", "KOI8-R");
  EXPECT_EQ(markdown_of("<?xml version='1.0' encoding='koi8-r'?>" + page, {{"kind", "html"}}),
            "Мир\n");
}

TEST(Charset, PartsOfAMailAreReadInTheirCharsets) {
  const auto part = encoded("Привет, мир", "KOI8-R");
  EXPECT_NE(markdown_of("From: a@b.c\nTo: d@e.f\nSubject: x\nMIME-Version: 1.0\nContent-Type: "
                        "text/plain; charset=koi8-r\nContent-Transfer-Encoding: 8bit\n\n" +
                            part + "\n",
                        {{"file_name", "a.eml"}})
                .find("Привет, мир"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::document
