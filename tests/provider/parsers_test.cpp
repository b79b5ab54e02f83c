// Clients of parsers against their stand-in: INTEGRATIONS §2; B-05; F08.
#include "base/random.h"
#include "base/run.h"
#include "parser_stand_in.h"
#include "provider/llamaparse.h"
#include "provider/webhook_parser.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace millrace::test {
namespace {

using namespace std::chrono_literals;
using provider::CallFailure;
using provider::LlamaParse;
using provider::LlamaParseOptions;
using provider::ParseProgress;
using provider::ParseSource;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Create = ParsePlan::Create;
using End = ParsePlan::End;
using Kind = CallFailure::Kind;

const std::string kKey = "llx-0123456789abcdef";

class Parsers : public testing::Test {
 protected:
  LlamaParseOptions options() const {
    return {.base_url = stand_in.url(),
            .api_key = Secret<std::string>(kKey),
            .tier = "agentic",
            .version = "2026-01-08",
            .timeouts = {.connect = 2s, .first_byte = 2s}};
  }
  LlamaParse llamaparse() { return {client, clock, random, options()}; }
  static ParseSource document(std::string text, std::string name = "a letter.pdf") {
    ParseSource source{.size_bytes = text.size(), .file_name = std::move(name)};
    source.bytes = [text, at = std::make_shared<std::size_t>(0)](
                       std::span<std::byte> buffer) -> Task<std::size_t> {
      const auto size = std::min({buffer.size(), text.size() - *at, std::size_t{1'000}});
      std::memcpy(buffer.data(), text.data() + *at, size);
      *at += size;
      co_return size;
    };
    return source;
  }
  provider::Answer<std::string> ask(ParseSource source, provider::ParseCallback callback = {}) {
    const auto parser = llamaparse();
    return run_blocking(io, parser.ask(std::move(source), std::move(callback), {}));
  }
  provider::Answer<ParseProgress> look(const std::string& id) {
    const auto parser = llamaparse();
    return run_blocking(io, parser.look(id, {}));
  }
  // Asked, and looked at until it has ended.
  ParseProgress parsed(std::string text, ParsePlan plan) {
    stand_in.push(std::move(plan));
    const auto id = ask(document(std::move(text)));
    EXPECT_TRUE(id.has_value()) << id.error().message;
    for (int i = 0; i < 100; ++i) {
      const auto progress = look(*id);
      EXPECT_TRUE(progress.has_value()) << progress.error().message;
      if (!progress || progress->state != ParseProgress::State::running) return *progress;
    }
    return {};
  }

  boost::asio::io_context io{1};
  SystemClock clock;
  SystemRandom random;
  ParserStandIn stand_in{io, clock, {.key = kKey, .retry_base = 20ms}};
  http::Client client{io.get_executor()};
};

TEST_F(Parsers, ADocumentIsSentAndItsPagesComeBackInOrder) {
  const auto progress = parsed("one\ftwo\fthree", {.polls_pending = 2, .polls_running = 1});
  EXPECT_EQ(progress.state, ParseProgress::State::completed);
  ASSERT_EQ(progress.pages.size(), 3U);
  EXPECT_EQ(progress.pages[1].number, 2);
  EXPECT_EQ(progress.pages[1].markdown, "two");
  ASSERT_EQ(stand_in.parses().size(), 1U);
  const auto& asked = stand_in.parses().front();
  EXPECT_EQ(asked.source, "upload");
  EXPECT_EQ(asked.content, "one\ftwo\fthree");
  EXPECT_EQ(asked.file_name, "a letter.pdf");
  EXPECT_EQ(asked.looks, 4);
}

TEST_F(Parsers, TheVersionIsAlwaysSaid) {
  ASSERT_TRUE(ask(document("x")).has_value());
  const auto& configuration = stand_in.parses().front().configuration;
  EXPECT_EQ(configuration.at("version"), "2026-01-08");
  EXPECT_EQ(configuration.at("tier"), "agentic");
  EXPECT_FALSE(configuration.contains("webhook_configurations"));
  EXPECT_EQ(llamaparse().parser_version(), "agentic/2026-01-08");
  const auto wrong = [&](auto change) {
    auto chosen = options();
    change(chosen);
    const auto checked = provider::check_options(chosen);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(wrong([](auto&) {}), "");
  EXPECT_THAT(wrong([](auto& o) { o.version = "latest"; }), HasSubstr("llamaparse.version"));
  EXPECT_THAT(wrong([](auto& o) { o.version = ""; }), HasSubstr("llamaparse.version"));
  EXPECT_THAT(wrong([](auto& o) { o.tier = "fast"; }), HasSubstr("llamaparse.tier"));
  EXPECT_THAT(wrong([](auto& o) { o.api_key = {}; }), HasSubstr("llamaparse.api_key"));
}

TEST_F(Parsers, CallbacksAreAskedForWithTheirHeader) {
  const provider::ParseCallback callback{.url = "https://millrace.example/webhooks/parse/abc",
                                         .header = {"X-Millrace-Callback", "token"}};
  stand_in.push({.callbacks = {}});
  ASSERT_TRUE(ask(document("x"), callback).has_value());
  const auto& hook =
      stand_in.parses().front().configuration.at("webhook_configurations").as_array().front();
  EXPECT_EQ(hook.at("webhook_url").as_string(), callback.url);
  EXPECT_EQ(hook.at("webhook_headers").at("X-Millrace-Callback"), "token");
}

// A boundary that a document can guess would let it add fields of its own.
TEST_F(Parsers, ADocumentCannotBreakOutOfItsForm) {
  ASSERT_TRUE(ask(document("x")).has_value());
  ASSERT_TRUE(ask(document("a \"name\"\r\n--millrace--\r\nX: y", "na\"me\r\n.pdf")).has_value());
  EXPECT_EQ(stand_in.parses().back().content, "a \"name\"\r\n--millrace--\r\nX: y");
  EXPECT_EQ(stand_in.parses().back().file_name, "na_me__.pdf");
}

TEST_F(Parsers, ALinkIsSentInPlaceOfTheDocument) {
  stand_in.push({.callbacks = {}, .text = "from the link"});
  const auto id = ask({.url = stand_in.url() + "/nothing-here"});
  ASSERT_TRUE(id.has_value()) << id.error().message;
  EXPECT_EQ(stand_in.parses().front().source, "url");
}

TEST_F(Parsers, CompletedMayHavePagesThatFailed) {
  const auto progress = parsed("one\ftwo\fthree", {.failed_pages = {2}});
  EXPECT_EQ(progress.state, ParseProgress::State::completed);
  ASSERT_EQ(progress.pages.size(), 3U);
  EXPECT_FALSE(progress.pages[1].success);
  EXPECT_EQ(provider::join_pages(progress.pages),
            "<!-- page 1 -->\n\none\n\n<!-- page 3 -->\n\nthree\n");
}

TEST_F(Parsers, MembersThatAreEmptyAreNotThere) {
  const auto progress = parsed("one\ftwo\fthree", {.failed_pages = {2, 3}, .all_members = true});
  ASSERT_EQ(progress.pages.size(), 3U);
  EXPECT_TRUE(progress.pages[0].success);
  EXPECT_EQ(progress.pages[0].markdown, "one");
  EXPECT_FALSE(progress.pages[1].success) << "it has no text";
  EXPECT_FALSE(progress.pages[2].success) << "it has an error beside its empty text";
  EXPECT_EQ(progress.pages[2].error, "page could not be parsed");
}

TEST_F(Parsers, FailedAndCancelledSayWhy) {
  auto progress = parsed("x", {.end = End::failed, .error = "torn\npage"});
  EXPECT_EQ(progress.state, ParseProgress::State::failed);
  EXPECT_EQ(progress.error, "torn page");
  progress = parsed("x", {.end = End::cancelled});
  EXPECT_EQ(progress.state, ParseProgress::State::failed);
  EXPECT_EQ(progress.error, "CANCELLED");
}

TEST_F(Parsers, RefusalsOfTheServiceAreToldApart) {
  const auto refused = [&](Create create) {
    stand_in.push({.create = create});
    const auto answer = ask(document("x"));
    EXPECT_FALSE(answer.has_value());
    return answer ? CallFailure{} : answer.error();
  };
  EXPECT_EQ(refused(Create::throttled).kind, Kind::throttled);
  EXPECT_EQ(refused(Create::throttled).retry_after, 1s);
  EXPECT_EQ(refused(Create::quota).kind, Kind::blocked);
  EXPECT_EQ(refused(Create::auth).kind, Kind::blocked);
  EXPECT_EQ(refused(Create::server_error).kind, Kind::retry);
  EXPECT_EQ(look("pjb-unknown").error().kind, Kind::permanent);
  EXPECT_EQ(look("../../evil").error().error_type, "bad_request");
}

TEST_F(Parsers, AnAskWhoseAnswerIsLostMayHaveBeenTaken) {  // F08
  stand_in.push({.create = Create::cut});
  const auto answer = ask(document("x"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Kind::unknown);
  EXPECT_TRUE(answer.error().maybe_charged);
  EXPECT_EQ(stand_in.parses().size(), 1U);
  // A second ask is a second parse there.
  ASSERT_TRUE(ask(document("x")).has_value());
  EXPECT_EQ(stand_in.parses().size(), 2U);
}

TEST_F(Parsers, ADocumentThatIsTooLargeIsNotSent) {
  auto chosen = options();
  chosen.upload_max_bytes = 10;
  const LlamaParse parser(client, clock, random, chosen);
  const auto answer = run_blocking(io, parser.ask(document("eleven bytes"), {}, {}));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().error_type, "too_large");
  EXPECT_EQ(stand_in.requests(), 0U);
}

TEST_F(Parsers, TheKeyIsInNoMessage) {
  auto chosen = options();
  chosen.api_key = Secret<std::string>("llx-wrong-key-that-is-secret");
  const LlamaParse parser(client, clock, random, chosen);
  const auto answer = run_blocking(io, parser.ask(document("x"), {}, {}));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, Kind::blocked);
  EXPECT_THAT(answer.error().message, Not(HasSubstr("llx-wrong")));
}

TEST(JoinedPages, MarksOfPagesAreOursAlone) {
  const std::vector<provider::ParsedPage> pages = {
      {.number = 1,
       .success = true,
       .markdown = "a <!-- page 7 --> b <!--PAGE 8--> <!-- no -->\n\n"},
      {.number = 2, .success = true, .markdown = ""}};
  EXPECT_EQ(provider::join_pages(pages),
            "<!-- page 1 -->\n\na <! -- page 7 --> b <! --PAGE 8--> <!-- no -->\n\n<!-- page 2 "
            "-->\n");
  EXPECT_EQ(provider::join_pages({}), "");
}

class ContractParser : public Parsers {
 protected:
  provider::Answer<std::string> ask_parser(std::string token = kKey) {
    const provider::WebhookParser parser(client, clock,
                                         {.url = stand_in.url() + "/v1/",
                                          .token = Secret<std::string>(std::move(token)),
                                          .timeouts = {.connect = 2s, .first_byte = 2s}});
    return run_blocking(
        io,
        parser.ask({.job_id = "0190a000-0000-7000-8000-000000000001",
                    .source_url = Secret<std::string>(stand_in.url() + "/secret-link?token=abc"),
                    .webhook_url = stand_in.url() + "/hook",
                    .webhook_secret = Secret<std::string>("the secret of this job")},
                   {}));
  }
};

TEST_F(ContractParser, b05_GetsExactlyWhatTheSourceSends) {
  stand_in.push({.callbacks = {}});
  const auto id = ask_parser();
  ASSERT_TRUE(id.has_value()) << id.error().message;
  EXPECT_EQ(*id, stand_in.parses().front().id);
  const auto& body = stand_in.parses().front().configuration;
  EXPECT_EQ(body.size(), 5U);
  EXPECT_EQ(body.at("job_id"), "0190a000-0000-7000-8000-000000000001");
  EXPECT_EQ(body.at("output_format"), "markdown");
  EXPECT_EQ(body.at("webhook_url").as_string(), stand_in.url() + "/hook");
  EXPECT_EQ(body.at("webhook_secret"), "the secret of this job");
}

TEST_F(ContractParser, NeitherLinkNorSecretIsInAMessage) {
  for (const auto create : {Create::throttled, Create::server_error}) {
    stand_in.push({.create = create});
    const auto refused = ask_parser();
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
  }
  EXPECT_EQ(ask_parser("nobody").error().kind, Kind::blocked);
}

// The stand-in is no kinder than the services.
TEST_F(Parsers, TheStandInDeliversThreeTimesAndIsSilentThen) {
  // Its own port has no such path: every delivery is refused.
  stand_in.push({});
  const auto id = ask(document("x"), {.url = stand_in.url() + "/webhooks/nothing", .header = {}});
  ASSERT_TRUE(id.has_value());
  for (int i = 0; i < 500 && stand_in.callbacks().size() < 3; ++i) {
    boost::asio::steady_timer timer(io, 5ms);
    run_blocking(io, [](boost::asio::steady_timer* wait) -> awaitable<int> {
      co_await wait->async_wait(boost::asio::use_awaitable);
      co_return 0;
    }(&timer));
  }
  ASSERT_EQ(stand_in.callbacks().size(), 3U);
  EXPECT_EQ(stand_in.callbacks().back().attempt, 3);
  EXPECT_EQ(stand_in.callbacks().back().status, 401);
}

TEST_F(Parsers, TheStandInsLinksExpire) {
  const auto progress = parsed("text", {});
  ASSERT_EQ(progress.state, ParseProgress::State::completed);
  const auto get = [&](const std::string& path, std::vector<http::Header> headers) {
    return run_blocking(io, client.send({.url = path, .headers = std::move(headers)})).value();
  };
  const auto id = stand_in.parses().front().id;
  const auto answer =
      get(stand_in.url() + "/api/v2/parse/" + id + "?expand=result_content_metadata",
          {{"Authorization", "Bearer " + kKey}});
  const auto link = std::string(parse_json(answer.body)
                                    .value()
                                    .at("result_content_metadata")
                                    .at("markdown")
                                    .at("presigned_url")
                                    .as_string());
  EXPECT_EQ(get(link, {}).body, "text");
  EXPECT_EQ(get(link.substr(0, link.find('=')) + "=1", {}).status, 403);
}

}  // namespace
}  // namespace millrace::test
