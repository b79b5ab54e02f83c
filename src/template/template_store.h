// TemplateStore: all templates there are: those that ship inside the program, and folders on disk.
//
// A folder that cannot be used does not hide the others: its problem is kept, and asked for by
// name it is told. A later folder of the same name replaces an earlier one, so an installation may
// have its own `minimal`. Blocking while it is made; immutable afterwards, for any thread.
#pragma once

#include "base/result.h"
#include "template/template.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::templates {

inline constexpr std::string_view kDefaultTemplate = "minimal";

struct TemplateProblem {
  std::string name;     // Of the template.
  std::string message;  // "minimal/page.html:12:5: expected …"
};

class TemplateStore {
 public:
  // Those that ship, and then the folders within each directory, in order. unavailable when a
  // directory cannot be read.
  static Result<TemplateStore> load(const std::vector<std::filesystem::path>& directories = {});

  // not_found names those there are; a template with a problem is invalid_argument.
  Result<Template> find(std::string_view name) const;
  std::vector<TemplateInfo> list() const;  // By name.
  const std::vector<TemplateProblem>& problems() const { return problems_; }

 private:
  void add(const std::string& name, TemplateFiles files);

  std::map<std::string, Template, std::less<>> templates_;
  std::vector<TemplateProblem> problems_;
};

bool is_template_name(std::string_view name);  // As the export API has it.

// The regular files of one folder. Links and folders within are refused.
Result<TemplateFiles> read_template_folder(const std::filesystem::path& folder);

}  // namespace millrace::templates
