// millrace-template: for authors of templates. Lists, checks and renders; reads no database.
#include "base/file.h"
#include "base/json.h"
#include "template/template_store.h"

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <cstdio>

namespace millrace::templates {
namespace {

struct Words {
  std::vector<std::filesystem::path> directories;
  std::string name;
  std::string data_file;  // Otherwise the sample.
  std::string options = "{}";
};

int told(const Error& error) {
  fmt::print(stderr, "millrace-template: {}\n", error.describe());
  return 1;
}

int list(const TemplateStore& store) {
  for (const auto& info : store.list()) {
    fmt::print("{:<12} {:<8} {:<8} {:.12}  {}\n", info.name, info.kind, info.version,
               info.content_hash, info.title);
  }
  return 0;
}

int check(const TemplateStore& store) {
  for (const auto& problem : store.problems()) fmt::print("{}\n", problem.message);
  fmt::print("{} templates, {} problems\n", store.list().size(), store.problems().size());
  return store.problems().empty() ? 0 : 1;
}

Result<std::string> render_words(const TemplateStore& store, const Words& words) {
  MR_TRY(const auto page, store.find(words.name));
  MR_TRY(const auto wanted, parse_json_object(words.options));
  MR_TRY(const auto options, read_render_options(wanted));
  auto data = page.sample();
  if (!words.data_file.empty()) {
    MR_TRY(const auto text, read_file(words.data_file));
    MR_TRY(data, parse_json(text));
  }
  MR_TRY(auto html, render(page, data, options));
  for (const auto& warning : html.warnings) fmt::print(stderr, "{}\n", warning);
  return std::move(html.html);
}

int run(int argc, char** argv) {
  Words words;
  CLI::App app("Lists, checks and renders the templates of exports");
  app.require_subcommand(1);
  app.add_option("--dir", words.directories, "A directory with further templates");
  auto* list_command = app.add_subcommand("list", "Names, kinds, versions and hashes");
  auto* check_command = app.add_subcommand("check", "What is wrong with the templates");
  auto* render_command = app.add_subcommand("render", "Writes the HTML of a document");
  render_command->add_option("name", words.name, "The template")->required();
  render_command->add_option("data", words.data_file, "A JSON file; otherwise the sample");
  render_command->add_option("--options", words.options, "Options of the export, as JSON");
  CLI11_PARSE(app, argc, argv);
  auto store = TemplateStore::load(words.directories);
  if (!store) return told(store.error());
  if (list_command->parsed()) return list(*store);
  if (check_command->parsed()) return check(*store);
  const auto html = render_words(*store, words);
  if (!html) return told(html.error());
  std::fwrite(html->data(), 1, html->size(), stdout);
  return 0;
}

}  // namespace
}  // namespace millrace::templates

int main(int argc, char** argv) { return millrace::templates::run(argc, argv); }
