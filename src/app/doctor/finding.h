// Finding: one thing that doctor looked at, what it means and what to do.
//
// The judgements are functions from facts to findings, without I/O, so that each can be tested with
// made-up facts; examine() asks the database for the facts.
#pragma once

#include "base/json.h"
#include "sandbox/jail.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::app {

struct Finding {
  enum class State { ok, warn, fail };

  std::string name;
  State state = State::ok;
  std::string explanation;
  std::string action = {};  // What to do; empty when there is nothing to do.
};

std::string_view to_string(Finding::State state);

// One row of migrate status.
struct MigrationFact {
  int version = 0;
  std::string name;
  std::string state;  // applied, pending, changed, unknown
};

Finding judge_server(const json::Object& facts);
Finding judge_migrations(const std::vector<MigrationFact>& migrations,
                         std::int64_t stale_functions);
Finding judge_grants(const json::Array& missing);
Finding judge_versions(const json::Array& workers, std::string_view our_version);
// `skew` is server minus our clock.
Finding judge_clocks(const json::Array& workers, std::chrono::milliseconds skew);
Finding judge_keeper(const json::Object& stuck);
Finding judge_stuck(const json::Object& stuck);
Finding judge_horizon(const json::Array& holders);
Finding judge_bloat(const json::Array& tables);
Finding judge_handlers(const json::Array& types, bool any_worker);
Finding judge_limits(const json::Array& limits);
Finding judge_queues(const json::Array& queues);
Finding judge_counters(const json::Array& mismatches);

// What this machine can do with documents.
struct DocumentFacts {
  bool enabled = true;
  std::string program = {};
  bool program_there = false;
  sandbox::JailDescription jail = {};
};
Finding judge_documents(const DocumentFacts& facts);

// What this machine can do with exports.
struct ExportFacts {
  bool enabled = true;
  std::string browser = {};  // Empty: there is none, and why.
  std::string missing = {};
  std::vector<std::string> template_problems = {};
  std::string walls_missing = {};  // Around the browser, and why.
  std::string walls_reason = {};
  std::string walls_hint = {};
  bool walls_required = false;
};
Finding judge_exports(const ExportFacts& facts);

}  // namespace millrace::app
