// The readable page about the API: one file of HTML, made of the operation table, without scripts
// and without anything to load.
#pragma once

#include "api/openapi.h"
#include "api/operation.h"

#include <string>

namespace millrace::api {

std::string make_docs_page(const OperationTable& table, const ApiInfo& info);

// Text as it may stand in HTML, between tags and in attributes.
std::string html_escape(std::string_view text);

}  // namespace millrace::api
