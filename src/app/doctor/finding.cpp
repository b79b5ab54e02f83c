#include "app/doctor/finding.h"

#include "app/context.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace millrace::app {
namespace {

using State = Finding::State;
using std::chrono::milliseconds;

constexpr std::int64_t kHorizonWarnSeconds = 60;
constexpr std::int64_t kHorizonFailSeconds = 600;
constexpr std::int64_t kDeadRowsWarn = 50'000;
constexpr std::int64_t kDeadRowsFail = 1'000'000;
constexpr milliseconds kSkewWarn{1'000};
constexpr milliseconds kSkewFail{30'000};
constexpr std::size_t kNamedMax = 3;

// "a, b, c and 4 more"
std::string named(const std::vector<std::string>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size() && i < kNamedMax; ++i) {
    out += (i == 0 ? "" : ", ") + all[i];
  }
  if (all.size() > kNamedMax) out += fmt::format(" and {} more", all.size() - kNamedMax);
  return out;
}

std::string signed_age(milliseconds skew) {
  return (skew.count() < 0 ? "-" : "+") + format_age(milliseconds(std::abs(skew.count())));
}

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::warn:
      return "warn";
    case State::fail:
      return "fail";
  }
  return "fail";
}

Finding judge_server(const json::Object& facts) {
  Finding finding{.name = "server",
                  .explanation = fmt::format(
                      "PostgreSQL {}, database {}, user {}", text_member(facts, "version"),
                      text_member(facts, "database"), text_member(facts, "user"))};
  const auto connections = int_member(facts, "connections");
  const auto connections_max = std::max<std::int64_t>(1, int_member(facts, "max_connections"));
  if (int_member(facts, "version_num") < 150000) {
    finding.state = State::fail;
    finding.explanation += "; version 15 or newer is needed";
    finding.action = "upgrade PostgreSQL";
  } else if (bool_member(facts, "in_recovery")) {
    finding.state = State::fail;
    finding.explanation += "; this server is a read-only standby";
    finding.action = "connect to the primary: add target_session_attrs=read-write to the URL";
  } else if (text_member(facts, "fsync") != "on" ||
             text_member(facts, "full_page_writes") != "on") {
    finding.state = State::warn;
    finding.explanation += "; fsync or full_page_writes is off, a power cut can lose or break jobs";
    finding.action = "switch both on in postgresql.conf";
  } else if (text_member(facts, "synchronous_commit") == "off") {
    finding.state = State::warn;
    finding.explanation += "; synchronous_commit is off, a crash can lose the last moments";
    finding.action = "set synchronous_commit = on";
  } else if (text_member(facts, "autovacuum") != "on") {
    finding.state = State::warn;
    finding.explanation += "; autovacuum is off, hot tables will grow without bound";
    finding.action = "set autovacuum = on";
  } else if (connections * 10 >= connections_max * 9) {
    finding.state = State::warn;
    finding.explanation +=
        fmt::format("; {} of {} connections are used", connections, connections_max);
    finding.action = "raise max_connections or put a pooler in front";
  }
  return finding;
}

Finding judge_migrations(const std::vector<MigrationFact>& migrations,
                         std::int64_t stale_functions) {
  std::vector<std::string> pending;
  std::vector<std::string> changed;
  std::vector<std::string> unknown;
  for (const auto& migration : migrations) {
    const auto name = fmt::format("{:04}_{}", migration.version, migration.name);
    if (migration.state == "pending") pending.push_back(name);
    if (migration.state == "changed") changed.push_back(name);
    if (migration.state == "unknown") unknown.push_back(name);
  }
  Finding finding{.name = "schema",
                  .explanation = fmt::format("{} migrations applied", migrations.size())};
  if (!changed.empty()) {
    finding.state = State::fail;
    finding.explanation =
        fmt::format("applied migrations differ from this program's: {}", named(changed));
    finding.action = "use the program that applied them, or restore the original files";
  } else if (!unknown.empty()) {
    finding.state = State::warn;
    finding.explanation =
        fmt::format("the schema is newer than this program: it has {}", named(unknown));
    finding.action = "update this program";
  } else if (!pending.empty()) {
    finding.state = State::fail;
    finding.explanation = fmt::format("migrations are missing: {}", named(pending));
    finding.action = "run 'millrace migrate up'";
  } else if (stale_functions > 0) {
    finding.state = State::warn;
    finding.explanation =
        fmt::format("{} functions or views differ from this program's", stale_functions);
    finding.action = "run 'millrace migrate up'";
  }
  return finding;
}

Finding judge_grants(const json::Array& missing) {
  Finding finding{.name = "grants", .explanation = "the engine's roles may do their work"};
  std::vector<std::string> roles;
  std::vector<std::string> grants;
  for (const auto& value : missing) {
    const auto& row = value.as_object();
    const auto role = text_member(row, "role_name");
    if (text_member(row, "problem") == "role does not exist") {
      if (std::ranges::find(roles, role) == roles.end()) roles.push_back(role);
    } else {
      grants.push_back(fmt::format("{} on {} ({})", role, text_member(row, "function_name"),
                                   text_member(row, "problem")));
    }
  }
  if (!grants.empty()) {
    finding.state = State::fail;
    finding.explanation = fmt::format("missing: {}", named(grants));
    finding.action = "run 'millrace migrate up' as the owner; it re-applies all grants";
  } else if (!roles.empty()) {
    finding.state = State::warn;
    finding.explanation = fmt::format("roles do not exist: {}", named(roles));
    finding.action =
        "run 'millrace migrate up' once as a role with CREATEROLE, or ignore this if "
        "one role does everything";
  }
  return finding;
}

Finding judge_versions(const json::Array& workers, std::string_view our_version) {
  std::set<std::string> versions{std::string(our_version)};
  for (const auto& value : workers) versions.insert(text_member(value.as_object(), "version"));
  Finding finding{
      .name = "versions",
      .explanation = fmt::format("{}, version {}",
                                 workers.size() == 1 ? std::string("one worker")
                                                     : fmt::format("{} workers", workers.size()),
                                 our_version)};
  if (workers.empty()) finding.explanation = fmt::format("this program is {}", our_version);
  if (versions.size() > 1) {
    finding.state = State::warn;
    finding.explanation = fmt::format("several versions run against this database: {}",
                                      named({versions.begin(), versions.end()}));
    finding.action = "finish the rollout; 'millrace workers' shows which is which";
  }
  return finding;
}

Finding judge_clocks(const json::Array& workers, milliseconds skew) {
  milliseconds worst = skew;
  std::string whose = "this machine";
  for (const auto& value : workers) {
    const auto& row = value.as_object();
    const milliseconds theirs(int_member(row, "clock_skew_ms"));
    if (std::abs(theirs.count()) > std::abs(worst.count())) {
      worst = theirs;
      whose = "worker " + text_member(row, "worker_id");
    }
  }
  Finding finding{.name = "clocks",
                  .explanation = fmt::format("within {} of the server's",
                                             format_age(milliseconds(std::abs(worst.count()))))};
  const auto size = milliseconds(std::abs(worst.count()));
  if (size >= kSkewWarn) {
    finding.state = size >= kSkewFail ? State::fail : State::warn;
    finding.explanation = fmt::format(
        "the clock of {} is {} from the server's; leases do not "
        "depend on it, log times and deadlines do",
        whose, signed_age(worst));
    finding.action = "synchronise the clocks (NTP)";
  }
  return finding;
}

Finding judge_keeper(const json::Object& stuck) {
  Finding finding{.name = "keeper"};
  if (bool_member(stuck, "keeper_alive")) {
    finding.explanation = "held by " + text_member(stuck, "keeper_holder");
    return finding;
  }
  finding.state = State::fail;
  finding.explanation = "no keeper runs: nothing reclaims, schedules or retries jobs";
  finding.action = "start 'millrace up' or 'millrace worker' (keeper.enabled must be true)";
  return finding;
}

Finding judge_stuck(const json::Object& stuck) {
  Finding finding{.name = "stuck work", .explanation = "none"};
  std::vector<std::string> parts;
  const auto add = [&](const char* key, const char* what) {
    const auto count = int_member(stuck, key);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, what));
  };
  add("expired_leases", "jobs past their lease");
  add("orphaned_leases", "jobs of dead workers");
  add("overdue", "waiting jobs overdue");
  if (int_member(stuck, "handoffs") > 10'000) add("handoffs", "follow-ups not yet handed on");
  if (parts.empty()) return finding;
  finding.state = State::fail;
  finding.explanation = named(parts);
  const auto age = int_member(stuck, "oldest_overdue_seconds");
  if (age > 0) finding.explanation += fmt::format(", the oldest by {}s", age);
  finding.action = bool_member(stuck, "keeper_alive")
                       ? "the keeper should clear this within seconds; look at its log if it stays"
                       : "start a keeper: 'millrace up' or 'millrace worker'";
  return finding;
}

Finding judge_horizon(const json::Array& holders) {
  Finding finding{.name = "horizon", .explanation = "no old snapshot keeps dead rows alive"};
  const json::Object* worst = nullptr;
  std::int64_t worst_age = 0;
  for (const auto& value : holders) {
    const auto& row = value.as_object();
    auto age = int_member(row, "age_seconds");
    // A slot has no age in seconds; many transactions behind is old.
    if (text_member(row, "kind") == "replication slot" && int_member(row, "xmin_age") > 1'000'000) {
      age = kHorizonFailSeconds;
    }
    if (age > worst_age) {
      worst = &row;
      worst_age = age;
    }
  }
  if (worst == nullptr || worst_age < kHorizonWarnSeconds) return finding;
  finding.state = worst_age >= kHorizonFailSeconds ? State::fail : State::warn;
  const auto kind = text_member(*worst, "kind");
  const auto name = text_member(*worst, "application_name");
  if (kind == "session") {
    const auto pid = int_member(*worst, "pid");
    finding.explanation = fmt::format(
        "process {} ({}, {}) has held a snapshot for {}s, query started {}: {}; "
        "until it ends no dead row can be removed and every claim gets slower",
        pid, name.empty() ? "no application name" : name, text_member(*worst, "state"), worst_age,
        text_member(*worst, "query_start"), text_member(*worst, "query"));
    finding.action = fmt::format("end that transaction, or: select pg_terminate_backend({})", pid);
  } else if (kind == "prepared transaction") {
    finding.explanation =
        fmt::format("prepared transaction {} has been open for {}s", name, worst_age);
    finding.action = fmt::format("commit prepared or rollback prepared '{}'", name);
  } else {
    finding.explanation = fmt::format("replication slot {} is {} transactions behind", name,
                                      int_member(*worst, "xmin_age"));
    finding.action = fmt::format(
        "let its reader catch up, or: select "
        "pg_drop_replication_slot('{}')",
        name);
  }
  if (const auto dead = int_member(*worst, "dead_rows"); dead > 0) {
    finding.explanation += fmt::format("; {} dead rows are kept so far, most of them in {}",
                                       group_digits(dead), text_member(*worst, "dead_table"));
  }
  return finding;
}

Finding judge_bloat(const json::Array& tables) {
  Finding finding{.name = "bloat", .explanation = "few dead rows in the hot tables"};
  for (const auto& value : tables) {
    const auto& row = value.as_object();
    const auto dead = int_member(row, "dead");
    const auto live = int_member(row, "live");
    if (dead < kDeadRowsWarn || dead < 2 * live) continue;
    const auto vacuumed = text_member(row, "last_autovacuum");
    finding.state = dead >= kDeadRowsFail ? State::fail : State::warn;
    finding.explanation = fmt::format(
        "table {} has {} dead and {} live rows ({} MB), last autovacuum {}",
        text_member(row, "table_name"), group_digits(dead), group_digits(live),
        int_member(row, "bytes") / (1024 * 1024), vacuumed.empty() ? "never" : vacuumed);
    finding.action =
        fmt::format("see 'horizon'; then: vacuum millrace.{}", text_member(row, "table_name"));
    return finding;  // The tables come with the most dead rows first.
  }
  return finding;
}

Finding judge_handlers(const json::Array& types, bool any_worker) {
  Finding finding{.name = "handlers", .explanation = "every type with ready jobs has a worker"};
  std::vector<std::string> names;
  for (const auto& value : types) {
    const auto& row = value.as_object();
    names.push_back(fmt::format("{} ({} jobs in {})", text_member(row, "job_type"),
                                int_member(row, "jobs"), text_member(row, "queue")));
  }
  if (names.empty()) return finding;
  finding.state = State::fail;
  finding.explanation = fmt::format(
      "{} for: {}", any_worker ? "no live worker has a handler" : "no worker runs", named(names));
  finding.action = any_worker ? "add a [[handler]] to millrace.toml or --queue to a worker"
                              : "start one: 'millrace worker'";
  return finding;
}

Finding judge_limits(const json::Array& limits) {
  Finding finding{.name = "limits", .explanation = "no limit blocks a queue"};
  std::vector<std::string> blocked;
  for (const auto& value : limits) {
    const auto& row = value.as_object();
    const auto waiting = int_member(row, "waiting_jobs");
    if (waiting == 0) continue;
    const auto full = [&](const char* used, const char* limit) {
      const auto* bound = member(row, limit);
      return bound != nullptr && !bound->is_null() &&
             int_member(row, used) >= int_member(row, limit);
    };
    std::string why;
    const auto breaker = text_member(row, "breaker_state");
    if (text_member(row, "status") != "active") {
      why = "is " + text_member(row, "status");
    } else if (breaker == "open") {
      why = "has its breaker open until " + text_member(row, "breaker_until");
    } else if (!text_member(row, "throttled_until").empty()) {
      why = "asked us to wait until " + text_member(row, "throttled_until");
    } else if (full("used_requests_minute", "effective_requests_per_minute")) {
      why = "has used up its requests per minute";
    } else if (full("used_requests_hour", "effective_requests_per_hour")) {
      why = "has used up its requests per hour";
    } else if (full("used_tokens_minute", "effective_tokens_per_minute")) {
      why = "has used up its tokens per minute";
    } else if (full("used_tokens_hour", "effective_tokens_per_hour")) {
      why = "has used up its tokens per hour";
    } else if (full("active_slots", "effective_concurrent_requests")) {
      why = "has all its concurrent requests in use";
    }
    if (why.empty()) continue;
    blocked.push_back(fmt::format("{}/{} {} ({} jobs wait)", text_member(row, "provider_name"),
                                  text_member(row, "api_endpoint"), why, waiting));
  }
  if (blocked.empty()) return finding;
  finding.state = State::warn;
  finding.explanation = named(blocked);
  finding.action = "wait, or 'millrace limits override'; 'limits clear --breaker' closes a breaker";
  return finding;
}

Finding judge_queues(const json::Array& queues) {
  Finding finding{.name = "queues", .explanation = "no queue is paused or closed"};
  std::vector<std::string> held;
  for (const auto& value : queues) {
    const auto& row = value.as_object();
    const auto name = text_member(row, "queue");
    const auto waiting = int_member(row, "ready");
    const auto* at_once = member(row, "concurrency_max");
    if (!text_member(row, "paused_at").empty()) {
      const auto reason = text_member(row, "paused_reason");
      held.push_back(fmt::format("{} is paused by {}{} ({} ready)", name,
                                 text_member(row, "paused_by"), reason.empty() ? "" : ": " + reason,
                                 waiting));
    } else if (at_once != nullptr && at_once->is_int64() && at_once->as_int64() == 0) {
      held.push_back(fmt::format("{} has concurrency_max = 0 ({} ready)", name, waiting));
    } else if (int_member(row, "depth_max") > 0 &&
               waiting + int_member(row, "delayed") >= int_member(row, "depth_max")) {
      held.push_back(fmt::format("{} is full ({} jobs)", name, waiting));
    }
  }
  if (held.empty()) return finding;
  finding.state = State::warn;
  finding.explanation = named(held);
  finding.action = "'millrace queues resume QUEUE' or 'millrace queues set QUEUE ...'";
  return finding;
}

Finding judge_counters(const json::Array& mismatches) {
  Finding finding{.name = "counters", .explanation = "the counts shown agree with the tables"};
  std::vector<std::string> wrong;
  for (const auto& value : mismatches) {
    const auto& row = value.as_object();
    wrong.push_back(fmt::format(
        "{}: ready {} counted {}, waiting {} counted {}, running {} counted {}",
        text_member(row, "queue"), int_member(row, "ready"), int_member(row, "counter_ready"),
        int_member(row, "delayed"), int_member(row, "counter_delayed"), int_member(row, "leased"),
        int_member(row, "counter_leased")));
  }
  if (wrong.empty()) return finding;
  finding.state = State::warn;
  finding.explanation = named(wrong);
  finding.action = "the keeper reconciles them within a minute; report it if it comes back";
  return finding;
}

Finding judge_documents(const DocumentFacts& facts) {
  Finding finding{.name = "documents"};
  if (!facts.enabled) {
    finding.explanation = "workers here take no documents (documents.enabled)";
    return finding;
  }
  if (!facts.program_there) {
    finding.state = State::warn;
    finding.explanation = facts.program + " is not there: workers here take no documents";
    finding.action = "install it beside millrace, or set documents.program";
    return finding;
  }
  std::vector<std::string> used;
  std::vector<std::string> missing;
  for (const auto& feature : facts.jail) {
    if (feature.used) {
      used.push_back(feature.name);
    } else if (feature.required) {
      missing.push_back(fmt::format("{} ({})", feature.name, feature.detail));
    }
  }
  if (!missing.empty() || facts.jail.empty()) {
    finding.state = State::fail;
    finding.explanation = facts.jail.empty() ? "the jail for documents cannot be tried"
                                             : "documents cannot be confined: " + named(missing);
    finding.action = "use a kernel with seccomp and Landlock; until then no document is read here";
    return finding;
  }
  finding.explanation = "confined by " + named(used);
  return finding;
}

Finding judge_exports(const ExportFacts& facts) {
  Finding finding{.name = "exports"};
  if (!facts.enabled) {
    finding.explanation = "workers here take no exports (export.enabled)";
    return finding;
  }
  if (facts.browser.empty()) {
    finding.state = State::warn;
    finding.explanation = facts.missing + ": workers here take no exports";
    finding.action = "apt-get install chromium-headless-shell, or set export.program";
    return finding;
  }
  if (!facts.template_problems.empty()) {
    finding.state = State::warn;
    finding.explanation = "templates that cannot be used: " + named(facts.template_problems);
    finding.action = "correct them; 'millrace-template check' tells all that is wrong";
    return finding;
  }
  if (!facts.walls_missing.empty()) {
    finding.state = State::warn;
    finding.explanation = fmt::format(
        "{}: without {} ({})",
        facts.walls_required ? "no browser is started (export.require_confinement)"
                             : "browsers that read documents of strangers are confined less",
        facts.walls_missing, facts.walls_reason);
    finding.action = facts.walls_hint;
    return finding;
  }
  finding.explanation = "printed by " + facts.browser;
  return finding;
}

}  // namespace millrace::app
