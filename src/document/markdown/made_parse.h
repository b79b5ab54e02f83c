// parsed(): runs the operation over bytes, for tests only.
#pragma once

#include "document/inspect/made_inspection.h"
#include "document/op.h"

#include <boost/json/array.hpp>

#include <string>
#include <string_view>
#include <unistd.h>

namespace millrace::document {

class StringSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    largest_piece = std::max(largest_piece, bytes.size());
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  void progress(int, int) override {}

  std::string text = {};
  std::size_t largest_piece = 0;
};

struct Parsed {
  std::string markdown = {};
  json::Object result = {};
  std::string error = {};  // The rule, or the message when there is none.
  std::size_t largest_piece = 0;

  std::string text(std::string_view key) const {
    const auto* value = result.if_contains(key);
    return value == nullptr ? std::string() : std::string(value->as_string());
  }
  std::int64_t number(std::string_view key) const {
    return result.at(key).to_number<std::int64_t>();
  }
  // Rules of the warnings: "charset, depth".
  std::string warnings() const {
    std::string out;
    for (const auto& warning : result.at("warnings").as_array()) {
      out += (out.empty() ? "" : ", ") + std::string(warning.as_object().at("rule").as_string());
    }
    return out;
  }
  std::string list(std::string_view key) const { return to_json(result.at(key)); }
};

inline Parsed parsed(std::string_view bytes, json::Object request = {},
                     std::string_view pages = {}) {
  OpFiles files{.fds = {memory_fd(bytes)}};
  if (!pages.empty()) files.fds.push_back(memory_fd(pages));
  request["op"] = "parse";
  StringSink sink;
  auto result = parse(request, files, sink);
  for (const int fd : files.fds) close(fd);
  Parsed out{.markdown = std::move(sink.text), .largest_piece = sink.largest_piece};
  if (result.has_value()) {
    out.result = *std::move(result);
  } else {
    const auto& error = result.error();
    out.error = error.constraint.empty() ? error.message : error.constraint;
  }
  return out;
}

inline std::string markdown_of(std::string_view bytes, json::Object request = {}) {
  auto out = parsed(bytes, std::move(request));
  EXPECT_EQ(out.error, "");
  return out.markdown;
}
inline std::string html_markdown(std::string_view html) {
  return markdown_of(html, {{"kind", "html"}});
}

}  // namespace millrace::document
