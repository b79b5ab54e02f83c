// The fuzz targets, one per parser of the engine. Each takes any bytes and checks what must hold.
#pragma once

#include "fuzz/properties.h"

namespace millrace::fuzz {

void fuzz_json(Input input);        // base: JSON with limits, writers
void fuzz_text(Input input);        // base, model: text that goes into JSON and jsonb
void fuzz_duration(Input input);    // base: "1h30m"
void fuzz_names(Input input);       // base, model: uuids and the labels of SQL enums
void fuzz_fault_plan(Input input);  // base: MILLRACE_FAULT

void fuzz_config(Input input);    // app: millrace.toml as a whole
void fuzz_words(Input input);     // app: command lines of handlers, sizes
void fuzz_times(Input input);     // app: timestamps and intervals as PostgreSQL prints them
void fuzz_job_spec(Input input);  // app: options of enqueue and the command line itself

void fuzz_conninfo(Input input);     // pg, app: database URLs and what is shown of them
void fuzz_arrays(Input input);       // pg: parameters and rows
void fuzz_answers(Input input);      // store: what claim, beat and settle return
void fuzz_script(Input input);       // store: SQL scripts
void fuzz_settlements(Input input);  // store: JSON for settle_jobs and its kind

void fuzz_retry_after(Input input);   // http: Retry-After and HTTP dates
void fuzz_request(Input input);       // http: URL and headers of a request
void fuzz_http_outcome(Input input);  // worker: answers of http handlers
void fuzz_lines(Input input);         // sandbox: lines from a pipe
void fuzz_control(Input input);       // worker: fd 3 and the result of exec handlers
void fuzz_server_files(Input input);  // cluster: pid file, log, version of PostgreSQL

void fuzz_token(Input input);        // identity: tokens, their claims, base64url
void fuzz_jwks(Input input);         // identity: published key sets and their age
void fuzz_credentials(Input input);  // identity: headers, API keys, tickets

void fuzz_multipart(Input input);        // http: forms with files, in pieces
void fuzz_request_headers(Input input);  // api, http: keys, tags, cursors, queries
void fuzz_rest_query(Input input);       // api: PostgREST's query language

void fuzz_chunks(Input input);  // chunk: normalisation, blocks, where texts are cut

void fuzz_schema(Input input);   // schema: documents, values, defaults
void fuzz_pattern(Input input);  // schema: ECMA-262 patterns

struct Target {
  std::string_view name;
  void (*run)(Input input);
};

// Sorted by name.
const std::vector<Target>& targets();

}  // namespace millrace::fuzz
