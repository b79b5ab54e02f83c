// Operation: one entry of the table that the whole HTTP API is made of.
//
// Flow: files of routes/ make lists of operations; OperationTable checks them together and compiles
// their schemas; Pipeline makes the router's routes of them; openapi.cpp and docs_page.cpp describe
// them. What is not written here does not exist: there is no other way to add a route.
// Threading: immutable once made, shared by all threads.
#pragma once

#include "api/access.h"
#include "api/reply.h"
#include "base/json.h"
#include "base/task.h"
#include "schema/schema.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

class Call;

using OperationHandler = std::function<Task<Reply>(Call& call)>;

enum class In { path, query, header };

struct Parameter {
  In in = In::query;
  std::string name;
  std::string description;
  std::string schema = R"({"type":"string"})";  // JSON Schema; text is read as its type says.
  bool required = false;
  // People wrote it, such as the name of a file: what it is part of is in no log and no trace.
  bool private_text = false;
};

struct RequestBody {
  enum class Kind {
    json,    // Read, parsed and held against `schema` before the handler runs (H-23).
    stream,  // The handler reads it, in pieces.
  };

  Kind kind = Kind::json;
  std::string schema;  // A name in the components, or JSON.
  std::vector<std::string> content_types = {std::string(kJsonType)};  // "*/*": any.
  bool required = true;
};

struct Answer {
  int status = 200;
  std::string description;
  std::string schema = {};  // A name in the components, or JSON; empty: no body.
  std::string content_type = std::string(kJsonType);
};

// How answers are dressed. `envelope` is for the routes that a source fixes (H-12): success is
// {"data": …}, an error has status, message and details beside cid. `rest` and `storage` word
// errors as PostgREST and Supabase Storage do; what succeeds is as the handler gave it.
enum class Form { plain, envelope, rest, storage };

struct Operation {
  std::string id;  // "jobs.get": unique, also the operationId.
  std::string method;
  std::string path;
  std::string tag;
  std::string summary;
  std::string description = {};
  Access access;
  std::vector<Parameter> parameters = {};
  std::optional<RequestBody> body = {};
  std::vector<Answer> answers;
  std::vector<int> errors = {};  // Besides those that follow from what is said here.
  std::uint64_t body_max_bytes = 1024 * 1024;
  std::optional<std::chrono::milliseconds> time_max = {};
  bool long_lived = false;       // A stream or a long poll.
  bool idempotency_key = false;  // Takes Idempotency-Key: a repeat gives the same answer.
  bool conditional = false;      // GET: answers with an ETag and honours If-None-Match.
  bool guards_change = false;    // A change whose handler holds If-Match against what is there.
  bool rate_limited = true;      // Counts towards the tenant's requests.
  bool free_query = false;       // The handler reads the query itself: columns as parameters.
  Form form = Form::plain;
  // Of a repeatable operation whose whole effect is one call of the database, which keeps its
  // answer in its own transaction (Call::request_key): that answer as a reply, the first time and
  // again. Without it the pipeline keeps what the handler replied.
  std::function<Reply(std::string effect)> replay = {};
  OperationHandler handler;
};

// A parameter with its schema compiled.
struct CheckedParameter {
  Parameter parameter;
  schema::Schema schema;
  std::string type;  // "integer", "boolean", "array", "string" …, as the schema says.
};

// An operation that has passed all checks.
struct CheckedOperation {
  Operation operation;
  std::vector<CheckedParameter> parameters;
  std::optional<schema::Schema> body_schema;
};

class OperationTable {
 public:
  // `components` are JSON Schemas by name. invalid_argument names the operation and the rule:
  // ids are unique, every path parameter is described, every schema compiles, every operation has a
  // summary, a tag and a handler, only GETs are conditional.
  static Result<OperationTable> make(std::vector<Operation> operations,
                                     std::map<std::string, std::string> components);

  std::span<const std::shared_ptr<const CheckedOperation>> all() const { return operations_; }
  const CheckedOperation* find(std::string_view id) const;

  // {"schemas": {...}} as the document and the references in it see them.
  const json::Object& components() const { return components_; }
  // A name of a component, or JSON, as a schema value: {"$ref": "#/components/schemas/Job"}.
  Result<json::Value> schema_value(const std::string& schema) const;
  // Compiled, with references into the components; formats count.
  Result<schema::Schema> compile(const std::string& schema) const;

 private:
  Result<CheckedOperation> check(Operation operation) const;
  Result<std::vector<CheckedParameter>> check_parameters(const Operation& operation) const;

  // Shared with the handlers of routes, which may outlive the table.
  std::vector<std::shared_ptr<const CheckedOperation>> operations_;
  json::Object components_;
};

std::string_view to_string(In in);

}  // namespace millrace::api
