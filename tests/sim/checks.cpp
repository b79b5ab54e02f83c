#include "sim/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::sim {

namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

constexpr std::string_view kLeaseLost = "lease_lost";
constexpr std::string_view kCancelReason = "cancelled";

// What a calm process may take for what needs no more than a few calls.
constexpr Time kPromptly = 1s;

}  // namespace

Checks::Checks(const WorldPlan& plan, const Loop& loop, Coverage& coverage, bool trace)
    : plan_(plan), loop_(loop), coverage_(coverage), trace_(trace) {
  jobs_.resize(plan.jobs.size());
  deliveries_.resize(1);  // Tokens are counted from 1.
  grants_.resize(plan.policies.limits.size());
}

void Checks::note(const char* what, int process, int job, std::uint64_t token,
                  std::string_view more) {
  const auto mix = [this](std::uint64_t value) { digest_ = (digest_ ^ value) * 0x100000001b3ULL; };
  mix(static_cast<std::uint64_t>(loop_.now().count()));
  for (const auto* letter = what; *letter != '\0'; ++letter)
    mix(static_cast<unsigned char>(*letter));
  mix(static_cast<std::uint64_t>(process));
  mix(static_cast<std::uint64_t>(job));
  mix(token);
  for (const auto letter : more) mix(static_cast<unsigned char>(letter));
  if (!trace_) return;
  notes_.push_back({.at = loop_.now(),
                    .what = what,
                    .process = process,
                    .job = job,
                    .token = token,
                    .more = std::string(more)});
}

void Checks::heard(int process, std::string_view line) {
  if (trace_) {
    notes_.push_back(
        {.at = loop_.now(), .what = "log", .process = process, .more = std::string(line)});
  }
}

void Checks::violate(std::string_view property, std::string detail,
                     std::optional<std::size_t> job) {
  if (violation_) return;
  note("VIOLATION", -1, job ? static_cast<int>(*job) : -1, 0, property);
  violation_ = {.property = std::string(property), .detail = std::move(detail), .job = job};
}

std::string Checks::print(const Note& note) const {
  auto line = fmt::format("{:>11.6f}s ", std::chrono::duration<double>(note.at).count());
  line += fmt::format(
      "{:<10} ", note.process < 0 ? "" : processes_[static_cast<std::size_t>(note.process)].name);
  line += note.job < 0 ? std::string(7, ' ') : fmt::format("job {:<3}", note.job);
  line += note.token == 0 ? std::string(6, ' ') : fmt::format(" #{:<4}", note.token);
  line += fmt::format(" {}", note.what);
  if (!note.more.empty()) line += fmt::format(" {}", note.more);
  return line;
}

// What happened to the job, to the processes that had it, and to the database.
std::string Checks::report() const {
  if (!violation_) return "no violation";
  auto text = fmt::format("seed {}: violates {}: {}\n", plan_.seed, violation_->property,
                          violation_->detail);
  std::vector<bool> concerned(processes_.size(), !violation_->job);
  if (violation_->job) {
    for (const auto& delivery : deliveries_) {
      if (delivery.process >= 0 && delivery.job == *violation_->job) {
        concerned[static_cast<std::size_t>(delivery.process)] = true;
      }
    }
  }
  for (const auto& note : notes_) {
    const bool of_job =
        violation_->job && note.job >= 0 && static_cast<std::size_t>(note.job) == *violation_->job;
    // Claims without end say nothing; those that brought the job are notes of the job.
    const bool of_process = note.job < 0 && std::string_view(note.what) != "claims" &&
                            (note.process < 0 || concerned[static_cast<std::size_t>(note.process)]);
    if (of_job || of_process || !violation_->job) text += print(note) + '\n';
  }
  return text;
}

// --- Processes ---

int Checks::add_process(std::string name, bool keeper) {
  processes_.push_back({.name = std::move(name), .keeper = keeper});
  const int number = static_cast<int>(processes_.size()) - 1;
  note("starts", number);
  return number;
}

void Checks::paused(int number, bool frozen) {
  auto& record = process(number);
  record.paused = true;
  record.was_paused = true;
  if (frozen) record.was_frozen = true;
  record.paused_at = loop_.now();
  record.troubled_at = loop_.now();
  note(frozen ? "freezes" : "stops", number);
}

void Checks::resumed(int number) {
  auto& record = process(number);
  record.paused = false;
  record.paused_at = loop_.now();
  record.troubled_at = loop_.now();
  note("continues", number);
}

void Checks::trouble(int number) { process(number).troubled_at = loop_.now(); }

void Checks::trouble_all() {
  for (auto& record : processes_) record.troubled_at = loop_.now();
}

// And for long enough before that no lease is still shortened by what went wrong then.
bool Checks::calm_since(const ProcessRecord& process, Time time) const {
  const auto before = std::max<Time>(Time(0), time - 3 * plan_.options.lease - plan_.call_timeout);
  return plan_.weather.slowness == 0 && !process.paused && process.troubled_at < before;
}

void Checks::process_gone(int number, bool killed) {
  auto& record = process(number);
  record.gone = true;
  record.killed = killed;
  note(killed ? "dies" : "leaves", number);
}

DeliveryRecord* Checks::delivery(LeaseToken token) {
  const auto number = number_of(token.value);
  return number < deliveries_.size() ? &deliveries_[number] : nullptr;
}

// --- The database ---

void Checks::enqueued(const Job& job) {
  const auto index = job_index(job.id);
  if (jobs_[index].exists) violate("lost_job", "a job was enqueued twice", index);
  jobs_[index].exists = true;
  ++unfinished_;
  note("enqueued", -1, static_cast<int>(index));
}

void Checks::leased(const Job& job) {
  const auto index = job_index(job.id);
  const auto number = number_of(job.token.value);
  note("leased", claimer_, static_cast<int>(index), number);
  auto& record = jobs_[index];
  if (record.ended) violate("one_outcome", "a job that has ended was handed out", index);
  if (record.last_token != 0 && deliveries_[record.last_token].lives) {
    violate("one_lease", "a job with a live lease was handed out again", index);
  }
  deliveries_.resize(number + 1);
  deliveries_[number] = {.job = index,
                         .generation = job.generation,
                         .process = claimer_,
                         .alone = job.alone,
                         .leased_at = loop_.now(),
                         .worker_id = job.worker_id};
  if (claimer_ >= 0) process(claimer_).deliveries.push_back(number);
  record.last_token = number;
  if (!plan_.jobs[index].spec.after.empty()) reach(Path::dependent_released);
  check_keys(job);
}

// Serial keys one at a time and in order; keys and queues within their numbers.
void Checks::check_keys(const Job& job) {
  const auto index = job_index(job.id);
  const auto& queue = plan_.policies.queues[static_cast<std::size_t>(job.queue)];
  int in_queue = 0;
  int with_key = 0;
  for (const auto& other : model_->jobs()) {
    const auto& record = jobs_[job_index(other.id)];
    if (other.queue != job.queue || record.ended || !record.exists) continue;
    const bool runs = record.last_token != 0 && deliveries_[record.last_token].lives;
    if (runs) ++in_queue;
    if (runs && !job.concurrency_key.empty() && other.concurrency_key == job.concurrency_key) {
      ++with_key;
    }
    if (job.serial_key.empty() || other.serial_key != job.serial_key || other.id == job.id)
      continue;
    if (runs) violate("serial_order", "two jobs of a serial key run at once", index);
    if (other.seq < job.seq) {
      violate("serial_order",
              fmt::format("job {} of the same key comes first", job_index(other.id)), index);
    }
  }
  if (queue.concurrency_max && in_queue > *queue.concurrency_max) {
    violate("queue_concurrency", "more jobs of a queue run than it allows", index);
  }
  if (queue.key_concurrency_max && with_key > *queue.key_concurrency_max) {
    violate("key_concurrency", "more jobs of a key run than the queue allows", index);
  }
}

void Checks::unleased(const Job& job, LeaseToken token, std::string_view outcome) {
  const auto index = job_index(job.id);
  const auto number = number_of(token.value);
  auto& record = jobs_[index];
  auto& ended = deliveries_[number];
  note(outcome == "lost" ? "reclaimed" : "settled", ended.process, static_cast<int>(index), number,
       outcome);
  if (!ended.lives || number != record.last_token) {
    violate("stale_accepted", "a delivery that had lost its lease was settled", index);
  }
  ended.lives = false;
  if (outcome != "lost" || ended.process < 0) return;
  auto& holder = process(ended.process);
  if (ended.alone) ++record.lost_alone;
  reach(holder.killed || holder.paused ? Path::process_reclaimed : Path::deadline_reclaimed);
  // One that was told to leave at once may not even have had the time to say goodbye.
  const bool in_a_hurry = holder.gone && holder.hurried;
  if (!holder.killed && !in_a_hurry && calm_since(holder, ended.leased_at)) {
    violate(holder.gone ? "drain_charged" : "falsely_lost",
            "a process that was well had a delivery taken away", index);
  }
}

void Checks::ended(const Job& job, const Ending& ending) {
  const auto index = job_index(job.id);
  auto& record = jobs_[index];
  note("ends", -1, static_cast<int>(index), number_of(ending.token.value),
       fmt::format("{} {}", to_string(ending.status), ending.reason));
  if (record.ended) violate("one_outcome", "a job ended twice", index);
  record.ended = true;
  --unfinished_;
  check_ending(job, ending);
}

void Checks::check_ending(const Job& job, const Ending& ending) {
  const auto index = job_index(job.id);
  const auto& record = jobs_[index];
  const auto& queue = plan_.policies.queues[static_cast<std::size_t>(job.queue)];
  const auto& type = plan_.policies.types[static_cast<std::size_t>(job.type)];
  const int most = job.max_attempts.value_or(type.max_attempts.value_or(queue.max_attempts));
  if (ending.attempt > most) {
    violate("budget", fmt::format("{} attempts of {}", ending.attempt, most), index);
  }
  const auto wrong = [&](std::string_view why) { violate("wrong_end", std::string(why), index); };
  const auto& script_of = script(index);
  if (ending.status == JobStatus::completed) {
    const auto& last = deliveries_[number_of(ending.token.value)];
    if (!last.returned || last.outcome != Kind::ok || last.told_at_return) {
      wrong("completed without a handler that succeeded");
    }
    if (ending.generation > 1) reach(Path::redriven_completed);
    if (job.suspect()) reach(Path::innocent_suspect_completed);
  } else if (ending.status == JobStatus::cancelled) {
    if (!record.cancel_wanted && plan_.jobs[index].spec.after.empty()) {
      wrong("cancelled although nobody wanted it");
    }
    if (!plan_.jobs[index].spec.after.empty() && !record.cancel_wanted) {
      reach(Path::dependent_cancelled);
    }
  } else if (ending.reason == "poison") {
    reach(Path::poisoned);
    if (record.lost_alone < 3) {
      violate("false_poison", fmt::format("lost {} times while alone", record.lost_alone), index);
    }
  } else if (ending.reason.starts_with("exceeded_max_retries")) {
    reach(Path::attempts_used_up);
    if (ending.attempt < most) wrong("failed before its attempts were used up");
  } else if (ending.reason == "expired") {
    reach(Path::expired);
    const bool may = plan_.jobs[index].spec.start_within || job.snoozes > queue.max_snoozes ||
                     loop_.now() - job.born_at > queue.max_age;
    if (!may) wrong("expired without a deadline");
  } else if (script_of.first != Script::End::permanent && !script_of.unstorable) {
    wrong("failed for good although its handler never said so");
  }
}

void Checks::redriven(const Job& job) {
  const auto index = job_index(job.id);
  note("redriven", -1, static_cast<int>(index));
  reach(Path::redriven);
  auto& record = jobs_[index];
  record.ended = false;
  record.generation = job.generation;
  record.statements = 0;
  record.lost_alone = 0;
  ++unfinished_;
}

void Checks::granted(int provider) {
  auto& grants = grants_[static_cast<std::size_t>(provider)];
  const auto& limit = plan_.policies.limits[static_cast<std::size_t>(provider)];
  grants.push_back(loop_.now());
  const auto within = [&](std::optional<int> most, Time window) {
    if (!most) return true;
    const auto from = loop_.now() - window;
    const auto count = std::ranges::count_if(grants, [&](Time at) { return at > from; });
    return count <= *most;
  };
  if (!within(limit.requests_per_minute, limit.minute_window) ||
      !within(limit.requests_per_hour, limit.hour_window)) {
    violate("limit_exceeded", "more requests in a window than the provider allows");
  }
  if (!limit.concurrent_requests) return;
  const auto running = std::ranges::count_if(deliveries_, [&](const DeliveryRecord& delivery) {
    return delivery.process >= 0 && delivery.lives &&
           plan_.policies.types[static_cast<std::size_t>(plan_.jobs[delivery.job].spec.type)]
                   .provider == provider;
  });
  if (running > *limit.concurrent_requests) {
    violate("limit_exceeded", "more concurrent requests than the provider allows");
  }
}

void Checks::statement_ran(JobId id, LeaseToken token) {
  const auto index = job_index(id);
  note("statement", -1, static_cast<int>(index), number_of(token.value));
  reach(Path::statements_committed);
  if (++jobs_[index].statements > 1) {
    violate("effects_once", "the statements of a job were committed twice", index);
  }
}

// --- What a process asks and is told ---

void Checks::registered(int number) {
  auto& record = process(number);
  note("registered", number);
  record.registered_at = loop_.now();
  if (++record.registrations == 1) return;
  reach(Path::registered_again);
  if (!std::exchange(record.told_dead, false)) reach(Path::lost_by_own_clock);
}

void Checks::declared_dead(int number) {
  note("is told that it is dead", number);
  process(number).told_dead = true;
  process(number).told_dead_at = loop_.now();
  reach(Path::declared_dead);
  // One that leaves may find itself gone: a beat was under way when it retired.
  if (process(number).drained_at < Time(0) && calm_since(process(number), loop_.now())) {
    violate("falsely_lost", "a process that was well was declared dead");
  }
}

// Why a claim found less than it asked for.
void Checks::claim_done(const store::ClaimRequest& request,
                        const Result<std::vector<ClaimedJob>>& claimed) {
  if (!claimed.has_value() || static_cast<int>(claimed->size()) == request.limit) return;
  for (const auto& job : model_->jobs()) {
    const auto& queue = plan_.policies.queues[static_cast<std::size_t>(job.queue)];
    if (job.place == Place::delayed && job.reason == WaitReason::serial) reach(Path::serial_parked);
    if (job.place == Place::delayed && job.reason == WaitReason::concurrency) {
      reach(Path::key_concurrency_parked);
    }
    if (job.place != Place::ready || queue.name != request.queue || request.marks) continue;
    if (queue.concurrency_max) reach(Path::queue_concurrency_full);
    const auto provider = plan_.policies.types[static_cast<std::size_t>(job.type)].provider;
    if (!provider) continue;
    reach(Path::limit_refused);
    const auto& limiter = model_->limiters()[static_cast<std::size_t>(*provider)];
    const auto most = limiter.policy().concurrent_requests;
    if (most && static_cast<int>(limiter.slots()) >= *most) reach(Path::concurrent_limit_full);
    if (limiter.breaker() == Limiter::Breaker::open) reach(Path::breaker_opened);
    if (limiter.breaker() == Limiter::Breaker::half_open) reach(Path::breaker_probed);
    if (limiter.throttled_until() > loop_.now()) reach(Path::provider_throttled);
  }
}

// Two keepers at once do no harm, but one of them must think that its time is over.
void Checks::duty(int number) {
  const auto& own = process(number);
  if (own.was_paused) reach(Path::zombie_keeper_worked);
  if (std::exchange(last_keeper_, number) != number) reach(Path::keeper_took_over);
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const auto& other = processes_[i];
    if (!other.keeper || other.gone || other.paused || static_cast<int>(i) == number) continue;
    if (own.was_frozen || other.was_frozen || own.was_paused || !leads(static_cast<int>(i)))
      continue;
    violate("two_keepers", fmt::format("{} and {} lead", own.name, other.name));
  }
}

bool Checks::open(const DeliveryRecord& delivery) { return delivery.started && !delivery.returned; }

bool Checks::unsettled(const DeliveryRecord& delivery) {
  if (!delivery.returned || delivery.answered) return false;
  return !delivery.told_at_return || delivery.cancel.reason() != kLeaseLost;
}

void Checks::claiming(int number, const store::ClaimRequest& request) {
  note("claims", number, -1, 0,
       fmt::format("{} of {}{}", request.limit, request.queue, request.alone ? " alone" : ""));
  auto& record = process(number);
  int held = 0;
  std::erase_if(record.deliveries, [&](std::uint64_t token) {
    const auto& delivery = deliveries_[token];
    return delivery.answered && (delivery.returned || !delivery.started);
  });
  for (const auto token : record.deliveries) {
    const auto& delivery = deliveries_[token];
    const bool waits = delivery.received && !delivery.started && !delivery.sent &&
                       !delivery.dropped && !excused(delivery) &&
                       // On its way back: nobody wants it any more, or it has waited for too long.
                       !jobs_[delivery.job].cancel_wanted &&
                       loop_.now() - delivery.received_at <= plan_.options.prefetch_age_max &&
                       delivery.worker_id == request.worker.worker_id;
    if (open(delivery) || waits) ++held;
  }
  const int most = plan_.options.slots + plan_.options.prefetch;
  if (!request.alone && held + request.limit > most) {
    violate("over_claim",
            fmt::format("holds {}, asks for {}, has use for {}", held, request.limit, most));
  }
}

void Checks::claim_answered(int number, const store::ClaimRequest& request,
                            const std::vector<ClaimedJob>& jobs) {
  if (static_cast<int>(jobs.size()) > request.limit) {
    violate("over_claim", "got more jobs than it asked for");
  }
  for (const auto& job : jobs) {
    auto* record = delivery(job.token);
    record->received = true;
    record->received_at = loop_.now();
    note("received", number, static_cast<int>(job_index(job.id)), number_of(job.token.value));
    if (job.carry_json) reach(Path::carry_delivered);
    if (process(number).drained_at >= Time(0)) reach(Path::claim_under_way_at_drain);
  }
}

// Empty when the settlement says what this delivery deserves.
std::string Checks::why_undeserved(const DeliveryRecord& delivery, const Settlement& sent) const {
  const auto kind = sent.outcome.kind;
  if (!delivery.started) {
    if (kind == Kind::handback) return {};
    if (kind == Kind::cancelled && jobs_[delivery.job].cancel_wanted) return {};
    return "it was never started";
  }
  if (delivery.cancel.cancelled() && (!delivery.returned || delivery.told_at_return)) {
    const auto reason = delivery.cancel.reason();
    if (reason == kLeaseLost) return "its lease was lost";
    if (reason.starts_with("the job ran longer")) {
      return kind == Kind::retry ? "" : "its time was up";
    }
    if (reason.starts_with("the worker")) {
      return kind == Kind::handback ? "" : "it was stopped by a drain";
    }
    return kind == Kind::cancelled ? "" : "it was cancelled";
  }
  if (!delivery.returned) return "its handler still runs";
  if (kind == delivery.outcome) return {};
  if (kind == Kind::permanent && script(delivery.job).unstorable) return {};
  if (kind == Kind::retry && script(delivery.job).statement_fails) return {};
  return fmt::format("its handler said {}", to_string(delivery.outcome));
}

void Checks::settling(int number, const Settlement& settlement, bool with_statements) {
  const auto index = job_index(settlement.id);
  auto* record = delivery(settlement.token);
  note("settles", number, static_cast<int>(index), number_of(settlement.token.value),
       to_string(settlement.outcome.kind));
  if (record == nullptr || record->job != index || record->process != number) {
    violate("wrong_result", "settles a delivery that it never had", index);
    return;
  }
  if (const auto why = why_undeserved(*record, settlement); !why.empty()) {
    violate("wrong_result",
            fmt::format("settles #{} as {} although {}", number_of(settlement.token.value),
                        to_string(settlement.outcome.kind), why),
            index);
  }
  if (record->sent && record->answered) {
    violate("wrong_result", "settles again what was answered", index);
  }
  const auto& holder = process(number);
  const bool prefetched =
      record->received && !record->started && !record->sent && holder.drained_at < Time(0);
  if (prefetched && settlement.outcome.kind == Kind::handback) reach(Path::prefetch_returned);
  if (prefetched && settlement.outcome.kind == Kind::cancelled) {
    reach(Path::cancelled_while_prefetched);
  }
  if (!record->started && holder.drained_at >= Time(0) &&
      settlement.outcome.kind == Kind::handback) {
    reach(Path::drain_handed_back);
  }
  if (record->started && holder.drained_at >= Time(0) &&
      settlement.outcome.kind == Kind::handback) {
    reach(Path::drain_stopped_handler);
  }
  if (prefetched && calm_since(holder, record->received_at)) {
    const auto patience = plan_.options.prefetch_age_max + kPromptly;
    if (loop_.now() - record->received_at > patience) {
      violate("prefetch_kept", "a job waited for a slot longer than prefetch_age_max", index);
    }
  }
  record->sent = true;
  record->sent_kind = settlement.outcome.kind;
  if (with_statements && settlement.outcome.kind != Kind::ok &&
      settlement.outcome.kind != Kind::partial) {
    violate("wrong_result", "statements with an outcome that is no success", index);
  }
}

void Checks::settle_answered(int number, const Settlement& settlement, Answer answer) {
  const auto index = job_index(settlement.id);
  note("answered", number, static_cast<int>(index), number_of(settlement.token.value),
       to_string(answer));
  auto* record = delivery(settlement.token);
  record->answered = true;
  if (record->lives) violate("answer", "answered although the lease still lives", index);
  const auto& holder = process(number);
  if (answer == Answer::already_settled) reach(Path::settle_found_already_settled);
  if (answer == Answer::lease_lost || answer == Answer::cancelled) {
    reach(Path::settle_fenced);
    if (holder.paused_at >= record->leased_at) {
      reach(holder.was_frozen ? Path::frozen_process_fenced : Path::zombie_fenced);
    }
    const bool in_time =
        holder.drained_at < Time(0) ||
        (!holder.hurried && loop_.now() < holder.drained_at + plan_.options.drain_timeout);
    if (settlement.outcome.kind != Kind::handback && in_time &&
        calm_since(holder, record->leased_at) && !jobs_[index].cancel_wanted) {
      violate("falsely_lost", "a result of a process that was well was refused", index);
    }
  }
}

// The claim that took it was not answered, or the process had given it up.
void Checks::found_unheld(int number, const store::HeldLease& lease) {
  note("finds unheld", number, static_cast<int>(job_index(lease.id)), number_of(lease.token.value));
  reach(Path::unheld_found);
}

void Checks::extend_answered(int number, const store::HeldLease& lease, bool extended) {
  auto* record = delivery(lease.token);
  note("extended", number, static_cast<int>(job_index(lease.id)), number_of(lease.token.value),
       extended ? "yes" : "no");
  if (extended) {
    reach(Path::lease_extended);
  } else if (!record->started) {
    record->dropped = true;
  }
}

// --- Handlers ---

// A delivery whose process could not know better: it stood still. One whose clock stood still as
// well believes in its lease until a beat tells it otherwise.
bool Checks::excused(const DeliveryRecord& delivery) const {
  const auto& holder = processes_[static_cast<std::size_t>(delivery.process)];
  if (holder.was_frozen && holder.paused_at >= holder.registered_at) return true;
  return plan_.weather.slowness > 0 || holder.paused || holder.gone ||
         holder.paused_at >= delivery.leased_at;
}

// One that is slow, or was stopped since, may have the answer and not yet have come to it.
bool Checks::knew_its_death(const ProcessRecord& process) const {
  return plan_.weather.slowness == 0 && process.told_dead_at >= Time(0) &&
         process.paused_at < process.told_dead_at && process.told_dead_at < loop_.now();
}

void Checks::handler_started(int number, const ClaimedJob& job, CancelToken cancel, Time ends_at) {
  const auto index = job_index(job.id);
  const auto token = number_of(job.token.value);
  note("runs", number, static_cast<int>(index), token);
  auto& record = deliveries_[token];
  if (record.started) violate("one_run", "a delivery was run twice", index);
  if (record.process != number) violate("one_run", "a delivery was run by a stranger", index);
  record.started = true;
  record.started_at = loop_.now();
  record.cancel = std::move(cancel);
  record.ends_at = ends_at;
  const auto& holder = process(number);
  if (holder.drained_at >= Time(0) && holder.paused_at < holder.drained_at &&
      holder.drained_at < loop_.now() && plan_.weather.slowness == 0) {
    violate("drain_starts", "a process that drains started a job", index);
  }
  const auto row = std::ranges::find(model_->workers(), record.worker_id, &WorkerRow::worker_id);
  const bool leases = row != model_->workers().end() && row->lease_until >= loop_.now();
  if (!leases && !holder.was_frozen) {
    violate("late_start", "a process started a job after its lease had ended", index);
  }
  if (holder.told_dead && knew_its_death(holder)) {
    violate("told_dead", "a process that was told that it is dead started a job", index);
  }
  if (loop_.now() > record.received_at) reach(Path::prefetched);
  if (calm_since(holder, record.received_at) &&
      loop_.now() - record.received_at > plan_.options.prefetch_age_max + kPromptly) {
    violate("prefetch_kept", "a job waited for a slot longer than prefetch_age_max", index);
  }
  check_slots(number, index);
  check_holders(record, token);
  check_alone(number, record, job);
}

// A slot is free again only when the handler has returned, and nothing is started while too many
// results are not durable.
void Checks::check_slots(int number, std::size_t job) {
  int used = 0;
  int results = 0;
  for (const auto token : process(number).deliveries) {
    if (open(deliveries_[token])) ++used;
    if (unsettled(deliveries_[token])) ++results;
  }
  if (used > plan_.options.slots) {
    violate("slot_freed_early", fmt::format("{} jobs on {} slots", used, plan_.options.slots), job);
  }
  const int most = plan_.options.unsettled_max;
  if (most > 0 && results >= most) {
    violate("unsettled", fmt::format("started while {} results wait, of {}", results, most), job);
  }
}

// Of two that run a job, the one without the lease must have told its handler to stop, unless it
// stood still.
void Checks::check_holders(const DeliveryRecord& started, std::uint64_t token) {
  if (!started.lives && excused(started)) return;
  for (std::size_t i = 1; i < deliveries_.size(); ++i) {
    const auto& other = deliveries_[i];
    if (i == token || other.job != started.job || !other.started || other.returned) continue;
    if (other.process < 0 || other.cancel.cancelled()) continue;
    if (!started.lives) {
      violate("two_runs", fmt::format("starts without a lease while #{} runs it", i), started.job);
    } else if (!excused(other)) {
      violate("two_runs", fmt::format("#{} still runs it, not told to stop", i), started.job);
    }
  }
}

void Checks::check_alone(int number, const DeliveryRecord& started, const ClaimedJob& job) {
  if (job.alone) reach(Path::suspect_ran_alone);
  for (const auto token : process(number).deliveries) {
    const auto& other = deliveries_[token];
    if (&other == &started || !other.started || other.returned) continue;
    if (other.sent) continue;  // Given up: nobody waits for a handler that does not stop.
    if (job.alone || other.alone) {
      violate("not_alone", fmt::format("#{} runs beside it", token), started.job);
    }
  }
}

void Checks::handler_returned(int number, const ClaimedJob& job, Outcome::Kind outcome) {
  auto* record = delivery(job.token);
  record->returned = true;
  record->told_at_return = record->cancel.cancelled();
  record->outcome = outcome;
  note("returns", number, static_cast<int>(job_index(job.id)), number_of(job.token.value),
       record->told_at_return ? record->cancel.reason() : std::string(to_string(outcome)));
  const auto& holder = process(number);
  if (!record->told_at_return && record->started_at <= holder.told_dead_at &&
      knew_its_death(holder)) {
    violate("told_dead", "a process that was told that it is dead let a job run on",
            job_index(job.id));
  }
  if (!record->told_at_return) return;
  if (record->sent) reach(Path::handler_ignored_stop);
  const auto reason = record->cancel.reason();
  if (reason.starts_with("the job ran longer")) reach(Path::run_timed_out);
  if (reason == kCancelReason) reach(Path::cancelled_while_running);
}

// --- The end ---

void Checks::at_the_end() {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto& record = jobs_[i];
    const auto* job = model_->find(job_id(i));
    if (record.exists != (job != nullptr)) violate("lost_job", "a job is not there", i);
    if (!record.exists || job == nullptr) continue;
    if (!record.ended) violate("lost_job", "a job has not ended", i);
    if (job->place != Place::history) continue;
    const bool completed = job->history.back().status == JobStatus::completed;
    const int wanted = completed && script(i).statement ? 1 : 0;
    if (record.statements != wanted) {
      violate("effects_once",
              fmt::format("{} ledger entries, {} expected", record.statements, wanted), i);
    }
    if (script(i).follow_up) {
      const bool follows = model_->find(*script(i).follow_up) != nullptr;
      const bool ever = std::ranges::any_of(
          job->history, [](const Ending& ending) { return ending.status == JobStatus::completed; });
      if (follows != ever) violate("effects_once", "follow-up and success differ", i);
      if (follows) reach(Path::follow_up_enqueued);
    }
  }
  for (const auto& delivery : deliveries_) {
    if (delivery.process >= 0 && delivery.lives) {
      violate("leaked_lease", "a lease outlived everything", delivery.job);
    }
  }
  if (plan_.callback) {
    if (model_->find(job_id(*plan_.callback)) == nullptr) {
      violate("lost_job", "the callback of a batch was not enqueued", *plan_.callback);
    } else {
      reach(Path::batch_finished);
    }
  }
}

}  // namespace millrace::sim
