#include "http/multipart.h"

#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::http {
namespace {

using testing::HasSubstr;
using Kind = MultipartEvent::Kind;

struct Got {
  std::string name;
  std::optional<std::string> file_name;
  std::string content_type;
  std::string data;

  friend bool operator==(const Got&, const Got&) = default;
};

std::ostream& operator<<(std::ostream& out, const Got& got) {
  return out << got.name << " file=" << got.file_name.value_or("-") << " type=" << got.content_type
             << " data=" << testing::PrintToString(got.data);
}

// Feeds the body in pieces that end at `cuts`.
Result<std::vector<Got>> parse(std::string_view body, std::vector<std::size_t> cuts = {},
                               const std::string& boundary = "XX", MultipartLimits limits = {}) {
  MR_TRY(auto parser, MultipartParser::make("multipart/form-data; boundary=" + boundary, limits));
  std::vector<Got> parts;
  cuts.push_back(body.size());
  std::size_t begin = 0;
  bool open = false;
  for (const auto end : cuts) {
    // A copy of its own size: reading past the piece is then an error that tools see.
    const std::string copy(body.substr(begin, end - begin));
    std::string_view piece(copy);
    begin = end;
    for (;;) {
      MR_TRY(const auto event, parser.next(piece));
      if (event.kind == Kind::need_more) {
        EXPECT_TRUE(piece.empty());
        break;
      }
      if (event.kind == Kind::part) {
        EXPECT_FALSE(open);
        open = true;
        parts.push_back(
            {parser.part().name, parser.part().file_name, parser.part().content_type, {}});
      } else if (event.kind == Kind::data) {
        EXPECT_TRUE(open);
        EXPECT_FALSE(event.data.empty());
        parts.back().data += event.data;
      } else if (event.kind == Kind::part_end) {
        EXPECT_TRUE(open);
        open = false;
      }
    }
  }
  MR_TRY_VOID(parser.finish());
  EXPECT_FALSE(open);
  return parts;
}

std::string field(const std::string& name, const std::string& value,
                  const std::string& boundary = "XX") {
  return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" +
         value + "\r\n";
}

TEST(Multipart, FieldsAndFilesComeOutAsTheyWentIn) {
  const std::string body =
      field("title", "Scan") +
      "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n"
      "Content-Type: application/pdf\r\n\r\n" +
      std::string("%PDF\r\n--X\r\n\0bytes", 17) + "\r\n--XX--\r\n";
  const auto parts = parse(body);
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  EXPECT_EQ(*parts, (std::vector<Got>{{"title", std::nullopt, "text/plain", "Scan"},
                                      {"file", "a.pdf", "application/pdf",
                                       std::string("%PDF\r\n--X\r\n\0bytes", 17)}}));
}

TEST(Multipart, TheSameComesOutWhereverTheBodyIsCut) {
  const std::string body = "preamble\r\n" + field("a", "") + field("b", "\r\n") +
                           field("c", "\r\n--X") + field("d", "\r\r\n\r\n--\r\n--XY") +
                           "--XX  \r\nContent-Disposition: form-data; name=e; filename=f\r\n\r\n" +
                           std::string(100, '-') + "\r\n--XX--epilogue";
  const auto whole = parse(body);
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  ASSERT_EQ(whole->size(), 5U);
  EXPECT_EQ((*whole)[1].data, "\r\n");
  EXPECT_EQ((*whole)[2].data, "\r\n--X");
  EXPECT_EQ((*whole)[4].data, std::string(100, '-'));
  for (std::size_t first = 0; first <= body.size(); ++first) {
    const auto cut = parse(body, {first});
    ASSERT_TRUE(cut.has_value()) << first << ": " << cut.error().message;
    ASSERT_EQ(*cut, *whole) << "cut at " << first;
  }
  std::vector<std::size_t> everywhere;
  for (std::size_t i = 1; i < body.size(); ++i) everywhere.push_back(i);
  EXPECT_EQ(parse(body, everywhere).value(), whole.value());
}

// Bodies made of what looks like boundaries, cut at random.
TEST(Multipart, RandomBodiesSurviveRandomCuts) {
  SeededRandom random(20240);
  const std::vector<std::string> words = {
      "\r",    "\n", "\r\n", "-", "--", "X", "XX", "\r\n--X", "\r\n-", "data", std::string(1, '\0'),
      "\r\n--"};
  for (int round = 0; round < 400; ++round) {
    std::string body;
    std::vector<Got> expected;
    const auto count = random.below(4) + 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string data;
      const auto size = random.below(12);
      for (std::uint64_t j = 0; j < size; ++j) data += words[random.below(words.size())];
      if (("\r\n" + data + "\r\n").find("\r\n--XX") != std::string::npos) data = "replaced";
      expected.push_back({"n" + std::to_string(i), std::nullopt, "text/plain", data});
      body += field(expected.back().name, data);
    }
    body += "--XX--\r\n";
    std::vector<std::size_t> cuts;
    for (std::size_t at = 0; at < body.size(); at += 1 + random.below(9)) cuts.push_back(at);
    const auto parts = parse(body, cuts);
    ASSERT_TRUE(parts.has_value()) << round << ": " << parts.error().message;
    ASSERT_EQ(*parts, expected) << "round " << round;
  }
}

TEST(Multipart, RandomBytesNeverCrashIt) {
  SeededRandom random(77);
  const std::string good = field("a", "b") + field("c", "d") + "--XX--\r\n";
  for (int round = 0; round < 2000; ++round) {
    std::string body = good;
    for (std::uint64_t changes = random.below(6) + 1; changes > 0; --changes) {
      const auto at = random.below(body.size());
      switch (random.below(3)) {
        case 0:
          body[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          body.erase(at, random.below(8));
          break;
        default:
          body.insert(at, body.substr(random.below(body.size()), random.below(20)));
          break;
      }
      if (body.empty()) body = "x";
    }
    const auto whole = parse(body);
    const auto cut = parse(body, {body.size() / 3, body.size() / 2});
    ASSERT_EQ(whole.has_value(), cut.has_value()) << testing::PrintToString(body);
    if (whole) {
      ASSERT_EQ(*whole, *cut);
    }
  }
}

TEST(Multipart, AnEmptyPartMayShareItsNewLineWithTheBoundary) {
  const auto parts = parse("--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n--XX--");
  ASSERT_TRUE(parts.has_value()) << parts.error().message;
  EXPECT_EQ(parts->at(0).data, "");
}

TEST(Multipart, ABodyWithoutItsEndIsNotWhole) {
  const std::string body = field("a", "b") + "--XX--";
  for (std::size_t size = 0; size + 1 < body.size(); ++size) {
    EXPECT_FALSE(parse(body.substr(0, size)).has_value()) << size;
  }
  EXPECT_TRUE(parse(body).has_value());
}

std::string error_of(std::string_view body, MultipartLimits limits = {}) {
  const auto parts = parse(body, {}, "XX", limits);
  return parts ? "accepted" : parts.error().message;
}

TEST(Multipart, LimitsHold) {
  std::string many;
  for (int i = 0; i < 4; ++i) many += field("a", "b");
  many += "--XX--";
  EXPECT_THAT(error_of(many, {.parts_max = 3}), HasSubstr("more than 3 parts"));
  EXPECT_EQ(error_of(many, {.parts_max = 4}), "accepted");
  const auto long_header = "--XX\r\nX-Long: " + std::string(300, 'a') +
                           "\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--XX--";
  EXPECT_THAT(error_of(long_header, {.part_header_max_bytes = 200}), HasSubstr("longer than 200"));
  EXPECT_EQ(error_of(long_header, {.part_header_max_bytes = 400}), "accepted");
  EXPECT_THAT(error_of(std::string(5000, 'x') + "\r\n" + many), HasSubstr("no boundary"));
  EXPECT_THAT(error_of(many + std::string(5000, 'x')), HasSubstr("after the last boundary"));
}

TEST(Multipart, RefusesWhatOthersWouldReadDifferently) {
  const auto part = [](const std::string& header) {
    return "--XX\r\n" + header + "\r\n\r\nb\r\n--XX--";
  };
  EXPECT_THAT(error_of(part("Content-Type: text/plain")), HasSubstr("no Content-Disposition"));
  EXPECT_THAT(error_of(part("Content-Disposition: attachment; name=a")), HasSubstr("form-data"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data")), HasSubstr("with a name"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data; name=a; name=b")), HasSubstr("twice"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data; name=a\r\n"
                            "Content-Disposition: form-data; name=b")),
              HasSubstr("two Content-Disposition"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data; name=\"a")), HasSubstr("quote"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data;\r\n name=a")), HasSubstr("folded"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data; name=\"a\nb\"")),
              HasSubstr("control"));
  EXPECT_THAT(error_of(part("no colon")), HasSubstr("no name"));
  EXPECT_THAT(error_of(part("Content-Disposition: form-data; name=a\r\n"
                            "Content-Transfer-Encoding: base64")),
              HasSubstr("Content-Transfer-Encoding"));
  EXPECT_THAT(error_of("--XXY\r\n"), HasSubstr("not followed by a new line"));
}

TEST(Multipart, NeedsItsContentType) {
  EXPECT_TRUE(MultipartParser::make("multipart/form-data; boundary=abc").has_value());
  EXPECT_TRUE(
      MultipartParser::make("Multipart/Form-Data; charset=utf-8; BOUNDARY=\"a b\"").has_value());
  EXPECT_TRUE(MultipartParser::make("multipart/form-data; boundary=----=_Part:1").has_value());
  for (const auto* bad :
       {"", "text/plain", "multipart/mixed; boundary=a", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a\r\nb\"",
        "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=\"a \""}) {
    EXPECT_FALSE(MultipartParser::make(bad).has_value()) << bad;
  }
  EXPECT_FALSE(
      MultipartParser::make("multipart/form-data; boundary=" + std::string(71, 'a')).has_value());
}

std::string file_name_of(const std::string& parameters) {
  const auto disposition = parse_content_disposition("form-data; name=\"f\"; " + parameters);
  if (!disposition) return "refused: " + disposition.error().message;
  return disposition->file_name.value_or("none");
}

TEST(ContentDisposition, DecodesFileNames) {
  EXPECT_EQ(file_name_of("filename=\"a b.pdf\""), "a b.pdf");
  EXPECT_EQ(file_name_of("filename=a.pdf"), "a.pdf");
  EXPECT_EQ(file_name_of("filename=\"\""), "");
  EXPECT_EQ(file_name_of("x=y"), "none");
  EXPECT_EQ(file_name_of(R"(filename="a \"b\" \\c.pdf")"), "c.pdf") << "behind the backslash";
  EXPECT_EQ(file_name_of("filename=\"r\xC3\xA9sum\xC3\xA9.pdf\""), "r\xC3\xA9sum\xC3\xA9.pdf");
  EXPECT_EQ(file_name_of("filename=\"x.pdf\"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf"),
            "r\xC3\xA9sum\xC3\xA9.pdf");
  EXPECT_EQ(file_name_of("filename*=utf-8'en'a%20b"), "a b");
  EXPECT_EQ(file_name_of("filename*=iso-8859-1''%A3.txt"), "\xC2\xA3.txt");
}

// T-04: a name is never a path.
TEST(ContentDisposition, FileNamesAreNoPaths) {
  EXPECT_EQ(file_name_of("filename=\"../../etc/passwd\""), "passwd");
  EXPECT_EQ(file_name_of("filename=\"C:\\scans\\a.pdf\""), "a.pdf");
  EXPECT_EQ(file_name_of("filename=\"..\""), "");
  EXPECT_EQ(file_name_of("filename=\"a/..\""), "");
  EXPECT_EQ(file_name_of("filename*=UTF-8''..%2F..%2Fetc%2Fshadow"), "shadow");
}

TEST(ContentDisposition, RefusesBrokenNames) {
  for (const auto* bad :
       {"filename=\"\xFF\"", "filename*=UTF-8''%FF", "filename*=UTF-8''%0A", "filename*=UTF-8''%00",
        "filename*=UTF-8''%4", "filename*=UTF-8''%zz", "filename*=a.pdf", "filename*=KOI8-R''a",
        "filename=\"a", "filename=a; filename=b", "filename"}) {
    EXPECT_THAT(file_name_of(bad), HasSubstr("refused")) << bad;
  }
}

}  // namespace
}  // namespace millrace::http
