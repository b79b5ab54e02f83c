// Schemas of exports, in the names of the source.
#include "api/schemas.h"

namespace millrace::api {
namespace {

void add_requests(SchemaMap& schemas) {
  schemas["ExportMargin"] = R"({"type":"number","minimum":0,"maximum":2,"default":1})";
  schemas["ExportOptions"] = R"({
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "pageSize": {"enum": ["A4", "Letter", "Legal"], "default": "Letter"},
      "margins": {
        "type": "object",
        "additionalProperties": false,
        "description": "In inches.",
        "properties": {
          "top": {"$ref": "#/components/schemas/ExportMargin"},
          "bottom": {"$ref": "#/components/schemas/ExportMargin"},
          "left": {"$ref": "#/components/schemas/ExportMargin"},
          "right": {"$ref": "#/components/schemas/ExportMargin"}
        }
      },
      "quality": {"enum": ["draft", "normal", "high"], "default": "normal"},
      "colorMode": {"enum": ["color", "grayscale"], "default": "color"}
    }
  })";
  schemas["TemplateSlug"] = R"({
    "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,99}$", "default": "minimal"
  })";
  schemas["NewExport"] = R"({
    "type": "object",
    "required": ["documentId"],
    "additionalProperties": false,
    "properties": {
      "documentId": {"$ref": "#/components/schemas/Uuid"},
      "templateSlug": {"$ref": "#/components/schemas/TemplateSlug"},
      "options": {"$ref": "#/components/schemas/ExportOptions"}
    }
  })";
  schemas["NewExportBatch"] = R"({
    "type": "object",
    "required": ["documentIds"],
    "additionalProperties": false,
    "properties": {
      "documentIds": {"type": "array", "minItems": 1, "maxItems": 1000,
                      "items": {"$ref": "#/components/schemas/Uuid"},
                      "description": "Ten at most."},
      "templateSlug": {"$ref": "#/components/schemas/TemplateSlug"},
      "options": {"$ref": "#/components/schemas/ExportOptions"}
    }
  })";
}

void add_answers(SchemaMap& schemas) {
  schemas["ExportCreated"] = R"({
    "type": "object",
    "required": ["jobId"],
    "properties": {"jobId": {"$ref": "#/components/schemas/Uuid"}}
  })";
  schemas["ExportStatus"] = R"({
    "type": "object",
    "required": ["id", "status", "progress", "resultUrl", "error"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "status": {"enum": ["pending", "processing", "completed", "failed", "cancelled"]},
      "progress": {"type": "integer", "minimum": 0, "maximum": 100},
      "resultUrl": {"type": ["string", "null"], "description": "Fresh, good for an hour."},
      "error": {"$ref": "#/components/schemas/NullableText"}
    }
  })";
  schemas["ExportBatchJob"] = R"({
    "type": "object",
    "required": ["jobId", "documentId"],
    "properties": {
      "jobId": {"$ref": "#/components/schemas/Uuid"},
      "documentId": {"$ref": "#/components/schemas/NullableUuid"},
      "status": {"enum": ["pending", "processing", "completed", "failed", "cancelled"]},
      "progress": {"type": "integer"}
    }
  })";
  schemas["ExportBatchCreated"] = R"({
    "type": "object",
    "required": ["batchId", "jobs"],
    "properties": {
      "batchId": {"$ref": "#/components/schemas/Uuid"},
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/ExportBatchJob"}}
    }
  })";
  schemas["ExportBatch"] = R"({
    "type": "object",
    "required": ["batchId", "totalCount", "completedCount", "progress", "meanProgress", "jobs"],
    "properties": {
      "batchId": {"$ref": "#/components/schemas/Uuid"},
      "totalCount": {"type": "integer"},
      "completedCount": {"type": "integer"},
      "progress": {"type": "integer", "description": "Completed jobs of all, in percent."},
      "meanProgress": {"type": "integer", "description": "The mean of their progress."},
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/ExportBatchJob"}}
    }
  })";
  schemas["ExportPartial"] = R"({
    "type": "object",
    "required": ["status", "message", "details", "cid"],
    "properties": {
      "status": {"const": 409},
      "message": {"type": "string"},
      "code": {"type": "string"},
      "cid": {"type": "string"},
      "details": {
        "type": "object",
        "properties": {
          "completedCount": {"type": "integer"},
          "totalCount": {"type": "integer"},
          "completedJobs": {"type": "array", "items": {"$ref": "#/components/schemas/Uuid"}}
        }
      }
    }
  })";
  schemas["ExportHistory"] = R"({
    "type": "object",
    "required": ["id", "file_name", "file_size", "expires_at", "created_at", "download_count"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "document_id": {"$ref": "#/components/schemas/NullableUuid"},
      "job_id": {"$ref": "#/components/schemas/NullableUuid"},
      "format": {"type": "string"},
      "file_name": {"type": "string"},
      "file_size": {"type": "integer"},
      "download_count": {"type": "integer"},
      "expires_at": {"$ref": "#/components/schemas/Time"},
      "created_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["ExportHistoryPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ExportHistory"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["Message"] = R"({
    "type": "object",
    "required": ["message"],
    "properties": {"message": {"type": "string"}}
  })";
  schemas["ExportsDeleted"] = R"({
    "type": "object",
    "required": ["deleted"],
    "properties": {"deleted": {"type": "integer"}}
  })";
  schemas["ExportsCleaned"] = R"({
    "type": "object",
    "required": ["deletedCount"],
    "properties": {"deletedCount": {"type": "integer"}}
  })";
}

}  // namespace

void add_export_schemas(SchemaMap& schemas) {
  add_requests(schemas);
  add_answers(schemas);
}

}  // namespace millrace::api
