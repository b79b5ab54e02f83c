#include "http/request_reader.h"

#include "base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::http {
namespace {

// "status detail" of a refusal, "more", or "ok".
std::string read(RequestReader& reader, std::string_view bytes) {
  const auto done = reader.read_head(bytes);
  if (!done) return std::to_string(done.error().status) + " " + std::string(done.error().detail);
  return *done ? "ok" : "more";
}

std::string read(std::string_view bytes, HeadLimits limits = {}) {
  RequestReader reader(limits);
  return read(reader, bytes);
}

std::string with(std::string_view headers, std::string_view line = "POST / HTTP/1.1") {
  return std::string(line) + "\r\nHost: a\r\n" + std::string(headers) + "\r\n";
}

int status_of(std::string_view bytes) {
  const auto answer = read(bytes);
  return answer == "ok" ? 200 : answer == "more" ? 0 : std::stoi(answer);
}

TEST(RequestReader, TakesAHeadApart) {
  RequestReader reader;
  const std::string bytes =
      "POST /a/b%20c?x=1&y=2 HTTP/1.1\r\nHost: example.test:8080\r\n"
      "X-Empty:\r\nX-Padded: \t a b \t\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\nhello";
  ASSERT_EQ(read(reader, bytes), "ok");
  const auto& head = reader.head();
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/a/b%20c");
  EXPECT_EQ(head.query, "x=1&y=2");
  EXPECT_EQ(head.host, "example.test:8080");
  EXPECT_EQ(head.minor, 1);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_TRUE(head.expect_continue);
  EXPECT_EQ(head.content_length, 5U);
  EXPECT_FALSE(head.chunked);
  EXPECT_EQ(head.size_bytes, bytes.size() - 5);
  ASSERT_EQ(head.headers.size(), 5U);
  EXPECT_EQ(head.headers[1].value, "");
  EXPECT_EQ(head.headers[2].name, "X-Padded");
  EXPECT_EQ(head.headers[2].value, "a b");
}

TEST(RequestReader, TheSameHeadComesOutHoweverItArrives) {
  const std::string bytes = "\r\n" + with("Content-Length: 0\r\nX-A: b\r\n", "GET /x?y HTTP/1.1");
  RequestReader reader;
  for (int round = 0; round < 2; ++round) {  // Also after reset().
    reader.reset();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_EQ(read(reader, std::string_view(bytes).substr(0, size)), "more") << size;
    }
    ASSERT_EQ(read(reader, bytes), "ok");
    EXPECT_EQ(reader.head().path, "/x");
    EXPECT_EQ(reader.head().headers.size(), 3U);
    EXPECT_EQ(reader.head().size_bytes, bytes.size());
  }
}

TEST(RequestReader, KeepAliveFollowsVersionAndConnection) {
  const auto keeps = [](std::string_view line, std::string_view headers) {
    RequestReader reader;
    const auto bytes = with(headers, line);
    EXPECT_EQ(read(reader, bytes), "ok");
    return reader.head().keep_alive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1", ""));
  EXPECT_FALSE(keeps("GET / HTTP/1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1", "Connection: x, Close\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0", ""));
  EXPECT_TRUE(keeps("GET / HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST(RequestReader, LinesEndWithCrLfAndNothingElse) {
  EXPECT_EQ(read("GET / HTTP/1.1\nHost: a\n\n"), "400 a line ends without CR LF");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n"), "400 a line ends without CR LF");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: a\r\n\n"), "400 a line ends without CR LF");
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"), 400) << "bare CR";
  EXPECT_EQ(status_of(with("X: a\r\r\n")), 400);
  EXPECT_EQ(status_of("\n\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, HeaderLinesAreStrict) {
  EXPECT_EQ(status_of(with("X-A: b\r\n c\r\n")), 400) << "folded";
  EXPECT_EQ(status_of(with("X-A: b\r\n\tc\r\n")), 400) << "folded";
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of(with("Content-Length : 5\r\n")), 400) << "space before the colon";
  EXPECT_EQ(status_of(with("Content-Length\t: 5\r\n")), 400);
  EXPECT_EQ(status_of(with("NoColon\r\n")), 400);
  EXPECT_EQ(status_of(with(": empty\r\n")), 400);
  EXPECT_EQ(status_of(with("X(A): b\r\n")), 400);
  EXPECT_EQ(status_of(with("X\xC3\xBC: b\r\n")), 400);
  EXPECT_EQ(status_of(with(std::string("X: a\0b\r\n", 8))), 400);
  EXPECT_EQ(status_of(with("X: a\x01\r\n")), 400);
  EXPECT_EQ(status_of(with("X: a\x7f\r\n")), 400);
  EXPECT_EQ(status_of(with("X: gr\xC3\xBC\xC3\x9F\r\n")), 200) << "bytes above 127 are a handler's";
}

TEST(RequestReader, LengthIsOnePlainNumber) {
  EXPECT_EQ(status_of(with("Content-Length: 5\r\n")), 200);
  for (const auto* bad : {"", "+5", "-5", "5 5", "5,5", "5, 5", "0x5", "5;", "5.0", "five", "\"5\"",
                          "99999999999999999999", "18446744073709551616"}) {
    EXPECT_EQ(status_of(with("Content-Length: " + std::string(bad) + "\r\n")), 400) << bad;
  }
  EXPECT_EQ(status_of(with("Content-Length: 5\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(status_of(with("Content-Length: 5\r\ncontent-length: 6\r\n")), 400);
}

TEST(RequestReader, TransferEncodingIsChunkedAlone) {
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n")), 200);
  EXPECT_EQ(status_of(with("transfer-encoding: CHUNKED \r\n")), 200);
  for (const auto* other : {"gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked",
                            "chunked, chunked", "\"chunked\"", "chunked;q=1", ""}) {
    const auto status = status_of(with("Transfer-Encoding: " + std::string(other) + "\r\n"));
    EXPECT_TRUE(status == 501 || status == 400) << other << " " << status;
  }
  EXPECT_EQ(status_of(with("Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n")), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0")), 400);
}

TEST(RequestReader, LengthBesideTransferEncodingIsRefused) {
  EXPECT_EQ(status_of(with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), 400);
  EXPECT_EQ(status_of(with("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")), 400);
}

TEST(RequestReader, HostIsOneAndValid) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(status_of(with("Host: a\r\n")), 400) << "twice";
  for (const auto* bad : {"", "a b", "a/b", "user@a", "a,b", "a?b", "a#b", "a\\b"}) {
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: " + std::string(bad) + "\r\n\r\n"), 400) << bad;
  }
  for (const auto* good : {"a", "a.example:80", "127.0.0.1", "[::1]:8080"}) {
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: " + std::string(good) + "\r\n\r\n"), 200) << good;
  }
}

TEST(RequestReader, AbsoluteTargetsNameTheSameHost) {
  const auto target = [](std::string_view text) {
    RequestReader reader;
    const auto bytes = "GET " + std::string(text) + " HTTP/1.1\r\nHost: a.example:80\r\n\r\n";
    const auto answer = read(reader, bytes);
    if (answer != "ok") return answer.substr(0, 3);
    return std::string(reader.head().path) + "?" + std::string(reader.head().query);
  };
  EXPECT_EQ(target("http://a.example:80/x?y"), "/x?y");
  EXPECT_EQ(target("HTTPS://A.EXAMPLE:80/x"), "/x?");
  EXPECT_EQ(target("http://a.example:80"), "/?");
  EXPECT_EQ(target("http://a.example:80?q"), "/?q");
  for (const auto* bad :
       {"http://b.example/", "http://a.example/", "http://a.example:81/", "http:///x", "http://",
        "http://user@a.example:80/", "ftp://a.example:80/", "a.example:80", "x", "*", "?", "/a#b",
        "/\xC3\xBC", "http://a.example:80#f"}) {
    EXPECT_EQ(target(bad), "400") << bad;
  }
}

TEST(RequestReader, StarIsForOptionsOnly) {
  RequestReader reader;
  EXPECT_EQ(read(reader, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), "ok");
  EXPECT_EQ(reader.head().path, "*");
  EXPECT_EQ(status_of("GET * HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, RequestLinesAreStrict) {
  for (const auto* line : {"GET  / HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1", "GET /",
                           "GET / HTTP/1.x", "GET / http/1.1", "GET / HTTP/1.", " GET / HTTP/1.1",
                           "GET", "G(T / HTTP/1.1", "GET / / HTTP/1.1", "GET /\x01 HTTP/1.1"}) {
    EXPECT_EQ(status_of(std::string(line) + "\r\nHost: a\r\n\r\n"), 400) << line;
  }
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("\x16\x03\x01\x02"), 400) << "TLS to a plain port is told at once";
  EXPECT_EQ(status_of("\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestReader, UnknownMethodsAreNotImplemented) {
  for (const auto* method : {"TRACE", "CONNECT", "get", "BREW", "PROPFIND"}) {
    EXPECT_EQ(status_of(with("", std::string(method) + " / HTTP/1.1")), 501) << method;
  }
}

TEST(RequestReader, ExpectationsOtherThanContinueFail) {
  EXPECT_EQ(status_of(with("Expect: 200-ok\r\n")), 417);
  EXPECT_EQ(status_of(with("Expect: 100-continue\r\nExpect: 100-continue\r\n")), 417);
  RequestReader reader;
  const auto old = with("Expect: 100-continue\r\nContent-Length: 1\r\n", "POST / HTTP/1.0");
  EXPECT_EQ(read(reader, old), "ok");
  EXPECT_FALSE(reader.head().expect_continue) << "HTTP/1.0 knows no interim answers";
}

TEST(RequestReader, HeadersThatMustBeUniqueAre) {
  EXPECT_EQ(status_of(with("Authorization: a\r\nauthorization: b\r\n")), 400);
  EXPECT_EQ(status_of(with("Content-Type: a/b\r\nContent-Type: a/b\r\n")), 400);
  EXPECT_EQ(status_of(with("Accept: a\r\nAccept: b\r\n")), 200);
}

TEST(RequestReader, LimitsHaveTheirStatus) {
  const HeadLimits limits{
      .request_line_max_bytes = 40, .header_max_bytes = 120, .header_max_count = 4};
  EXPECT_EQ(read("GET /" + std::string(40, 'a'), limits).substr(0, 3), "414") << "before its end";
  EXPECT_EQ(read("GET /" + std::string(20, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", limits), "ok");
  EXPECT_EQ(read(with("X: " + std::string(100, 'a') + "\r\n"), limits).substr(0, 3), "431");
  EXPECT_EQ(read("GET / HTTP/1.1\r\nX: " + std::string(120, 'a'), limits).substr(0, 3), "431");
  EXPECT_EQ(read(with("A: 1\r\nB: 2\r\nC: 3\r\n"), limits), "ok");
  EXPECT_EQ(read(with("A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n"), limits).substr(0, 3), "431");
}

TEST(RequestReader, AHeadThatMovesTakesItsViewsAlong) {
  RequestReader reader;
  std::string bytes = "GET /p?q HTTP/1.1\r\nHost: h\r\nX-A: v\r\nX-E:\r\n\r\n";
  ASSERT_EQ(read(reader, bytes), "ok");
  const std::string moved = bytes;
  reader.head().rebase(bytes.data(), moved.data());
  std::ranges::fill(bytes, '?');
  const auto& head = reader.head();
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.path, "/p");
  EXPECT_EQ(head.query, "q");
  EXPECT_EQ(head.host, "h");
  EXPECT_EQ(head.headers[1].name, "X-A");
  EXPECT_EQ(head.headers[1].value, "v");
  EXPECT_EQ(head.headers[2].value, "");
}

// ---- chunked bodies

// The body, with "!status" behind it when it was refused, "+" when it is not complete.
std::string decode(std::string_view wire, std::size_t piece_size, std::size_t room,
                   std::uint64_t limit = 1 << 20, std::size_t* left = nullptr) {
  RequestReader reader;
  const auto head = with("Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(read(reader, head), "ok");
  reader.limit_body(limit);
  std::string pending;
  std::string body;
  std::string into(room, '\0');
  std::size_t fed = 0;
  for (;;) {
    const auto decoded = reader.decode(pending, into);
    if (!decoded) return body + "!" + std::to_string(decoded.error().status);
    pending.erase(0, decoded->taken);
    body.append(into, 0, decoded->made);
    if (decoded->finished) {
      if (left != nullptr) *left = pending.size() + wire.size() - fed;
      return body;
    }
    if (decoded->made > 0) continue;
    if (fed == wire.size()) return body + "+";
    pending.append(wire.substr(fed, piece_size));
    fed = std::min(fed + piece_size, wire.size());
  }
}

std::string outcome(const std::string& decoded) {
  if (decoded.ends_with("+")) return "+";
  for (const auto* refused : {"!400", "!413"}) {
    if (decoded.ends_with(refused)) return refused;
  }
  return decoded;
}

TEST(ChunkedBody, IsTheSameHoweverItArrives) {
  const std::string wire =
      "5\r\nhello\r\n1;name=value\r\n \r\n00A;x;y=\"q\"\r\n0123456789\r\n0\r\nX-T: a\r\n\r\nNEXT";
  for (std::size_t piece = 1; piece <= wire.size(); ++piece) {
    for (const std::size_t room : {1U, 3U, 5U, 100U}) {
      std::size_t left = 0;
      ASSERT_EQ(decode(wire, piece, room, 100, &left), "hello 0123456789") << piece << " " << room;
      ASSERT_EQ(left, 4U) << "what follows belongs to the next request";
    }
  }
}

TEST(ChunkedBody, MayBeEmpty) {
  for (std::size_t piece = 1; piece <= 5; ++piece) {
    EXPECT_EQ(decode("0\r\n\r\n", piece, 100), "");
  }
}

TEST(ChunkedBody, MalformedOnesAreRefused) {
  for (const auto* wire :
       {"x\r\n", "-1\r\n", "0x5\r\nhello\r\n", " 5\r\nhello\r\n", "5 \r\nhello\r\n", "\r\n",
        "5\nhello\n0\n\n\r\n", "5\r\nhelloX\r\n", "5\r\nhello\n0\r\n\r\n", "5;\r\nhello\r\n",
        "5;a=\"\n\"\r\nhello\r\n", "5;a b\r\nhello\r\n", "FFFFFFFFFFFFFFFFF\r\n",
        "0\r\nContent-Length: 5\r\n\r\n", "0\r\nbad header\r\n\r\n", "5\rhello\r\n"}) {
    const auto answer = decode(std::string(wire) + "0\r\n\r\n\r\n", 1000, 100);
    EXPECT_TRUE(answer.ends_with("!400")) << testing::PrintToString(wire) << " " << answer;
  }
}

TEST(ChunkedBody, IncompleteOnesAreNotFinished) {
  const std::string wire = "5\r\nhello\r\n0\r\n\r\n";
  for (std::size_t size = 0; size < wire.size(); ++size) {
    EXPECT_TRUE(decode(wire.substr(0, size), 1000, 100).ends_with("+")) << size;
  }
}

TEST(ChunkedBody, MoreThanTheLimitIs413BeforeItIsRead) {
  EXPECT_EQ(decode("5\r\nhello\r\n0\r\n\r\n", 1000, 100, 5), "hello");
  EXPECT_EQ(decode("6\r\n12", 1000, 100, 5), "!413");
  EXPECT_EQ(decode("3\r\nabc\r\n3\r\nabc", 1, 100, 5), "abc!413");
  EXPECT_EQ(decode("FFFFFFFFFFFFFFFF\r\n", 1000, 100, 5), "!413");
}

TEST(ChunkedBody, FramingIsBounded) {
  EXPECT_EQ(decode("5;a=" + std::string(300, 'x') + "\r\nhello\r\n0\r\n\r\n", 4096, 100), "!400");
  EXPECT_EQ(decode("5;a=" + std::string(100'000, 'x'), 4096, 100), "!400") << "no end of line";
  EXPECT_EQ(decode(std::string(100'000, '0'), 4096, 100), "!400");
  std::string trailers = "0\r\n";
  for (int i = 0; i < 2000; ++i) trailers += "X-T: value\r\n";
  EXPECT_EQ(decode(trailers, 4096, 100), "!400");
}

// ---- hostile bytes

TEST(RequestReader, MutatedHeadsNeverCrashItAndNeverDependOnHowTheyArrive) {
  SeededRandom random(4711);
  const std::vector<std::string> seeds = {with("Content-Length: 5\r\nX: y\r\n"),
                                          with("Transfer-Encoding: chunked\r\n"),
                                          "GET http://a/x?y HTTP/1.1\r\nHost: a\r\nConnection: "
                                          "close, x\r\nExpect: 100-continue\r\n\r\n"};
  const std::vector<std::string> pieces = {
      "\r",      "\n",          "\r\n",     " ",    "\t",      ":", std::string(1, '\0'),
      "chunked", "Host: b\r\n", "\r\n\r\n", "\xFF", "HTTP/1.1"};
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = seeds[random.below(seeds.size())];
    for (auto changes = random.below(4) + 1; changes > 0; --changes) {
      const auto at = random.below(bytes.size());
      switch (random.below(3)) {
        case 0:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(at, random.below(5) + 1);
          break;
        default:
          bytes.insert(at, pieces[random.below(pieces.size())]);
          break;
      }
      if (bytes.empty()) bytes = "x";
    }
    const auto whole = read(bytes);
    RequestReader reader;
    std::string last = "more";
    for (std::size_t size = 0; size <= bytes.size() && last == "more";
         size += 1 + random.below(8)) {
      last = read(reader, std::string_view(bytes).substr(0, size));
    }
    if (last == "more") last = read(reader, bytes);
    ASSERT_EQ(last.substr(0, 3), whole.substr(0, 3)) << testing::PrintToString(bytes);
  }
}

TEST(ChunkedBody, MutatedOnesNeverCrashItAndNeverDependOnHowTheyArrive) {
  SeededRandom random(4712);
  const std::string good = "5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nX-T: a\r\n\r\n";
  for (int round = 0; round < 3000; ++round) {
    std::string wire = good;
    for (auto changes = random.below(3) + 1; changes > 0; --changes) {
      const auto at = random.below(wire.size());
      if (random.below(2) == 0) {
        wire[at] = static_cast<char>(random.below(256));
      } else {
        wire.erase(at, random.below(4) + 1);
      }
      if (wire.empty()) wire = "x";
    }
    const auto whole = decode(wire, 1000, 100);
    const auto cut = decode(wire, 1 + random.below(7), 1 + random.below(9));
    // Which bytes come out before a refusal may differ; whether there is one may not.
    ASSERT_EQ(outcome(whole), outcome(cut)) << testing::PrintToString(wire);
  }
}

}  // namespace
}  // namespace millrace::http
