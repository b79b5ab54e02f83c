#include "samples/files/docx.h"

#include "samples/samples_testing.h"

#include <gtest/gtest.h>

#include <archive.h>
#include <archive_entry.h>
#include <map>

namespace millrace::samples {
namespace {

std::map<std::string, std::string> unpacked(const std::string& bytes) {
  std::map<std::string, std::string> entries;
  archive* reader = archive_read_new();
  archive_read_support_format_zip(reader);
  EXPECT_EQ(archive_read_open_memory(reader, bytes.data(), bytes.size()), ARCHIVE_OK);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    std::string& content = entries[archive_entry_pathname(entry)];
    char buffer[4096];
    la_ssize_t got = 0;
    while ((got = archive_read_data(reader, buffer, sizeof(buffer))) > 0) {
      content.append(buffer, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(got, 0) << archive_error_string(reader);  // The checksum is right.
  }
  archive_read_free(reader);
  return entries;
}

TEST(Docx, OthersCanUnpackIt) {
  const auto entries = unpacked(sample_of("docx", 1).bytes);
  ASSERT_TRUE(entries.contains("[Content_Types].xml"));
  ASSERT_TRUE(entries.contains("_rels/.rels"));
  ASSERT_TRUE(entries.contains("word/document.xml"));
  EXPECT_NE(entries.at("word/document.xml").find("Laboratory Report"), std::string::npos);
}

TEST(Docx, TablesCloseAndMarkupIsEscaped) {
  Flow flow;
  flow.lines = {{{"a & b"}, true, true}, {{"x", "< 5"}}, {{"y", "2"}, false, true}, {{"end"}}};
  const auto entries = unpacked(docx_of(flow));
  const std::string& xml = entries.at("word/document.xml");
  EXPECT_NE(xml.find("a &amp; b"), std::string::npos);
  EXPECT_NE(xml.find("&lt; 5"), std::string::npos);
  EXPECT_LT(xml.find("<w:tbl>"), xml.find("</w:tbl>"));
  EXPECT_LT(xml.find("</w:tbl>"), xml.find(">end<"));
}

}  // namespace
}  // namespace millrace::samples
