// DocumentDemo: real documents through the public API, watched live and compared with what their
// makers know: the right ones read, the hostile ones refused.
#pragma once

#include "app/context.h"
#include "app/demo/demo.h"

namespace millrace::app {

// Results under <folder>/results. Exit code 0 when every sample ended as it should.
Result<int> run_document_demo(Context& context, const DemoOptions& options);

}  // namespace millrace::app
