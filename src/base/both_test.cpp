#include "base/both.h"

#include "base/event.h"
#include "base/run.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace millrace {
namespace {

awaitable<void> say_and_wait(Event mine, Event other) {
  mine.set();
  (void)co_await other.wait();
}

awaitable<void> breaks() {
  throw std::runtime_error("broken");
  co_return;
}

awaitable<void> ends(bool* ended) {
  *ended = true;
  co_return;
}

TEST(Both, RunAtTheSameTime) {
  Event first;
  Event second;
  // One after the other, each would wait for the other without end.
  run_blocking(both(say_and_wait(first, second), say_and_wait(second, first)));
  EXPECT_TRUE(first.is_set());
  EXPECT_TRUE(second.is_set());
}

TEST(Both, AnExceptionOfOneIsThrownWhenTheOtherHasEnded) {
  bool ended = false;
  EXPECT_THROW(run_blocking(both(breaks(), ends(&ended))), std::runtime_error);
  EXPECT_TRUE(ended);
  EXPECT_THROW(run_blocking(both(ends(&ended), breaks())), std::runtime_error);
}

}  // namespace
}  // namespace millrace
