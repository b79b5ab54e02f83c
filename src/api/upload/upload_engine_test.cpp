#include "api/upload/upload_engine.h"

#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;

const Uuid kUser = *Uuid::parse("22222222-2222-4222-8222-222222222222");
const Error kGone{.kind = ErrorKind::cancelled, .message = "the client closed the connection"};

awaitable<void> append_to(UploadEngine& engine, store::UploadId id, Uuid user,
                          AppendRequest request, ContentSource& content, Result<Appended>& out) {
  out = co_await engine.append({}, id, user, std::move(request), content);
}

awaitable<void> receive_into(UploadEngine& engine, store::NewUpload upload, ContentSource& content,
                             Result<UploadAnswer>& out) {
  out = co_await engine.receive({}, std::move(upload), content, {});
}

// As a sweep that finds them expired.
awaitable<void> give_all_up(MemoryUploads& uploads) {
  for (auto& [id, row] : uploads.rows) row.state.state = "aborted";
  co_return;
}

// Time passes while somebody sleeps, and then only.
class HastyClock final : public Clock {
 public:
  Steady now() const override { return now_; }
  Wall wall() const override { return Wall(std::chrono::hours(24)); }
  awaitable<void> sleep_for(Duration duration) override {
    now_ += duration;
    co_await real_.sleep_for(std::chrono::microseconds(1));
  }

 private:
  SystemClock real_;
  Steady now_;
};

Error stale(std::string detail) {
  return {.kind = ErrorKind::unavailable,
          .message = "the content may have been removed",
          .sqlstate = "MR037",
          .hint = {},
          .detail = std::move(detail)};
}

class UploadEngineTest : public testing::Test {
 protected:
  UploadEngine::Services services() {
    return {.uploads = uploads_, .blobs = blobs_, .clock = clock_, .random = random_, .log = log_};
  }
  Result<UploadAnswer> receive(ContentSource& content, store::NewUpload upload,
                               Expected expected = {}) {
    upload.user = kUser;
    return run_blocking(engine_.receive({}, std::move(upload), content, expected));
  }
  Result<UploadAnswer> receive(const std::string& text, const std::string& key = {}) {
    TextSource content({text});
    return receive(content,
                   {.size_bytes = static_cast<std::int64_t>(text.size()), .idempotency_key = key});
  }
  store::UploadState begin(std::optional<std::int64_t> size, const std::string& key = {}) {
    auto begun = run_blocking(
        engine_.begin({}, {.user = kUser, .size_bytes = size, .idempotency_key = key}));
    EXPECT_TRUE(begun) << begun.error().message;
    return *begun;
  }
  Result<Appended> append(store::UploadId id, ContentSource& content, AppendRequest request) {
    return run_blocking(engine_.append({}, id, kUser, std::move(request), content));
  }
  Result<Appended> append(store::UploadId id, std::int64_t offset, const std::string& text) {
    TextSource content({text});
    return append(id, content, {.offset_bytes = offset});
  }
  std::string content_of(const std::string& file_json) {
    const auto kept = blobs_.kept.find(MemoryUploads::member(file_json, "storage_path"));
    return kept == blobs_.kept.end() ? "(missing)" : kept->second.bytes;
  }
  void expect_nothing_left() {
    EXPECT_EQ(uploads_.reserved(), 0);
    EXPECT_EQ(blobs_.writers, 0U);
    EXPECT_TRUE(blobs_.kept.empty());
    EXPECT_TRUE(uploads_.files.empty());
  }

  SystemClock clock_;
  HastyClock hasty_;
  SeededRandom random_{7};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  UploadEngine engine_{services()};
  UploadEngine patient_{{.uploads = uploads_,
                         .blobs = blobs_,
                         .clock = hasty_,
                         .random = random_,
                         .log = log_}};  // Whose pauses take no time.
};

TEST_F(UploadEngineTest, ContentBecomesOneFileAndItsRoomIsSettled) {  // U-01, E12
  const std::string text = "%PDF-1.7 " + std::string(100'000, 'x');
  const auto answer = receive(text);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->replayed);
  EXPECT_EQ(content_of(answer->json), text);
  EXPECT_THAT(answer->json, HasSubstr("\"content_type\":\"application/pdf\""));
  EXPECT_EQ(uploads_.files.size(), 1U);
  EXPECT_EQ(uploads_.reserved(), 0);
  EXPECT_EQ(blobs_.writers, 0U);
}

TEST_F(UploadEngineTest, ContentOfUnknownSizeReservesRoomAsItGrows) {
  std::vector<std::string> pieces(40, std::string(64 * 1024, 'a'));  // 2.5 MiB.
  TextSource content(pieces);
  const auto answer = receive(content, {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_GE(uploads_.grows, 1U);
  // What is left of the quota can be used up to its last byte.
  uploads_.quota_bytes = 40 * 64 * 1024;
  TextSource fits(pieces);
  EXPECT_TRUE(receive(fits, {}));
  --uploads_.quota_bytes;
  TextSource again(pieces);
  const auto refused = receive(again, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR027");
  EXPECT_EQ(uploads_.reserved(), 0);
}

TEST_F(UploadEngineTest, AnAnnouncementThatDoesNotFitIsRefusedBeforeAByteIsRead) {  // E12
  uploads_.quota_bytes = 10;
  TextSource content({std::string(11, 'x')});
  const auto refused = receive(content, {.size_bytes = 11});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR027");
  EXPECT_EQ(content.read_bytes, 0U);
  expect_nothing_left();
}

TEST_F(UploadEngineTest, AClientThatGoesAwayLeavesNeitherRoomNorBytes) {
  for (const std::size_t sent : {0UL, 10UL, 5'000UL, 400'000UL}) {
    TextSource content({std::string(sent, 'x')});
    content.error = kGone;
    const auto lost = receive(content, {.size_bytes = 500'000});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error(), kGone) << "the server words what is wrong with the body";
    expect_nothing_left();
  }
}

TEST_F(UploadEngineTest, MoreThanAnUploadMayHaveIsRefused) {
  uploads_.size_max_bytes = 100'000;
  TextSource content({std::string(100'001, 'x')});
  const auto refused = receive(content, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR038");
  expect_nothing_left();
}

TEST_F(UploadEngineTest, ContentThatIsNotWhatItsDigestSaysIsRefused) {
  TextSource content({"abc"});
  const auto refused =
      receive(content, {.size_bytes = 3}, {.sha256 = blob::sha256("something else")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
  expect_nothing_left();
  TextSource good({"abc"});
  EXPECT_TRUE(receive(good, {.size_bytes = 3}, {.sha256 = blob::sha256("abc")}));
}

TEST_F(UploadEngineTest, AStoreThatIsAwayLeavesNoRoomTaken) {
  blobs_.away = true;
  const auto refused = receive("content");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  expect_nothing_left();
}

TEST_F(UploadEngineTest, TheSameKeyAndContentAnswersTheSame) {  // U-03, F01, F02
  const auto first = receive("the content", "key-1");
  const auto second = receive("the content", "key-1");
  ASSERT_TRUE(first);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(second->replayed);
  EXPECT_EQ(first->json, second->json);
  EXPECT_EQ(uploads_.files.size(), 1U);
  const auto other = receive("another one", "key-1");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().sqlstate, "MR011");
  // Another size needs no look at the content.
  TextSource longer({"much longer content"});
  const auto refused = receive(longer, {.size_bytes = 19, .idempotency_key = "key-1"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR011");
  EXPECT_EQ(longer.read_bytes, 0U);
}

TEST_F(UploadEngineTest, ACommitWithoutAnAnswerIsAskedForAgain) {
  uploads_.lost_answers = {ErrorKind::in_doubt};
  const auto answer = receive("content");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(uploads_.files.size(), 1U);
  EXPECT_EQ(uploads_.finishes, 2U) << "the second one finds its own success";
}

// A repeat without a key would make a second file: what may have been done is not called undone.
TEST_F(UploadEngineTest, ADoubtThatNobodyCouldResolveStaysADoubt) {
  uploads_.refusals.push_back({.kind = ErrorKind::in_doubt, .message = "no answer came"});
  for (int i = 0; i < 1000; ++i) {
    uploads_.refusals.push_back({.kind = ErrorKind::unavailable, .message = "no database"});
  }
  TextSource content({"content"});
  const auto lost = run_blocking(patient_.receive({}, {.user = kUser}, content, {}));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().kind, ErrorKind::in_doubt);
  EXPECT_GT(uploads_.finishes, 5U);
  EXPECT_GT(uploads_.reserved(), 0) << "and nothing is given up";
}

TEST_F(UploadEngineTest, ContentThatASweepMayHaveRemovedIsLookedFor) {  // G08
  const auto key = blob::BlobKey{.sha256 = blob::sha256("content")}.text();
  const auto removal = random_.uuid().to_string();
  uploads_.refusals = {stale("removing"), stale(removal + " " + key)};
  TextSource content({"content"});
  const auto answer = run_blocking(patient_.receive({}, {.user = kUser}, content, {}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(uploads_.cleared, 1U);
  EXPECT_EQ(uploads_.finishes, 3U);
}

TEST_F(UploadEngineTest, ContentThatIsGoneMustBeSentAgain) {
  const blob::BlobKey other{.sha256 = blob::sha256("what a sweep removed")};
  const auto removal = random_.uuid().to_string();
  // Gone; stored too long ago; and a sweep that does not end.
  const std::vector<std::deque<Error>> cases = {{stale(removal + " " + other.text())},
                                                {stale("")},
                                                std::deque<Error>(1000, stale("removing"))};
  for (const auto& refusals : cases) {
    uploads_.refusals = refusals;
    TextSource content({"content"});
    const auto refused = run_blocking(patient_.receive({}, {.user = kUser}, content, {}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(refused.error().sqlstate, "") << "no state of the request that a client could change";
    EXPECT_EQ(uploads_.cleared, 0U);
    EXPECT_EQ(uploads_.reserved(), 0);
  }
}

// The row was swept while nobody could renew it: a client would take "not found" for the end.
TEST_F(UploadEngineTest, AnUploadThatWasGivenUpMeanwhileMustBeSentAgain) {
  TextSource content({std::string(100'000, 'x'), std::string(100'000, 'y')});
  content.before_read = [&] { return give_all_up(uploads_); };
  const auto refused = receive(content, {.size_bytes = 200'000});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
}

TEST_F(UploadEngineTest, ARepeatMustHaveItsDigestToo) {  // RFC 9530
  ASSERT_TRUE(receive("the content", "key-1"));
  TextSource content({"the content"});
  const auto refused = receive(content, {.size_bytes = 11, .idempotency_key = "key-1"},
                               {.sha256 = blob::sha256("something else")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
}

TEST_F(UploadEngineTest, WhoLosesARaceForAKeyIsToldThatItWasThere) {  // F03
  Result<UploadAnswer> second = fail(ErrorKind::internal, "not run");
  TextSource slow({"content"});
  TextSource quick({"content"});
  const store::NewUpload upload{.user = kUser, .size_bytes = 7, .idempotency_key = "key-1"};
  slow.before_read = [&] { return receive_into(engine_, upload, quick, second); };
  const auto first = receive(slow, upload);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(second->replayed);
  EXPECT_TRUE(first->replayed);
  EXPECT_EQ(first->json, second->json);
}

TEST_F(UploadEngineTest, PiecesMakeTheSameFileAsTheWhole) {
  const std::string text = "%PDF-1.4 " + std::string(3000, 'p');
  const auto upload = begin(static_cast<std::int64_t>(text.size()));
  std::int64_t at = 0;
  for (const std::size_t size : {5UL, 1000UL, 2004UL}) {
    const auto appended = append(upload.id, at, text.substr(static_cast<std::size_t>(at), size));
    ASSERT_TRUE(appended) << appended.error().message;
    at += static_cast<std::int64_t>(size);
    EXPECT_EQ(appended->upload.offset_bytes, at);
  }
  ASSERT_EQ(at, static_cast<std::int64_t>(text.size()));
  const auto done = run_blocking(engine_.look({}, upload.id, kUser));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->state, "done");
  EXPECT_EQ(content_of(done->answer_json), text);
  EXPECT_THAT(done->answer_json, HasSubstr("application/pdf"));
  EXPECT_EQ(uploads_.advances, 2U) << "the last piece is not noted: it finishes";
}

TEST_F(UploadEngineTest, ALongRequestIsCutIntoPiecesThatADeathCannotTake) {
  UploadEngine small(services(), {.piece_bytes = 1000});
  const auto upload = begin(10'000);
  TextSource content({std::string(4'500, 'x')});
  content.error = kGone;
  const auto appended = run_blocking(small.append({}, upload.id, kUser, {}, content));
  ASSERT_TRUE(appended) << appended.error().message;
  EXPECT_EQ(appended->broken, kGone);
  EXPECT_EQ(appended->upload.offset_bytes, 4'500) << "what came before the end is kept";
  EXPECT_EQ(uploads_.rows.at(upload.id).parts.size(), 5U);
}

TEST_F(UploadEngineTest, AnotherServerGoesOnWhereTheFirstStopped) {
  const auto upload = begin(6);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  UploadEngine other(services());
  TextSource content({"def"});
  const auto appended =
      run_blocking(other.append({}, upload.id, kUser, {.offset_bytes = 3}, content));
  ASSERT_TRUE(appended) << appended.error().message;
  EXPECT_EQ(content_of(appended->upload.answer_json), "abcdef");
}

TEST_F(UploadEngineTest, AnotherPlaceThanWhereItStandsIsAConflict) {
  const auto upload = begin(6);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  for (const std::int64_t offset : {0, 2, 4, 6}) {
    const auto refused = append(upload.id, offset, "x");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sqlstate, "MR029");
    EXPECT_EQ(refused.error().detail, "3");
  }
  const auto too_much = append(upload.id, 3, "defg");
  ASSERT_FALSE(too_much);
  EXPECT_EQ(too_much.error().sqlstate, "MR038");
  ASSERT_TRUE(append(upload.id, 3, "def"));
  // A repeat of nothing at its end, as clients ask whether it is done.
  const auto again = append(upload.id, 6, "");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->upload.state, "done");
  EXPECT_FALSE(append(upload.id, 3, "def"));
}

TEST_F(UploadEngineTest, OnlyItsOwnUserMayGoOn) {  // T-02
  const auto upload = begin(3);
  TextSource content({"abc"});
  const auto refused = run_blocking(engine_.append({}, upload.id, random_.uuid(), {}, content));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::not_found);
  EXPECT_FALSE(run_blocking(engine_.look({}, upload.id, random_.uuid())));
}

TEST_F(UploadEngineTest, APieceWithAWrongChecksumIsDroppedWhole) {
  const auto upload = begin(6);
  TextSource bad({"abc"});
  const auto wrong = append(
      upload.id, bad,
      {.offset_bytes = 0,
       .checksum = ExpectedChecksum{.kind = ChecksumKind::sha256, .bytes = std::string(32, 'x')}});
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_TRUE(wrong->checksum_failed);
  EXPECT_EQ(wrong->upload.offset_bytes, 0);
  const auto digest = blob::sha256("abc");
  TextSource good({"abc"});
  const auto right =
      append(upload.id, good,
             {.offset_bytes = 0,
              .checksum = ExpectedChecksum{.kind = ChecksumKind::sha256,
                                           .bytes = std::string(blob::text_of(digest))}});
  ASSERT_TRUE(right);
  EXPECT_FALSE(right->checksum_failed);
  EXPECT_EQ(right->upload.offset_bytes, 3);
  // Of half a piece nobody can tell.
  TextSource half({"d"});
  half.error = kGone;
  const auto broken =
      append(upload.id, half,
             {.offset_bytes = 3,
              .checksum = ExpectedChecksum{.kind = ChecksumKind::sha256,
                                           .bytes = std::string(blob::text_of(digest))}});
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->upload.offset_bytes, 3);
  EXPECT_EQ(blobs_.writers, 0U);
}

TEST_F(UploadEngineTest, AClientThatComesBackTakesThePlaceOfItsDeadConnection) {
  const auto upload = begin(6);
  TextSource dead({"abc"});
  Result<Appended> second = fail(ErrorKind::internal, "not run");
  TextSource alive({"abcdef"});
  // The first request waits for its client when the second one comes.
  dead.before_read = [&] { return append_to(engine_, upload.id, kUser, {}, alive, second); };
  const auto first = append(upload.id, dead, {});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().sqlstate, "MR029");
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(content_of(second->upload.answer_json), "abcdef");
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(UploadEngineTest, ASizeMayBeSaidAtTheEnd) {
  const auto upload = begin(std::nullopt);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  TextSource nothing(std::vector<std::string>{});
  const auto done = append(upload.id, nothing, {.offset_bytes = 3, .size_bytes = 3});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(content_of(done->upload.answer_json), "abc");
  const auto another = begin(5);
  TextSource more({"ab"});
  const auto refused = append(another.id, more, {.offset_bytes = 0, .size_bytes = 6});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument);
}

// A client that is told offset and size, and finds them equal, reports success.
TEST_F(UploadEngineTest, AnUploadIsNotWholeBeforeItsFileIsThere) {
  const auto upload = begin(std::nullopt);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  uploads_.refusals.push_back({.kind = ErrorKind::internal, .message = "the server died"});
  TextSource nothing(std::vector<std::string>{});
  EXPECT_FALSE(append(upload.id, nothing, {.offset_bytes = 3, .size_bytes = 3}));
  const auto found = run_blocking(engine_.look({}, upload.id, kUser));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->state, "open");
  EXPECT_EQ(found->offset_bytes, 3);
  EXPECT_EQ(found->size_bytes, std::nullopt);
  EXPECT_TRUE(uploads_.files.empty()) << "and whoever looks makes nobody work";
  TextSource again(std::vector<std::string>{});
  ASSERT_TRUE(append(upload.id, again, {.offset_bytes = 3, .size_bytes = 3}));
  EXPECT_EQ(run_blocking(engine_.look({}, upload.id, kUser))->size_bytes, 3);
}

// F01, F02: of a key of name, size and date, other content has the same.
TEST_F(UploadEngineTest, PiecesOfOtherContentUnderAUsedKeyAreRefusedAtTheirEnd) {
  ASSERT_TRUE(receive("the content", "key-1"));
  for (const auto size : {std::optional<std::int64_t>(11), std::optional<std::int64_t>()}) {
    const auto upload = begin(size, "key-1");
    ASSERT_TRUE(append(upload.id, 0, "another"));
    TextSource rest({" one"});
    const auto refused = append(upload.id, rest, {.offset_bytes = 7, .size_bytes = 11});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sqlstate, "MR011");
  }
  const auto same = begin(11, "key-1");
  ASSERT_TRUE(append(same.id, 0, "the "));
  const auto done = append(same.id, 4, "content");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->upload.replayed);
  EXPECT_EQ(done->upload.answer_json, uploads_.files.at("key-1"));
  EXPECT_EQ(uploads_.files.size(), 1U);
}

TEST_F(UploadEngineTest, BytesOfUnknownNumberAreWrittenWhereThereIsRoomOnly) {  // E12
  uploads_.quota_bytes = 1000;
  const auto checksum = ExpectedChecksum{.kind = ChecksumKind::sha1, .bytes = std::string(20, 'x')};
  for (const auto& wanted : {std::optional<ExpectedChecksum>(), std::optional(checksum)}) {
    const auto upload = begin(std::nullopt);
    TextSource content(std::vector<std::string>(100, std::string(64 * 1024, 'x')));
    const auto refused = append(upload.id, content, {.offset_bytes = 0, .checksum = wanted});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().sqlstate, "MR027");
    EXPECT_LE(content.read_bytes, 64U * 1024) << "the rest was not even read";
    EXPECT_TRUE(blobs_.kept.empty());
    EXPECT_EQ(blobs_.writers, 0U);
    EXPECT_TRUE(append(upload.id, 0, std::string(1000, 'x'))) << "what there is can be used";
    ASSERT_TRUE(run_blocking(engine_.abandon({}, upload.id, kUser)));
    blobs_.kept.clear();
  }
}

TEST_F(UploadEngineTest, BytesOfUnknownNumberStopAtTheLimitOfUploads) {
  uploads_.size_max_bytes = 100'000;
  const auto upload = begin(std::nullopt);
  TextSource content({std::string(100'001, 'x')});
  const auto refused = append(upload.id, content, {.offset_bytes = 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR038");
  EXPECT_TRUE(blobs_.kept.empty());
}

TEST_F(UploadEngineTest, WhoMayNotGoOnTakesNobodysPlace) {  // I08
  const auto upload = begin(6);
  // Somebody else, and the owner at a wrong place.
  const std::vector<std::pair<Uuid, std::int64_t>> strangers = {{random_.uuid(), 0}, {kUser, 3}};
  for (const auto& who : strangers) {
    Result<Appended> other = fail(ErrorKind::internal, "not run");
    TextSource nothing({"x"});
    TextSource content({"ab"});
    content.before_read = [&] {
      return append_to(engine_, upload.id, who.first, {.offset_bytes = who.second}, nothing, other);
    };
    const auto standing = uploads_.rows.at(upload.id).state.offset_bytes;
    const auto going_on = append(upload.id, content, {.offset_bytes = standing});
    ASSERT_TRUE(going_on) << going_on.error().message;
    EXPECT_FALSE(other);
    EXPECT_EQ(nothing.read_bytes, 0U);
  }
}

// Assembling takes long, and its client may have gone: it ends once, whoever asks meanwhile.
TEST_F(UploadEngineTest, WhatMakesTheFileIsNotBegunAgain) {
  const auto upload = begin(6);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  Result<Appended> second = fail(ErrorKind::internal, "not run");
  TextSource again({"def"});
  uploads_.before_list = [&] {
    return append_to(engine_, upload.id, kUser, {.offset_bytes = 3}, again, second);
  };
  const auto first = append(upload.id, 3, "def");
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(content_of(first->upload.answer_json), "abcdef");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().sqlstate, "MR029");
  EXPECT_EQ(again.read_bytes, 0U);
}

TEST_F(UploadEngineTest, PiecesAreReadInPagesAndTheTypeIsThatOfTheWhole) {  // J06
  uploads_.parts_at_once = 2;
  const std::string text = std::string("MZ\x90\0\x03\0\0\0", 8) + "program";
  const auto upload = begin(static_cast<std::int64_t>(text.size()));
  for (std::size_t at = 0; at < text.size(); ++at) {
    ASSERT_TRUE(append(upload.id, static_cast<std::int64_t>(at), text.substr(at, 1)));
  }
  const auto done = run_blocking(engine_.look({}, upload.id, kUser));
  ASSERT_TRUE(done);
  EXPECT_EQ(content_of(done->answer_json), text);
  EXPECT_THAT(done->answer_json, HasSubstr("portable-executable"));
  EXPECT_GE(uploads_.lists, 14U) << "only when the file is made, and a page at a time";
}

TEST_F(UploadEngineTest, TooManyPiecesAreRefusedBeforeAByteIsRead) {
  const auto upload = begin(6);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  uploads_.rows.at(upload.id).state.parts_left = 0;
  TextSource content({"d"});
  const auto refused = append(upload.id, content, {.offset_bytes = 3});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR038");
  EXPECT_EQ(content.read_bytes, 0U);
}

TEST_F(UploadEngineTest, AnUploadOfNothingIsDoneAtOnce) {
  const auto upload = begin(0);
  EXPECT_EQ(upload.state, "done");
  EXPECT_EQ(content_of(upload.answer_json), "");
}

TEST_F(UploadEngineTest, WhatWasGivenUpTakesNoMore) {
  const auto upload = begin(6);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  const auto given_up = run_blocking(engine_.abandon({}, upload.id, kUser));
  ASSERT_TRUE(given_up);
  EXPECT_TRUE(*given_up);
  const auto refused = append(upload.id, 3, "def");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sqlstate, "MR028");
  EXPECT_EQ(refused.error().detail, "aborted");
  EXPECT_EQ(uploads_.reserved(), 0);
}

}  // namespace
}  // namespace millrace::api
