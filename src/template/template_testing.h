// What tests of this folder share: text rendered in one line, and folders made in memory.
#pragma once

#include "template/evaluate.h"
#include "template/parser.h"
#include "template/template_store.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::templates {

inline json::Value json_of(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? *value : json::Value();
}

struct Trial {
  Markup markup = Markup::html;
  std::string language = "en";
  RenderLimits limits = {};
  TemplateFiles files = {};
  std::vector<std::string>* warnings = nullptr;
};

// The text of `source` with `data`, or "error: …".
inline std::string rendered(std::string_view source, std::string_view data,
                            const Trial& trial = {}) {
  Partials partials;
  const auto parsed = parse_template({.file = "page.html",
                                      .text = source,
                                      .markup = trial.markup,
                                      .files = &trial.files,
                                      .partials = &partials});
  if (!parsed) return "error: " + parsed.error().message;
  const auto value = json_of(data);
  const json::Value labels = {{"hello", "Hallo"}};
  const json::Value page = {{"size", "A4"}};
  Evaluator evaluator(
      {.data = &value, .labels = &labels, .page = &page, .locale = &find_locale(trial.language)},
      trial.limits);
  auto text = evaluator.run(**parsed);
  if (trial.warnings != nullptr) *trial.warnings = evaluator.warnings();
  return text ? *text : "error: " + text.error().message;
}

// The smallest folder that is a template.
inline TemplateFiles small_folder() {
  return {{"template.toml",
           "name = \"tiny\"\ntitle = \"Tiny\"\ndescription = \"Small.\"\nkind = \"note\"\n"
           "version = \"1.0.0\"\nlanguage = \"en\"\n[metadata]\ntitle = \"{{ title }}\"\n"},
          {"schema.json",
           R"({"type": "object", "required": ["title"],
               "properties": {"title": {"type": "string"}, "count": {"type": "integer", "default": 7}}})"},
          {"page.html", "<h1>{{ title }}</h1><p>{{ count }}</p>\n"},
          {"style.css", "h1 { color: #123; }\n"},
          {"sample.json", R"({"title": "Sample"})"}};
}

}  // namespace millrace::templates
