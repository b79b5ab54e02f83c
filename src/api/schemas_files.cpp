// Schemas of files and uploads.
#include "api/schemas.h"

namespace millrace::api {

void add_file_schemas(SchemaMap& schemas) {
  schemas["File"] = R"({
    "type": "object",
    "required": ["id", "tenant_id", "owner_id", "patient_id", "storage_path", "file_name",
                 "content_type", "size_bytes", "sha256", "status", "job_id", "created_at"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "owner_id": {"$ref": "#/components/schemas/Uuid"},
      "patient_id": {"$ref": "#/components/schemas/NullableUuid"},
      "bucket": {"type": "string"},
      "storage_path": {"type": "string"},
      "file_name": {"$ref": "#/components/schemas/NullableText"},
      "content_type": {"$ref": "#/components/schemas/NullableText",
                       "description": "By the content, not by the name."},
      "size_bytes": {"type": ["integer", "null"]},
      "sha256": {"$ref": "#/components/schemas/NullableText"},
      "idempotency_key": {"$ref": "#/components/schemas/NullableText"},
      "status": {"type": "string"},
      "processing_error": true,
      "job_id": {"$ref": "#/components/schemas/NullableUuid"},
      "job": {
        "type": ["object", "null"],
        "properties": {
          "job_id": {"$ref": "#/components/schemas/Uuid"},
          "status": {"type": "string"},
          "stage": {"$ref": "#/components/schemas/NullableText"},
          "progress": true
        }
      },
      "created_at": {"$ref": "#/components/schemas/Time"},
      "updated_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["FilePage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/File"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["NewLink"] = R"({
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "expires_in": {"type": "integer", "minimum": 1, "maximum": 604800,
                     "description": "Seconds; 300 unless said."},
      "file_name": {"type": "string", "minLength": 1, "maxLength": 255,
                    "description": "What the download is called; default: as the file."}
    }
  })";
  schemas["Link"] = R"({
    "type": "object",
    "required": ["url", "expires_at"],
    "properties": {
      "url": {"type": "string"},
      "expires_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Upload"] = R"({
    "type": "object",
    "required": ["upload_id", "state", "offset_bytes", "size_bytes", "file"],
    "properties": {
      "upload_id": {"$ref": "#/components/schemas/Uuid"},
      "state": {"enum": ["open", "done"]},
      "offset_bytes": {"type": "integer"},
      "size_bytes": {"type": ["integer", "null"]},
      "expires_at": {"$ref": "#/components/schemas/NullableTime"},
      "file": {"anyOf": [{"$ref": "#/components/schemas/File"}, {"type": "null"}]}
    }
  })";
}

}  // namespace millrace::api
