// Schemas of compute jobs and contracts.
#include "api/schemas.h"

namespace millrace::api {

void add_compute_schemas(SchemaMap& schemas) {
  schemas["ComputeName"] = R"({
    "type": "string", "minLength": 1, "maxLength": 127, "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:+-]*$"
  })";
  schemas["ComputeRun"] = R"({
    "type": "object",
    "required": ["definition", "version"],
    "additionalProperties": false,
    "properties": {
      "app_id": {"$ref": "#/components/schemas/ComputeName",
                 "description": "Equal questions of one app are one job. Default: compute.app_id."},
      "definition": {"$ref": "#/components/schemas/ComputeName"},
      "version": {"$ref": "#/components/schemas/ComputeName"},
      "inputs": {"type": "object", "description": "As inputs.schema.json of the contract has it."},
      "payload": {"type": "object", "description": "Another name of inputs."},
      "priority": {"type": "integer", "minimum": 0, "maximum": 1000,
                   "description": "Higher first; for services only."},
      "max_age_seconds": {"type": "integer", "minimum": 0, "maximum": 86400,
                          "description": "Of a result that may answer; 0: compute it anew."}
    },
    "anyOf": [{"required": ["inputs"]}, {"required": ["payload"]}]
  })";
  schemas["ComputeAccepted"] = R"({
    "type": "object",
    "required": ["job_id", "answer"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "answer": {"enum": ["created", "running", "cached"],
                 "description": "running, cached: an equal question was asked before."}
    }
  })";
  schemas["ComputeStatus"] = R"({
    "type": "object",
    "required": ["job_id", "status", "attempts"],
    "properties": {
      "job_id": {"$ref": "#/components/schemas/Uuid"},
      "status": {"enum": ["queued", "running", "succeeded", "failed", "cancelled"]},
      "attempts": {"type": "integer"},
      "last_error": {"type": "object"}
    }
  })";
  schemas["Artifact"] = R"({
    "type": "object",
    "required": ["id", "kind", "size_bytes", "sha256"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "kind": {"type": "string"},
      "file_name": {"$ref": "#/components/schemas/NullableText"},
      "content_type": {"type": "string"},
      "size_bytes": {"type": "integer"},
      "sha256": {"type": "string"},
      "expires_at": {"$ref": "#/components/schemas/NullableTime"},
      "url": {"type": "string", "description": "Signed, good for minutes; ask again for another."},
      "url_expires_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Artifacts"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Artifact"}}
    }
  })";
  schemas["ContractName"] = R"({
    "type": "object",
    "required": ["app_id", "definition", "version"],
    "properties": {
      "app_id": {"type": ["string", "null"], "description": "null: for every app."},
      "definition": {"type": "string"},
      "version": {"type": "string"}
    }
  })";
  schemas["ContractNames"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ContractName"}}
    }
  })";
  schemas["ContractSchemas"] = R"({
    "type": "object",
    "required": ["definition", "version", "inputs", "outputs"],
    "properties": {
      "app_id": {"$ref": "#/components/schemas/NullableText"},
      "definition": {"type": "string"},
      "version": {"type": "string"},
      "inputs": {"description": "A JSON Schema.", "type": ["object", "boolean"]},
      "outputs": {"description": "A JSON Schema; null: not checked.",
                  "type": ["object", "boolean", "null"]}
    }
  })";
}

}  // namespace millrace::api
