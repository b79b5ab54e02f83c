// Hostile bytes over real sockets: the server answers or closes, never hangs, never dies.
#include "base/random.h"
#include "http/multipart.h"
#include "http/server_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

Task<void> read_multipart(ServerRequest& request, ResponseWriter& response) {
  auto parser = MultipartParser::make(request.header("content-type").value_or(""));
  if (!parser) {
    response.reply(415);
    co_return ok();
  }
  std::array<char, 512> piece;
  std::size_t total = 0;
  for (;;) {
    MR_CO_TRY(const auto got, co_await request.read_body(piece));
    if (got == 0) break;
    std::string_view input(piece.data(), got);
    for (;;) {
      const auto event = parser->next(input);
      if (!event) {
        response.reply(400);
        co_return ok();
      }
      if (event->kind == MultipartEvent::Kind::need_more) break;
      total += event->data.size();
    }
  }
  response.reply(parser->finish() ? 200 : 400, "text/plain", std::to_string(total));
  co_return ok();
}

std::vector<Route> routes() {
  return {{"GET", "/hello", says([](auto&) { return "hello"; })},
          {"GET", "/jobs/{id}", says([](auto& r) { return std::string(r.parameter("id")); })},
          {"GET", "/files/{path...}",
           says([](auto& r) { return parse_query(r.query).has_value() ? "query" : "no query"; })},
          {"POST", "/echo", echo, {.body_max_bytes = 10'000}},
          {"POST", "/ignore", says([](auto&) { return "ignored"; })},
          {"POST", "/form", read_multipart}};
}

std::vector<std::string> seeds() {
  return {
      get("/hello"),
      get("/jobs/a%20b?x=y&z", "x-correlation-id: c\r\ntraceparent: 00-x\r\nOrigin: null\r\n"),
      get("/files/a/b/../c"),
      post("/echo", "some body"),
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
      post("/form",
           "--XX\r\nContent-Disposition: form-data; name=\"f\"; "
           "filename=\"a\"\r\n\r\nbody\r\n--XX--\r\n",
           "Content-Type: multipart/form-data; boundary=XX\r\n"),
      "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + get("/hello") + get("/hello"),
  };
}

std::string mutated(Random& random, std::string bytes) {
  static const std::vector<std::string> pieces = {"\r",
                                                  "\n",
                                                  "\r\n",
                                                  "\r\n\r\n",
                                                  " ",
                                                  "\t",
                                                  ":",
                                                  "/",
                                                  "%",
                                                  "%2f",
                                                  "..",
                                                  std::string(1, '\0'),
                                                  "\xFF\xFE",
                                                  "Content-Length: 5\r\n",
                                                  "Transfer-Encoding: chunked\r\n",
                                                  "Host: b\r\n",
                                                  "HTTP/1.1",
                                                  "GET / HTTP/1.1\r\n",
                                                  std::string(9000, 'A'),
                                                  "0\r\n\r\n",
                                                  "FFFFFFFFFFFFFFFF\r\n"};
  for (auto changes = random.below(5) + 1; changes > 0; --changes) {
    if (bytes.empty()) bytes = "x";
    const auto at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes.erase(at, random.below(10) + 1);
        break;
      case 2:
        bytes.insert(at, pieces[random.below(pieces.size())]);
        break;
      case 3:
        bytes += bytes.substr(at);
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

// Every answer in `text` begins as one and carries a known status.
void expect_answers(const std::string& text, const std::string& sent) {
  if (text.empty()) return;
  ASSERT_TRUE(text.starts_with("HTTP/1.1 ")) << testing::PrintToString(sent);
  const auto status = std::stoi(text.substr(9, 3));
  ASSERT_TRUE(status == 100 || (status >= 200 && status < 500) || status == 501 || status == 505)
      << status << " for " << testing::PrintToString(sent);
}

TEST(HttpServerHostile, MutatedRequestsAreAnsweredOrClosed) {
  TestServer server(routes(), {}, 2);
  SeededRandom random(90210);
  const auto good = seeds();
  for (int round = 0; round < 1500; ++round) {
    const auto bytes = mutated(random, good[random.below(good.size())]);
    auto client = server.connect();
    ASSERT_TRUE(client.connected());
    // In one piece or in two; and whatever has come when the client stops must lead to an end.
    const auto cut = random.below(bytes.size() + 1);
    client.send(std::string_view(bytes).substr(0, cut));
    client.send(std::string_view(bytes).substr(cut));
    client.finish_sending();
    expect_answers(client.read_until_closed(), bytes);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(server.ask(get("/hello")).body, "hello");
}

TEST(HttpServerHostile, RandomBytesAreAnsweredOrClosed) {
  TestServer server(routes());
  SeededRandom random(555);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(random.below(3000) + 1, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.below(256));
    auto client = server.connect();
    client.send(bytes);
    client.finish_sending();
    expect_answers(client.read_until_closed(), bytes);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(server.ask(get("/hello")).body, "hello");
}

TEST(HttpServerHostile, ClientsThatVanishLeaveNothingBehind) {
  TestServer server(routes(), {}, 2);
  SeededRandom random(556);
  const auto good = seeds();
  for (int round = 0; round < 300; ++round) {
    auto client = server.connect();
    const auto& bytes = good[random.below(good.size())];
    client.send(std::string_view(bytes).substr(0, random.below(bytes.size() + 1)));
    if (random.below(2) == 0) client.close_with_reset();
  }
  // Closing is noticed when the socket's turn comes: ask until only the asker is left.
  auto client = server.connect();
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");
  for (int i = 0; i < 10'000 && server.server().connections() > 1; ++i) {
    ASSERT_EQ(client.ask(get("/hello")).body, "hello");
  }
  EXPECT_EQ(server.server().connections(), 1U);
}

// Bytes of one client never show up in the answer to another, whoever shares buffers with whom.
TEST(HttpServerHostile, ConnectionsDoNotSeeEachOthersBytes) {
  TestServer server(routes(), {}, 2);
  SeededRandom random(557);
  std::vector<RawClient> clients;
  for (int i = 0; i < 16; ++i) clients.push_back(server.connect());
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> bodies;
    for (auto& client : clients) {
      bodies.emplace_back(random.below(9000), static_cast<char>('a' + random.below(26)));
      const auto bytes = post("/echo", bodies.back());
      const auto cut = random.below(bytes.size());
      client.send(std::string_view(bytes).substr(0, cut));
      client.send(std::string_view(bytes).substr(cut));
    }
    for (std::size_t i = 0; i < clients.size(); ++i)
      ASSERT_EQ(clients[i].read_reply().body, bodies[i]);
  }
}

}  // namespace
}  // namespace millrace::http
