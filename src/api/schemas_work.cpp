// Schemas of remote workers.
#include "api/schemas.h"

namespace millrace::api {
namespace {

void add_requests(SchemaMap& schemas) {
  schemas["WorkerName"] = R"({"type":"string","minLength":1,"maxLength":200})";
  schemas["QueueNames"] = R"({
    "type": "array", "minItems": 1, "maxItems": 16,
    "items": {"type": "string", "minLength": 1, "maxLength": 200}
  })";
  schemas["JobTypeNames"] = R"({
    "type": "array", "maxItems": 200,
    "items": {"type": "string", "minLength": 1, "maxLength": 127}
  })";
  schemas["NewWorker"] = R"({
    "type": "object",
    "required": ["queues"],
    "additionalProperties": false,
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 100,
               "description": "Begins the worker's id, for people. Default: remote."},
      "host": {"type": "string", "maxLength": 200},
      "pid": {"type": "integer", "minimum": 0, "maximum": 2147483647},
      "version": {"type": "string", "maxLength": 100},
      "slots": {"type": "integer", "minimum": 1, "maximum": 1000},
      "queues": {"$ref": "#/components/schemas/QueueNames"},
      "job_types": {"$ref": "#/components/schemas/JobTypeNames"},
      "lease_seconds": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 30,
                        "description": "Unheard of for so long it counts as dead."}
    }
  })";
  schemas["HeldJob"] = R"({
    "type": "object",
    "required": ["job_id", "token"],
    "additionalProperties": false,
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "token": {"$ref": "#/components/schemas/Uuid"}
    }
  })";
  schemas["ClaimRequest"] = R"({
    "type": "object",
    "required": ["worker_id", "process", "queues", "held"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"},
      "queues": {"$ref": "#/components/schemas/QueueNames"},
      "job_types": {"$ref": "#/components/schemas/JobTypeNames"},
      "credit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1,
                 "description": "At most so many jobs: as many as there are free slots."},
      "wait_seconds": {"type": "integer", "minimum": 0, "maximum": 60, "default": 20},
      "held": {"type": "array", "maxItems": 10000,
               "items": {"$ref": "#/components/schemas/Uuid"},
               "description": "Tokens of all jobs it works on. What it was given and does not name, because an answer was lost, goes back."}
    }
  })";
  schemas["ExtendRequest"] = R"({
    "type": "object",
    "required": ["worker_id", "process"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"},
      "running": {"type": "integer", "minimum": 0, "maximum": 100000},
      "draining": {"type": "boolean"},
      "leases": {"type": "array", "maxItems": 1000,
                 "items": {"$ref": "#/components/schemas/HeldJob"},
                 "description": "Jobs that need more time than their run timeout."},
      "extend_seconds": {"type": "integer", "minimum": 1, "maximum": 604800, "default": 300}
    }
  })";
  schemas["WorkerKey"] = R"({
    "type": "object",
    "required": ["worker_id", "process"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"}
    }
  })";
}

void add_reports(SchemaMap& schemas) {
  schemas["ProgressReport"] = R"({
    "type": "object",
    "required": ["worker_id", "process", "items"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"},
      "items": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {
        "type": "object",
        "required": ["job_id", "token"],
        "additionalProperties": false,
        "properties": {
          "job_id": {"$ref": "#/components/schemas/Uuid"},
          "token": {"$ref": "#/components/schemas/Uuid"},
          "progress": {"type": "number", "minimum": 0, "maximum": 100},
          "message": {"type": "string", "maxLength": 500},
          "data": true
        }
      }}
    }
  })";
  schemas["LogReport"] = R"({
    "type": "object",
    "required": ["worker_id", "process", "items"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"},
      "items": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {
        "type": "object",
        "required": ["job_id", "token", "message"],
        "additionalProperties": false,
        "properties": {
          "job_id": {"$ref": "#/components/schemas/Uuid"},
          "token": {"$ref": "#/components/schemas/Uuid"},
          "level": {"enum": ["debug", "info", "warn", "error"]},
          "message": {"type": "string", "maxLength": 8192},
          "at_ms": {"type": "number", "minimum": 0, "description": "Unix time; default: now."}
        }
      }}
    }
  })";
  schemas["JobError"] = R"({
    "type": "object",
    "required": ["error_type", "message"],
    "properties": {
      "error_type": {"type": "string", "minLength": 1, "maxLength": 200},
      "message": {"type": "string", "maxLength": 8192}
    }
  })";
  schemas["WorkerOutcome"] = R"({
    "type": "object",
    "required": ["job_id", "token", "outcome"],
    "additionalProperties": false,
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "token": {"$ref": "#/components/schemas/Uuid"},
      "outcome": {"enum": ["ok", "retry", "throttled", "blocked", "permanent", "partial",
                           "cancelled", "handback"]},
      "result": true,
      "error": {"$ref": "#/components/schemas/JobError"},
      "retry_after_seconds": {"type": "number", "minimum": 0, "maximum": 86400},
      "provider": {"type": "string", "maxLength": 200},
      "actual_tokens": {"type": "integer", "minimum": 0},
      "parts": {"type": "object", "description": "Of partial: what is done."},
      "crash": {"type": "boolean"},
      "effects": {
        "type": "object",
        "additionalProperties": false,
        "description": "Committed together with the outcome, or not at all.",
        "properties": {
          "jobs": {"type": "array", "maxItems": 1000,
                   "items": {"$ref": "#/components/schemas/NewJob"}},
          "events": {"type": "array", "maxItems": 100, "items": {
            "type": "object",
            "required": ["kind"],
            "additionalProperties": false,
            "properties": {"kind": {"type": "string", "minLength": 1, "maxLength": 200},
                           "data": true}
          }},
          "output": {
            "type": "object",
            "required": ["outputs"],
            "additionalProperties": false,
            "properties": {"outputs": true, "score": {"type": ["number", "null"]}}
          }
        }
      }
    }
  })";
  schemas["SettleRequest"] = R"({
    "type": "object",
    "required": ["worker_id", "process", "settlements"],
    "additionalProperties": false,
    "properties": {
      "worker_id": {"$ref": "#/components/schemas/WorkerName"},
      "process": {"$ref": "#/components/schemas/Uuid"},
      "settlements": {"type": "array", "minItems": 1, "maxItems": 1000,
                      "items": {"$ref": "#/components/schemas/WorkerOutcome"}}
    }
  })";
}

void add_answers(SchemaMap& schemas) {
  schemas["WorkerRegistered"] = R"({
    "type": "object",
    "required": ["worker_id", "process", "lease_seconds"],
    "properties": {
      "worker_id": {"type": "string"},
      "process": {"$ref": "#/components/schemas/Uuid",
                  "description": "Stands for this process in all further calls."},
      "lease_seconds": {"type": "integer"}
    }
  })";
  schemas["ClaimedJob"] = R"({
    "type": "object",
    "required": ["job_id", "token", "job_type", "queue", "payload", "attempt", "run_timeout_ms"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "token": {"$ref": "#/components/schemas/Uuid", "description": "The fence of this delivery."},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "queue": {"type": "string"},
      "job_type": {"type": "string"},
      "payload": {"type": "object"},
      "priority": {"type": "integer"},
      "attempt": {"type": "integer"},
      "max_attempts": {"type": "integer"},
      "delivery_count": {"type": "integer"},
      "generation": {"type": "integer"},
      "run_timeout_ms": {"type": "integer"},
      "idempotency_key": {"type": "string", "description": "The same for every delivery."},
      "correlation_id": {"type": "string"},
      "traceparent": {"type": "string"},
      "carry": {"description": "What an earlier partial outcome kept."}
    }
  })";
  schemas["CancelRequest"] = R"({
    "type": "object",
    "required": ["job_id", "token"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "token": {"$ref": "#/components/schemas/Uuid"},
      "reason": {"type": "string"}
    }
  })";
  schemas["Claimed"] = R"({
    "type": "object",
    "required": ["jobs", "cancel"],
    "properties": {
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/ClaimedJob"}},
      "cancel": {"type": "array", "items": {"$ref": "#/components/schemas/CancelRequest"}}
    }
  })";
  schemas["Extended"] = R"({
    "type": "object",
    "required": ["lease_seconds", "cancel", "leases"],
    "properties": {
      "lease_seconds": {"type": "number"},
      "cancel": {"type": "array", "items": {"$ref": "#/components/schemas/CancelRequest"}},
      "leases": {"type": "array", "items": {"$ref": "#/components/schemas/LeaseAnswer"}}
    }
  })";
  schemas["LeaseAnswer"] = R"({
    "type": "object",
    "required": ["job_id", "held", "cancel_requested"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "held": {"type": "boolean", "description": "false: the job is not this delivery's any more."},
      "cancel_requested": {"type": "boolean"}
    }
  })";
  schemas["LeaseAnswers"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/LeaseAnswer"}}
    }
  })";
  schemas["LogsKept"] = R"({
    "type": "object",
    "required": ["kept"],
    "properties": {"kept": {"type": "integer"}}
  })";
  schemas["SettleAnswers"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {
        "type": "object",
        "required": ["job_id", "answer", "repeated"],
        "properties": {
          "job_id": {"$ref": "#/components/schemas/Uuid"},
          "answer": {"enum": ["settled", "replaced", "lease_lost", "cancelled", "not_found"]},
          "repeated": {"type": "boolean",
                       "description": "This delivery was settled before: that outcome stands."}
        }
      }}
    }
  })";
  schemas["HandedBack"] = R"({
    "type": "object",
    "required": ["handed_back"],
    "properties": {"handed_back": {"type": "integer"}}
  })";
}

}  // namespace

void add_work_schemas(SchemaMap& schemas) {
  add_requests(schemas);
  add_reports(schemas);
  add_answers(schemas);
}

}  // namespace millrace::api
