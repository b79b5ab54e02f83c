// Template: a folder of files, parsed and checked once, rendered any number of times.
//
//   template.toml   name, title, description, version, language, [page], [metadata], [labels.en] …
//   schema.json     JSON Schema of the data
//   page.html       the content of the page; style.css its print style; _name.html partials
//   sample.json     data that the schema accepts and the template renders
//   *.woff2 …       fonts, embedded by {% font "name" %} in style.css
//
// load() proves all of it, the sample included. The document around the page (doctype, metadata,
// Content-Security-Policy, @page) is written by render(). Immutable; any number of threads may
// render the same template. docs/templates.md is the manual.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "schema/schema.h"
#include "template/options.h"
#include "template/parser.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::templates {

struct TemplateInfo {
  std::string name;  // That of its folder; "minimal".
  std::string title;
  std::string description;
  std::string version;  // "1.0.0"
  std::string kind;     // "resume", "invoice": templates of one kind take the same data.
  std::string language;
  PageSize page_size = PageSize::a4;
  Margins margins = {};
  // The page reaches the edges: left and right margins are left to the style, which has them as
  // --margin-left and --margin-right.
  bool bleed = false;
  // SHA-256 over names and contents of all files, in hexadecimal: equal hashes render equally.
  std::string content_hash;
};

struct DocumentMetadata {
  std::string title, author, subject;
  std::vector<std::string> keywords;
};

struct Html {
  std::string html;
  DocumentMetadata metadata;
  std::string language;
  PageSize page_size = PageSize::a4;
  bool bleed = false;  // Of the template.
  // What was left out of the page because it is not allowed where it stood.
  std::vector<std::string> warnings;
};

class Template {
 public:
  // invalid_argument: "minimal/page.html:12:5: expected …".
  static Result<Template> load(std::string_view name, TemplateFiles files);

  const TemplateInfo& info() const;
  const schema::Schema& schema() const;
  const json::Value& schema_json() const;  // As schema.json has it.
  const json::Value& sample() const;
  // What is wrong with data, defaults filled in before; empty when it can be rendered.
  std::vector<schema::Violation> check(const json::Value& data) const;

  struct Parts;
  const Parts& parts() const { return *parts_; }

 private:
  explicit Template(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

  std::shared_ptr<const Parts> parts_;  // Shared by copies: it never changes.
};

// invalid_argument with JSON pointer and rule when the schema refuses the data, with the place in
// the template when the template does, and when a limit is reached.
Result<Html> render(const Template& page, const json::Value& data,
                    const RenderOptions& options = {});

}  // namespace millrace::templates
