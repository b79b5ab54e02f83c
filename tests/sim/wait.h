// A coroutine of a simulated process that waits: for an Event or for a time.
#pragma once

#include "base/task.h"
#include "sim/loop.h"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace millrace::sim {

class Waiter : public Op {
 public:
  // Lets the coroutine go on; wait_at() then returns `woken`. The first call counts.
  void wake(bool woken) {
    if (goes_on()) return;
    woken_ = woken;
    context().loop().go_on(this);
  }
  Context& context() const { return context_; }

 protected:
  explicit Waiter(Context& context) : Op(&context), context_(context) {}
  bool woken() const { return woken_; }

 private:
  Context& context_;
  bool woken_ = true;
};

// A wait as Asio sees it. `Place` knows enter(waiter) and leave(waiter); a waiter leaves when it is
// cancelled or destroyed, not when it is woken.
template <class Place, class Handler>
class WaitOp final : public Waiter {
 public:
  WaitOp(Context& context, Place place, Handler handler)
      : Waiter(context),
        place_(std::move(place)),
        handler_(std::move(handler)),
        slot_(boost::asio::get_associated_cancellation_slot(handler_)) {
    context.park(this);
    place_.enter(this);
    if (!slot_.is_connected()) return;
    slot_.assign([this](boost::asio::cancellation_type) {
      if (goes_on()) return;
      place_.leave(this);
      wake(false);
    });
  }
  ~WaitOp() override {
    if (!goes_on()) place_.leave(this);
    if (slot_.is_connected()) slot_.clear();
  }

  void run() override {
    if (slot_.is_connected()) slot_.clear();
    slot_ = {};
    Handler handler(std::move(handler_));
    const bool result = woken();
    delete this;
    std::move(handler)(result);
  }

 private:
  Place place_;
  Handler handler_;
  boost::asio::cancellation_slot slot_;
};

// True when woken, false when cancelled.
template <class Place>
awaitable<bool> wait_at(Place place) {
  co_return co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(bool)>(
      [](auto handler, Place where) {
        auto executor = boost::asio::get_associated_executor(handler);
        auto& context =
            static_cast<Context&>(boost::asio::query(executor, boost::asio::execution::context));
        new WaitOp<Place, decltype(handler)>(context, std::move(where), std::move(handler));
      },
      boost::asio::use_awaitable, std::move(place));
}

}  // namespace millrace::sim
