#include "document/bounded/zip_file.h"

#include "document/inspect/made_zip.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

std::string rule_of(const MadeZip& made, const Limits& limits = {}) {
  const auto bytes = made.bytes();
  const auto zip = ZipFile::open(bytes, limits);
  return zip.has_value() ? "" : zip.error().constraint;
}

MadeZip two_entries() {
  MadeZip zip;
  return zip.add("a.xml", "<a/>").add("b/c.txt", "some text", false);
}

TEST(ZipFile, ReadsPackedAndStoredEntries) {
  const auto bytes = two_entries().bytes();
  const auto zip = ZipFile::open(bytes, {});
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  const Limits limits;
  UnpackBudget budget(limits);
  EXPECT_EQ(zip->read_all(*zip->find("a.xml"), budget, 100).value(), "<a/>");
  EXPECT_EQ(zip->read_all(*zip->find("b/c.txt"), budget, 100).value(), "some text");
  EXPECT_EQ(zip->find("missing"), nullptr);
}

TEST(ZipFile, RefusesEntriesThatShareBytes) {
  auto made = two_entries();
  EXPECT_EQ(rule_of(made), "");
  made.entries[1] = made.entries[0];
  made.entries[1].name = "z.xml";
  made.entries[1].local_name = "a.xml";
  EXPECT_EQ(rule_of(made), "zip_structure") << "the local name differs";
  made.entries[1] = made.entries[0];
  made.entries[1].header_offset = 0;
  made.entries[1].name = made.entries[0].name;
  EXPECT_EQ(rule_of(made), "zip_duplicate");
}

TEST(ZipFile, RefusesAnEntryThatReachesIntoTheNext) {
  MadeZip made;
  made.add("a", std::string(50, 'x'), false);
  made.add("b", "y", false);
  auto bytes = made.bytes();
  // The first entry's sizes, at both places, grow over the second's header.
  const auto directory = bytes.find("PK\x01\x02");
  for (const auto at : {std::size_t{18}, std::size_t{22}, directory + 20, directory + 24}) {
    bytes[at] = 60;
  }
  const auto zip = ZipFile::open(bytes, {});
  ASSERT_FALSE(zip.has_value());
  EXPECT_EQ(zip.error().constraint, "zip_overlap");
}

TEST(ZipFile, RefusesWhatTheDirectoryAndTheEntriesTellDifferently) {
  auto made = two_entries();
  made.entries[0].local_name = "other.xml";
  EXPECT_EQ(rule_of(made), "zip_structure");
}

TEST(ZipFile, RefusesBytesBeforeAndBehindTheArchive) {
  auto made = two_entries();
  made.prefix = "#!/bin/sh\n";
  EXPECT_EQ(rule_of(made), "polyglot");
  made = two_entries();
  made.suffix = "more";
  EXPECT_EQ(rule_of(made), "zip_structure");
}

// F17: counted before anything is unpacked.
TEST(ZipFile, RefusesDeclaredSizesBeforeItUnpacks) {
  auto made = two_entries();
  made.entries[0].declared_bytes = 0xfffffff0;
  EXPECT_EQ(rule_of(made), "unpacked_bytes");
  made.entries[0].declared_bytes = 64 * kMiB;
  EXPECT_EQ(rule_of(made), "ratio");
  made.entries[0].declared_bytes = kMiB;  // Below the floor: the ratio does not matter.
  EXPECT_EQ(rule_of(made), "");
}

TEST(ZipFile, StopsAnEntryThatIsLargerThanItSays) {
  MadeZip made;
  made.entries.push_back(
      {.name = "a", .packed_bytes = deflated_zeros(kMiB, true), .declared_bytes = 100});
  const auto bytes = made.bytes();
  const auto zip = ZipFile::open(bytes, {});
  ASSERT_TRUE(zip.has_value());
  const Limits limits;
  UnpackBudget budget(limits);
  const auto read = zip->read_all(zip->entries()[0], budget, kMiB);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().constraint, "zip_size");
  EXPECT_LT(budget.total(), kMiB / 2);
}

TEST(ZipFile, NoticesDamage) {
  auto made = two_entries();
  made.entries[0].crc = 7;
  const auto bytes = made.bytes();
  const auto zip = ZipFile::open(bytes, {});
  ASSERT_TRUE(zip.has_value());
  const Limits limits;
  UnpackBudget budget(limits);
  EXPECT_EQ(zip->read_all(zip->entries()[0], budget, kMiB).error().constraint, "damaged");
}

TEST(ZipFile, RefusesTooManyEntries) {
  MadeZip made;
  for (int i = 0; i < 11; ++i) made.add("e" + std::to_string(i), "x", false);
  EXPECT_EQ(rule_of(made, {.archive_entries_max = 11}), "");
  EXPECT_EQ(rule_of(made, {.archive_entries_max = 10}), "archive_entries");
}

TEST(ZipFile, RefusesNamesThatLeaveTheArchive) {
  for (const auto* name : {"../up", "/root", "a/../../b", "C:x", "a\\b", "line\nend", ""}) {
    MadeZip made;
    EXPECT_EQ(rule_of(made.add(name, "x")), "archive_entry_name") << name;
  }
  MadeZip made;
  EXPECT_EQ(rule_of(made.add("a/..b/c..d", "x")), "");
}

TEST(ZipFile, RefusesEncryptionAndForeignMethods) {
  auto made = two_entries();
  made.entries[0].flags = 1;
  EXPECT_EQ(rule_of(made), "encrypted");
  made = two_entries();
  made.entries[0].method = 12;
  EXPECT_EQ(rule_of(made), "zip_method");
}

TEST(ZipFile, EveryCutIsRefused) {
  const auto bytes = two_entries().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ZipFile::open(std::string_view(bytes).substr(0, size), {}).has_value()) << size;
  }
}

}  // namespace
}  // namespace millrace::document
