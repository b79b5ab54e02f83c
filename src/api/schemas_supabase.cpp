#include "api/schemas.h"

namespace millrace::api {

// Requests may have members that a newer client sends and that change nothing here.
void add_supabase_schemas(SchemaMap& schemas) {
  schemas["StorageStored"] = R"({
    "type": "object",
    "required": ["Id", "Key"],
    "properties": {
      "Id": {"$ref": "#/components/schemas/Uuid"},
      "Key": {"type": "string", "description": "<bucket>/<name>"}
    }
  })";
  schemas["StorageExpiry"] = R"({
    "type": "integer",
    "minimum": 1,
    "maximum": 604800,
    "description": "Seconds until the URL opens nothing any more."
  })";
  schemas["StorageSign"] = R"({
    "type": "object",
    "required": ["expiresIn"],
    "properties": {
      "expiresIn": {"$ref": "#/components/schemas/StorageExpiry"},
      "transform": false,
      "versionId": false
    }
  })";
  schemas["StorageSigned"] = R"({
    "type": "object",
    "required": ["signedURL"],
    "properties": {
      "signedURL": {"type": "string", "description": "Relative to /storage/v1."}
    }
  })";
  schemas["StorageSignMany"] = R"({
    "type": "object",
    "required": ["expiresIn", "paths"],
    "properties": {
      "expiresIn": {"$ref": "#/components/schemas/StorageExpiry"},
      "paths": {
        "type": "array",
        "minItems": 1,
        "maxItems": 500,
        "items": {"type": "string", "minLength": 1, "maxLength": 1024}
      }
    }
  })";
  schemas["StorageSignedMany"] = R"({
    "type": "array",
    "items": {
      "type": "object",
      "required": ["error", "path", "signedURL"],
      "properties": {
        "error": {"$ref": "#/components/schemas/NullableText"},
        "path": {"type": "string"},
        "signedURL": {"$ref": "#/components/schemas/NullableText"}
      }
    }
  })";
  schemas["StorageInfo"] = R"({
    "type": "object",
    "required": ["id", "name", "bucket_id", "size", "content_type", "etag"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "name": {"type": "string"},
      "version": {"type": "string"},
      "bucket_id": {"type": "string"},
      "size": {"type": "integer"},
      "content_type": {"type": "string"},
      "cache_control": {"type": "string"},
      "etag": {"type": "string"},
      "metadata": {"type": ["object", "null"]},
      "last_modified": {"$ref": "#/components/schemas/Time"},
      "created_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["StorageBucket"] = R"({
    "type": "object",
    "required": ["id", "name", "public"],
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "owner": {"type": "string"},
      "public": {"type": "boolean"},
      "file_size_limit": {"type": ["integer", "null"]},
      "allowed_mime_types": {"type": ["array", "null"], "items": {"type": "string"}},
      "created_at": {"$ref": "#/components/schemas/Time"},
      "updated_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["StorageBuckets"] = R"({
    "type": "array",
    "items": {"$ref": "#/components/schemas/StorageBucket"}
  })";
  schemas["StorageList"] = R"({
    "type": "object",
    "required": ["prefix"],
    "properties": {
      "prefix": {"type": "string", "maxLength": 1024, "description": "The folder; empty: all."},
      "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
      "offset": {"type": "integer", "minimum": 0, "maximum": 10000},
      "search": {"type": "string", "maxLength": 1024, "description": "How the names begin."},
      "sortBy": {
        "type": "object",
        "properties": {
          "column": {"enum": ["name", "created_at", "updated_at"]},
          "order": {"enum": ["asc", "desc"]}
        }
      }
    }
  })";
  schemas["StorageEntries"] = R"({
    "type": "array",
    "items": {
      "type": "object",
      "required": ["name", "id", "metadata"],
      "properties": {
        "name": {"type": "string"},
        "id": {"$ref": "#/components/schemas/NullableUuid"},
        "created_at": {"$ref": "#/components/schemas/NullableTime"},
        "updated_at": {"$ref": "#/components/schemas/NullableTime"},
        "last_accessed_at": {"$ref": "#/components/schemas/NullableTime"},
        "metadata": {"type": ["object", "null"]}
      }
    }
  })";
  schemas["StorageRemove"] = R"({
    "type": "object",
    "required": ["prefixes"],
    "properties": {
      "prefixes": {
        "type": "array",
        "minItems": 1,
        "maxItems": 1000,
        "items": {"type": "string", "minLength": 1, "maxLength": 1024}
      }
    }
  })";
}

}  // namespace millrace::api
