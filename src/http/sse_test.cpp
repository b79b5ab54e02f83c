#include "http/sse.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::http {
namespace {

using namespace std::chrono_literals;

std::string text_of(const SseEvent& event) {
  const auto frame = SseFrame::make(event);
  return frame ? std::string(frame->text()) : "refused: " + frame.error().message;
}

// H-05
TEST(SseFrame, HasIdNameRetryAndData) {
  EXPECT_EQ(text_of({.data = "{\"progress\":10}", .event = "progress", .id = "42", .retry = 3s}),
            "id: 42\nevent: progress\nretry: 3000\ndata: {\"progress\":10}\n\n");
  EXPECT_EQ(text_of({.data = "plain"}), "data: plain\n\n");
  EXPECT_EQ(text_of({.data = "", .id = ""}), "id: \ndata: \n\n");
}

TEST(SseFrame, EveryKindOfNewLineBeginsADataLine) {
  EXPECT_EQ(text_of({.data = "a\nb"}), "data: a\ndata: b\n\n");
  EXPECT_EQ(text_of({.data = "a\r\nb"}), "data: a\ndata: b\n\n");
  EXPECT_EQ(text_of({.data = "a\rb"}), "data: a\ndata: b\n\n");
  EXPECT_EQ(text_of({.data = "a\n\nb\n"}), "data: a\ndata: \ndata: b\ndata: \n\n");
  EXPECT_EQ(text_of({.data = "a\r\r\nevent: forged"}), "data: a\ndata: \ndata: event: forged\n\n");
}

TEST(SseFrame, IsAlwaysUtf8) {
  EXPECT_EQ(text_of({.data = "gr\xC3\xBC\xC3\x9F"}), "data: gr\xC3\xBC\xC3\x9F\n\n");
  EXPECT_EQ(text_of({.data = "a\xFF"
                             "b\xC3"}),
            "data: a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\n\n");
  EXPECT_EQ(text_of({.data = "\xED\xA0\x80"}), "data: \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n\n");
}

TEST(SseFrame, NamesAndIdsCannotBreakOutOfTheirLine) {
  using namespace std::string_view_literals;
  for (const auto bad : {"a\nb"sv, "a\rb"sv, "a\0b"sv}) {
    EXPECT_FALSE(SseFrame::make({.data = "x", .event = bad}).has_value());
    EXPECT_FALSE(SseFrame::make({.data = "x", .id = bad}).has_value());
  }
}

// K01: the name belongs to EventSource's own failures.
TEST(SseFrame, IsNeverNamedError) {
  EXPECT_FALSE(SseFrame::make({.data = "x", .event = "error"}).has_value());
}

TEST(SseFrame, CommentsAndRetryStandAlone) {
  EXPECT_EQ(SseFrame::comment("ping").text(), ": ping\n\n");
  EXPECT_EQ(SseFrame::comment("a\nb").text(), ": a\n: b\n\n");
  EXPECT_EQ(SseFrame::retry(1500ms).text(), "retry: 1500\n\n");
}

TEST(SseFrame, APositionIsAnIdWithoutAnEvent) {
  EXPECT_EQ(SseFrame::position("81-3")->text(), "id: 81-3\n\n");
  EXPECT_FALSE(SseFrame::position("81\n3").has_value());
}

TEST(SseFrame, IsAlsoOneChunkOfHttp) {
  EXPECT_EQ(SseFrame::comment("ping").chunk(), "8\r\n: ping\n\n\r\n");
  const std::string data(300, 'x');
  const auto frame = SseFrame::make({.data = data});
  EXPECT_EQ(frame->chunk(), "134\r\ndata: " + data + "\n\n\r\n");
}

}  // namespace
}  // namespace millrace::http
