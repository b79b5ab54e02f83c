// TemplateCatalog: the templates of this installation for the API: those that ship, and the folders
// that the configuration names.
//
// Read when they are asked for first, because most processes that have an API are never asked.
// Threading: any thread.
#pragma once

#include "api/template_directory.h"
#include "base/log.h"
#include "template/template_store.h"

#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

namespace millrace::app {

class TemplateCatalog final : public api::TemplateDirectory {
 public:
  // `log` outlives it.
  TemplateCatalog(std::vector<std::filesystem::path> folders, Logger& log)
      : folders_(std::move(folders)), log_(log) {}

  const std::vector<api::TemplateEntry>& list() const override;
  std::vector<schema::Violation> check(std::string_view slug,
                                       const json::Value& data) const override;

 private:
  void load() const;

  std::vector<std::filesystem::path> folders_;
  Logger& log_;
  mutable std::once_flag loaded_;  // Guards what follows, which does not change afterwards.
  mutable std::optional<templates::TemplateStore> store_;
  mutable std::vector<api::TemplateEntry> entries_;
};

}  // namespace millrace::app
