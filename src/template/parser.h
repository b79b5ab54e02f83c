// parse_template: the text of a file to its tree, with the context of every value.
//
// Literal text goes through a MarkupState; branches of an {% if %} must end in the same place of
// the markup, and the body of a {% for %} where it began, so that every value has one context
// whatever the data is. Pure: partials and fonts come from `files`, and their names cannot lead
// out of it. Limits: kSourceMaxBytes, kBlockDepthMax, kIncludeDepthMax; a file cannot include
// itself, on any way.
#pragma once

#include "template/ast.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace millrace::templates {

inline constexpr std::size_t kSourceMaxBytes = std::size_t{256} * 1024;
inline constexpr int kBlockDepthMax = 32;
inline constexpr std::size_t kIncludeDepthMax = 8;

// The files of a template by name: "page.html" and its text.
using TemplateFiles = std::map<std::string, std::string, std::less<>>;

// Partials that were parsed, by name.
using Partials = std::map<std::string, std::shared_ptr<const ParsedFile>, std::less<>>;

struct ParseInput {
  std::string file;  // "page.html": for messages.
  std::string_view text;
  Markup markup = Markup::html;
  const TemplateFiles* files = nullptr;  // Null: no includes, no fonts.
  Partials* partials = nullptr;
  std::vector<std::string> including = {};  // The files on the way here.
};

Result<std::shared_ptr<const ParsedFile>> parse_template(const ParseInput& input);

}  // namespace millrace::templates
