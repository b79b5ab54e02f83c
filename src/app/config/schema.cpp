#include "app/config/schema.h"

#include <cctype>

namespace millrace::app {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;

std::vector<SettingSpec> make_specs() {
  using enum SettingType;
  return {
      {.section = "database",
       .key = "url",
       .type = text,
       .default_value = "",
       .description = "PostgreSQL to use instead of a private one; several hosts are allowed",
       .aliases = {{"DATABASE_URL"}},
       .secret = true},
      {.section = "database",
       .key = "direct_url",
       .type = text,
       .default_value = "",
       .description = "Same database without a pooler, for LISTEN; default: database.url",
       .secret = true},
      {.section = "database",
       .key = "data_dir",
       .type = text,
       .default_value = ".millrace",
       .description = "Folder of the private PostgreSQL of 'millrace up'"},
      {.section = "worker",
       .key = "slots",
       .type = integer,
       .default_value = "16",
       .description = "Jobs that one worker process runs at once",
       .aliases = {{"WORKER_CONCURRENCY"}},
       .min = 1,
       .max = 4096},
      {.section = "worker",
       .key = "processes",
       .type = integer,
       .default_value = "1",
       .description = "Worker processes under one supervisor",
       .min = 1,
       .max = 256},
      {.section = "worker",
       .key = "queues",
       .type = list,
       .default_value = "",
       .description = "Queues to take jobs from; default: those of the handlers' job types"},
      {.section = "worker",
       .key = "lease",
       .type = duration,
       .default_value = "30s",
       .description = "Without a heartbeat for this long the process counts as dead",
       .aliases = {{"LOCK_RENEW_SEC", AliasUnit::doubled_seconds}},
       .min = kSecond,
       .max = kDay},
      {.section = "worker",
       .key = "poll_interval",
       .type = duration,
       .default_value = "1s",
       .description = "Longest wait between two looks at an empty queue; five times as long "
                      "where notifications arrive",
       .aliases = {{"QUEUE_POLL_INTERVAL", AliasUnit::milliseconds}},
       .min = 10,
       .max = kHour},
      {.section = "worker",
       .key = "prefetch",
       .type = integer,
       .default_value = "2000",
       .description = "Most jobs leased ahead of free slots; as many as are run in a moment",
       .min = 0,
       .max = 10'000},
      {.section = "worker",
       .key = "drain_timeout",
       .type = duration,
       .default_value = "30s",
       .description = "After SIGTERM running jobs have this long before they are handed back",
       .min = 0,
       .max = kDay},
      {.section = "worker",
       .key = "id",
       .type = text,
       .default_value = "",
       .description = "Prefix of the worker's id; default: the host's name",
       .aliases = {{"WORKER_ID"}}},
      {.section = "worker",
       .key = "job_timeout",
       .type = duration,
       .default_value = "",
       .description = "Upper bound for one run of any job in this worker",
       .aliases = {{"JOB_TIMEOUT_SEC", AliasUnit::seconds}},
       .min = 10,
       .max = 7 * kDay},
      {.section = "worker",
       .key = "fast_queue_timeout",
       .type = duration,
       .default_value = "",
       .description = "The same for handlers of queue fast_queue",
       .aliases = {{"FAST_QUEUE_TIMEOUT_MS", AliasUnit::milliseconds}},
       .min = 10,
       .max = 7 * kDay},
      {.section = "worker",
       .key = "ai_queue_timeout",
       .type = duration,
       .default_value = "",
       .description = "The same for handlers of queue ai_queue",
       .aliases = {{"AI_QUEUE_TIMEOUT_MS", AliasUnit::milliseconds}},
       .min = 10,
       .max = 7 * kDay},
      {.section = "worker",
       .key = "test_outcomes",
       .type = boolean,
       .default_value = "false",
       .description = "sleep jobs may say in their payload how to end; for tests"},
      {.section = "queue_defaults",
       .key = "max_attempts",
       .type = integer,
       .default_value = "",
       .description = "For [[queue]] entries that do not say; existing queues keep their own",
       .aliases = {{"MAX_ATTEMPTS"}, {"MAX_RETRIES", AliasUnit::plus_one}},
       .min = 1,
       .max = 1000},
      {.section = "keeper",
       .key = "enabled",
       .type = boolean,
       .default_value = "true",
       .description = "Stand for election as keeper (reclaim, schedule, cron, retention)"},
      {.section = "log",
       .key = "level",
       .type = choice,
       .default_value = "info",
       .description = "Least important lines that are written",
       .aliases = {{"LOG_LEVEL"}},
       .choices = {"debug", "info", "warn", "error"}},
      {.section = "log",
       .key = "format",
       .type = choice,
       .default_value = "auto",
       .description = "auto: text on a terminal, JSON lines otherwise",
       .choices = {"auto", "json", "text"}},
  };
}

}  // namespace

std::string SettingSpec::variable() const {
  std::string out = "MILLRACE_" + std::string(section) + "_" + std::string(key);
  for (auto& letter : out) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return out;
}

std::span<const SettingSpec> setting_specs() {
  static const std::vector<SettingSpec> specs = make_specs();
  return specs;
}

const SettingSpec* find_setting(std::string_view name) {
  for (const auto& spec : setting_specs()) {
    if (spec.name() == name) return &spec;
  }
  return nullptr;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& spec : setting_specs()) names.push_back(spec.name());
  return names;
}

}  // namespace millrace::app
