// The promises of blob_store.h, tried on every store.
#include "conformance.h"

#include "blob/digest.h"
#include "support/must.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace millrace::test {
namespace {

using namespace blob;
using namespace std::chrono_literals;
using namespace boost::asio::experimental::awaitable_operators;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t kMebibyte = 1 << 20;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST_P(BlobConformance, StoresContentOfAnySizeUnderItsDigest) {
  for (const std::size_t size : {0UL, 1UL, 100UL, 65'536UL, 1'048'577UL}) {
    const auto text = content(size);
    const auto stored = put(text);
    ASSERT_TRUE(stored.has_value()) << size << ": " << stored.error().describe();
    EXPECT_EQ(stored->key.sha256, sha256(text));
    EXPECT_EQ(stored->size_bytes, size);
    EXPECT_EQ(must(get(stored->key)), text) << size;
  }
}

// Above the size of one part (S3 5 MiB, Azure 1 MiB, Supabase 6 MiB), with a short last one.
TEST_P(BlobConformance, StoresLargeContentInParts) {
  for (const std::size_t size : {12 * kMebibyte, 13 * kMebibyte + 17}) {
    const auto text = content(size);
    const auto stored = put(text);
    ASSERT_TRUE(stored.has_value()) << stored.error().describe();
    EXPECT_EQ(must(get(stored->key, {}, 1 << 20)), text);
    EXPECT_EQ(must(run(store().stat(stored->key))).size_bytes, size);
  }
}

TEST_P(BlobConformance, SameContentTwiceIsOneObjectWithoutAnError) {
  for (const auto& text : {content(1000), content(7 * kMebibyte)}) {
    const auto first = must(put(text));
    const auto second = must(put(text));
    EXPECT_EQ(first.key, second.key);
    EXPECT_EQ(must(get(first.key)), text);
  }
  EXPECT_THAT(list_all(1000), SizeIs(2));
}

TEST_P(BlobConformance, TwoWritersOfOneContentAtOnceBothSucceed) {
  for (const std::size_t size : {1000UL, 13 * kMebibyte}) {
    const auto text = content(size, size);
    const auto [first, second] =
        run_blocking(ground_.io, put_task(&store(), text, {}) && put_task(&store(), text, {}));
    ASSERT_TRUE(first.has_value()) << first.error().describe();
    ASSERT_TRUE(second.has_value()) << second.error().describe();
    EXPECT_EQ(must(get(first->key)), text);
  }
  EXPECT_THAT(list_all(1000), SizeIs(2));
}

TEST_P(BlobConformance, NothingShowsBeforeItIsFinished) {
  const auto text = content(7 * kMebibyte);
  const BlobKey key{sha256(text)};
  const auto writer = must(run(store().create({})));
  ASSERT_TRUE(run(writer->write(bytes_of(text))).has_value());
  EXPECT_EQ(run(store().stat(key)).error().kind, ErrorKind::not_found);
  EXPECT_THAT(list_all(10), IsEmpty());
  ASSERT_TRUE(run(writer->finish()).has_value());
  EXPECT_EQ(must(run(store().stat(key))).size_bytes, text.size());
}

TEST_P(BlobConformance, AbortedAndDroppedWritersLeaveNothing) {
  const auto text = content(100'000);
  {
    const auto aborted = must(run(store().create({})));
    ASSERT_TRUE(run(aborted->write(bytes_of(text))).has_value());
    EXPECT_TRUE(run(aborted->abort()).has_value());
    EXPECT_TRUE(run(aborted->abort()).has_value()) << "twice is fine";
    EXPECT_FALSE(run(aborted->write(bytes_of(text))).has_value());
    EXPECT_FALSE(run(aborted->finish()).has_value());
    const auto dropped = must(run(store().create({})));
    ASSERT_TRUE(run(dropped->write(bytes_of(text))).has_value());
  }
  EXPECT_EQ(run(store().stat({sha256(text)})).error().kind, ErrorKind::not_found);
  EXPECT_THAT(list_all(10), IsEmpty());
}

TEST_P(BlobConformance, AbortAfterFinishKeepsTheBlob) {
  const auto writer = must(run(store().create({})));
  ASSERT_TRUE(run(writer->write(bytes_of("abc"))).has_value());
  const auto stored = must(run(writer->finish()));
  EXPECT_TRUE(run(writer->abort()).has_value());
  EXPECT_FALSE(run(writer->finish()).has_value()) << "once only";
  EXPECT_EQ(must(get(stored.key)), "abc");
}

// F01: what a client announces is compared with what came, before anything shows.
TEST_P(BlobConformance, ContentThatIsNotAsAnnouncedIsRefused) {
  const auto text = content(5000);
  const auto expect_refused = [&](PutOptions options) {
    const auto stored = put(text, std::move(options));
    ASSERT_FALSE(stored.has_value());
    EXPECT_EQ(stored.error().kind, ErrorKind::invalid_argument);
  };
  expect_refused({.sha256 = sha256("something else")});
  expect_refused({.size_bytes = 4999});
  expect_refused({.size_bytes = 5001});
  expect_refused({.size_max_bytes = 4999});
  expect_refused({.content_type = "evil\r\nX-Header: 1"});
  EXPECT_THAT(list_all(10), IsEmpty());
  EXPECT_TRUE(
      put(text, {.size_max_bytes = 5000, .size_bytes = 5000, .sha256 = sha256(text)}).has_value());
}

TEST_P(BlobConformance, RangesAreExact) {
  const auto text = content(1'000'003);
  const auto key = must(put(text)).key;
  const ByteRange ranges[] = {{0, 1},        {0, 1'000'003}, {5, 10},          {1'000'002, 1},
                              {999'000, {}}, {0, 5'000'000}, {999'999, 5'000}, {1'000'003, {}},
                              {7, 0},        {1'000'003, 0}};
  for (const auto& range : ranges) {
    const auto expected = text.substr(range.offset, range.length.value_or(text.size()));
    const auto got = get(key, range);
    ASSERT_TRUE(got.has_value()) << range.offset << ": " << got.error().describe();
    EXPECT_EQ(*got, expected) << range.offset;
  }
  EXPECT_EQ(get(key, {.offset = 1'000'004}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(get(key, {.offset = 1'000'004, .length = 0}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(get(key, {.offset = UINT64_MAX}).error().kind, ErrorKind::invalid_argument);
  const auto empty = must(put("")).key;
  EXPECT_EQ(must(get(empty, {.offset = 0, .length = 10})), "");
}

TEST_P(BlobConformance, ReaderTellsTheWholeAndWhatIsLeft) {
  const auto text = content(1000);
  const auto key = must(put(text)).key;
  const auto reader = must(run(store().open(key, {.offset = 100, .length = 50})));
  EXPECT_EQ(reader->info().size_bytes, 1000U);
  EXPECT_EQ(reader->info().key, key);
  EXPECT_EQ(reader->left_bytes(), 50U);
  std::vector<std::byte> buffer(20);
  std::size_t got = 0;
  while (got < 50) got += must(run(reader->read(buffer)));
  EXPECT_EQ(reader->left_bytes(), 0U);
  EXPECT_EQ(must(run(reader->read(buffer))), 0U);
  EXPECT_EQ(must(run(reader->read(buffer))), 0U) << "the end stays the end";
}

TEST_P(BlobConformance, StatTellsSizeAndAge) {
  const auto before = ground_.clock.wall();
  const auto stored = must(put(content(12'345)));
  const auto found = must(run(store().stat(stored.key)));
  EXPECT_EQ(found.key, stored.key);
  EXPECT_EQ(found.size_bytes, 12'345U);
  EXPECT_GE(found.modified, before - 2s);  // Whole seconds, and a server's own clock.
  EXPECT_LE(found.modified, ground_.clock.wall() + 2s);
}

TEST_P(BlobConformance, WhatIsNotThereIsNotFound) {
  const BlobKey key{sha256("never stored")};
  EXPECT_EQ(run(store().stat(key)).error().kind, ErrorKind::not_found);
  EXPECT_EQ(get(key).error().kind, ErrorKind::not_found);
  EXPECT_EQ(get(key, {.offset = 5, .length = 5}).error().kind, ErrorKind::not_found);
  EXPECT_EQ(get(key, {.offset = 0, .length = 0}).error().kind, ErrorKind::not_found);
}

// G08: deleting is repeatable.
TEST_P(BlobConformance, RemovedIsGoneAndRemovingAgainIsFine) {
  const auto kept = must(put("kept"));
  const auto gone = must(put("gone"));
  EXPECT_TRUE(must(run(store().remove(gone.key, {}))));
  EXPECT_EQ(get(gone.key).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(must(run(store().remove(gone.key, {}))));
  EXPECT_EQ(must(get(kept.key)), "kept");
  EXPECT_TRUE(put("gone").has_value()) << "and it can come back";
  EXPECT_EQ(must(get(gone.key)), "gone");
}

// U-08: a sweep of orphans takes what is old and leaves what somebody has just written.
TEST_P(BlobConformance, RemovesOnlyWhatIsOldEnough) {
  const auto stored = must(put("abc"));
  const auto now = ground_.clock.wall();
  EXPECT_FALSE(must(run(store().remove(stored.key, {.if_modified_before = now - 1h}))));
  EXPECT_EQ(must(get(stored.key)), "abc");
  EXPECT_TRUE(must(run(store().remove(stored.key, {.if_modified_before = now + 1h}))));
  EXPECT_EQ(get(stored.key).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(must(run(store().remove(stored.key, {.if_modified_before = now}))));
}

TEST_P(BlobConformance, ListsEveryBlobOnceWhateverThePageSize) {
  std::vector<BlobKey> keys;
  for (int i = 0; i < 40; ++i) keys.push_back(must(put("blob " + std::to_string(i))).key);
  std::ranges::sort(keys);
  for (const std::size_t limit : {1UL, 7UL, 40UL, 1000UL}) {
    const auto listed = list_all(limit);
    ASSERT_THAT(listed, SizeIs(keys.size())) << limit;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(listed[i].key, keys[i]);
      EXPECT_GE(listed[i].size_bytes, 6U);
      EXPECT_GE(listed[i].modified, ground_.clock.wall() - 1h);
    }
  }
  EXPECT_EQ(run(store().list({.limit = 0})).error().kind, ErrorKind::invalid_argument);
}

// A sweep removes what it has just listed; what it has not seen yet must not be passed over.
TEST_P(BlobConformance, RemovingBetweenPagesLosesNothing) {
  for (int i = 0; i < 60; ++i) must(put("blob " + std::to_string(i)));
  std::size_t seen = 0;
  std::string cursor;
  do {
    const auto page = must(run(store().list({.cursor = cursor, .limit = 4})));
    for (const auto& found : page.blobs) {
      ++seen;
      EXPECT_TRUE(must(run(store().remove(found.key, {}))));
    }
    cursor = page.cursor;
  } while (!cursor.empty());
  EXPECT_EQ(seen, 60U);
  EXPECT_THAT(list_all(1000), IsEmpty());
}

TEST_P(BlobConformance, DamagedContentIsNotHandedOut) {
  const auto text = content(200'000);
  const auto key = must(put(text)).key;
  for (auto damaged : {text, text + "x", text.substr(0, 199'999), std::string()}) {
    if (damaged == text) damaged[100] = static_cast<char>(damaged[100] ^ 1);
    world_->overwrite(key, damaged);
    const auto got = get(key);
    ASSERT_FALSE(got.has_value()) << damaged.size();
    EXPECT_EQ(got.error().kind, ErrorKind::internal);
    EXPECT_THAT(got.error().message, HasSubstr("damaged"));
  }
  ASSERT_TRUE(put(text).has_value()) << "and storing it again heals it";
  EXPECT_EQ(must(get(key)), text);
}

Task<void> put_and_get(BlobStore* store, std::uint64_t seed, int* done) {
  const auto text = content(10'000 + 97 * seed, seed);
  MR_CO_TRY(const auto writer, co_await store->create({}));
  MR_CO_TRY_VOID(co_await writer->write(std::as_bytes(std::span(text))));
  MR_CO_TRY(const auto stored, co_await writer->finish());
  MR_CO_TRY(const auto reader, co_await store->open(stored.key, {}));
  std::string got;
  std::vector<std::byte> buffer(4096);
  for (;;) {
    MR_CO_TRY(const std::size_t size, co_await reader->read(buffer));
    if (size == 0) break;
    got.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  if (got == text) ++*done;
  co_return ok();
}

TEST_P(BlobConformance, ManyAtOnce) {
  constexpr int kMany = 60;
  int done = 0;
  int ended = 0;
  for (int i = 0; i < kMany; ++i) {
    boost::asio::co_spawn(ground_.io, put_and_get(&store(), static_cast<std::uint64_t>(i), &done),
                          [&](std::exception_ptr, Result<void> result) {
                            if (!result) ADD_FAILURE() << result.error().describe();
                            ++ended;
                          });
  }
  ground_.io.restart();
  while (ended < kMany && ground_.io.run_one() > 0) {
  }
  EXPECT_EQ(done, kMany);
  EXPECT_THAT(list_all(1000), SizeIs(kMany));
}

// J02: the size of a blob is not a matter of memory.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t kGrowthMaxKilobytes = 1'000'000;  // They keep what is freed.
#else
constexpr std::size_t kGrowthMaxKilobytes = 16'000;
#endif
#else
constexpr std::size_t kGrowthMaxKilobytes = 16'000;
#endif

std::size_t status_kilobytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoul(line.substr(field.size() + 1));
  }
  return 0;
}

Task<BlobInfo> put_zeros(BlobStore* store, std::size_t size) {
  MR_CO_TRY(const auto writer, co_await store->create({}));
  const std::vector<std::byte> piece(64 * 1024);
  for (std::size_t i = 0; i < size; i += piece.size()) {
    MR_CO_TRY_VOID(co_await writer->write(piece));
  }
  co_return co_await writer->finish();
}

Task<std::size_t> count_bytes(BlobStore* store, BlobKey key) {
  MR_CO_TRY(const auto reader, co_await store->open(key, {}));
  std::vector<std::byte> buffer(64 * 1024);
  for (std::size_t all = 0;;) {
    MR_CO_TRY(const std::size_t size, co_await reader->read(buffer));
    if (size == 0) co_return all;
    all += size;
  }
}

// Not for the stand-in, which keeps its objects in this process.
class BlobMemory : public BlobConformance {};

TEST_P(BlobMemory, DoesNotGrowWithTheBlob) {
  constexpr std::size_t kSize = 64 * kMebibyte;
  must(put(content(2 * kMebibyte)));  // What is allocated once is.
  std::ofstream("/proc/self/clear_refs") << "5";
  const auto before = status_kilobytes("VmRSS");
  const auto stored = must(run(put_zeros(&store(), kSize)));
  EXPECT_EQ(must(run(count_bytes(&store(), stored.key))), kSize);
  EXPECT_LT(status_kilobytes("VmHWM"), before + kGrowthMaxKilobytes);
}

TEST_P(BlobConformance, SweepLeavesWhatIsThereAndSaysSo) {
  const auto stored = must(put("abc"));
  const auto swept = run(store().sweep_staging(24h));
  if (world_->can_sweep()) {
    EXPECT_EQ(must(swept), 0U);
  } else {
    EXPECT_EQ(swept.error().kind, ErrorKind::internal) << "not implemented by this server";
  }
  EXPECT_EQ(must(get(stored.key)), "abc");
}

TEST_P(BlobConformance, CheckFindsTheStore) { EXPECT_TRUE(run(store().check()).has_value()); }

// ---- stores in the network

class BlobServers : public BlobConformance {};

TEST_P(BlobServers, MissingBucketIsABrokenInstallation) {
  const auto missing = world_->with_missing_bucket();
  const auto checked = run(missing->check());
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().kind, ErrorKind::internal) << checked.error().message;
  EXPECT_THAT(checked.error().hint, Not(IsEmpty()));
  EXPECT_FALSE(run(put_task(missing.get(), "abc", {})).has_value());
  EXPECT_EQ(run(get_task(missing.get(), {sha256("abc")}, {}, 100)).error().kind,
            ErrorKind::internal);
}

// ---- servers that check who is asking

class BlobSecrets : public BlobConformance {};

TEST_P(BlobSecrets, WrongSecretIsRefusedAndNotRepeatedInMessages) {
  const auto wrong = world_->with_wrong_secret();
  const auto key = must(put("abc")).key;
  const std::vector<Error> errors = {run(put_task(wrong.get(), "other", {})).error(),
                                     run(get_task(wrong.get(), key, {}, 100)).error(),
                                     run(wrong->list({})).error(),
                                     run(wrong->check()).error(),
                                     run(wrong->stat(key)).error(),
                                     run(wrong->remove(key, {})).error()};
  for (const auto& error : errors) {
    EXPECT_EQ(error.kind, ErrorKind::internal) << error.message;
    for (const auto& secret : world_->secrets()) {
      EXPECT_THAT(error.describe() + error.detail, Not(HasSubstr(secret)));
    }
  }
  EXPECT_EQ(must(get(key)), "abc");
  EXPECT_THAT(list_all(10), SizeIs(1));
}

// ---- servers that check what arrives

class BlobDamageOnTheWay : public BlobConformance {};

TEST_P(BlobDamageOnTheWay, IsRefusedByTheServerAndNothingIsStored) {
  const BlobKey key{sha256("abc")};
  EXPECT_THAT(world_->put_altered(key), AllOf(Ge(400), Lt(500)));
  EXPECT_EQ(run(store().stat(key)).error().kind, ErrorKind::not_found);
}

// ---- servers that keep unfinished uploads

class BlobAbandoned : public BlobConformance {};

TEST_P(BlobAbandoned, UploadsAreSweptWhenTheyAreOldEnough) {
  const auto stored = must(put(content(7 * kMebibyte)));
  world_->abandon_upload(stored.key);
  world_->abandon_upload({sha256("never stored")});
  EXPECT_EQ(must(run(store().sweep_staging(1h))), 0U);
  EXPECT_EQ(must(run(store().sweep_staging(-1h))), 2U);
  EXPECT_EQ(must(run(store().sweep_staging(-1h))), 0U);
  EXPECT_THAT(list_all(10), SizeIs(1));
  EXPECT_EQ(must(run(store().stat(stored.key))).size_bytes, 7 * kMebibyte);
}

constexpr auto kName = [](const auto& info) { return to_string(info.param); };
using testing::Values;
using enum Backend;

INSTANTIATE_TEST_SUITE_P(All, BlobConformance,
                         Values(filesystem, azurite, s3rver, supabase, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobMemory, Values(filesystem, azurite, s3rver, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobServers, Values(azurite, s3rver, supabase, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobSecrets, Values(azurite, supabase, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobDamageOnTheWay, Values(azurite, versitygw), kName);
INSTANTIATE_TEST_SUITE_P(All, BlobAbandoned, Values(versitygw), kName);

}  // namespace
}  // namespace millrace::test
