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
      "colorMode": {"enum": ["color", "grayscale"], "default": "color"},
      "preview": {"type": "boolean", "default": false, "description": "A picture of the first page as well"},
      "language": {"type": "string", "pattern": "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$",
                   "description": "Of labels, dates and numbers, instead of the document's."},
      "templateSlug": {"$ref": "#/components/schemas/OrderedTemplate"}
    }
  })";
  schemas["TemplateSlug"] = R"({
    "type": "string", "pattern": "^[a-z][a-z0-9-]{0,62}$", "default": "minimal"
  })";
  schemas["OrderedTemplate"] = R"({
    "type": "string", "pattern": "^[a-z][a-z0-9-]{0,62}$",
    "description": "Another template than that of the document, which must fit its data."
  })";
  schemas["NewExportDocument"] = R"({
    "type": "object",
    "required": ["title", "data"],
    "additionalProperties": false,
    "properties": {
      "title": {"type": "string", "minLength": 1, "maxLength": 512,
                "description": "Of the PDF and the name of its file; 512 bytes at most."},
      "templateSlug": {"$ref": "#/components/schemas/TemplateSlug"},
      "data": {"type": "object", "description": "As the schema of the template says."}
    }
  })";
  schemas["NewExport"] = R"({
    "type": "object",
    "required": ["documentId"],
    "additionalProperties": false,
    "properties": {
      "documentId": {"$ref": "#/components/schemas/Uuid"},
      "templateSlug": {"$ref": "#/components/schemas/OrderedTemplate"},
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
      "templateSlug": {"$ref": "#/components/schemas/OrderedTemplate"},
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
      "progress": {"type": "integer"},
      "error": {"$ref": "#/components/schemas/NullableText"}
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
      "failedCount": {"type": "integer", "description": "Failed or cancelled."},
      "finished": {"type": "boolean", "description": "None of them goes on."},
      "progress": {"type": "integer", "description": "Completed jobs of all, in percent."},
      "meanProgress": {"type": "integer", "description": "The mean of their progress."},
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/ExportBatchJob"}}
    }
  })";
  schemas["ExportBatchFiles"] = R"({
    "type": "object",
    "required": ["batchId", "expiresIn", "files"],
    "properties": {
      "batchId": {"$ref": "#/components/schemas/Uuid"},
      "expiresIn": {"type": "integer", "description": "Seconds for which all of the links are good."},
      "files": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["jobId", "documentId", "fileName", "url"],
          "properties": {
            "jobId": {"$ref": "#/components/schemas/Uuid"},
            "documentId": {"$ref": "#/components/schemas/NullableUuid"},
            "fileName": {"type": "string"},
            "url": {"type": "string"}
          }
        }
      }
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

void add_documents(SchemaMap& schemas) {
  schemas["ExportDocument"] = R"({
    "type": "object",
    "required": ["id", "userId", "title", "templateSlug", "version", "contentSha256", "createdAt",
                 "updatedAt"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "userId": {"$ref": "#/components/schemas/Uuid"},
      "title": {"type": "string"},
      "templateSlug": {"type": "string"},
      "data": {"type": "object", "description": "Not in lists."},
      "version": {"type": "integer", "minimum": 1},
      "contentSha256": {"type": "string", "description": "Of title, template and data."},
      "createdAt": {"$ref": "#/components/schemas/Time"},
      "updatedAt": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["ExportDocumentPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ExportDocument"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["ExportTemplate"] = R"({
    "type": "object",
    "required": ["slug", "title", "description", "kind", "version", "hash", "language", "pageSize",
                 "schema", "sample"],
    "properties": {
      "slug": {"type": "string"},
      "title": {"type": "string"},
      "description": {"type": "string"},
      "kind": {"type": "string", "description": "Templates of one kind take the same data."},
      "version": {"type": "string"},
      "hash": {"type": "string", "description": "Of its files: equal hashes render equally."},
      "language": {"type": "string"},
      "pageSize": {"type": "string"},
      "schema": {"type": "object", "description": "JSON Schema of the data."},
      "sample": {"type": "object", "description": "Data that the schema accepts."}
    }
  })";
  schemas["ExportTemplates"] = R"({
    "type": "object",
    "required": ["items"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/ExportTemplate"}}
    }
  })";
}

}  // namespace

void add_export_schemas(SchemaMap& schemas) {
  add_requests(schemas);
  add_answers(schemas);
  add_documents(schemas);
}

}  // namespace millrace::api
