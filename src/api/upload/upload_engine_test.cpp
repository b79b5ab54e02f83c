#include "api/upload/upload_engine.h"

#include "api/upload/upload_fixture.h"

#include <gmock/gmock.h>

namespace millrace::api {
namespace {

using testing::HasSubstr;

const Uuid kUser = *Uuid::parse("22222222-2222-4222-8222-222222222222");
const Error kGone{.kind = ErrorKind::cancelled, .message = "the client closed the connection"};

awaitable<void> append_to(UploadEngine& engine, store::UploadId id, ContentSource& content,
                          Result<Appended>& out) {
  out = co_await engine.append({}, id, kUser, {}, content);
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
    return *begun->upload;
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
  SeededRandom random_{7};
  Logger log_ = Logger::silent();
  MemoryBlobs blobs_{clock_};
  MemoryUploads uploads_{clock_, random_};
  UploadEngine engine_{services()};
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
  EXPECT_EQ(uploads_.rows.at(upload.id).state.parts.size(), 5U);
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
  dead.before_read = [&] { return append_to(engine_, upload.id, alive, second); };
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

// The server died after the size was said and before the file was made.
TEST_F(UploadEngineTest, LookingAtAnUploadThatIsWholeFinishesIt) {
  const auto upload = begin(std::nullopt);
  ASSERT_TRUE(append(upload.id, 0, "abc"));
  uploads_.rows.at(upload.id).state.size_bytes = 3;
  const auto found = run_blocking(engine_.look({}, upload.id, kUser));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->state, "done");
  EXPECT_EQ(uploads_.files.size(), 1U);
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
