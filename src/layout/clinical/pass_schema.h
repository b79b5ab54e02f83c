// The forms of the passes as JSON Schemas: data that providers are given and answers checked by.
//
// Written for the strict modes of providers: every property is required, no others are allowed, and
// what may be missing is null. Bounds of numbers and lists are not in them, because such modes do
// not take those keywords; the readers check them.
#pragma once

#include "base/json.h"
#include "layout/clinical/pass.h"

namespace millrace::layout::clinical {

json::Value pass_schema(Pass pass, Form form);

}  // namespace millrace::layout::clinical
