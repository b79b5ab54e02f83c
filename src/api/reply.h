// Reply: what a handler answers, as a value; the pipeline writes it.
#pragma once

#include "base/json.h"
#include "http/message.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace::api {

inline constexpr std::string_view kJsonType = "application/json";

struct Reply {
  int status = 200;
  std::string content_type = {};
  std::string body = {};
  std::vector<http::Header> headers = {};
  bool streamed = false;  // The handler has answered through Call::response itself.
  // Of something that If-Match guards: what names its present version, without what moves by itself
  // (counts, times of runs). The first part of the entity tag.
  std::string version = {};

  // JSON text as it is, such as PostgreSQL gave it.
  static Reply json_text(std::string text, int status = 200) {
    return {.status = status, .content_type = std::string(kJsonType), .body = std::move(text)};
  }
  static Reply json(const json::Value& value, int status = 200) {
    return json_text(to_json(value), status);
  }
  static Reply empty(int status = 204) { return {.status = status}; }
  static Reply done() { return {.streamed = true}; }

  Reply&& in_version(std::string text) && {
    version = std::move(text);
    return std::move(*this);
  }
  Reply&& with(std::string name, std::string value) && {
    headers.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
};

}  // namespace millrace::api
