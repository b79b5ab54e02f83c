// Template::Parts: everything a Template consists of once it is loaded.
#pragma once

#include "template/template.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millrace::templates {

using Parsed = std::shared_ptr<const ParsedFile>;

struct Template::Parts {
  TemplateInfo info;
  schema::Schema schema;
  json::Value schema_json = {};
  json::Value sample = {};
  Parsed page = {}, style = {};
  Parsed title = {}, author = {}, subject = {};
  std::vector<Parsed> keywords = {};
  std::map<std::string, json::Value, std::less<>> labels = {};  // By language; objects of texts.
};

// The parts of template.toml, whose problems have the place in it.
struct Manifest {
  TemplateInfo info;
  std::string title = {}, author = {}, subject = {};
  std::vector<std::string> keywords = {};
  std::map<std::string, json::Value, std::less<>> labels = {};
};
Result<Manifest> read_manifest(std::string_view name, std::string_view text);

}  // namespace millrace::templates
