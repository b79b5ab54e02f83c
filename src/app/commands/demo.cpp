#include "app/demo/demo.h"

#include "app/commands/commands.h"
#include "app/demo/document_demo.h"
#include "app/demo/export_demo.h"
#include "app/demo/ingest_demo.h"
#include "app/exit_code.h"
#include "base/duration.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

namespace millrace::app {
namespace {

struct Options {
  std::string folder = "build/demo";
  bool keep = false;
  std::optional<std::string> scale;
  std::optional<std::string> timeout;
  std::string only;
};

Result<int> run(Context& context, const Options& options) {
  DemoOptions demo;
  demo.folder = options.folder;
  const auto kept = context.environment.find("KEEP");
  demo.keep = options.keep || (kept != context.environment.end() && kept->second == "1");
  if (options.scale) {
    char* end = nullptr;
    demo.scale = std::strtod(options.scale->c_str(), &end);
    if (*end != '\0' || !(demo.scale >= 0.05 && demo.scale <= 100)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("--scale: '{}' is not between 0.05 and 100", *options.scale));
    }
  }
  if (options.timeout) {
    auto timeout = parse_duration(*options.timeout);
    if (!timeout) return fail_with_context("--timeout", timeout.error());
    demo.timeout = *timeout;
  }
  if (options.only == "jobs") return run_job_demo(context, demo);
  if (options.only == "documents") return run_document_demo(context, demo);
  if (options.only == "exports") return run_export_demo(context, demo);
  if (options.only == "search") return run_ingest_demo(context, demo);
  // The jobs first: the documents are what stays up.
  auto jobs = demo;
  jobs.keep = false;
  MR_TRY(const int code, run_job_demo(context, jobs));
  if (code != kExitOk) return code;
  return run_document_demo(context, demo);
}

}  // namespace

void add_demo_command(Command& root) {
  auto options = std::make_shared<Options>();
  auto& command =
      root.add("demo", "Watch documents being read and jobs of every kind run").group("Help");
  command.option("--folder", "DIR", options->folder, "Where it works (default build/demo)").files();
  command.flag("--keep", options->keep, "Stay up afterwards (also: KEEP=1)");
  command.option("--scale", "X", options->scale, "So many times the usual number of jobs");
  command.option("--timeout", "TIME", options->timeout, "Give up after this time (default 2m)");
  command.option("--only", "PART", options->only, "One part of it")
      .choices({"documents", "exports", "search", "jobs"});
  command.footer("Uses a private PostgreSQL of its own; DATABASE_URL is ignored.");
  command.action([options](Context& context) { return run(context, *options); });
}

}  // namespace millrace::app
