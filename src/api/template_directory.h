// TemplateDirectory: the templates that exports are made with, as far as the API tells of them and
// holds data against them.
//
// Implemented above this folder, which does not know what a template is made of. Threading:
// immutable, asked from any thread.
#pragma once

#include "base/json.h"
#include "schema/schema.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::api {

struct TemplateEntry {
  std::string slug;  // "minimal"
  std::string title;
  std::string description;
  std::string kind;  // "resume": templates of one kind take the same data.
  std::string version;
  std::string hash;  // Of all its files: equal hashes render equally.
  std::string language;
  std::string page_size;    // Of documents whose order names none.
  std::string schema_json;  // Of the data.
  std::string sample_json;  // Data that the schema accepts.
};

class TemplateDirectory {
 public:
  virtual ~TemplateDirectory() = default;

  virtual const std::vector<TemplateEntry>& list() const = 0;  // By slug.
  // What is wrong with data, defaults filled in before; empty when it can be rendered. `slug` is
  // one of the list.
  virtual std::vector<schema::Violation> check(std::string_view slug,
                                               const json::Value& data) const = 0;

  const TemplateEntry* find(std::string_view slug) const {
    for (const auto& entry : list()) {
      if (entry.slug == slug) return &entry;
    }
    return nullptr;
  }
};

}  // namespace millrace::api
