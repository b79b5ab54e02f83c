// Schemas of queues, limits, workers, cron and audit.
#include "api/schemas.h"

namespace millrace::api {
namespace {

// {"items": [...], "next_cursor": ...} of another schema.
std::string page_of(const std::string& name) {
  return R"({"type":"object","required":["items","next_cursor"],"properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/)" +
         name + R"("}},"next_cursor":{"$ref":"#/components/schemas/Cursor"}}})";
}

std::string list_of(const std::string& name) {
  return R"({"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/)" +
         name + R"("}}}})";
}

void add_queues(SchemaMap& schemas) {
  schemas["Interval"] = R"({
    "type": "string", "minLength": 1, "maxLength": 60,
    "description": "A time as PostgreSQL reads intervals: '30 seconds', '00:05:00'."
  })";
  schemas["QueueName"] = R"({"type":"string","pattern":"^[a-z0-9][a-z0-9_.:-]{0,62}$"})";
  schemas["QueuePolicy"] = R"({
    "type": "object",
    "additionalProperties": false,
    "minProperties": 1,
    "properties": {
      "max_attempts": {"type": "integer", "minimum": 1, "maximum": 1000},
      "backoff_base": {"$ref": "#/components/schemas/Interval"},
      "backoff_factor": {"type": "number", "minimum": 1, "maximum": 100},
      "backoff_cap": {"$ref": "#/components/schemas/Interval"},
      "jitter_low": {"type": "number", "minimum": 0, "maximum": 10},
      "jitter_high": {"type": "number", "minimum": 0, "maximum": 10},
      "lease": {"$ref": "#/components/schemas/Interval"},
      "beat": {"$ref": "#/components/schemas/Interval"},
      "run_timeout": {"$ref": "#/components/schemas/Interval"},
      "reclaim_jitter": {"$ref": "#/components/schemas/Interval"},
      "max_age": {"$ref": "#/components/schemas/Interval"},
      "max_snoozes": {"type": "integer", "minimum": 1},
      "concurrency_max": {"type": ["integer", "null"], "minimum": 0, "maximum": 100000},
      "key_concurrency_max": {"type": ["integer", "null"], "minimum": 1, "maximum": 100000},
      "depth_max": {"type": "integer", "minimum": 0},
      "priority_default": {"type": "integer", "minimum": 0, "maximum": 1000},
      "age_step": {"anyOf": [{"$ref": "#/components/schemas/Interval"}, {"type": "null"}]}
    }
  })";
  schemas["Queue"] = R"({
    "type": "object",
    "required": ["queue", "ready", "delayed", "leased", "completed", "failed", "cancelled"],
    "properties": {
      "queue": {"type": "string"},
      "ready": {"type": "integer"},
      "delayed": {"type": "integer"},
      "leased": {"type": "integer"},
      "enqueued": {"type": "integer"},
      "completed": {"type": "integer"},
      "failed": {"type": "integer"},
      "cancelled": {"type": "integer"},
      "redriven": {"type": "integer"},
      "paused_at": {"$ref": "#/components/schemas/NullableTime"},
      "paused_reason": {"$ref": "#/components/schemas/NullableText"},
      "paused_by": {"$ref": "#/components/schemas/NullableText"}
    }
  })";
  schemas["Queues"] = list_of("Queue");
  schemas["JobType"] = R"({
    "type": "object",
    "required": ["job_type", "queue", "enabled"],
    "properties": {
      "job_type": {"type": "string"},
      "queue": {"type": "string"},
      "enabled": {"type": "boolean"},
      "required_keys": {"type": "array", "items": {"type": "string"}},
      "provider_name": {"$ref": "#/components/schemas/NullableText"},
      "api_endpoint": {"$ref": "#/components/schemas/NullableText"}
    }
  })";
  schemas["JobTypes"] = list_of("JobType");
  schemas["JobTypePolicy"] = R"({
    "type": "object",
    "additionalProperties": false,
    "minProperties": 1,
    "properties": {
      "queue": {"$ref": "#/components/schemas/QueueName"},
      "required_keys": {"type": "array", "maxItems": 100, "items": {"type": "string"}},
      "required_message": {"$ref": "#/components/schemas/NullableText"},
      "provider": {"type": ["string", "null"], "description": "name:endpoint of a limit."},
      "priority_default": {"type": ["integer", "null"], "minimum": 0, "maximum": 1000},
      "run_timeout": {"anyOf": [{"$ref": "#/components/schemas/Interval"}, {"type": "null"}]},
      "max_attempts": {"type": ["integer", "null"], "minimum": 1, "maximum": 1000},
      "enabled": {"type": "boolean"}
    }
  })";
}

void add_limits(SchemaMap& schemas) {
  schemas["LimitValues"] = R"({
    "type": "object",
    "additionalProperties": false,
    "minProperties": 1,
    "description": "null or -1 is unlimited.",
    "properties": {
      "requests_per_minute": {"type": ["integer", "null"], "minimum": -1},
      "requests_per_hour": {"type": ["integer", "null"], "minimum": -1},
      "tokens_per_minute": {"type": ["integer", "null"], "minimum": -1},
      "tokens_per_hour": {"type": ["integer", "null"], "minimum": -1},
      "concurrent_requests": {"type": ["integer", "null"], "minimum": -1},
      "status": {"enum": ["active", "disabled", "maintenance"]}
    }
  })";
  schemas["LimitOverride"] = R"({
    "type": "object",
    "required": ["values"],
    "additionalProperties": false,
    "properties": {
      "values": {"$ref": "#/components/schemas/LimitValues"},
      "reason": {"$ref": "#/components/schemas/Reason"},
      "ttl_seconds": {"type": "integer", "minimum": 1, "maximum": 31536000}
    }
  })";
  schemas["Limit"] = R"({
    "type": "object",
    "required": ["provider_name", "api_endpoint", "status"],
    "properties": {
      "provider_name": {"type": "string"},
      "api_endpoint": {"type": "string"},
      "status": {"type": "string"},
      "breaker_state": {"type": "string"},
      "rate_limit_violations": {"type": "integer"},
      "waiting_jobs": {"type": "integer"},
      "overridden": {"type": "boolean"}
    }
  })";
  schemas["Limits"] = list_of("Limit");
}

void add_running(SchemaMap& schemas) {
  schemas["Worker"] = R"({
    "type": "object",
    "required": ["worker_id", "host", "version", "slots", "running", "started_at"],
    "properties": {
      "worker_id": {"type": "string"},
      "host": {"type": "string"},
      "pid": {"type": "integer"},
      "version": {"type": "string"},
      "slots": {"type": "integer"},
      "running": {"type": "integer"},
      "draining": {"type": "boolean"},
      "queues": {"type": "array", "items": {"type": "string"}},
      "job_types": {"type": "array", "items": {"type": "string"}},
      "started_at": {"$ref": "#/components/schemas/Time"},
      "beat_at": {"$ref": "#/components/schemas/Time"},
      "lease_until": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Workers"] = list_of("Worker");
  schemas["NewCron"] = R"({
    "type": "object",
    "required": ["schedule", "job"],
    "additionalProperties": false,
    "properties": {
      "schedule": {"type": "string", "minLength": 1, "maxLength": 200,
                   "description": "Five fields, six with seconds first, or @daily and its like."},
      "job": {"$ref": "#/components/schemas/NewJob"},
      "time_zone": {"type": "string", "maxLength": 100},
      "missed": {"enum": ["one", "skip"]},
      "enabled": {"type": "boolean"}
    }
  })";
  schemas["Cron"] = R"({
    "type": "object",
    "required": ["cron_id", "name", "schedule", "time_zone", "enabled"],
    "properties": {
      "cron_id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "name": {"type": "string"},
      "schedule": {"type": "string"},
      "time_zone": {"type": "string"},
      "enabled": {"type": "boolean"},
      "missed": {"type": "string"},
      "next_due_at": {"$ref": "#/components/schemas/NullableTime"},
      "last_due_at": {"$ref": "#/components/schemas/NullableTime"},
      "last_job_id": {"$ref": "#/components/schemas/NullableUuid"},
      "last_error": {"$ref": "#/components/schemas/NullableText"},
      "job": {"type": "object"}
    }
  })";
  schemas["Crons"] = list_of("Cron");
  schemas["CronSet"] = R"({
    "type": "object",
    "required": ["cron_id"],
    "properties": {"cron_id": {"$ref": "#/components/schemas/Uuid"}}
  })";
  schemas["ConfigurationEntry"] = R"({
    "type": "object",
    "required": ["config_key", "config_value"],
    "properties": {
      "config_key": {"type": "string"},
      "config_value": {"type": "string"},
      "description": {"$ref": "#/components/schemas/NullableText"},
      "updated_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Configuration"] = list_of("ConfigurationEntry");
  schemas["ConfigurationValue"] = R"({
    "type": "object",
    "required": ["value"],
    "additionalProperties": false,
    "properties": {"value": {"type": "string", "minLength": 1, "maxLength": 1000}}
  })";
  schemas["JobStarted"] = R"({
    "type": "object",
    "required": ["job_id"],
    "properties": {"job_id": {"$ref": "#/components/schemas/Uuid"}}
  })";
}

void add_evidence(SchemaMap& schemas) {
  schemas["AuditEntry"] = R"({
    "type": "object",
    "required": ["audit_id", "at", "actor", "action"],
    "properties": {
      "audit_id": {"type": "integer"},
      "at": {"$ref": "#/components/schemas/Time"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "actor": {"type": "string"},
      "worker_id": {"$ref": "#/components/schemas/NullableText"},
      "table_name": {"type": "string"},
      "record_id": {"$ref": "#/components/schemas/NullableText"},
      "operation": {"type": "string"},
      "action": {"type": "string"},
      "reason": {"$ref": "#/components/schemas/NullableText"},
      "category": {"type": "string"},
      "patient_id": {"$ref": "#/components/schemas/NullableUuid"},
      "old_values": true,
      "new_values": true
    }
  })";
  schemas["AuditPage"] = page_of("AuditEntry");
  schemas["AuditTrail"] = list_of("AuditEntry");
  schemas["AuditLogged"] = R"({
    "type": "object",
    "required": ["audit_id"],
    "properties": {"audit_id": {"type": "integer"}}
  })";
  schemas["AuditProof"] = page_of("AuditProblem");
  schemas["AuditProblem"] = R"({
    "type": "object",
    "required": ["tenant_id", "audit_id", "problem"],
    "properties": {
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "chain_seq": {"type": ["integer", "null"]},
      "audit_id": {"type": "integer"},
      "problem": {"type": "string"}
    }
  })";
  schemas["NewAuditEntry"] = R"({
    "type": "object",
    "required": ["table_name", "record_id", "operation"],
    "additionalProperties": false,
    "properties": {
      "table_name": {"type": "string", "minLength": 1, "maxLength": 200},
      "record_id": {"type": "string", "minLength": 1, "maxLength": 200},
      "operation": {"type": "string", "minLength": 1, "maxLength": 100},
      "old_values": {"type": ["object", "null"]},
      "new_values": {"type": ["object", "null"]},
      "reason": {"$ref": "#/components/schemas/Reason"},
      "category": {"type": "string", "minLength": 1, "maxLength": 100},
      "patient_id": {"$ref": "#/components/schemas/Uuid"}
    }
  })";
}

}  // namespace

void add_system_schemas(SchemaMap& schemas) {
  add_queues(schemas);
  add_limits(schemas);
  add_running(schemas);
  add_evidence(schemas);
}

}  // namespace millrace::api
