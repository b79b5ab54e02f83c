#include "document/bounded/xml_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::document {
namespace {

struct Recorder final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    seen += "<" + std::string(name) + ":" + std::string(attributes.get("id"));
  }
  void end(std::string_view) override { seen += ">"; }
  void text(std::string_view text) override { seen += text; }
  std::string seen;
};

std::string rule_of(std::string_view xml, const Limits& limits = {}) {
  Recorder recorder;
  XmlReader reader(recorder, limits);
  auto result = reader.feed(xml);
  if (result.has_value()) result = reader.finish();
  return result.has_value() ? "" : result.error().constraint;
}

TEST(XmlReader, ReadsNamesWithoutPrefixes) {
  Recorder recorder;
  const Limits limits;
  XmlReader reader(recorder, limits);
  ASSERT_TRUE(reader.feed("<w:p xmlns:w='w' w:id='7'><b>te").has_value());
  ASSERT_TRUE(reader.feed("xt</b></w:p>").has_value());
  ASSERT_TRUE(reader.finish().has_value());
  EXPECT_EQ(recorder.seen, "<p:7<b:text>>");
}

// F17: entities need a document type, and there is none.
TEST(XmlReader, RefusesADocumentType) {
  EXPECT_EQ(rule_of("<!DOCTYPE a [<!ENTITY b 'cccc'>]><a>&b;</a>"), "xml_dtd");
  EXPECT_EQ(rule_of("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>"), "xml_dtd");
  EXPECT_EQ(rule_of("<a>&amp;&#65;</a>"), "");
}

TEST(XmlReader, RefusesDepth) {
  const Limits limits{.xml_depth_max = 10};
  const auto nested = [](int depth) {
    std::string xml;
    for (int i = 0; i < depth; ++i) xml += "<a>";
    for (int i = 0; i < depth; ++i) xml += "</a>";
    return xml;
  };
  EXPECT_EQ(rule_of(nested(10), limits), "");
  EXPECT_EQ(rule_of(nested(11), limits), "xml_depth");
}

TEST(XmlReader, RefusesATagWithoutAnEnd) {
  const Limits limits{.xml_token_bytes_max = 100'000};
  EXPECT_EQ(rule_of("<a b='" + std::string(400'000, 'x') + "'/>", limits), "xml_token");
  EXPECT_EQ(rule_of("<a>" + std::string(400'000, 'x') + "</a>", limits), "");
}

TEST(XmlReader, RefusesTooManyElements) {
  std::string xml = "<a>";
  for (int i = 0; i < 100; ++i) xml += "<b/>";
  xml += "</a>";
  EXPECT_EQ(rule_of(xml, {.xml_elements_max = 101}), "");
  EXPECT_EQ(rule_of(xml, {.xml_elements_max = 100}), "xml_elements");
}

TEST(XmlReader, RefusesWhatIsNoXml) {
  for (const auto* xml : {"", "text", "<a>", "<a></b>", "<a/><a/>", "<a>\x01</a>"}) {
    EXPECT_EQ(rule_of(xml), "xml_syntax") << xml;
  }
}

}  // namespace
}  // namespace millrace::document
