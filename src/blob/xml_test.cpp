#include "blob/xml.h"

#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using testing::HasSubstr;

TEST(BlobXml, ReadsWhatStoresSend) {
  const auto root = parse_xml(
      "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!-- x -->"
      "<ListBucketResult xmlns=\"http://s3/\" a='>'><IsTruncated>true</IsTruncated>"
      "<Contents><Key>a&amp;b&#x2F;&#228;</Key><Size>5</Size><Empty/><Tag /></Contents>"
      "<s:Contents><Key><![CDATA[<raw>]]></Key></s:Contents>\n</ListBucketResult>\n");
  ASSERT_TRUE(root.has_value()) << root.error().message;
  EXPECT_EQ(root->name, "ListBucketResult");
  EXPECT_EQ(root->value("IsTruncated"), "true");
  ASSERT_EQ(root->children.size(), 3U);
  EXPECT_EQ(root->children[1].value("Key"), "a&b/\xC3\xA4");
  EXPECT_EQ(root->children[1].value("Empty"), "");
  EXPECT_EQ(root->children[1].value("Missing"), "");
  EXPECT_EQ(root->children[2].name, "Contents");
  EXPECT_EQ(root->children[2].value("Key"), "<raw>");
}

TEST(BlobXml, RefusesWhatIsBrokenOrDangerous) {
  for (const std::string text : {"",
                                 "   ",
                                 "text",
                                 "<a>",
                                 "<a></b>",
                                 "<a",
                                 "<a b='1",
                                 "<a></a><b/>",
                                 "<a/>x",
                                 "<a>&nope;</a>",
                                 "<a>&#0;</a>",
                                 "<a>&#xD800;</a>",
                                 "<a>&#x110000;</a>",
                                 "<a>&amp</a>",
                                 "<a><!-- </a>",
                                 "< a/>",
                                 "<a><![CDATA[x</a>",
                                 "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                                 "<a/b>",
                                 "</a>"}) {
    const auto root = parse_xml(text);
    ASSERT_FALSE(root.has_value()) << text;
    EXPECT_EQ(root.error().kind, ErrorKind::internal);
  }
}

TEST(BlobXml, IsBoundedInDepthAndCount) {
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "<a>";
  EXPECT_THAT(parse_xml(deep).error().message, HasSubstr("too deep"));
  std::string many = "<a>";
  for (int i = 0; i < 50'000; ++i) many += "<b/>";
  EXPECT_THAT(parse_xml(many + "</a>").error().message, HasSubstr("too many"));
}

TEST(BlobXml, EndsOnAnyInput) {
  const std::string good =
      "<?xml version='1.0'?><a b=\"c\"><d>&lt;e&#65;</d><!-- f --><g/><![CDATA[h]]></a>";
  SeededRandom random(20301);
  for (int i = 0; i < 20'000; ++i) {
    auto text = good.substr(0, random.below(good.size() + 1));
    for (auto changes = random.below(4); changes > 0 && !text.empty(); --changes) {
      text[random.below(text.size())] = "<>&;/!-[]\"'a"[random.below(12)];
    }
    const auto root = parse_xml(text);
    if (!root) EXPECT_EQ(root.error().kind, ErrorKind::internal);
  }
}

TEST(BlobXml, EscapedTextComesBack) {
  const std::string text = "\"a\" <b> & 'c'";
  EXPECT_EQ(parse_xml("<x>" + xml_escape(text) + "</x>")->text, text);
}

}  // namespace
}  // namespace millrace::blob
