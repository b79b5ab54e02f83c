#include "api/schemas.h"

namespace millrace::api {

SchemaMap component_schemas() {
  SchemaMap schemas;
  add_common_schemas(schemas);
  add_job_schemas(schemas);
  add_system_schemas(schemas);
  add_identity_schemas(schemas);
  add_supabase_schemas(schemas);
  add_stream_schemas(schemas);
  add_compute_schemas(schemas);
  add_work_schemas(schemas);
  add_file_schemas(schemas);
  add_export_schemas(schemas);
  add_document_schemas(schemas);
  add_search_schemas(schemas);
  return schemas;
}

void add_common_schemas(SchemaMap& schemas) {
  schemas["Time"] = R"({"type":"string","format":"date-time"})";
  schemas["NullableTime"] = R"({"type":["string","null"],"format":"date-time"})";
  schemas["Uuid"] = R"({"type":"string","format":"uuid"})";
  schemas["NullableUuid"] = R"({"type":["string","null"],"format":"uuid"})";
  schemas["NullableText"] = R"({"type":["string","null"]})";
  schemas["Cursor"] = R"({
    "type": ["string", "null"],
    "description": "Where the next page begins; null on the last one."
  })";
  schemas["Reason"] = R"({"type":"string","minLength":1,"maxLength":500})";
  schemas["ReasonBody"] = R"({
    "type": "object",
    "additionalProperties": false,
    "properties": {"reason": {"$ref": "#/components/schemas/Reason"}}
  })";
  schemas["FieldError"] = R"({
    "type": "object",
    "required": ["detail"],
    "properties": {
      "detail": {"type": "string"},
      "pointer": {"type": "string", "description": "JSON pointer into the body, behind a #."},
      "parameter": {"type": "string"},
      "header": {"type": "string"},
      "rule": {"type": "string", "description": "The keyword of the schema that is broken."}
    }
  })";
  schemas["Problem"] = R"({
    "type": "object",
    "description": "Problem details, RFC 9457.",
    "required": ["type", "title", "status", "detail", "code", "cid"],
    "properties": {
      "type": {"type": "string", "format": "uri"},
      "title": {"type": "string"},
      "status": {"type": "integer", "minimum": 400, "maximum": 599},
      "detail": {"type": "string", "description": "For people."},
      "code": {"type": "string", "description": "For programs; stable."},
      "cid": {"type": "string", "description": "The x-correlation-id of the request."},
      "errors": {"type": "array", "items": {"$ref": "#/components/schemas/FieldError"}},
      "violated-policies": {"type": "array", "items": {"type": "string"}}
    }
  })";
  schemas["EnvelopeError"] = R"({
    "type": "object",
    "required": ["status", "message", "cid"],
    "properties": {
      "status": {"type": "integer"},
      "message": {"type": "string"},
      "details": true,
      "code": {"type": "string"},
      "cid": {"type": "string"}
    }
  })";
  schemas["RestError"] = R"({
    "type": "object",
    "description": "An error as PostgREST words it.",
    "required": ["code", "message", "details", "hint"],
    "properties": {
      "code": {"type": "string"},
      "message": {"type": "string"},
      "details": {"$ref": "#/components/schemas/NullableText"},
      "hint": {"$ref": "#/components/schemas/NullableText"},
      "cid": {"type": "string"}
    }
  })";
  schemas["StorageError"] = R"({
    "type": "object",
    "description": "An error as Supabase Storage words it.",
    "required": ["statusCode", "error", "message"],
    "properties": {
      "statusCode": {
        "type": "string",
        "description": "The true status; outside, most errors are 400."
      },
      "error": {"type": "string"},
      "code": {"type": "string", "description": "For programs: NoSuchKey, KeyAlreadyExists …"},
      "message": {"type": "string"},
      "cid": {"type": "string"}
    }
  })";
  schemas["Done"] = R"({
    "type": "object",
    "required": ["answer"],
    "properties": {"answer": {"type": "string"}}
  })";
  schemas["Check"] = R"({
    "type": "object",
    "required": ["status"],
    "properties": {
      "status": {"enum": ["ok", "failed"]},
      "ms": {"type": "number"},
      "error": {"type": "string", "description": "The class of the error, nothing more."},
      "value": {"type": "integer"}
    }
  })";
  schemas["Health"] = R"({
    "type": "object",
    "required": ["status", "timestamp", "checks"],
    "properties": {
      "status": {"enum": ["healthy", "degraded", "unavailable"]},
      "timestamp": {"$ref": "#/components/schemas/Time"},
      "version": {"type": "string"},
      "checks": {
        "type": "object",
        "additionalProperties": {"$ref": "#/components/schemas/Check"}
      }
    }
  })";
  schemas["QueueScale"] = R"({
    "type": "object",
    "required": ["demand", "oldest_age_s", "drain_s"],
    "properties": {
      "demand": {"type": "number", "description": "Jobs that run or could run now."},
      "oldest_age_s": {"type": "number", "description": "Seconds the oldest of them has waited."},
      "drain_s": {
        "type": ["number", "null"],
        "description": "Seconds until none is left at the present rate; null when it is not known."
      }
    }
  })";
  schemas["HealthDetails"] = R"({
    "type": "object",
    "required": ["queue_depth", "workers", "workers_silent", "keeper", "maintenance",
                 "enqueue_enabled", "schema_version"],
    "properties": {
      "queue_depth": {"type": "integer", "description": "Jobs that wait, of all queues."},
      "workers": {"type": "integer", "description": "Processes that live."},
      "workers_silent": {"type": "integer", "description": "Their lease has ended."},
      "keeper": {"type": "boolean", "description": "Whether one does its duties."},
      "maintenance": {"type": "boolean"},
      "enqueue_enabled": {"type": "boolean"},
      "schema_version": {"type": "integer"}
    }
  })";
  schemas["Scale"] = R"({
    "type": "object",
    "required": ["queues"],
    "properties": {
      "queues": {
        "type": "object",
        "additionalProperties": {"$ref": "#/components/schemas/QueueScale"}
      }
    }
  })";
}

}  // namespace millrace::api
