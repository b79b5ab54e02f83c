#include "app/commands/commands.h"
#include "app/commands/job_spec.h"
#include "app/commands/watch.h"
#include "app/context.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <memory>

namespace millrace::app {
namespace {

struct Options {
  JobSpecOptions job;
  std::optional<std::string> lines;
  std::int64_t count = 1;
  bool wait = false;
  std::optional<std::string> wait_timeout;
};

constexpr std::size_t kBatch = 1000;

// The database lists all types; people want to know what to do about theirs.
Error explain(Error error, const std::string& type, store::AdminStore& store) {
  if (error.sqlstate != "MR002") return error;
  error.message = fmt::format("job type '{}' is not registered", type);
  error.hint = "start a worker with a [[handler]] for it, or see 'millrace queues types'";
  if (const auto types = store.list_job_types()) {
    std::vector<std::string> names;
    for (const auto& row : *types) names.push_back(text_member(row.as_object(), "job_type"));
    if (const auto near = nearest(type, names)) {
      error.message += fmt::format("; did you mean '{}'?", *near);
      error.hint = "see 'millrace queues types'";
    }
  }
  return error;
}

// One payload per line of a file: bulk enqueue.
Result<int> enqueue_lines(Context& context, store::AdminStore& store, const Options& options) {
  MR_TRY(auto spec, to_job_spec(options.job));
  MR_TRY(const auto text, read_text_argument(*options.lines, 1024UL * 1024 * 1024));
  json::Array batch;
  std::int64_t created = 0;
  std::int64_t duplicate = 0;
  const auto send = [&]() -> Result<void> {
    if (batch.empty()) return {};
    const auto answers = store.enqueue_jobs(batch);
    if (!answers) return fail(explain(answers.error(), options.job.type, store));
    for (const auto& answer : *answers) ++(answer.created ? created : duplicate);
    batch.clear();
    return {};
  };
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    auto payload = parse_json_object(line);
    if (!payload) {
      return fail_with_context(fmt::format("{}:{}", *options.lines, number), payload.error());
    }
    spec["payload"] = std::move(*payload);
    batch.emplace_back(spec);
    if (batch.size() == kBatch) MR_TRY_VOID(send());
  }
  MR_TRY_VOID(send());
  if (context.json()) {
    context.print_json(json::Object{{"created", created}, {"duplicate", duplicate}});
  } else {
    context.print(fmt::format(
        "enqueued {} jobs{}\n", group_digits(created),
        duplicate > 0 ? fmt::format(", {} were there already", duplicate) : std::string()));
  }
  return kExitOk;
}

Result<int> run_enqueue(Context& context, const Options& options) {
  WatchOptions watch;
  if (options.wait_timeout) {
    auto timeout = parse_duration(*options.wait_timeout);
    if (!timeout) return fail_with_context("--wait-timeout", timeout.error());
    watch.timeout = *timeout;
  }
  if (options.count < 1 || options.count > 1'000'000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("--count: {} is not between 1 and 1000000", options.count));
  }
  if (options.lines) {
    MR_TRY(auto store, context.connect());
    return enqueue_lines(context, store, options);
  }
  MR_TRY(const auto spec, to_job_spec(options.job));
  MR_TRY(auto store, context.connect());
  std::vector<store::EnqueueAnswer> all;
  for (auto left = static_cast<std::size_t>(options.count); left > 0;) {
    const auto size = std::min(left, kBatch);
    json::Array batch;
    for (std::size_t i = 0; i < size; ++i) batch.emplace_back(spec);
    auto answers = store.enqueue_jobs(batch);
    if (!answers) return fail(explain(answers.error(), options.job.type, store));
    all.insert(all.end(), answers->begin(), answers->end());
    left -= size;
  }
  if (options.wait) {
    std::vector<JobId> ids;
    for (const auto& answer : all) ids.push_back(answer.id);
    return watch_jobs(context, store, std::move(ids), watch);
  }
  json::Array out;
  for (const auto& answer : all) {
    if (context.json()) {
      out.emplace_back(json::Object{{"job_id", answer.id.to_string()},
                                    {"answer", answer.created ? "created" : "duplicate"}});
    } else {
      context.print(fmt::format("{}\n", answer.id));
    }
    if (!answer.created && all.size() == 1) {
      context.note("a live job with this key exists; this is its id");
    }
  }
  if (context.json()) context.print_json(out.size() == 1 ? out.front() : json::Value(out));
  return kExitOk;
}

}  // namespace

void add_enqueue_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command = root.add("enqueue", "Put a job into a queue").group("Jobs");
  command.argument("TYPE", options->job.type, "Job type");
  add_job_spec_options(command, options->job, true);
  command.option("--lines", "FILE|-", options->lines, "One job per line, each a payload").files();
  command.option("--count", "N", options->count, "The same job N times");
  command.flag("--wait", options->wait, "Wait for the end, showing progress; exit 9 if it fails");
  command.option("--wait-timeout", "TIME", options->wait_timeout, "Stop waiting after this time");
  command.footer(
      "Examples:\n"
      "  millrace enqueue noop --payload '{\"n\": 1}'\n"
      "  millrace enqueue thumbnail --payload @image.json --delay 5m --dedupe image-7\n"
      "  millrace enqueue sleep --payload '{\"ms\": 500}' --wait");
  command.action([options](Context& context) { return run_enqueue(context, *options); });
}

}  // namespace millrace::app
