#include "app/serve/template_catalog.h"

#include "base/assert.h"

namespace millrace::app {

void TemplateCatalog::load() const {
  auto loaded = templates::TemplateStore::load(folders_);
  if (!loaded) {
    // Those that ship need no folder.
    log_.error("templates", {{"error", loaded.error().describe()}});
    loaded = templates::TemplateStore::load();
    MR_ASSERT(loaded.has_value());
  }
  store_.emplace(*std::move(loaded));
  for (const auto& problem : store_->problems()) {
    log_.warn("template", {{"template", problem.name}, {"error", problem.message}});
  }
  for (const auto& info : store_->list()) {
    const auto found = store_->find(info.name);
    MR_ASSERT(found.has_value());
    entries_.push_back({.slug = info.name,
                        .title = info.title,
                        .description = info.description,
                        .kind = info.kind,
                        .version = info.version,
                        .hash = info.content_hash,
                        .language = info.language,
                        .page_size = std::string(templates::to_string(info.page_size)),
                        .schema_json = to_json(found->schema_json()),
                        .sample_json = to_json(found->sample())});
  }
}

const std::vector<api::TemplateEntry>& TemplateCatalog::list() const {
  std::call_once(loaded_, [this] { load(); });
  return entries_;
}

std::vector<schema::Violation> TemplateCatalog::check(std::string_view slug,
                                                      const json::Value& data) const {
  std::call_once(loaded_, [this] { load(); });
  const auto found = store_->find(slug);
  MR_ASSERT(found.has_value());
  return found->check(data);
}

}  // namespace millrace::app
