// Of which requests a client's watch is told.
#include "base/run.h"
#include "http/client.h"
#include "http/kept_calls.h"
#include "http/scripted_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HttpClientWatch : public testing::Test {
 protected:
  Request request(std::string service) {
    return {.url = server_.url("/"), .service = std::move(service)};
  }
  Result<Response> send(Request request, CancelToken cancel = {}) {
    return run_blocking(io_, client_.send(std::move(request), std::move(cancel)));
  }

  boost::asio::io_context io_{1};
  KeptCalls watch_;
  ScriptedServer server_{io_, {answer(200, "a"), answer(503, "b"), {.reply = {}, .cut = 0}}};
  Client client_{io_.get_executor(), {.call_watch = &watch_}};
};

TEST_F(HttpClientWatch, LearnsOfAnswersAndThatNoneCame) {  // O-09
  EXPECT_TRUE(send(request("store")));
  EXPECT_TRUE(send(request("store")));
  EXPECT_FALSE(send(request("solver")));
  EXPECT_THAT(watch_.calls(), ElementsAre("store 200", "store 503", "solver 0"));
}

TEST_F(HttpClientWatch, LearnsOfStreamsByTheirHead) {
  const auto stream = run_blocking(io_, client_.open(request("store")));
  ASSERT_TRUE(stream);
  EXPECT_THAT(watch_.calls(), ElementsAre("store 200"));
}

TEST_F(HttpClientWatch, IsNotToldOfWhatSaysNothingAboutAService) {
  EXPECT_TRUE(send(request("")));
  CancelSource source;
  source.cancel("not wanted");
  EXPECT_FALSE(send(request("store"), source.token()));
  EXPECT_FALSE(send({.url = "ftp://nowhere/", .service = "store"}));
  EXPECT_THAT(watch_.calls(), IsEmpty());
}

}  // namespace
}  // namespace millrace::http
