// The demo's questions: documents of several kinds are ingested through the public API, cut into
// passages, embedded, and then asked; each answer cites its document, headings, page and bytes.
#pragma once

#include "app/demo/demo_host.h"

namespace millrace::app {

Result<DemoEnd> run_ingest_part(const DemoHost& host);

// With a server of its own, and exports first: one of the documents is a PDF that they make. Exit
// code 0 when every question was answered from the right document, 1 otherwise.
Result<int> run_ingest_demo(Context& context, const DemoOptions& options);

}  // namespace millrace::app
