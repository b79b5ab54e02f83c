// Contract: the server's own OpenAPI document, asked what a request may look like and whether an
// answer keeps its word.
#pragma once

#include "base/json.h"
#include "base/random.h"
#include "exchange.h"
#include "schema/schema.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::test {

struct ContractOperation {
  std::string id;
  std::string method;  // "GET"
  std::string path;    // "/api/v1/jobs/{id}"
  json::Object spec;
  std::vector<std::string> segments;  // Of the path.
  bool takes_rest = false;            // Its last parameter takes slashes too.

  bool open() const { return access() == "open"; }
  std::string access() const;
  bool admits(std::string_view role) const;
  bool for_all_tenants() const;
  bool long_lived() const;  // A stream, or an answer that may be waited for.
  bool takes_key() const;   // An Idempotency-Key.
  // A path with every parameter filled in.
  std::string path_with(const std::map<std::string, std::string>& values) const;
};

class Contract {
 public:
  explicit Contract(json::Object document);

  const std::vector<ContractOperation>& operations() const { return operations_; }
  const json::Object& document() const { return document_; }
  // The operation that a request means, as the router finds it: a literal before a parameter, and
  // that before the rest of a path; HEAD is a GET unless it is described. Null: there is none.
  const ContractOperation* operation_of(std::string_view method, std::string_view target) const;

  // A JSON body that the operation's schema allows; nothing for operations without one.
  std::optional<std::string> sample_body(const ContractOperation& operation) const;
  // Whether the document has nothing against this body.
  bool accepts(const ContractOperation& operation, const std::string& body);
  // A whole request: path, parameters that are required, and a body of a kind that it takes.
  Ask sample_request(const ContractOperation& operation, const std::string& token,
                     const std::map<std::string, std::string>& ids) const;
  // The same with optional parameters and members that come and go.
  Ask varied_request(const ContractOperation& operation, const std::string& token,
                     const std::map<std::string, std::string>& ids, Random& random) const;
  // What is wrong with the answer; empty when it is as the document says. Of files and streams
  // status, headers and content type are looked at.
  std::string judge(const ContractOperation& operation, const Answered& answered);
  // The same for the operation that the request means; what succeeds must be described.
  std::string judge(const Ask& ask, const Answered& answered);
  // The status that is meant: Storage says 400 outside and the true one inside.
  static int meant_status(const Answered& answered);
  // The same for what the server refuses before it knows an operation.
  std::string judge_problem(const Answered& answered);

 private:
  std::string judge_body(const json::Value& schema, const Answered& answered);
  // Without chance: what is required, and nothing else.
  Ask make_request(const ContractOperation& operation, const std::string& token,
                   const std::map<std::string, std::string>& ids, Random* chance) const;
  std::optional<std::string> make_body(const ContractOperation& operation, Random* chance) const;
  void add_content(const ContractOperation& operation, Ask& ask, Random* chance) const;
  void add_parameters(const ContractOperation& operation, Ask& ask, Random* chance) const;
  json::Value sample(const json::Value& schema, int depth, Random* chance) const;
  json::Object sample_object(const json::Value& schema, int depth, Random* chance) const;
  const json::Value& resolve(const json::Value& schema) const;
  const schema::Schema& compiled(const json::Value& schema);

  json::Object document_;
  std::vector<ContractOperation> operations_;
  std::map<std::string, schema::Schema> compiled_;  // By the schema's text.
};

}  // namespace millrace::test
