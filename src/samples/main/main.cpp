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

struct LongOptions {
  int pages = 100;
  std::uint64_t seed = 3;
  std::string out;
};

CLI::App* add_long(CLI::App& app, const std::string& name, const std::string& what,
                   LongOptions& options) {
  auto* command = app.add_subcommand(name, what);
  command->add_option("--pages", options.pages, "Pages")->check(CLI::Range(1, 5000));
  command->add_option("--seed", options.seed, "The same seed gives the same bytes");
  command->add_option("--out", options.out, "File")->required();
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  namespace samples = millrace::samples;
  CLI::App app{"Sample documents with their truth"};
  app.require_subcommand(1);
  samples::SetOptions options;
  std::string out;
  auto* set = app.add_subcommand("set", "Files of every class and truth.json");
  set->add_option("--seed", options.seed, "The same seed gives the same bytes");
  set->add_option("--out", out, "Folder")->required();
  set->add_option("--only", options.classes, "Classes, parted by commas")->delimiter(',');
  set->add_option("--count", options.count, "Files of each class")->check(CLI::Range(1, 1000));
  auto* demo = app.add_subcommand("demo", "A small set, with hostile files");
  demo->add_option("--seed", options.seed, "The same seed gives the same bytes");
  demo->add_option("--out", out, "Folder")->required();
  LongOptions scan_options;
  LongOptions born_options = {.pages = 300};
  auto* scan = add_long(app, "scan", "A long PDF of scanned pages, 300 dpi", scan_options);
  add_long(app, "born", "A long PDF with a text layer", born_options);
  CLI11_PARSE(app, argc, argv);
  if (set->parsed()) return report(samples::write_set(options, out), out);
  if (demo->parsed()) return report(samples::write_demo(options.seed, out), out);
  const bool scanned = scan->parsed();
  const LongOptions& chosen = scanned ? scan_options : born_options;
  const auto form = scanned ? samples::LongForm::scanned : samples::LongForm::born;
  return report(samples::write_long(form, chosen.pages, chosen.seed, chosen.out), chosen.out);
}
