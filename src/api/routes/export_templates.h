// Operations that tell which templates exports can be made with, what data they take, and a sample.
#pragma once

#include "api/operation.h"
#include "api/template_directory.h"

#include <vector>

namespace millrace::api {

// `templates` outlives the operations.
std::vector<Operation> export_template_operations(const TemplateDirectory& templates);

}  // namespace millrace::api
