// Operations on export documents: what users export lies here, in versions (ADR 11).
//
// Data is held against the schema of its template before it is kept, so that an order does not fail
// on it later: the answer names the place in the data and the rule. ETag and If-Match are by
// version. Answers are in the envelope of the source, like all of exports (H-12).
#pragma once

#include "api/call.h"
#include "api/operation.h"
#include "api/problem.h"
#include "api/template_directory.h"
#include "store/api/exports.h"

#include <optional>
#include <string>
#include <vector>

namespace millrace::api {

struct ExportDocumentServices {
  store::ExportStore& exports;
  const TemplateDirectory& templates;
};

// The services outlive the operations.
std::vector<Operation> export_document_operations(ExportDocumentServices services);

// What is wrong with data for a template, as places in a request: `at` is the pointer of the data
// ("#/data"), `slug_at` that of the template's name. Empty when it can be rendered.
struct TemplateUse {
  std::string slug;
  std::string slug_at = "#/templateSlug";
  std::string at = "#/data";
};
std::vector<FieldError> template_errors(const TemplateDirectory& templates, const TemplateUse& use,
                                        const json::Value& data);
// "there is no template "x"; there are: invoice, letter, …"; nothing when there is.
std::optional<FieldError> unknown_template(const TemplateDirectory& templates,
                                           const TemplateUse& use);

Reply invalid_request(const Call& call, std::vector<FieldError> errors);

}  // namespace millrace::api
