#include "sim/loop.h"

#include "base/assert.h"

#include <algorithm>

namespace millrace::sim {

std::uint64_t Dice::next() {
  state_ += 0x9e3779b97f4a7c15ULL;  // splitmix64.
  auto z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

Op::Op(Context* context) : context_(context) {}

Op::~Op() {
  if (parked_) context_->unpark(this);
}

Loop::~Loop() {
  for (auto* op : ready_) delete op;
  for (const auto& timer : timers_) {
    timer.op->timer_at_ = Op::kNowhere;
    delete timer.op;
  }
}

void Loop::at(Time time, std::move_only_function<void()> what) {
  struct Happening final : Op {
    explicit Happening(std::move_only_function<void()> call) : Op(nullptr), what(std::move(call)) {}
    void run() override {
      auto call = std::move(what);
      delete this;
      call();
    }
    std::move_only_function<void()> what;
  };
  wait_until(new Happening(std::move(what)), std::max(time, now_));
}

void Loop::go_on(Op* op) {
  op->goes_on_ = true;
  auto* context = op->context_;
  if (context != nullptr) {
    if (op->timer_at_ != Op::kNowhere) forget_timer(op);
    if (op->parked_) context->unpark(op);
    if (context->paused_ || context->ended_) {  // end() clears it all away.
      context->held_.push_back(op);
      return;
    }
  }
  ready_.push_back(op);
}

void Loop::wait_until(Op* op, Time time) {
  op->timer_at_ = timers_.size();
  timers_.push_back({.time = time, .op = op});
}

void Loop::forget_timer(Op* op) {
  const auto at = op->timer_at_;
  if (at == Op::kNowhere) return;
  op->timer_at_ = Op::kNowhere;
  timers_[at] = timers_.back();
  timers_.pop_back();
  if (at < timers_.size()) timers_[at].op->timer_at_ = at;
}

bool Loop::advance(Time limit) {
  if (timers_.empty()) return false;
  auto next = timers_[0].time;
  for (const auto& timer : timers_) next = std::min(next, timer.time);
  if (next > limit) return false;
  now_ = std::max(now_, next);
  for (std::size_t i = 0; i < timers_.size();) {
    if (timers_[i].time > now_) {
      ++i;
      continue;
    }
    auto* op = timers_[i].op;
    forget_timer(op);
    go_on(op);
  }
  return true;
}

void Loop::run(Op* op) {
  current_ = op->context_;
  op->run();
  current_ = nullptr;
}

bool Loop::step(Time limit) {
  if (ready_.empty() || dice_.chance(slowness)) {
    if (!advance(limit) && ready_.empty()) return false;
  }
  if (ready_.empty()) return true;  // All that woke up belongs to paused processes.
  const auto picked = dice_.pick(ready_.size());
  auto* op = ready_[picked];
  ready_[picked] = ready_.back();
  ready_.pop_back();
  ++steps_;
  run(op);
  return true;
}

Context::~Context() {
  end();
  shutdown();
  destroy();
}

void Context::park(Op* op) {
  op->after_ = parked_;
  if (parked_ != nullptr) parked_->before_ = op;
  parked_ = op;
  op->parked_ = true;
}

void Context::unpark(Op* op) {
  if (op->before_ != nullptr) op->before_->after_ = op->after_;
  if (op->after_ != nullptr) op->after_->before_ = op->before_;
  if (parked_ == op) parked_ = op->after_;
  op->before_ = nullptr;
  op->after_ = nullptr;
  op->parked_ = false;
  loop_.forget_timer(op);
  std::erase_if(stopped_, [op](const auto& stopped) { return stopped.first == op; });
}

void Context::pause(bool frozen) {
  if (paused_ || ended_) return;
  paused_ = true;
  frozen_ = frozen;
  paused_at_ = loop_.now();
  const auto mine = [this](const Op* op) { return op->context_ == this; };
  std::ranges::copy_if(loop_.ready_, std::back_inserter(held_), mine);
  std::erase_if(loop_.ready_, mine);
  if (!frozen) return;
  for (auto* op = parked_; op != nullptr; op = op->after_) {
    if (op->timer_at_ == Op::kNowhere) continue;
    stopped_.emplace_back(op, loop_.timers_[op->timer_at_].time - loop_.now());
    loop_.forget_timer(op);
  }
}

void Context::resume() {
  if (!paused_ || ended_) return;
  paused_ = false;
  if (frozen_) lost_ += loop_.now() - paused_at_;
  frozen_ = false;
  for (const auto& [op, left] : std::exchange(stopped_, {})) {
    loop_.wait_until(op, loop_.now() + left);
  }
  for (auto* op : std::exchange(held_, {})) loop_.ready_.push_back(op);
}

void Context::end() {
  MR_ASSERT(loop_.current() != this);
  ended_ = true;
  for (auto* op : loop_.ready_) {
    if (op->context_ == this) held_.push_back(op);
  }
  std::erase_if(loop_.ready_, [this](const Op* op) { return op->context_ == this; });
  // What is destroyed may wake what waits for it: that comes to held_, and goes as well.
  while (!held_.empty() || parked_ != nullptr) {
    if (!held_.empty()) {
      auto* op = held_.back();
      held_.pop_back();
      delete op;
    } else {
      delete parked_;
    }
  }
}

}  // namespace millrace::sim
