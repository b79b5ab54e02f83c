// Schemas of what events of streams carry.
#include "api/schemas.h"

namespace millrace::api {

void add_stream_schemas(SchemaMap& schemas) {
  schemas["JobStreamData"] = R"({
    "type": "object",
    "description": "Data of an event in the stream of one job.",
    "required": ["jobId"],
    "properties": {
      "jobId": {"$ref": "#/components/schemas/Uuid"},
      "kind": {"type": "string", "description": "As in the log: job.progress."},
      "at": {"$ref": "#/components/schemas/Time"},
      "queue": {"$ref": "#/components/schemas/NullableText"},
      "status": {"$ref": "#/components/schemas/JobStatus"},
      "progress": {"type": ["number", "null"], "minimum": 0, "maximum": 100},
      "message": {"$ref": "#/components/schemas/NullableText"},
      "resultUrl": {"$ref": "#/components/schemas/NullableText"},
      "error": {"type": ["string", "null"], "description": "One line, for people."},
      "resultOmitted": {"type": "boolean",
                        "description": "The result is too large for an event; ask for it."},
      "missed": {"type": "boolean", "description": "Events before this one are lost."},
      "job": {"type": "object", "description": "The job as GET gives it."}
    }
  })";
  schemas["BatchStreamData"] = R"({
    "type": "object",
    "description": "Data of an event in the stream of one batch.",
    "required": ["batchId"],
    "properties": {
      "batchId": {"$ref": "#/components/schemas/Uuid"},
      "kind": {"type": "string"},
      "at": {"$ref": "#/components/schemas/Time"},
      "queue": {"$ref": "#/components/schemas/NullableText"},
      "total": {"type": "integer"},
      "completed": {"type": "integer"},
      "failed": {"type": "integer"},
      "cancelled": {"type": "integer"},
      "progress": {"type": ["number", "null"]},
      "missed": {"type": "boolean"},
      "batch": {"type": "object", "description": "The batch as GET gives it."}
    }
  })";
  schemas["StreamData"] = R"({
    "type": "object",
    "description": "Data of an event in the stream of a queue or a tenant.",
    "properties": {
      "kind": {"type": "string"},
      "at": {"$ref": "#/components/schemas/Time"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "queue": {"$ref": "#/components/schemas/NullableText"},
      "batch_id": {"$ref": "#/components/schemas/Uuid"},
      "jobs": {"type": "integer", "description": "How many jobs it is about."},
      "job_ids": {"type": "array", "maxItems": 200,
                  "items": {"$ref": "#/components/schemas/Uuid"},
                  "description": "The first of them."},
      "data": {"type": "object", "description": "What this kind of event says besides."},
      "missed": {"type": "boolean",
                 "description": "Of a snapshot: events are lost, read the lists again."}
    }
  })";
}

}  // namespace millrace::api
