// Schemas of tenants, profiles and tokens.
#include "api/schemas.h"

namespace millrace::api {
namespace {

void add_tenants(SchemaMap& schemas) {
  schemas["TenantQuota"] = R"({
    "type": "object",
    "additionalProperties": false,
    "minProperties": 1,
    "description": "null: what holds for all tenants.",
    "properties": {
      "quota_bytes": {"type": ["integer", "null"], "minimum": 0},
      "quota_files": {"type": ["integer", "null"], "minimum": 0},
      "requests_per_minute": {"type": ["integer", "null"], "minimum": 0}
    }
  })";
  schemas["NewTenant"] = R"({
    "type": "object",
    "required": ["name"],
    "additionalProperties": false,
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 200},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "quota_bytes": {"type": ["integer", "null"], "minimum": 0},
      "quota_files": {"type": ["integer", "null"], "minimum": 0},
      "requests_per_minute": {"type": ["integer", "null"], "minimum": 0}
    }
  })";
  schemas["Tenant"] = R"({
    "type": "object",
    "required": ["tenant_id", "name", "created_at"],
    "properties": {
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "name": {"type": "string"},
      "quota_bytes": {"type": ["integer", "null"]},
      "quota_files": {"type": ["integer", "null"]},
      "requests_per_minute": {"type": ["integer", "null"]},
      "used_bytes": {"type": "integer"},
      "used_files": {"type": "integer"},
      "disabled_at": {"$ref": "#/components/schemas/NullableTime"},
      "disabled_reason": {"$ref": "#/components/schemas/NullableText"},
      "created_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["TenantPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Tenant"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
}

void add_profiles(SchemaMap& schemas) {
  schemas["NewProfile"] = R"({
    "type": "object",
    "required": ["display_name"],
    "additionalProperties": false,
    "properties": {
      "display_name": {"type": "string", "minLength": 1, "maxLength": 400},
      "account_owner_id": {"$ref": "#/components/schemas/Uuid",
                           "description": "Of a service: the user. Of a user: itself."},
      "id": {"$ref": "#/components/schemas/Uuid",
             "description": "Chosen by the client; a repeat finds the profile."}
    }
  })";
  schemas["ProfileName"] = R"({
    "type": "object",
    "required": ["display_name"],
    "additionalProperties": false,
    "properties": {"display_name": {"type": "string", "minLength": 1, "maxLength": 400}}
  })";
  schemas["Profile"] = R"({
    "type": "object",
    "required": ["id", "tenant_id", "account_owner_id", "display_name", "created_at"],
    "properties": {
      "id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/Uuid"},
      "account_owner_id": {"$ref": "#/components/schemas/Uuid"},
      "display_name": {"type": "string"},
      "created_at": {"$ref": "#/components/schemas/Time"},
      "updated_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["ProfilePage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Profile"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
}

void add_tokens(SchemaMap& schemas) {
  schemas["Role"] = R"({
    "enum": ["anon", "authenticated", "service_role", "reader", "operator", "admin"]
  })";
  schemas["NewToken"] = R"({
    "type": "object",
    "required": ["role"],
    "additionalProperties": false,
    "properties": {
      "role": {"$ref": "#/components/schemas/Role"},
      "kind": {"enum": ["jwt", "api_key", "supabase_key"],
               "description": "Default: jwt for the first three roles; the others have keys only."},
      "tenant_id": {"$ref": "#/components/schemas/Uuid",
                    "description": "Confines it; default: the caller's own."},
      "user_id": {"$ref": "#/components/schemas/Uuid"},
      "name": {"type": "string", "minLength": 1, "maxLength": 200},
      "scopes": {"type": "array", "maxItems": 10,
                 "items": {"enum": ["read", "write", "operate", "administer", "work",
                                    "impersonate_tenant"]}},
      "ttl_seconds": {"type": "integer", "minimum": 1, "maximum": 316224000,
                      "description": "Default: an hour for a jwt; a key does not expire."}
    }
  })";
  schemas["TokenCreated"] = R"({
    "type": "object",
    "required": ["token_id", "token", "role", "kind"],
    "properties": {
      "token_id": {"$ref": "#/components/schemas/Uuid"},
      "token": {"type": "string", "description": "Shown once."},
      "role": {"$ref": "#/components/schemas/Role"},
      "kind": {"enum": ["jwt", "api_key", "supabase_key"]},
      "expires_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
  schemas["Token"] = R"({
    "type": "object",
    "required": ["token_id", "role", "kind", "created_at"],
    "properties": {
      "token_id": {"$ref": "#/components/schemas/Uuid"},
      "tenant_id": {"$ref": "#/components/schemas/NullableUuid"},
      "user_id": {"$ref": "#/components/schemas/NullableUuid"},
      "role": {"$ref": "#/components/schemas/Role"},
      "kind": {"enum": ["jwt", "api_key"]},
      "prefix": {"type": "string"},
      "name": {"$ref": "#/components/schemas/NullableText"},
      "scopes": {"type": "array", "items": {"type": "string"}},
      "created_at": {"$ref": "#/components/schemas/Time"},
      "created_by": {"type": "string"},
      "expires_at": {"$ref": "#/components/schemas/NullableTime"},
      "revoked_at": {"$ref": "#/components/schemas/NullableTime"},
      "last_used_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
  schemas["TokenPage"] = R"({
    "type": "object",
    "required": ["items", "next_cursor"],
    "properties": {
      "items": {"type": "array", "items": {"$ref": "#/components/schemas/Token"}},
      "next_cursor": {"$ref": "#/components/schemas/Cursor"}
    }
  })";
  schemas["NewStreamToken"] = R"({
    "type": "object",
    "required": ["path"],
    "additionalProperties": false,
    "properties": {
      "path": {"type": "string", "pattern": "^/api/v1/[A-Za-z0-9/_.:-]{1,500}$",
               "description": "Of the stream it is for: /api/v1/jobs/{id}/events"},
      "ttl_seconds": {"type": "integer", "minimum": 1, "maximum": 3600}
    }
  })";
  schemas["StreamToken"] = R"({
    "type": "object",
    "required": ["token", "url", "expires_at"],
    "properties": {
      "token": {"type": "string"},
      "url": {"type": "string", "description": "The path with the token, for EventSource."},
      "expires_at": {"$ref": "#/components/schemas/Time"}
    }
  })";
  schemas["Me"] = R"({
    "type": "object",
    "required": ["role", "capabilities", "method"],
    "properties": {
      "role": {"$ref": "#/components/schemas/Role"},
      "tenant_id": {"$ref": "#/components/schemas/NullableUuid"},
      "user_id": {"$ref": "#/components/schemas/NullableUuid"},
      "capabilities": {"type": "array", "items": {"type": "string"}},
      "method": {"type": "string"},
      "expires_at": {"$ref": "#/components/schemas/NullableTime"}
    }
  })";
}

}  // namespace

void add_identity_schemas(SchemaMap& schemas) {
  add_tenants(schemas);
  add_profiles(schemas);
  add_tokens(schemas);
}

}  // namespace millrace::api
