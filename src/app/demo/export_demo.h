// The demo's exports: every template with its sample data becomes a document, all of them are
// exported as one batch through the public API, and the PDFs, their archive and a picture of each
// first page are left in <folder>/exports.
#pragma once

#include "app/demo/demo_host.h"

namespace millrace::app {

Result<DemoEnd> run_export_part(const DemoHost& host);

// With a server of its own. Exit code 0 when all files are there, 1 otherwise.
Result<int> run_export_demo(Context& context, const DemoOptions& options);

}  // namespace millrace::app
