// What is repeated, for how long, and what an error says, against a server that does as told.
#include "blob/remote.h"

#include "base/run.h"
#include "blob/remote_reader.h"
#include "http/kept_calls.h"
#include "http/scripted_server.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace millrace::blob {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using http::answer;
using http::ScriptedServer;
using http::Step;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

// Puts a number into each request, so that a test sees which attempt it was.
class CountingDialect final : public Dialect {
 public:
  explicit CountingDialect(std::string url) : url_(std::move(url)) {}
  Result<http::Request> sign(const Call& call, Clock::Wall) const override {
    return http::Request{
        .method = call.method,
        .url = url_ + call.path + "?signature=verysecret" + std::to_string(++signed_),
        .headers = call.headers};
  }
  Error refusal(const http::Response& refused) const override {
    return {.kind = kind_of_status(refused.status),
            .message = "refused " + std::to_string(refused.status)};
  }
  bool is_refusal(const http::Response& said) const override { return said.body == "no"; }

 private:
  std::string url_;
  mutable int signed_ = 0;
};

class BlobRemote : public testing::Test {
 protected:
  void serve(std::vector<Step> script) {
    server_.emplace(io_, std::move(script));
    dialect_.emplace(server_->url("", "http"));
    remote_.emplace("s3", RemoteServices{client_, pool_.get_executor(), clock_, random_},
                    RemoteLimits{.request_timeout = 150ms, .retry_for = 60s, .attempts_max = 4},
                    *dialect_);
  }

  // Pauses pass as fast as they are asked for; their lengths are kept.
  template <class T>
  Result<T> run(Task<T> task) {
    auto both = run_blocking(io_, std::move(task) || pass_time());
    return std::get<0>(std::move(both));
  }
  awaitable<void> pass_time() {
    for (;;) {
      co_await clock_.wait_for_sleepers(1);
      if (clock_.sleepers() == 0) co_return;  // The task has ended.
      const auto pause = *clock_.next_wakeup() - clock_.now();
      pauses_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(pause));
      clock_.advance(pause);
    }
  }

  Result<http::Response> send(Call call) { return run(remote_->send(std::move(call))); }

  asio::io_context io_{1};
  asio::thread_pool pool_{1};
  ManualClock clock_;
  SeededRandom random_{7};
  http::KeptCalls calls_;
  http::Client client_{io_.get_executor(), {.call_watch = &calls_}};
  std::optional<ScriptedServer> server_;
  std::optional<CountingDialect> dialect_;
  std::optional<Remote> remote_;
  std::vector<std::chrono::milliseconds> pauses_;
};

TEST_F(BlobRemote, RepeatsWhatMayHelpWithGrowingPausesAndANewSignature) {
  serve({answer(500, ""), {.cut = 0}, answer(200, "no"), answer(200, "yes")});
  // A 200 that is none counts as the dialect says: here internal, which is not repeated.
  const auto refused = send({.what = "w"});
  EXPECT_EQ(refused.error().kind, ErrorKind::internal);
  EXPECT_THAT(server_->requests(), SizeIs(3));
  EXPECT_EQ(send({.what = "w"})->body, "yes");
  EXPECT_THAT(server_->requests()[0], HasSubstr("signature=verysecret1 "));
  EXPECT_THAT(server_->requests()[1], HasSubstr("signature=verysecret2 "));
  // Every attempt is a call of the store.
  EXPECT_THAT(calls_.calls(), ElementsAre("s3 500", "s3 0", "s3 200", "s3 200"));
  ASSERT_THAT(pauses_, SizeIs(2));
  EXPECT_GE(pauses_[0], 50ms);
  EXPECT_LE(pauses_[0], 150ms);
  EXPECT_GE(pauses_[1], 100ms);
  EXPECT_LE(pauses_[1], 300ms);
}

TEST_F(BlobRemote, GivesUpAfterTheLastAttemptWithTheLastError) {
  serve({answer(503, "", "Retry-After: 1\r\n")});
  const auto refused = send({.what = "put sha256/ab"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::throttled);
  EXPECT_EQ(refused.error().message, "s3: put sha256/ab: refused 503");
  EXPECT_THAT(server_->requests(), SizeIs(4));
  for (const auto pause : pauses_) EXPECT_GE(pause, 1000ms);
}

TEST_F(BlobRemote, AServerThatAsksForMoreTimeThanThereIsIsNotWaitedFor) {
  serve({answer(429, "", "Retry-After: 120\r\n")});
  EXPECT_EQ(send({.what = "w"}).error().kind, ErrorKind::throttled);
  EXPECT_THAT(server_->requests(), SizeIs(1));
  EXPECT_THAT(pauses_, SizeIs(0));
}

TEST_F(BlobRemote, WhatCannotHelpIsNotRepeated) {
  for (const int status : {400, 401, 403, 404, 409, 412, 416, 501}) {
    serve({answer(status, "")});
    EXPECT_FALSE(send({.what = "w"}).has_value());
    EXPECT_THAT(server_->requests(), SizeIs(1)) << status;
  }
}

TEST_F(BlobRemote, StatusesThatTheCallerWantsAreAnswers) {
  serve({answer(412, "x")});
  EXPECT_EQ(send({.what = "w", .answers = {404, 412}})->status, 412);
}

TEST_F(BlobRemote, NoAnswerIsUnavailableAndNeverInDoubt) {
  serve({{.silent = true}});
  const auto refused = send({.what = "w"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(server_->requests(), SizeIs(4));
}

// Redaction: neither a query nor a path of ours gets into an error, whatever happens.
TEST_F(BlobRemote, ErrorsHoldNoSignature) {
  for (auto step : {answer(500, "signature=verysecret1"), Step{.cut = 10},
                    Step{.reply = "SSH-2.0\r\n", .close = true}}) {
    serve({step});
    const auto refused = send({.what = "w", .path = "/private/path"});
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().describe(),
                AllOf(Not(HasSubstr("verysecret")), Not(HasSubstr("/private"))));
  }
}

TEST_F(BlobRemote, StatusesStandForReactions) {
  EXPECT_EQ(kind_of_status(404), ErrorKind::not_found);
  EXPECT_EQ(kind_of_status(429), ErrorKind::throttled);
  EXPECT_EQ(kind_of_status(503), ErrorKind::throttled);
  EXPECT_EQ(kind_of_status(413), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of_status(408), ErrorKind::unavailable);
  EXPECT_EQ(kind_of_status(500), ErrorKind::unavailable);
  EXPECT_EQ(kind_of_status(544), ErrorKind::unavailable);
  EXPECT_EQ(kind_of_status(403), ErrorKind::internal);
  EXPECT_EQ(kind_of_status(501), ErrorKind::internal);
}

TEST_F(BlobRemote, CodesOfServersAreTakenOnlyIfTheyAreHarmless) {
  EXPECT_EQ(safe_code("NoSuchKey"), "NoSuchKey");
  EXPECT_EQ(safe_code("tx0000-1.2_3"), "tx0000-1.2_3");
  EXPECT_EQ(safe_code("a b"), "");
  EXPECT_EQ(safe_code("https://x?sig=1"), "");
  EXPECT_EQ(safe_code(std::string(65, 'a')), "");
}

// ---- reading

constexpr std::string_view kDate = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

class BlobRemoteReader : public BlobRemote, private RemoteObjects {
 protected:
  Call get(const BlobKey& key) const override {
    return {.what = "get " + key.text(), .path = "/object"};
  }
  Task<BlobInfo> stat(BlobKey key) override {
    co_return BlobInfo{.key = key, .size_bytes = text_.size(), .modified = {}};
  }

  Step part(std::size_t first, std::size_t size) {
    const auto range = "Content-Range: bytes " + std::to_string(first) + "-" +
                       std::to_string(first + size - 1) + "/" + std::to_string(text_.size()) +
                       "\r\n";
    return answer(206, text_.substr(first, size), range + std::string(kDate));
  }
  Step whole() { return answer(200, text_, std::string(kDate)); }

  Result<std::string> read(ByteRange range = {}) {
    const auto task = [](BlobRemoteReader* self, ByteRange wanted) -> Task<std::string> {
      MR_CO_TRY(const auto reader,
                co_await open_remote(*self->remote_, *self, {sha256(self->text_)}, wanted));
      std::string text;
      std::vector<std::byte> buffer(1000);
      for (;;) {
        MR_CO_TRY(const std::size_t size, co_await reader->read(buffer));
        if (size == 0) co_return text;
        text.append(reinterpret_cast<const char*>(buffer.data()), size);
      }
    };
    return run(task(this, range));
  }

  std::string text_ = [] {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += std::to_string(i);
    return text;
  }();
};

TEST_F(BlobRemoteReader, GoesOnWhereTheConnectionBroke) {
  auto cut = whole();
  cut.cut = cut.reply.size() - 5000;
  const auto here = text_.size() - 5000;
  auto again = part(here, 5000);
  again.cut = again.reply.size() - 100;
  serve({cut, again, part(text_.size() - 100, 100)});
  const auto text = read();
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, text_);
  EXPECT_THAT(server_->requests()[1], HasSubstr("Range: bytes=" + std::to_string(here) + "-" +
                                                std::to_string(text_.size() - 1) + "\r\n"));
}

TEST_F(BlobRemoteReader, GivesUpOnAServerThatAlwaysBreaksAtTheSameByte) {
  auto cut = part(0, text_.size());
  cut.cut = cut.reply.size() - text_.size();
  serve({cut});
  EXPECT_EQ(read().error().kind, ErrorKind::unavailable);
}

TEST_F(BlobRemoteReader, AnotherRangeThanAskedForIsRefused) {
  auto cut = whole();
  cut.cut = cut.reply.size() - 5000;
  serve({cut, whole()});  // The server forgot the range: going on would mix bytes up.
  EXPECT_EQ(read().error().kind, ErrorKind::internal);
  serve({part(10, 20)});
  EXPECT_EQ(read({.offset = 11, .length = 20}).error().kind, ErrorKind::internal);
  serve({whole()});
  EXPECT_EQ(read({.offset = 11}).error().kind, ErrorKind::internal);
}

TEST_F(BlobRemoteReader, DamagedContentIsNoticed) {
  auto step = whole();
  step.reply.back() = 'X';
  serve({step});
  const auto text = read();
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().kind, ErrorKind::internal);
  EXPECT_THAT(text.error().message, HasSubstr("damaged"));
}

TEST_F(BlobRemoteReader, RangesOutsideAreJudgedByTheBlobsSize) {
  serve({answer(416, "")});
  EXPECT_EQ(read({.offset = text_.size()}).value(), "");
  EXPECT_EQ(read({.offset = text_.size() + 1}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(read({.offset = 5}).error().kind, ErrorKind::internal) << "the server is wrong";
  const auto asked = server_->requests().size();
  EXPECT_EQ(read({.offset = 5, .length = 0}).value(), "");
  EXPECT_EQ(server_->requests().size(), asked) << "nothing to ask for";
}

TEST_F(BlobRemoteReader, AnAnswerWithoutLengthOrAgeIsRefused) {
  serve({answer(200, text_)});
  EXPECT_EQ(read().error().kind, ErrorKind::internal);
}

}  // namespace
}  // namespace millrace::blob
