// The JSON Schemas that requests and answers of the API are made of, by name.
//
// Written as JSON, because that is what clients read: they stand in the OpenAPI document as they
// are here. Objects that clients send allow no other members, so that a misspelt one is an error;
// objects that they get may gain members. Empty descriptions say nothing the name does not.
#pragma once

#include <map>
#include <string>

namespace millrace::api {

using SchemaMap = std::map<std::string, std::string>;

SchemaMap component_schemas();

// Its parts, by file.
void add_common_schemas(SchemaMap& schemas);    // Problems, answers of verbs, health, scale.
void add_job_schemas(SchemaMap& schemas);       // Jobs, batches, dead letters, logs, events.
void add_system_schemas(SchemaMap& schemas);    // Queues, limits, workers, cron, audit.
void add_supabase_schemas(SchemaMap& schemas);  // Objects in buckets, as Supabase Storage has them.
void add_identity_schemas(SchemaMap& schemas);  // Tenants, profiles, tokens.
void add_compute_schemas(SchemaMap& schemas);   // Compute jobs, contracts.
void add_file_schemas(SchemaMap& schemas);      // Files, uploads, links.
void add_document_schemas(SchemaMap& schemas);  // Documents, quarantine, spending.
void add_search_schemas(SchemaMap& schemas);    // Questions and passages.
void add_stream_schemas(SchemaMap& schemas);    // Data of live events.
void add_export_schemas(SchemaMap& schemas);    // Exports, in the names of the source.
void add_work_schemas(SchemaMap& schemas);      // Remote workers.

}  // namespace millrace::api
