#include "api/file_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace millrace::api {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

std::string times(int count, std::string_view text) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::vector<std::string> names_of(const std::vector<std::string>& titles) {
  FileNames names;
  std::vector<std::string> out;
  for (const auto& title : titles) out.push_back(names.add(title));
  return out;
}

TEST(FileName, PackedOnesLeadNowhere) {  // X-14, J05
  EXPECT_EQ(packed_file_name("../../etc/passwd"), "_.._etc_passwd");
  EXPECT_EQ(packed_file_name("C:\\temp\\a.pdf"), "C__temp_a.pdf");
  EXPECT_EQ(packed_file_name("2025/26.pdf"), "2025_26.pdf");
  EXPECT_EQ(packed_file_name("a:b|c?.pdf"), "a_b_c_.pdf");
  EXPECT_EQ(packed_file_name(std::string("a\0b\r\n", 5)), "a_b__");
  EXPECT_EQ(packed_file_name("cv\u202Efdp.exe"), "cvfdp.exe");
  EXPECT_EQ(packed_file_name("..."), "file");
  EXPECT_EQ(packed_file_name("a. "), "a");
  EXPECT_EQ(packed_file_name(""), "file");
}

// A title of dots is no reason to have a file that nobody can open.
TEST(FileName, AKindStaysAKind) {
  EXPECT_EQ(packed_file_name("..pdf"), "file.pdf");
  EXPECT_EQ(packed_file_name("...pdf"), "file.pdf");
  EXPECT_EQ(packed_file_name(" . .pdf"), "file.pdf");
  EXPECT_EQ(packed_file_name("\u202E.pdf"), "file.pdf");
  EXPECT_EQ(packed_file_name(".hidden.pdf"), "hidden.pdf");
  EXPECT_EQ(packed_file_name(". a.pdf"), "a.pdf");
  EXPECT_EQ(packed_file_name("/.pdf"), "_.pdf");
}

TEST(FileName, PackedOnesAreNoDevices) {
  EXPECT_EQ(packed_file_name("CON.pdf"), "_CON.pdf");
  EXPECT_EQ(packed_file_name("nul.2025.pdf"), "_nul.2025.pdf");
  EXPECT_EQ(packed_file_name("Com1 .pdf"), "_Com1 .pdf");
  EXPECT_EQ(packed_file_name("lpt².pdf"), "_lpt².pdf");
  EXPECT_EQ(packed_file_name("aux"), "_aux");
  for (const auto* name : {"Console.pdf", "COM.pdf", "com10.pdf", "Con artist.pdf", "lpt.pdf"}) {
    EXPECT_EQ(packed_file_name(name), name);
  }
}

TEST(FileName, LongOnesAreCutBetweenCharactersAndKeepTheirKind) {
  const auto umlauts = times(150, "ä");
  EXPECT_EQ(packed_file_name(umlauts).size(), 200U);
  EXPECT_EQ(packed_file_name("x" + umlauts).size(), 199U);
  EXPECT_THAT(packed_file_name("x" + umlauts + ".pdf"), EndsWith("ä.pdf"));
  EXPECT_LE(packed_file_name("x" + umlauts + ".pdf").size(), 200U);
  EXPECT_EQ(packed_file_name(times(100, "📄") + ".pdf"), times(49, "📄") + ".pdf");
  EXPECT_EQ(saved_file_name(times(100, "📄") + ".pdf"), times(62, "📄") + ".pdf");
  EXPECT_EQ(saved_file_name(std::string(508, 'x') + ".pdf"), std::string(251, 'x') + ".pdf");
}

// the whole title, not what stands behind its last slash.
TEST(FileName, SavedOnesAreTheTitle) {
  EXPECT_EQ(saved_file_name("Zoë \"CV\".pdf"), "Zoë \"CV\".pdf");
  EXPECT_EQ(saved_file_name("Bericht 2025/26.pdf"), "Bericht 2025_26.pdf");
  EXPECT_EQ(saved_file_name("../../etc/passwd"), ".._.._etc_passwd");
  EXPECT_EQ(saved_file_name("a\\b\r\n.pdf"), "a_b.pdf");
  EXPECT_EQ(saved_file_name(""), "");
}

TEST(FileName, EqualOnesGetNumbers) {
  EXPECT_THAT(names_of({"cv.pdf", "cv.pdf", "cv.pdf", "cv", "cv (2).pdf"}),
              ElementsAre("cv.pdf", "cv (2).pdf", "cv (3).pdf", "cv", "cv (2) (2).pdf"));
  EXPECT_THAT(names_of({"a/b.pdf", "a:b.pdf"}), ElementsAre("a_b.pdf", "a_b (2).pdf"))
      << "equal once they are safe";
}

// What differs in capitals only is one file on many a system, in any script that has them.
TEST(FileName, CapitalsMakeNoDifference) {
  EXPECT_THAT(names_of({"CV.pdf", "cv.pdf"}), ElementsAre("CV.pdf", "cv (2).pdf"));
  EXPECT_THAT(names_of({"ÄRGER.pdf", "ärger.pdf", "ДОМ.pdf", "дом.pdf", "Ωmega.pdf", "ωmega.pdf"}),
              ElementsAre("ÄRGER.pdf", "ärger (2).pdf", "ДОМ.pdf", "дом (2).pdf", "Ωmega.pdf",
                          "ωmega (2).pdf"));
  EXPECT_THAT(names_of({"ä.pdf", "ö.pdf", "履歴.pdf", "経歴.pdf", "📄.pdf", "📕.pdf"}),
              ElementsAre("ä.pdf", "ö.pdf", "履歴.pdf", "経歴.pdf", "📄.pdf", "📕.pdf"));
}

}  // namespace
}  // namespace millrace::api
