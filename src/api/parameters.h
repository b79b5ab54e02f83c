// Parameters: path, query and header parameters of a request, read as the operation describes them.
//
// Flow: the pipeline reads them before the handler runs; a value that breaks its schema, a
// parameter that is missing, unknown or given twice is an error that names it. An array is written
// as a,b,c. Threading: a value.
#pragma once

#include "api/operation.h"
#include "api/problem.h"
#include "base/json.h"
#include "base/uuid.h"
#include "http/server_request.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

// In the URL, where EventSource can put nothing else: not a parameter of the operation.
inline constexpr std::string_view kTicketParameter = "token";

class Parameters {
 public:
  static std::expected<Parameters, std::vector<FieldError>> read(
      const CheckedOperation& checked, const http::ServerRequest& request);

  const json::Value* find(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  bool boolean(std::string_view name, bool otherwise = false) const;
  std::vector<std::string> list(std::string_view name) const;
  // Of a parameter that is required.
  const std::string& required(std::string_view name) const;
  // Of a required parameter whose schema says that it is a uuid.
  template <class IdType>
  IdType id(std::string_view name) const {
    return IdType{uuid(name)};
  }

 private:
  struct Value {
    std::string name;
    std::string text;
    json::Value value;
  };

  Uuid uuid(std::string_view name) const;
  void take(const CheckedParameter& checked, std::string text, std::vector<FieldError>& errors);

  std::vector<Value> values_;
};

}  // namespace millrace::api
