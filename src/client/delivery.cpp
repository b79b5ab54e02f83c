#include "client/delivery.h"

#include "client/convert.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

namespace millrace::client {
namespace {

constexpr std::chrono::milliseconds kPauseMin{50};
constexpr std::chrono::milliseconds kPauseMax{2'000};

enum class Reaction { repeat, doubt, split, refuse_all };

bool one_of(std::string_view sqlstate, std::initializer_list<std::string_view> codes) {
  return std::ranges::find(codes, sqlstate) != codes.end();
}

Reaction reaction_to(const millrace::Error& error) {
  using Kind = millrace::ErrorKind;
  if (error.kind == Kind::in_doubt || error.kind == Kind::cancelled) return Reaction::doubt;
  // The tenant of the session, an operator's switch, a missing schema or right: no job's own fault.
  if (one_of(error.sqlstate, {"MR015", "MR021", "3F000", "42P01", "42883", "42703", "42501"})) {
    return Reaction::refuse_all;
  }
  // Too slow or too large for the server: half of it may not be.
  const bool too_much = one_of(error.sqlstate, {"57014", "53200"});
  return error.kind == Kind::unavailable && !too_much ? Reaction::repeat : Reaction::split;
}

// Type, priority or queue, or the room in it: another plain job of the same kind is told the same.
bool concerns_kind(const millrace::Error& error) {
  return one_of(error.sqlstate, {"MR002", "MR005", "MR007", "MR008"});
}

}  // namespace

Clock::Steady Outage::began(Clock::Steady now) {
  const std::lock_guard lock(mutex_);
  if (!since_) since_ = now;
  return *since_;
}

void Outage::over() {
  const std::lock_guard lock(mutex_);
  since_.reset();
}

void Delivery::run() { deliver(batch_.calls); }

void Delivery::deliver(Calls& calls) {
  for (int tries = 0;; ++tries) {
    if (verdict_) return refuse(calls, *verdict_);
    const auto answers = send(calls);
    if (answers) return succeed(calls, *answers);
    const auto& error = answers.error();
    switch (reaction_to(error)) {
      case Reaction::doubt:
        if (!keep_repeatable(calls, error)) return;
        [[fallthrough]];
      case Reaction::repeat:
        if (!wait_to_repeat(calls, error, tries)) return;
        break;
      case Reaction::split:
        return split(calls, error);
      case Reaction::refuse_all:
        return refuse(calls, error);
    }
  }
}

EnqueueSink::Answers Delivery::send(const Calls& calls) {
  EnqueueSink::Answers answers;
  if (batch_.line->key->kind.plain) {
    std::vector<std::string> payloads;
    payloads.reserve(calls.size());
    for (const auto& call : calls) payloads.push_back(call.payload);
    answers = sink_.enqueue_array(batch_.line->key->kind, payloads);
  } else {
    json::Array jobs;
    jobs.reserve(calls.size());
    for (const auto& call : calls) jobs.emplace_back(call.spec);
    answers = sink_.enqueue_jobs(jobs);
  }
  if (answers && answers->size() != calls.size()) {
    return millrace::fail(
        millrace::ErrorKind::in_doubt,
        fmt::format("the database answered for {} of {} jobs", answers->size(), calls.size()));
  }
  return answers;
}

void Delivery::succeed(Calls& calls, const std::vector<store::EnqueueAnswer>& answers) {
  context_.outage.over();
  std::vector<Enqueued> enqueued;
  enqueued.reserve(answers.size());
  for (auto call = calls.cbegin(); const auto& answer : answers) {
    const bool ours = call++->own_id == answer.id;  // Made by this sending or an earlier one.
    enqueued.push_back({.job_id = answer.id.to_string(), .created = answer.created || ours});
  }
  context_.queue.settle(batch_, calls);
  for (auto answer = enqueued.begin(); auto& call : calls) call.reply.set(std::move(*answer++));
  calls.clear();
}

void Delivery::split(Calls& calls, const millrace::Error& error) {
  if (calls.size() == 1) {
    if (batch_.line->key->kind.plain && concerns_kind(error)) verdict_ = error;
    return refuse(calls, error);
  }
  Calls first;
  first.splice(first.end(), calls, calls.begin(),
               std::next(calls.begin(), static_cast<std::ptrdiff_t>(calls.size() / 2)));
  deliver(first);
  deliver(calls);
}

void Delivery::refuse(Calls& calls, const millrace::Error& error) {
  context_.outage.over();
  fail(calls, error);
}

bool Delivery::keep_repeatable(Calls& calls, const millrace::Error& error) {
  Calls lost;
  for (auto call = calls.begin(); call != calls.end();) {
    const auto next = std::next(call);
    call->in_doubt = true;
    if (!call->repeatable) lost.splice(lost.end(), calls, call);
    call = next;
  }
  fail(lost, error);
  return !calls.empty();
}

bool Delivery::wait_to_repeat(Calls& calls, const millrace::Error& error, int tries) {
  const auto now = context_.clock.now();
  if (context_.outage.began(now) + context_.retry_for <= now) {
    const auto limit = now - context_.retry_for;  // Who was accepted by then has had his time.
    Calls late;
    const auto end = std::ranges::find_if(
        calls, [&](const PendingCall& call) { return call.accepted_at > limit; });
    late.splice(late.end(), calls, calls.begin(), end);
    if (calls.empty()) late.splice(late.end(), context_.queue.take_waiting(batch_, limit));
    fail(late, error);
    if (calls.empty()) return false;
  }
  // The first time at once: most often an idle connection was closed, and the server is there.
  if (tries > 0) sink_.pause(std::min(kPauseMax, kPauseMin * (1 << std::min(tries - 1, 10))));
  return true;
}

void Delivery::fail(Calls& calls, const millrace::Error& error) {
  if (calls.empty()) return;
  // Who was never sent is not in doubt, and who may have been done cannot be told that he was not.
  auto told = to_public(error);
  if (told.kind == ErrorKind::in_doubt) told.kind = ErrorKind::unavailable;
  std::vector<Error> errors(calls.size(), told);
  for (auto own = errors.begin(); const auto& call : calls) {
    if (call.in_doubt) own->kind = ErrorKind::in_doubt;
    ++own;
  }
  context_.queue.settle(batch_, calls);
  for (auto own = errors.begin(); auto& call : calls) {
    call.reply.set(std::unexpected(std::move(*own++)));
  }
  calls.clear();
}

}  // namespace millrace::client
