#include "template/template_store.h"

#include "base/file.h"
#include "embedded/templates.h"
#include "template/font.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::templates {
namespace {

constexpr std::size_t kTemplatesMax = 1000;
constexpr std::size_t kNameMax = 63;

std::map<std::string, TemplateFiles> shipped() {
  std::map<std::string, TemplateFiles> folders;
  for (const auto& file : embedded::templates()) {
    const auto slash = file.name.find('/');
    folders[std::string(file.name.substr(0, slash))].emplace(file.name.substr(slash + 1),
                                                             file.text);
  }
  return folders;
}

Result<std::vector<std::filesystem::path>> entries_of(const std::filesystem::path& directory) {
  std::error_code code;
  std::vector<std::filesystem::path> entries;
  for (std::filesystem::directory_iterator it(directory, code), end; !code && it != end;
       it.increment(code)) {
    if (!it->path().filename().string().starts_with('.')) entries.push_back(it->path());
    if (entries.size() > kTemplatesMax) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("{} has more than {} entries", directory.string(), kTemplatesMax));
    }
  }
  if (code) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot read {}: {}", directory.string(), code.message()));
  }
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

bool is_template_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto may_follow = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= kNameMax && is_letter(name.front()) &&
         std::ranges::all_of(name, may_follow);
}

Result<TemplateFiles> read_template_folder(const std::filesystem::path& folder) {
  MR_TRY(const auto entries, entries_of(folder));
  TemplateFiles files;
  for (const auto& entry : entries) {
    const auto name = entry.filename().string();
    std::error_code code;
    if (std::filesystem::symlink_status(entry, code).type() !=
        std::filesystem::file_type::regular) {
      return fail(ErrorKind::invalid_argument, fmt::format("{} must be a regular file", name));
    }
    auto text = read_file(entry, kFontMaxBytes);
    if (!text) return fail_with_context(name, text.error());
    files.emplace(name, std::move(*text));
  }
  return files;
}

Result<TemplateStore> TemplateStore::load(const std::vector<std::filesystem::path>& directories) {
  TemplateStore store;
  for (auto& [name, files] : shipped()) store.add(name, std::move(files));
  for (const auto& directory : directories) {
    MR_TRY(const auto folders, entries_of(directory));
    for (const auto& folder : folders) {
      if (!std::filesystem::is_directory(folder)) continue;
      const auto name = folder.filename().string();
      auto files = read_template_folder(folder);
      if (files) {
        store.add(name, std::move(*files));
      } else {
        store.templates_.erase(name);
        store.problems_.push_back({name, fmt::format("{}/{}", name, files.error().message)});
      }
    }
  }
  return store;
}

void TemplateStore::add(const std::string& name, TemplateFiles files) {
  std::erase_if(problems_, [&](const TemplateProblem& problem) { return problem.name == name; });
  templates_.erase(name);
  if (!is_template_name(name)) {
    problems_.push_back(
        {name, fmt::format("{}: a template's name begins with a-z and has at most {} of a-z, 0-9 "
                           "and '-'",
                           name, kNameMax)});
    return;
  }
  auto loaded = Template::load(name, std::move(files));
  if (loaded) {
    templates_.emplace(name, std::move(*loaded));
  } else {
    problems_.push_back({name, loaded.error().message});
  }
}

Result<Template> TemplateStore::find(std::string_view name) const {
  if (const auto found = templates_.find(name); found != templates_.end()) return found->second;
  const auto problem = std::ranges::find(problems_, name, &TemplateProblem::name);
  if (problem != problems_.end()) return fail(ErrorKind::invalid_argument, problem->message);
  std::string names;
  for (const auto& [known, unused] : templates_) names += (names.empty() ? "" : ", ") + known;
  return fail(ErrorKind::not_found, fmt::format("there is no template \"{}\"; there are: {}",
                                                name.substr(0, 100), names));
}

std::vector<TemplateInfo> TemplateStore::list() const {
  std::vector<TemplateInfo> infos;
  for (const auto& [name, known] : templates_) infos.push_back(known.info());
  return infos;
}

}  // namespace millrace::templates
