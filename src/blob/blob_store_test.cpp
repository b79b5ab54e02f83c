// Rules that all stores share: options, names for downloads, and what a reader may hand out.
#include "blob/blob_store.h"

#include "blob/content_check.h"
#include "blob/verified_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

template <class Options>
void expect_refused(const Options& options, const std::string& text) {
  const auto checked = check_options(options);
  ASSERT_FALSE(checked.has_value()) << text;
  EXPECT_EQ(checked.error().kind, ErrorKind::invalid_argument);
  EXPECT_THAT(checked.error().message, HasSubstr(text));
}

TEST(BlobOptions, RefusalsNameTheFieldAndTheRule) {
  EXPECT_TRUE(check_options(PutOptions{}).has_value());
  EXPECT_TRUE(check_options(ListOptions{}).has_value());
  EXPECT_TRUE(check_options(SignOptions{}).has_value());
  expect_refused(PutOptions{.content_type = "text"}, "content_type must be");
  expect_refused(PutOptions{.content_type = "text/plain\r\nX-Evil: 1"}, "content_type must be");
  expect_refused(PutOptions{.size_max_bytes = kBlobMaxBytes + 1}, "size_max_bytes is at most");
  expect_refused(PutOptions{.size_max_bytes = 9, .size_bytes = 10}, "the limit is 9");
  expect_refused(ListOptions{.limit = 0}, "limit must be 1 to 1000");
  expect_refused(ListOptions{.limit = 1001}, "limit must be 1 to 1000");
  expect_refused(SignOptions{.ttl = 0s}, "ttl must be");
  expect_refused(SignOptions{.ttl = std::chrono::days(7) + 1s}, "ttl must be");
  expect_refused(SignOptions{.content_type = "a/b\n"}, "content_type must be");
  expect_refused(SignOptions{.file_name = std::string(256, 'a')}, "file_name has at most 255");
}

// J05: RFC 6266 file names, no header injection.
TEST(BlobContentDisposition, HoldsTheNameAndNothingElse) {
  EXPECT_EQ(content_disposition("Report 1.pdf"), "attachment; filename=\"Report 1.pdf\"");
  EXPECT_EQ(content_disposition("a\"b\\c/d;e\r\nX: y"),
            "attachment; filename=\"a_b_c_d_e__X: y\"; "
            "filename*=UTF-8''a%22b%5Cc%2Fd%3Be%0D%0AX%3A%20y");
  EXPECT_EQ(content_disposition("Bef\xC3\xBCnd.pdf"),
            "attachment; filename=\"Bef__nd.pdf\"; filename*=UTF-8''Bef%C3%BCnd.pdf");
  EXPECT_EQ(content_disposition(""), "attachment");
}

TEST(BlobContentCheck, NamesContentByItsDigest) {
  ContentCheck check({});
  ASSERT_TRUE(check.take(bytes_of("ab")).has_value());
  ASSERT_TRUE(check.take(bytes_of("c")).has_value());
  EXPECT_EQ(check.finish()->sha256, sha256("abc"));
  EXPECT_EQ(check.size_bytes(), 3U);
}

TEST(BlobContentCheck, HoldsContentToWhatWasAnnounced) {
  ContentCheck limited({.size_max_bytes = 2});
  EXPECT_TRUE(limited.take(bytes_of("ab")).has_value());
  EXPECT_THAT(limited.take(bytes_of("c")).error().message, HasSubstr("more than the 2 bytes"));

  ContentCheck longer({.size_bytes = 2});
  EXPECT_THAT(longer.take(bytes_of("abc")).error().message, HasSubstr("were announced"));

  ContentCheck shorter({.size_bytes = 3});
  EXPECT_TRUE(shorter.take(bytes_of("ab")).has_value());
  EXPECT_THAT(shorter.finish().error().message, HasSubstr("2 bytes, 3 were announced"));

  ContentCheck other({.sha256 = sha256("abd")});
  EXPECT_TRUE(other.take(bytes_of("abc")).has_value());
  EXPECT_EQ(other.finish().error().kind, ErrorKind::invalid_argument);
}

BlobInfo info_of_text(std::string_view text) {
  return {.key = {sha256(text)}, .size_bytes = text.size(), .modified = {}};
}

TEST(BlobVerifiedRange, LastPieceOfDamagedContentIsNotHandedOut) {
  auto range = VerifiedRange::make(info_of_text("abcdef"), {}).value();
  EXPECT_TRUE(range.take(bytes_of("abc")).has_value());
  EXPECT_EQ(range.left_bytes(), 3U);
  const auto last = range.take(bytes_of("deX"));
  ASSERT_FALSE(last.has_value());
  EXPECT_EQ(last.error().kind, ErrorKind::internal);
  EXPECT_THAT(last.error().message, HasSubstr("is damaged"));
  EXPECT_FALSE(range.ended().has_value());
}

TEST(BlobVerifiedRange, WholeContentPasses) {
  auto range = VerifiedRange::make(info_of_text("abcdef"), {.offset = 0, .length = 6}).value();
  EXPECT_TRUE(range.take(bytes_of("abcdef")).has_value());
  EXPECT_TRUE(range.ended().has_value());
  // An empty object under a name that is not the empty digest is damage too.
  EXPECT_TRUE(VerifiedRange::make(info_of_text(""), {})->ended().has_value());
  EXPECT_FALSE(
      VerifiedRange::make({.key = {sha256("x")}, .size_bytes = 0}, {})->ended().has_value());
}

TEST(BlobVerifiedRange, RangesEndWithTheBlob) {
  const auto info = info_of_text("0123456789");
  const auto left = [&](ByteRange range) { return VerifiedRange::make(info, range)->left_bytes(); };
  EXPECT_EQ(left({.offset = 4}), 6U);
  EXPECT_EQ(left({.offset = 4, .length = 2}), 2U);
  EXPECT_EQ(left({.offset = 4, .length = UINT64_MAX}), 6U);
  EXPECT_EQ(left({.offset = 10}), 0U);
  EXPECT_EQ(left({.offset = 3, .length = 0}), 0U);
  EXPECT_EQ(VerifiedRange::make(info, {.offset = 11}).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace millrace::blob
