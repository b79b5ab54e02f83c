#include "app/bench/http.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

TEST(HttpAnswerTest, IsReadWhenItIsWhole) {
  const std::string whole =
      "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nCONTENT-Length: 5\r\n\r\nhello";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto part = read_http_answer(std::string_view(whole).substr(0, size));
    ASSERT_TRUE(part) << size;
    EXPECT_FALSE(*part) << size;
  }
  const auto answer = read_http_answer(whole + "HTTP/1.1 200 OK\r\n");
  ASSERT_TRUE(answer);
  ASSERT_TRUE(*answer);
  EXPECT_EQ((*answer)->status, 201);
  EXPECT_EQ((*answer)->body, "hello");
  EXPECT_EQ((*answer)->size, whole.size());
}

TEST(HttpAnswerTest, WithoutALengthOrOfAnotherProtocolIsRefused) {
  for (const std::string_view bad :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n", "\r\n\r\n"}) {
    EXPECT_FALSE(read_http_answer(bad)) << bad;
  }
}

TEST(HttpLoadTest, RefusesWhatItCannotAsk) {
  const SystemClock clock{};
  const std::string id = "0190a000-0000-7000-8000-000000000001";
  for (const auto* url : {"https://127.0.0.1:1", "http://127.0.0.1", "http://example:80",
                          "http://127.0.0.1:99999", ""}) {
    const auto refused = run_http_load({.url = url, .ids = {id}}, clock);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_argument) << url;
  }
  for (const std::vector<std::string>& ids :
       {std::vector<std::string>{}, std::vector<std::string>{id, "17"}}) {
    EXPECT_EQ(run_http_load({.url = "http://127.0.0.1:1", .ids = ids}, clock).error().kind,
              ErrorKind::invalid_argument);
  }
}

}  // namespace
}  // namespace millrace::app
