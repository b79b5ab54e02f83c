#include "api/routes/remote.h"

#include "api/call.h"
#include "api/routes/remote_claim.h"
#include "base/redact.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::RemoteWorker;

constexpr std::uint64_t kSettleBytes = 8 * 1024 * 1024;
constexpr std::uint64_t kReportBytes = 8 * 1024 * 1024;
constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};

OperationHandler handler(Task<Reply> (*verb)(Call& call, RemotePartsPtr parts),
                         const RemotePartsPtr& parts) {
  return [verb, parts](Call& call) { return verb(call, parts); };
}

// A member of the body as it was written.
std::string raw_body(const Call& call, std::string_view name) {
  return call.json(name).value_or("[]");
}

// The name is for people and may be anybody's; the rest makes it this process's own, so that a
// registration whose answer was lost is simply made again.
std::string new_worker_id(const Call& call, Random& random) {
  return fmt::format("{}-{:08x}", call.text("name").value_or("remote"),
                     static_cast<std::uint32_t>(random.next()));
}

Task<Reply> enlist(Call& call, RemotePartsPtr parts) {
  const std::chrono::seconds lease(call.integer("lease_seconds").value_or(30));
  store::WorkerInfo info{.host = call.text("host").value_or("unknown"),
                         .pid = static_cast<int>(call.integer("pid").value_or(0)),
                         .version = call.text("version").value_or("unknown"),
                         .slots = static_cast<int>(call.integer("slots").value_or(1)),
                         .queues = text_list(call.member("queues")),
                         .job_types = text_list(call.member("job_types")),
                         .lease = lease};
  auto id = new_worker_id(call, parts->random);
  MR_CO_TRY(const auto process,
            co_await parts->store.register_worker(call.context(), id, std::move(info),
                                                  credentials_id(call.caller)));
  call.note("worker_id", id);
  co_return Reply::json(
      json::Object{
          {"worker_id", id}, {"process", process.to_string()}, {"lease_seconds", lease.count()}},
      201);
}

json::Array cancel_json(const std::vector<store::CancelRequest>& requests) {
  json::Array out;
  for (const auto& request : requests) {
    out.push_back(json::Object{{"job_id", request.id.to_string()},
                               {"token", request.token.to_string()},
                               {"reason", request.reason}});
  }
  return out;
}

std::vector<store::HeldLease> leases_in(const Call& call) {
  std::vector<store::HeldLease> out;
  const auto* list = call.member("leases");
  if (list == nullptr) return out;
  for (const auto& item : list->as_array()) {
    out.push_back({.id = *JobId::parse(item.at("job_id").as_string()),
                   .token = *LeaseToken::parse(item.at("token").as_string())});
  }
  return out;
}

Task<Reply> extend(Call& call, RemotePartsPtr parts) {
  const auto worker = worker_of(call);
  const auto* draining = call.member("draining");
  store::BeatInfo info{.running = static_cast<int>(call.integer("running").value_or(0)),
                       .draining = draining != nullptr && draining->get_bool()};
  MR_CO_TRY(const auto beat,
            co_await parts->store.beat_worker(call.context(), worker, std::move(info)));
  if (!beat.alive) co_return not_registered(worker);
  json::Array leases;
  auto held = leases_in(call);
  if (!held.empty()) {
    const std::chrono::seconds more(call.integer("extend_seconds").value_or(300));
    MR_CO_TRY(const auto answers,
              co_await parts->store.extend_leases(call.context(), worker, std::move(held), more));
    for (const auto& answer : answers) {
      leases.push_back(json::Object{{"job_id", answer.id.to_string()},
                                    {"held", answer.extended},
                                    {"cancel_requested", answer.cancel_requested}});
    }
  }
  co_return Reply::json(
      json::Object{{"lease_seconds", std::chrono::duration<double>(beat.lease).count()},
                   {"cancel", cancel_json(beat.cancel)},
                   {"leases", std::move(leases)}});
}

Task<Reply> claim(Call& call, RemotePartsPtr parts) {
  MR_CO_TRY(auto claimed, co_await claim_for(call, parts));
  std::string body = R"({"jobs":[)";
  for (bool first = true; const auto& job : claimed.jobs) {
    if (!first) body += ',';
    first = false;
    body += claimed_json(job);
  }
  call.note("jobs", claimed.jobs.size());
  body += fmt::format(R"(],"cancel":{}}})", to_json(cancel_json(claimed.cancel)));
  co_return Reply::json_text(std::move(body));
}

Task<Reply> progress(Call& call, RemotePartsPtr parts) {
  MR_CO_TRY(const auto text, co_await parts->store.report_progress(call.context(), worker_of(call),
                                                                   raw_body(call, "items")));
  MR_CO_TRY(const auto rows, parse_json(text, kAnswerLimits));
  json::Array items;
  for (const auto& row : rows.as_array()) {
    items.push_back(json::Object{{"job_id", row.at("job_id")},
                                 {"held", row.at("answer").as_string() == "settled"},
                                 {"cancel_requested", row.at("cancel_requested")}});
  }
  co_return Reply::json(json::Object{{"items", std::move(items)}});
}

// Lines that are JSON lose what documents say before they are kept (T-09).
std::string clean_lines(const Call& call) {
  const auto* given = call.member("items");
  if (given == nullptr || !given->is_array()) return "[]";
  auto items = given->get_array();
  for (auto& item : items) {
    auto* object = item.if_object();
    auto* message = object == nullptr ? nullptr : object->if_contains("message");
    if (message == nullptr || !message->is_string()) continue;
    const auto clean = redact_text(std::string(message->get_string()));
    *message = json::Value(std::string_view(clean));
  }
  return to_json(json::Value(std::move(items)));
}

Task<Reply> log_lines(Call& call, RemotePartsPtr parts) {
  MR_CO_TRY(const int kept,
            co_await parts->store.append_logs(call.context(), worker_of(call), clean_lines(call)));
  co_return Reply::json(json::Object{{"kept", kept}});
}

// A repeat gets the answer that was lost: what was settled is settled.
Task<Reply> settle(Call& call, RemotePartsPtr parts) {
  MR_CO_TRY(const auto text, co_await parts->store.settle_jobs(call.context(), worker_of(call),
                                                               raw_body(call, "settlements")));
  MR_CO_TRY(const auto rows, parse_json(text, kAnswerLimits));
  json::Array items;
  for (const auto& row : rows.as_array()) {
    const std::string_view answer = row.at("answer").as_string();
    const bool repeated = answer == "already_settled";
    items.push_back(json::Object{{"job_id", row.at("job_id")},
                                 {"answer", repeated ? std::string_view("settled") : answer},
                                 {"repeated", repeated}});
  }
  call.note("jobs", items.size());
  co_return Reply::json(json::Object{{"items", std::move(items)}});
}

// Gone already, perhaps by the call whose answer was lost: that is what was wanted.
Task<Reply> retire(Call& call, RemotePartsPtr parts) {
  const auto handed_back = co_await parts->store.retire_worker(call.context(), worker_of(call));
  if (!handed_back && handed_back.error().kind != ErrorKind::lease_lost) {
    co_return fail(handed_back.error());
  }
  co_return Reply::json(json::Object{{"handed_back", handed_back ? *handed_back : 0}});
}

struct Verb {
  std::string name;
  std::string summary;
  std::string body;
  std::string answer;
  std::string answered;
  Task<Reply> (*run)(Call& call, RemotePartsPtr parts);
  int status = 200;
};

Operation operation_of(Verb verb, const RemotePartsPtr& parts) {
  return {.id = "work." + verb.name,
          .method = "POST",
          .path = "/api/v1/work/" + verb.name,
          .tag = "Remote workers",
          .summary = std::move(verb.summary),
          .access = Access::service(Capability::work),
          .body = RequestBody{.schema = std::move(verb.body)},
          .answers = {{.status = verb.status,
                       .description = std::move(verb.answered),
                       .schema = std::move(verb.answer)}},
          .errors = {409},
          .handler = handler(verb.run, parts)};
}

}  // namespace

std::vector<Operation> remote_operations(const RemoteParts& given) {
  const auto parts = std::make_shared<const RemoteParts>(given);
  std::vector<Operation> out;
  out.push_back(operation_of({.name = "register",
                              .summary = "Announce a worker process",
                              .body = "NewWorker",
                              .answer = "WorkerRegistered",
                              .answered = "Who it is from now on.",
                              .run = enlist,
                              .status = 201},
                             parts));
  auto polled = operation_of({.name = "claim",
                              .summary = "Take jobs, waiting for them if there are none",
                              .body = "ClaimRequest",
                              .answer = "Claimed",
                              .answered = "Jobs, up to the credit and to 8 MiB of them; none "
                                          "when the time is over.",
                              .run = claim},
                             parts);
  polled.description =
      "One claim at a time per process. It counts as a sign of life, as long as it waits. 409 "
      "(`lease_lost`) means that the process is not known any more: register again.";
  polled.errors.push_back(404);
  polled.long_lived = true;
  polled.time_max = kClaimTimeMax;
  out.push_back(std::move(polled));
  auto extended = operation_of({.name = "extend",
                                .summary = "A sign of life, and more time for jobs that need it",
                                .body = "ExtendRequest",
                                .answer = "Extended",
                                .answered = "How long it holds, and which jobs must stop.",
                                .run = extend},
                               parts);
  extended.description =
      "At least three times per lease. `leases` only for jobs that run longer "
      "than their run timeout.";
  out.push_back(std::move(extended));
  auto told = operation_of({.name = "progress",
                            .summary = "Say how far jobs are",
                            .body = "ProgressReport",
                            .answer = "LeaseAnswers",
                            .answered = "Whether they are still held, and wanted.",
                            .run = progress},
                           parts);
  told.body_max_bytes = kReportBytes;
  out.push_back(std::move(told));
  auto logged = operation_of({.name = "log",
                              .summary = "Keep lines with jobs",
                              .body = "LogReport",
                              .answer = "LogsKept",
                              .answered = "How many were kept.",
                              .run = log_lines},
                             parts);
  logged.body_max_bytes = kReportBytes;
  out.push_back(std::move(logged));
  auto settled = operation_of({.name = "settle",
                               .summary = "Say what became of jobs",
                               .body = "SettleRequest",
                               .answer = "SettleAnswers",
                               .answered = "Each one.",
                               .run = settle},
                              parts);
  settled.description =
      "With its effects in one transaction, if the delivery still holds the job. "
      "May be repeated until an answer comes.";
  settled.errors.push_back(413);
  settled.body_max_bytes = kSettleBytes;
  out.push_back(std::move(settled));
  out.push_back(operation_of({.name = "deregister",
                              .summary = "Leave; what is still held goes back without charge",
                              .body = "WorkerKey",
                              .answer = "HandedBack",
                              .answered = "How many jobs went back.",
                              .run = retire},
                             parts));
  return out;
}

}  // namespace millrace::api
