// Schemas of jobs, batches, dead letters, logs and events.
#include "api/schemas.h"

namespace millrace::api {
namespace {

void add_requests(SchemaMap& schemas) {
  schemas["JobStatus"] = R"({
    "enum": ["pending", "retrying", "deferred", "processing", "completed", "failed", "cancelled"]
  })";
  schemas["NewJob"] = R"({
    "type": "object",
    "required": ["job_type", "payload"],
    "additionalProperties": false,
    "properties": {
      "job_type": {"type": "string", "minLength": 1, "maxLength": 127},
      "payload": {"type": "object", "description": "With at least one member, 256 KiB at most."},
      "queue": {"type": "string", "minLength": 1, "maxLength": 63,
                "description": "Default: the queue of the job type."},
      "priority": {"type": "integer", "minimum": 0, "maximum": 1000,
                   "description": "Higher first."},
      "delay_seconds": {"type": "number", "minimum": 0, "maximum": 315360000},
      "scheduled_at": {"$ref": "#/components/schemas/Time"},
      "job_name": {"type": "string", "maxLength": 500},
      "job_category": {"type": "string", "maxLength": 100},
      "owner_id": {"$ref": "#/components/schemas/Uuid",
                   "description": "The user who may see the job and cancel it."},
      "dedupe_key": {"type": "string", "minLength": 1, "maxLength": 500,
                     "description": "At most one live job per tenant, type and key."},
      "dedupe_keep_seconds": {"type": "number", "minimum": 0, "maximum": 31536000},
      "serial_key": {"type": "string", "minLength": 1, "maxLength": 500,
                     "description": "Jobs with the same key run one after the other, in order."},
      "concurrency_key": {"type": "string", "minLength": 1, "maxLength": 500},
      "correlation_id": {"type": "string", "minLength": 1, "maxLength": 200,
                         "description": "Default: the x-correlation-id of the request."},
      "pipeline": {"type": "string", "maxLength": 200},
      "stage": {"type": "string", "maxLength": 200},
      "batch_id": {"$ref": "#/components/schemas/Uuid"},
      "parent_id": {"$ref": "#/components/schemas/Uuid"},
      "after": {
        "type": "object",
        "required": ["jobs"],
        "additionalProperties": false,
        "description": "Waits until these jobs have finished.",
        "properties": {
          "jobs": {"type": "array", "minItems": 1, "maxItems": 1000,
                   "items": {"$ref": "#/components/schemas/Uuid"}},
          "mode": {"enum": ["all", "any"]},
          "on_failure": {"enum": ["cancel", "run"]}
        }
      },
      "max_attempts": {"type": "integer", "minimum": 1, "maximum": 1000},
      "run_timeout_seconds": {"type": "number", "minimum": 0.01, "maximum": 604800},
      "start_deadline": {"$ref": "#/components/schemas/Time"},
      "start_within_seconds": {"type": "number", "exclusiveMinimum": 0, "maximum": 315360000},
      "id": {"$ref": "#/components/schemas/Uuid",
             "description": "Chosen by the client; a repeat finds the job."}
    }
  })";
  schemas["NewJobs"] = R"({
    "type": "array", "minItems": 1, "maxItems": 1000,
    "items": {"$ref": "#/components/schemas/NewJob"}
  })";
  schemas["JobIds"] = R"({
    "type": "object",
    "required": ["job_ids"],
    "additionalProperties": false,
    "properties": {
      "job_ids": {"type": "array", "minItems": 1, "maxItems": 1000,
                  "items": {"$ref": "#/components/schemas/Uuid"}},
      "reason": {"$ref": "#/components/schemas/Reason"}
    }
  })";
  schemas["Redrive"] = R"({
    "type": "object",
    "additionalProperties": false,
    "minProperties": 1,
    "properties": {
      "job_ids": {"type": "array", "minItems": 1, "maxItems": 1000,
                  "items": {"$ref": "#/components/schemas/Uuid"}},
      "queue": {"type": "string"},
      "job_type": {"type": "string"},
      "fingerprint": {"type": "string"},
      "failed_before": {"$ref": "#/components/schemas/Time"},
      "all": {"const": true, "description": "Without any of the filters above."},
      "limit": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1000},
      "per_minute": {"type": "integer", "minimum": 1, "maximum": 1000000,
                     "description": "Spreads them, so that a repaired service is not overrun."},
      "reason": {"$ref": "#/components/schemas/Reason"}
    },
    "anyOf": [
      {"required": ["job_ids"]}, {"required": ["queue"]}, {"required": ["job_type"]},
      {"required": ["fingerprint"]}, {"required": ["failed_before"]}, {"required": ["all"]}
    ]
  })";
  schemas["NewBatch"] = R"({
    "type": "object",
    "required": ["jobs"],
    "additionalProperties": false,
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 200},
      "jobs": {"$ref": "#/components/schemas/NewJobs"},
      "callback": {"$ref": "#/components/schemas/NewJob",
                   "description": "Enqueued once when the last job has finished."},
      "callback_on": {"enum": ["finished", "completed"]}
    }
  })";
}

void add_answers(SchemaMap& schemas) {
  schemas["JobCreated"] = R"({
    "type": "object",
    "required": ["job_id", "answer"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "answer": {"enum": ["created", "duplicate"],
                 "description": "duplicate: a job with the same key exists; this is its id."}
    }
  })";
  schemas["JobsCreated"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/JobCreated"}}
    }
  })";
  schemas["BatchCreated"] = R"({
    "type": "object",
    "required": ["batch_id"],
    "properties": {"batch_id": {"$ref": "#/components/schemas/Uuid"}}
  })";
  schemas["JobAnswer"] = R"({
    "type": "object",
    "required": ["job_id", "answer"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "answer": {"type": "string"},
      "due_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
  schemas["JobAnswers"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/JobAnswer"}}
    }
  })";
}

void add_reads(SchemaMap& schemas) {
  schemas["Job"] = R"({
    "type": "object",
    "required": ["job_id", "tenant_id", "queue", "job_type", "status", "priority", "attempt",
                 "created_at"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "queue": {"type": "string"},
      "job_type": {"type": "string"},
      "job_name": {"$ref": "#/components/schemas/NullableText"},
      "status": {"$ref": "#/components/schemas/JobStatus"},
      "stage": {"$ref": "#/components/schemas/NullableText"},
      "reason": {"$ref": "#/components/schemas/NullableText"},
      "priority": {"type": "integer"},
      "attempt": {"type": "integer"},
      "max_attempts": {"type": ["integer", "null"]},
      "delivery_count": {"type": "integer"},
      "generation": {"type": "integer"},
      "progress": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
      "progress_message": {"$ref": "#/components/schemas/NullableText"},
      "progress_data": true,
      "cancel_requested_at": {"$ref": "#/components/schemas/NullableTime"},
      "worker_id": {"$ref": "#/components/schemas/NullableText"},
      "created_at": {"$ref": "#/components/schemas/Time"},
      "scheduled_at": {"$ref": "#/components/schemas/NullableTime"},
      "started_at": {"$ref": "#/components/schemas/NullableTime"},
      "finished_at": {"$ref": "#/components/schemas/NullableTime"},
      "batch_id": {"$ref": "#/components/schemas/NullableUuid"},
      "parent_id": {"$ref": "#/components/schemas/NullableUuid"},
      "owner_id": {"$ref": "#/components/schemas/NullableUuid"},
      "correlation_id": {"$ref": "#/components/schemas/NullableText"},
      "result": true,
      "error": true
    }
  })";
  schemas["JobPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["JobResult"] = R"({
    "type": "object",
    "required": ["job_id", "status", "result"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "status": {"$ref": "#/components/schemas/JobStatus"},
      "result": true,
      "error": true,
      "finished_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
  schemas["JobHistory"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["at", "action"],
          "properties": {
            "at": {"$ref": "#/components/schemas/Time"},
            "action": {"type": "string"},
            "status": {"$ref": "#/components/schemas/NullableText"},
            "worker_id": {"$ref": "#/components/schemas/NullableText"},
            "reason": {"$ref": "#/components/schemas/NullableText"}
          }
        }
      }
    }
  })";
  schemas["LogLine"] = R"({
    "type": "object",
    "required": ["at", "level", "message"],
    "properties": {
      "log_seq": {"type": "integer"},
      "at": {"$ref": "#/components/schemas/Time"},
      "delivery": {"type": "integer"},
      "level": {"enum": ["debug", "info", "warn", "error"]},
      "message": {"type": "string"}
    }
  })";
  schemas["LogPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/LogLine"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["Batch"] = R"({
    "type": "object",
    "required": ["batch_id", "total", "completed", "failed", "cancelled", "created_at"],
    "properties": {
      "batch_id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "name": {"$ref": "#/components/schemas/NullableText"},
      "total": {"type": "integer"},
      "completed": {"type": "integer"},
      "failed": {"type": "integer"},
      "cancelled": {"type": "integer"},
      "pending": {"type": "integer"},
      "progress": {"type": "number", "minimum": 0, "maximum": 100},
      "sealed_at": {"$ref": "#/components/schemas/NullableTime"},
      "finished_at": {"$ref": "#/components/schemas/NullableTime"},
      "callback_job_id": {"$ref": "#/components/schemas/NullableUuid"},
      "created_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["BatchPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Batch"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["DeadGroup"] = R"({
    "type": "object",
    "required": ["queue", "fingerprint", "jobs", "first_at", "last_at"],
    "properties": {
      "queue": {"type": "string"},
      "job_type": {"type": "string"},
      "fingerprint": {"$ref": "#/components/schemas/NullableText"},
      "jobs": {"type": "integer"},
      "reason": {"$ref": "#/components/schemas/NullableText"},
      "message": {"$ref": "#/components/schemas/NullableText"},
      "first_at": {"$ref": "#/components/schemas/Time"},
      "last_at": {"$ref": "#/components/schemas/Time"},
      "example": {"$ref": "#/components/schemas/NullableUuid"}
    }
  })";
  schemas["DeadGroups"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/DeadGroup"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
}

}  // namespace

void add_job_schemas(SchemaMap& schemas) {
  add_requests(schemas);
  add_answers(schemas);
  add_reads(schemas);
}

}  // namespace millrace::api
