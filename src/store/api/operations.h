// OperationStore: what operators look at and change while the engine runs: queues, job types,
// limits, cron, workers, configuration. One call per SQL function or question, under the caller's
// role; lists as JSON text. Every change is audited. `wanted`: only while it is in one of these
// versions (MR040). Threading and lifetime: as ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/requests.h"
#include "store/api/session.h"
#include "store/api/versions.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace millrace::store {

// A provider and one of its endpoints.
struct ProviderName {
  std::string provider;
  std::string endpoint;
};

struct LimitOverride {
  std::string values_json;
  std::string reason;
  std::optional<std::chrono::seconds> ttl = {};
};

struct CronEntry {
  std::string name;
  std::string schedule;
  std::string job_json;
  std::string options_json = "{}";  // time_zone, missed, enabled.
};

class OperationStore {
 public:
  virtual ~OperationStore() = default;

  // Queues with their policies and counts (from counters), and job types.
  virtual Task<std::string> list_queues(CallContext caller) = 0;
  virtual Task<Versioned> get_queue(CallContext caller, std::string queue) = 0;
  virtual Task<void> set_queue(CallContext caller, std::string queue, std::string policy_json,
                               WantedVersions wanted) = 0;
  virtual Task<void> pause_queue(CallContext caller, std::string queue,
                                 std::optional<std::string> reason) = 0;
  virtual Task<void> resume_queue(CallContext caller, std::string queue) = 0;
  virtual Task<std::string> list_job_types(CallContext caller) = 0;
  virtual Task<void> set_job_type(CallContext caller, std::string job_type,
                                  std::string policy_json) = 0;

  virtual Task<std::string> list_limits(CallContext caller) = 0;
  // not_found (MR013) where there is none, here and of cron (MR024) below.
  virtual Task<Versioned> get_limit(CallContext caller, ProviderName name) = 0;
  virtual Task<void> set_limit(CallContext caller, ProviderName name, std::string values_json,
                               WantedVersions wanted) = 0;
  virtual Task<void> override_limit(CallContext caller, ProviderName name,
                                    LimitOverride values) = 0;
  virtual Task<void> clear_override(CallContext caller, ProviderName name) = 0;
  virtual Task<void> reset_breaker(CallContext caller, ProviderName name) = 0;

  virtual Task<std::string> list_cron(CallContext caller) = 0;
  // Of the tenant of the call.
  virtual Task<Versioned> get_cron(CallContext caller, std::string name) = 0;
  virtual Task<Uuid> set_cron(CallContext caller, CronEntry entry, WantedVersions wanted) = 0;
  virtual Task<void> delete_cron(CallContext caller, std::string name, WantedVersions wanted) = 0;
  // The job, as the JSON that is kept: {"job_id"}.
  virtual Task<std::string> cron_now(CallContext caller, std::string name, RequestKey key) = 0;

  virtual Task<std::string> list_workers(CallContext caller) = 0;
  virtual Task<std::string> list_configuration(CallContext caller) = 0;
  virtual Task<void> set_configuration(CallContext caller, std::string key, std::string value) = 0;
};

std::unique_ptr<OperationStore> make_operation_store(ApiSession& session);

}  // namespace millrace::store
