#include "template/template_parts.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>

namespace millrace::templates {
namespace {

constexpr std::string_view kFile = "template.toml";

std::unexpected<Error> wrong(const toml::source_region& where, std::string_view message) {
  return fail_at(kFile, {.line = where.begin.line, .column = where.begin.column}, message);
}

// A table whose members are asked for by name; what nobody asked for is a mistake.
class Table {
 public:
  Table(const toml::table& table, std::string path) : table_(table), path_(std::move(path)) {}

  Result<std::string> text(std::string_view key, bool needed, std::size_t size_max = 400) {
    known_.emplace_back(key);
    const auto* node = table_.get(key);
    if (node == nullptr) {
      if (!needed) return std::string();
      return wrong(table_.source(), fmt::format("{}{} is missing", path_, key));
    }
    const auto value = node->value_exact<std::string>();
    if (!value || value->size() > size_max) {
      return wrong(node->source(),
                   fmt::format("{}{} must be a text of at most {} bytes", path_, key, size_max));
    }
    return *value;
  }

  Result<double> inches(std::string_view key) {
    known_.emplace_back(key);
    const auto* node = table_.get(key);
    if (node == nullptr) return 1.0;
    const auto value = node->value<double>();
    if (!value || *value < 0 || *value > 2) {
      return wrong(node->source(), fmt::format("{}{} must be a number from 0 to 2", path_, key));
    }
    return *value;
  }

  Result<bool> flag(std::string_view key) {
    known_.emplace_back(key);
    const auto* node = table_.get(key);
    if (node == nullptr) return false;
    const auto value = node->value_exact<bool>();
    if (!value) return wrong(node->source(), fmt::format("{}{} must be true or false", path_, key));
    return *value;
  }

  Result<const toml::table*> table(std::string_view key) {
    known_.emplace_back(key);
    const auto* node = table_.get(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) {
      return wrong(node->source(), fmt::format("{}{} must be a table", path_, key));
    }
    return node->as_table();
  }

  Result<std::vector<std::string>> texts(std::string_view key) {
    known_.emplace_back(key);
    std::vector<std::string> out;
    const auto* node = table_.get(key);
    if (node == nullptr) return out;
    const auto* array = node->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      if (const auto text = array->get(i)->value_exact<std::string>()) out.push_back(*text);
    }
    if (array == nullptr || out.size() != array->size()) {
      return wrong(node->source(), fmt::format("{}{} must be a list of texts", path_, key));
    }
    return out;
  }

  Result<void> done() const {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(known_, key.str()) == known_.end()) {
        return wrong(key.source(), fmt::format("{}{} means nothing here", path_, key.str()));
      }
    }
    return {};
  }

  std::unexpected<Error> wrong_value(std::string_view key, std::string_view rule) const {
    return wrong(table_.get(key)->source(), fmt::format("{}{} {}", path_, key, rule));
  }

 private:
  const toml::table& table_;
  std::string path_;
  std::vector<std::string> known_;
};

Result<void> read_page(const toml::table& table, TemplateInfo& info) {
  Table page(table, "page.");
  MR_TRY(const auto size, page.text("size", false));
  if (!size.empty()) {
    const auto known = page_size_of(size);
    if (!known) return page.wrong_value("size", "must be A4, Letter or Legal");
    info.page_size = *known;
  }
  MR_TRY(info.bleed, page.flag("bleed"));
  MR_TRY(const auto* margins, page.table("margins"));
  if (margins != nullptr) {
    Table sides(*margins, "page.margins.");
    MR_TRY(info.margins.top, sides.inches("top"));
    MR_TRY(info.margins.right, sides.inches("right"));
    MR_TRY(info.margins.bottom, sides.inches("bottom"));
    MR_TRY(info.margins.left, sides.inches("left"));
    MR_TRY_VOID(sides.done());
  }
  return page.done();
}

Result<void> read_labels(const toml::table& table, Manifest& manifest) {
  for (const auto& [language, node] : table) {
    const auto* words = node.as_table();
    if (words == nullptr || !is_language_tag(language.str())) {
      return wrong(language.source(), "labels has a table for each language, such as labels.en");
    }
    json::Object labels;
    for (const auto& [key, word] : *words) {
      const auto text = word.value_exact<std::string>();
      if (!text) {
        return wrong(word.source(),
                     fmt::format("labels.{}.{} must be a text", language.str(), key.str()));
      }
      labels.emplace(key.str(), *text);
    }
    manifest.labels.emplace(language.str(), std::move(labels));
  }
  // A label that one language lacks would print as nothing, and nobody would notice.
  for (const auto& [language, labels] : manifest.labels) {
    for (const auto& [other, theirs] : manifest.labels) {
      for (const auto& member : theirs.get_object()) {
        if (labels.get_object().contains(member.key())) continue;
        return wrong(table.source(), fmt::format("labels.{} lacks \"{}\", which labels.{} has",
                                                 language, std::string_view(member.key()), other));
      }
    }
  }
  return {};
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || c == '.' || c == '-' || c == '+';
  });
}

Result<Manifest> read_table(std::string_view name, const toml::table& parsed) {
  Manifest manifest;
  auto& info = manifest.info;
  Table top(parsed, "");
  MR_TRY(info.name, top.text("name", true));
  if (info.name != name)
    return top.wrong_value("name", fmt::format("must be \"{}\", as its folder", name));
  MR_TRY(info.title, top.text("title", true));
  MR_TRY(info.description, top.text("description", true));
  MR_TRY(info.kind, top.text("kind", true));
  MR_TRY(info.version, top.text("version", true));
  if (!is_version(info.version)) return top.wrong_value("version", "must be such as 1.0.0");
  MR_TRY(info.language, top.text("language", true));
  if (!is_language_tag(info.language)) return top.wrong_value("language", "must be a language tag");
  MR_TRY(const auto* page, top.table("page"));
  if (page != nullptr) MR_TRY_VOID(read_page(*page, info));
  MR_TRY(const auto* metadata, top.table("metadata"));
  if (metadata != nullptr) {
    Table fields(*metadata, "metadata.");
    MR_TRY(manifest.title, fields.text("title", false));
    MR_TRY(manifest.author, fields.text("author", false));
    MR_TRY(manifest.subject, fields.text("subject", false));
    MR_TRY(manifest.keywords, fields.texts("keywords"));
    MR_TRY_VOID(fields.done());
  }
  MR_TRY(const auto* labels, top.table("labels"));
  if (labels != nullptr) {
    MR_TRY_VOID(read_labels(*labels, manifest));
    if (!manifest.labels.contains(info.language)) {
      return wrong(labels->source(), fmt::format("labels.{} is missing", info.language));
    }
  }
  MR_TRY_VOID(top.done());
  return manifest;
}

}  // namespace

Result<Manifest> read_manifest(std::string_view name, std::string_view text) {
  try {
    return read_table(name, toml::parse(text));
  } catch (const toml::parse_error& error) {
    return wrong(error.source(), error.description());
  }
}

}  // namespace millrace::templates
