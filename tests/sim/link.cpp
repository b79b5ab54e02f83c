#include "sim/link.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

#include <algorithm>
#include <utility>

namespace millrace::sim {

namespace {

using namespace boost::asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

constexpr std::uint64_t kFaults = 0x9e3779b97f4a7c15ULL;

}  // namespace

Database::Database(const WorldPlan& plan, Loop& loop, Checks& checks, Random& random)
    : plan_(plan),
      loop_(loop),
      checks_(checks),
      dice_(plan.seed ^ kFaults),
      model_(plan.policies, random, checks) {
  model_.hiccups = plan.weather.hiccups;
  checks.set_model(model_);
}

Model& Database::now() {
  model_.set_now(loop_.now());
  if (calm()) model_.hiccups = 0;
  return model_;
}

Database::Fate Database::choose_fate() {
  if (calm()) return Fate::well;
  const auto& weather = plan_.weather;
  auto draw = dice_.uniform();
  for (const auto& [share, fate] :
       {std::pair(weather.refused, Fate::refused), std::pair(weather.lost, Fate::lost),
        std::pair(weather.cut, Fate::cut), std::pair(weather.late, Fate::late),
        std::pair(weather.slow, Fate::slow)}) {
    if (draw < share) return fate;
    draw -= share;
  }
  return Fate::well;
}

Time Database::latency() { return dice_.time(50us, plan_.weather.latency_max); }

void Database::send(std::shared_ptr<Call> call, Time timeout) {
  call->epoch = epoch_;
  const auto fate = choose_fate();
  if (fate != Fate::well || loop_.now() < stalled_until_) checks_.trouble(call->process);
  auto travel = latency();
  if (fate == Fate::slow) travel += dice_.time(1ms, plan_.options.lease);
  if (fate == Fate::late) travel += timeout + dice_.time(1ms, plan_.options.lease * 2);
  call->deadline = loop_.now() + timeout;
  if (fate == Fate::slow || fate == Fate::late) {
    loop_.at(call->deadline, [this, call] { time_out(call); });
  }
  loop_.at(loop_.now() + travel,
           [this, call = std::move(call), fate]() mutable { arrive(std::move(call), fate); });
}

// The server is asked to cancel, which it does or not.
void Database::time_out(const std::shared_ptr<Call>& call) {
  if (call->answered) return;
  checks_.trouble(call->process);
  if (!call->done && dice_.chance(0.3)) {
    call->withdrawn = true;
    call->error = Error{.kind = ErrorKind::unavailable, .message = "cancelled on request"};
  } else {
    call->error = Error{.kind = ErrorKind::in_doubt, .message = "no answer in time"};
  }
  call->answered = true;
  call->arrived.set();
}

void Database::give_up(const std::shared_ptr<Call>& call) {
  call->answered = true;
  if (!call->done && dice_.chance(0.5)) call->withdrawn = true;
}

void Database::arrive(std::shared_ptr<Call> call, Fate fate) {
  if (call->withdrawn) return;
  if (loop_.now() < stalled_until_) {
    checks_.trouble(call->process);
    if (stalled_until_ > call->deadline) {
      loop_.at(call->deadline, [this, call] { time_out(call); });
    }
    loop_.at(stalled_until_ + dice_.time(0ms, 2ms),
             [this, call = std::move(call), fate]() mutable { arrive(std::move(call), fate); });
    return;
  }
  const bool cut = call->epoch != epoch_;  // Its connection ended with the old server.
  if (cut || loop_.now() < down_until_) {
    checks_.trouble(call->process);
    const auto kind = cut && dice_.chance(0.5) ? ErrorKind::in_doubt : ErrorKind::unavailable;
    call->error = Error{.kind = kind, .message = "the database is away"};
  } else if (fate == Fate::refused) {
    call->error = Error{.kind = ErrorKind::unavailable, .message = "refused"};
  } else if (fate == Fate::cut) {
    call->error = Error{.kind = ErrorKind::in_doubt, .message = "cut before it arrived"};
  } else {
    now();
    checks_.next_lease_goes_to(call->process);
    if (call->answered && call->verb == Verb::claim_jobs) {
      checks_.reach(Path::claim_done_after_giving_up);
    }
    call->work();
    checks_.next_lease_goes_to(-1);
    call->done = true;
    if (fate == Fate::lost) {
      call->error = Error{.kind = ErrorKind::in_doubt, .message = "the answer was lost"};
      if (call->verb == Verb::claim_jobs) checks_.reach(Path::claim_answer_lost);
      if (call->verb == Verb::register_worker) checks_.reach(Path::register_answer_lost);
      if (call->verb == Verb::settle || call->verb == Verb::settle_with) {
        checks_.reach(Path::settle_answer_lost);
      }
    }
  }
  loop_.at(loop_.now() + latency(), [this, call = std::move(call)] { answer(call); });
}

void Database::answer(const std::shared_ptr<Call>& call) {
  if (call->answered) return;
  if (call->epoch != epoch_ && !call->error) {
    checks_.trouble(call->process);
    call->error = Error{.kind = ErrorKind::in_doubt, .message = "the database went away"};
  }
  call->answered = true;
  call->arrived.set();
}

void Database::restart(Time duration) {
  checks_.note("database goes");
  checks_.trouble_all();
  checks_.reach(Path::database_restarted);
  ++epoch_;
  model_.forget_wakes();
  down_until_ = std::max(down_until_, loop_.now() + duration);
  loop_.at(down_until_, [this] {
    checks_.note("database is back");
    checks_.trouble_all();
  });
}

void Database::stall(Time duration) {
  checks_.note("database stalls");
  checks_.trouble_all();
  checks_.reach(Path::database_stalled);
  stalled_until_ = std::max(stalled_until_, loop_.now() + duration);
  loop_.at(stalled_until_, [this] {
    checks_.note("database goes on");
    checks_.trouble_all();
  });
}

// --- Link ---

Link::Link(Database& database, Checks& checks, ProcessClock& clock, const WorldPlan& plan,
           int process)
    : database_(database), checks_(checks), clock_(clock), plan_(plan), process_(process) {}

template <class T>
Task<T> Link::call(Verb verb, std::function<Result<T>(Model&)> work) {
  struct Typed final : Call {
    void work() override { result.emplace(body(*model)); }
    Model* model = nullptr;
    std::function<Result<T>(Model&)> body;
    std::optional<Result<T>> result;
  };
  auto sent = std::make_shared<Typed>();
  sent->verb = verb;
  sent->process = process_;
  sent->model = &database_.model();
  sent->body = std::move(work);
  database_.send(sent, plan_.call_timeout);
  const bool arrived = co_await sent->arrived.wait();
  if (!arrived) {
    database_.give_up(sent);
    co_return fail(ErrorKind::cancelled, "the statement was abandoned");
  }
  if (sent->error) co_return fail(*sent->error);
  co_return *std::move(sent->result);
}

Task<void> Link::ensure_job_types(std::vector<std::string>, std::string) {
  co_return co_await call<void>(Verb::ensure_job_types, [](Model&) { return ok(); });
}

Task<Uuid> Link::register_worker(std::string worker_id, store::WorkerInfo info) {
  auto nonce = co_await call<Uuid>(
      Verb::register_worker, [worker_id = std::move(worker_id), info = std::move(info)](
                                 Model& model) { return model.register_worker(worker_id, info); });
  if (nonce.has_value()) checks_.registered(process_);
  co_return nonce;
}

Task<store::BeatAnswer> Link::beat_worker(store::WorkerKey worker, store::BeatInfo) {
  auto answer = co_await call<store::BeatAnswer>(
      Verb::beat_worker,
      [worker](Model& model) -> Result<store::BeatAnswer> { return model.beat_worker(worker); });
  if (answer.has_value() && !answer->alive) checks_.declared_dead(process_);
  co_return answer;
}

Task<int> Link::retire_worker(store::WorkerKey worker) {
  auto count = co_await call<int>(Verb::retire_worker, [worker](Model& model) -> Result<int> {
    return model.retire_worker(worker);
  });
  checks_.note("retired", process_, -1, 0, count.has_value() ? "yes" : "perhaps");
  if (count.has_value() && *count > 0) checks_.reach(Path::retire_handed_back);
  co_return count;
}

Task<std::vector<store::HeldLease>> Link::unheld_leases(store::WorkerKey worker,
                                                        std::vector<LeaseToken> held) {
  using Leases = std::vector<store::HeldLease>;
  auto unheld = co_await call<Leases>(
      Verb::unheld_leases, [worker, held = std::move(held)](Model& model) -> Result<Leases> {
        return model.unheld_leases(worker, held);
      });
  if (unheld.has_value()) {
    checks_.note("unheld leases", process_, -1, unheld->size());
    for (const auto& lease : *unheld) checks_.found_unheld(process_, lease);
  }
  co_return unheld;
}

Task<int> Link::hand_back_process(std::string, std::string) { co_return 0; }

Task<std::vector<ClaimedJob>> Link::claim_jobs(store::ClaimRequest request) {
  checks_.claiming(process_, request);
  auto jobs =
      co_await call<std::vector<ClaimedJob>>(Verb::claim_jobs, [this, request](Model& model) {
        auto claimed = model.claim_jobs(request);
        checks_.claim_done(request, claimed);
        return claimed;
      });
  if (jobs.has_value()) checks_.claim_answered(process_, request, *jobs);
  co_return jobs;
}

Task<std::vector<store::ExtendAnswer>> Link::extend_leases(std::string worker_id,
                                                           std::vector<store::HeldLease> leases,
                                                           std::chrono::milliseconds extend) {
  auto answers = co_await call<std::vector<store::ExtendAnswer>>(
      Verb::extend_leases,
      [worker_id = std::move(worker_id), leases,
       extend](Model& model) -> Result<std::vector<store::ExtendAnswer>> {
        return model.extend_leases(worker_id, leases, extend);
      });
  if (answers.has_value()) {
    for (std::size_t i = 0; i < leases.size(); ++i) {
      checks_.extend_answered(process_, leases[i], (*answers)[i].extended);
    }
  }
  co_return answers;
}

Task<std::vector<JobAnswer>> Link::settle(std::string worker_id,
                                          std::vector<Settlement> settlements) {
  if (settlements.size() > 1) checks_.reach(Path::settled_in_a_batch);
  for (const auto& settlement : settlements) checks_.settling(process_, settlement, false);
  auto answers = co_await call<std::vector<JobAnswer>>(
      Verb::settle, [this, worker_id, settlements](Model& model) -> Result<std::vector<JobAnswer>> {
        for (const auto& settlement : settlements) {
          const auto& script = plan_.jobs[job_index(settlement.id)].script;
          if (script.unstorable && settlement.outcome.kind == Outcome::Kind::ok) {
            checks_.reach(Path::outcome_refused);
            return fail(ErrorKind::invalid_argument, "unsupported Unicode escape sequence");
          }
        }
        return model.settle(worker_id, settlements);
      });
  if (answers.has_value()) {
    for (std::size_t i = 0; i < settlements.size(); ++i) {
      checks_.settle_answered(process_, settlements[i], (*answers)[i].answer);
    }
  }
  co_return answers;
}

Task<Answer> Link::settle_with(std::string worker_id, Settlement settlement,
                               std::vector<SqlStatement> statements) {
  checks_.settling(process_, settlement, true);
  const bool breaks = statements.at(0).sql == "fail";
  auto answer = co_await call<Answer>(
      Verb::settle_with, [this, worker_id, settlement, breaks](Model& model) -> Result<Answer> {
        if (!model.lives(settlement.id, settlement.token)) {
          return model.settle(worker_id, {settlement}).front().answer;
        }
        if (breaks) {
          checks_.reach(Path::statements_failed);
          return fail(ErrorKind::conflict, "duplicate key value");
        }
        const auto settled = model.settle(worker_id, {settlement}).front().answer;
        if (settled == Answer::settled) checks_.statement_ran(settlement.id, settlement.token);
        return settled;
      });
  if (answer.has_value()) checks_.settle_answered(process_, settlement, *answer);
  co_return answer;
}

Task<std::vector<store::ProgressAnswer>> Link::report_progress(
    std::string worker_id, std::vector<store::ProgressItem> items) {
  auto answers = co_await call<std::vector<store::ProgressAnswer>>(
      Verb::report_progress,
      [worker_id = std::move(worker_id),
       items](Model& model) -> Result<std::vector<store::ProgressAnswer>> {
        return model.report_progress(worker_id, items);
      });
  if (answers.has_value()) {
    for (const auto& answer : *answers) {
      if (!answer.held) checks_.reach(Path::progress_of_stale_delivery);
    }
  }
  co_return answers;
}

Task<int> Link::append_logs(std::string worker_id, std::vector<store::JobLogItem> items) {
  co_return co_await call<int>(
      Verb::append_logs,
      [worker_id = std::move(worker_id), items = std::move(items)](Model& model) -> Result<int> {
        return model.append_logs(worker_id, items);
      });
}

// --- The keeper's side ---

Task<bool> Link::elect(std::string duty, std::string holder, std::chrono::milliseconds ttl) {
  co_return co_await call<bool>(
      Verb::elect,
      [duty = std::move(duty), holder = std::move(holder), ttl](Model& model) -> Result<bool> {
        return model.elect(duty, holder, ttl);
      });
}

Task<void> Link::resign(std::string duty, std::string holder) {
  checks_.reach(Path::keeper_resigned);
  co_return co_await call<void>(Verb::resign,
                                [duty = std::move(duty), holder = std::move(holder)](Model& model) {
                                  model.resign(duty, holder);
                                  return ok();
                                });
}

Task<std::int64_t> Link::duty(std::function<int(Model&)> work) {
  checks_.duty(process_);
  co_return co_await call<std::int64_t>(
      Verb::duty,
      [work = std::move(work)](Model& model) -> Result<std::int64_t> { return work(model); });
}

Task<std::int64_t> Link::reclaim(int limit) {
  return duty([limit](Model& model) { return model.reclaim(limit); });
}
Task<std::int64_t> Link::promote_due(int limit) {
  return duty([limit](Model& model) { return model.promote_due(limit); });
}
Task<std::int64_t> Link::advance(int limit) {
  return duty([limit](Model& model) { return model.advance(limit); });
}
Task<std::int64_t> Link::expire_waiting(int limit) {
  return duty([limit](Model& model) { return model.expire_waiting(limit); });
}
Task<std::int64_t> Link::expire_slots(int limit) {
  return duty([limit](Model& model) { return model.expire_slots(limit); });
}
Task<std::int64_t> Link::run_cron(int) { co_return 0; }
Task<std::int64_t> Link::fold_counters() { co_return 0; }
Task<std::string> Link::reconcile(int limit) {
  co_return co_await call<std::string>(Verb::duty, [limit](Model& model) -> Result<std::string> {
    model.recheck_blocked(limit);
    return "{}";
  });
}
Task<std::int64_t> Link::empty_intake() { co_return 0; }
Task<std::int64_t> Link::expire_keys(int) { co_return 0; }
Task<std::string> Link::maintain_partitions() { co_return "{}"; }
Task<std::int64_t> Link::seal_audit(int) { co_return 0; }
Task<std::vector<store::HorizonHolder>> Link::horizon() {
  co_return std::vector<store::HorizonHolder>();
}

Task<bool> Link::wait(std::chrono::milliseconds timeout) {
  if (!hint_.is_set() && timeout > 0ms) co_await (hint_.wait() || clock_.sleep_for(timeout));
  const bool hinted = hint_.is_set();
  hint_.reset();
  if (hinted) checks_.reach(Path::woken_by_hint);
  co_return hinted;
}

}  // namespace millrace::sim
