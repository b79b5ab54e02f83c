#include "api/routes/export_templates.h"

#include "api/call.h"
#include "api/page.h"
#include "api/routes/exports.h"
#include "api/routes/path.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

std::string template_json(const TemplateEntry& entry) {
  auto text = to_json(json::Object{{"slug", entry.slug},
                                   {"title", entry.title},
                                   {"description", entry.description},
                                   {"kind", entry.kind},
                                   {"version", entry.version},
                                   {"hash", entry.hash},
                                   {"language", entry.language},
                                   {"pageSize", entry.page_size}});
  text.pop_back();
  return text + fmt::format(R"(,"schema":{},"sample":{}}})", entry.schema_json, entry.sample_json);
}

Task<Reply> list_templates(Call&, const TemplateDirectory& templates) {
  std::string items = "[";
  for (const auto& entry : templates.list()) {
    if (items.size() > 1) items += ',';
    items += template_json(entry);
  }
  co_return list_reply(items + "]");
}

Task<Reply> get_template(Call& call, const TemplateDirectory& templates) {
  const auto* entry = templates.find(call.parameters.required("slug"));
  if (entry == nullptr) co_return fail(ErrorKind::not_found, "Template not found");
  co_return Reply::json_text(template_json(*entry));
}

}  // namespace

std::vector<Operation> export_template_operations(const TemplateDirectory& templates) {
  std::vector<Operation> out;
  auto listed = export_operation("export.templates", "GET", "/api/v1/export/templates",
                                 "Templates of exports, with the schema of their data and a sample",
                                 Access::people(Capability::read));
  listed.answers = {{.status = 200, .description = "All of them.", .schema = "ExportTemplates"}};
  listed.conditional = true;
  listed.handler = [&templates](Call& call) { return list_templates(call, templates); };
  out.push_back(std::move(listed));
  auto one = export_operation("export.template", "GET", "/api/v1/export/templates/{slug}",
                              "One template", Access::people(Capability::read));
  one.parameters = {name_parameter("slug", "Its name.", 100)};
  one.answers = {{.status = 200, .description = "The template.", .schema = "ExportTemplate"}};
  one.conditional = true;
  one.handler = [&templates](Call& call) { return get_template(call, templates); };
  out.push_back(std::move(one));
  return out;
}

}  // namespace millrace::api
