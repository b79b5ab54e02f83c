#include "app/bench/streams.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

constexpr std::string_view kStream =
    "1a\r\nretry: 2000\n\n\r\nc\r\nid: 90-1\n\n\r\n"
    "40\r\nid: 91-2\nevent: job.enqueued\ndata: {\"kind\":\"data: \"}\n\n\r\n"
    "8\r\n: ping\n\n\r\n40\r\nid: 92-3\nevent: job.claimed\ndata: {}\n\n\r\n";

TEST(EventCounter, CountsEventsAndNothingElse) {
  EventCounter counter;
  EXPECT_EQ(counter.feed(kStream), 2U);
}

TEST(EventCounter, DoesNotMindWhereTheStreamIsCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    EventCounter counter;
    EXPECT_EQ(counter.feed(kStream.substr(0, cut)) + counter.feed(kStream.substr(cut)), 2U) << cut;
  }
}

}  // namespace
}  // namespace millrace::app
