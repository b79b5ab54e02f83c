// millrace-samples: writes sample documents with their truth.
#include "samples/sample_set.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace {

int report(const millrace::Result<int>& result, const std::string& out) {
  if (!result.has_value()) {
    fmt::print(stderr, "millrace-samples: {}\n", result.error().describe());
    return 1;
  }
  fmt::print("{} files in {}\n", *result, out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Sample documents with their truth"};
  app.require_subcommand(1);
  millrace::samples::SetOptions options;
  std::string out;
  auto* set = app.add_subcommand("set", "Files of every class and truth.json");
  set->add_option("--seed", options.seed, "The same seed gives the same bytes");
  set->add_option("--out", out, "Folder")->required();
  set->add_option("--only", options.classes, "Classes, parted by commas")->delimiter(',');
  set->add_option("--count", options.count, "Files of each class")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  return report(millrace::samples::write_set(options, out), out);
}
