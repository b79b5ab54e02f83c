// ObjectReader: takes the values of one table, key by key, and notes everything that is wrong with
// them. A value that is wrong reads as nothing, so reading goes on.
#pragma once

#include "base/json.h"
#include "pipeline/definition/problem.h"
#include "pipeline/definition/source.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pipeline {

class ObjectReader {
 public:
  // `who` begins every message: "stage \"ocr\": ", or nothing; `within` every key: "limits.", or
  // nothing. Source, object and problems outlive the reader.
  ObjectReader(const Source& source, const json::Object& object, std::string path, std::string who,
               Problems& problems, std::string within = "");

  struct Count {
    std::int64_t min;
    std::int64_t max;
  };
  struct Number {
    double min;
    double max;
  };
  struct Time {
    std::chrono::milliseconds min;
    std::chrono::milliseconds max;
  };
  struct Size {
    std::uint64_t min;
    std::uint64_t max;
  };

  // Texts have no control characters and at most `size_max` bytes.
  std::optional<std::string> text(std::string_view key, std::size_t size_max = 200);
  std::optional<std::string> choice(std::string_view key, std::vector<std::string_view> allowed);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, Count bounds);
  std::optional<double> number(std::string_view key, Number bounds);
  std::optional<std::chrono::milliseconds> duration(std::string_view key, Time bounds);
  std::optional<std::uint64_t> size(std::string_view key, Size bounds);
  std::optional<std::vector<std::string>> texts(std::string_view key, std::size_t count_max);
  const json::Object* object(std::string_view key);

  bool has(std::string_view key) const { return object_.contains(key); }
  const json::Value* take(std::string_view key);  // Known from now on; null when not there.

  // "timeout must be ..."; the key may be one that is not there.
  void wrong(std::string_view key, const std::string& rule);
  void wrong_value(std::string_view key, const std::string& rule);  // The same, "(got 90)".

  // Complains about keys that nobody took. Call last.
  void finish();

  const std::string& path() const { return path_; }
  Place place(std::string_view key) const { return source_.place(path_of(key)); }
  std::string path_of(std::string_view key) const;

 private:
  const Source& source_;
  const json::Object& object_;
  std::string path_;
  std::string who_;
  std::string within_;
  Problems& problems_;
  std::vector<std::string> taken_;
};

// For messages: the value as JSON, cut when it is long.
std::string shown(const json::Value& value);
// "\"a\", \"b\" or \"c\""
std::string any_of_text(const std::vector<std::string_view>& words);

}  // namespace millrace::pipeline
