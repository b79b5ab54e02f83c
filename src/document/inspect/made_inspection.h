// inspected(): runs the operation over bytes, for tests only.
#pragma once

#include "document/op.h"

#include <boost/json/array.hpp>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace millrace::document {

class NoSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte>) override { return {}; }
  void progress(int, int) override {}
};

// A file without a name. The caller closes it.
inline int memory_fd(std::string_view bytes) {
  const int fd = memfd_create("document", MFD_CLOEXEC);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto written = write(fd, bytes.data() + at, bytes.size() - at);
    if (written <= 0) return -1;
    at += static_cast<std::size_t>(written);
  }
  return fd;
}

struct Inspected {
  json::Object result;

  std::string text(std::string_view key) const { return std::string(result.at(key).as_string()); }
  std::string verdict() const { return text("verdict"); }
  std::size_t pages() const { return result.at("pages").as_array().size(); }
  const json::Object& page(std::size_t number) const {
    return result.at("pages").as_array().at(number - 1).as_object();
  }
  std::string hash(std::size_t number = 1) const {
    return std::string(page(number).at("content_sha256").as_string());
  }
  // "rule:severity" of every finding.
  std::vector<std::string> findings() const {
    std::vector<std::string> list;
    for (const auto& finding : result.at("findings").as_array()) {
      const auto& object = finding.as_object();
      list.push_back(std::string(object.at("rule").as_string()) + ":" +
                     std::string(object.at("severity").as_string()));
    }
    return list;
  }
};

inline Inspected inspected(std::string_view bytes, std::string_view name = "",
                           std::string_view active = "refuse") {
  const int fd = memory_fd(bytes);
  NoSink sink;
  auto result = inspect({{"op", "inspect"}, {"file_name", name}, {"active_content", active}},
                        {.fds = {fd}}, sink);
  close(fd);
  EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().message);
  return {result.has_value() ? *result
                             : json::Object{{"verdict", "error"},
                                            {"kind", ""},
                                            {"findings", json::Array{}},
                                            {"pages", json::Array{}}}};
}

// The rules that fired, as "rule:severity, rule:severity".
inline std::string rules_of(std::string_view bytes, std::string_view name = "",
                            std::string_view active = "refuse") {
  std::string text;
  for (const auto& finding : inspected(bytes, name, active).findings()) {
    text += (text.empty() ? "" : ", ") + finding;
  }
  return text;
}

}  // namespace millrace::document
