#include "app/documents/pipelines.h"

#include "app/documents/parser_parts.h"
#include "provider/openai_chat.h"

#include <unistd.h>

namespace millrace::app {

namespace fs = std::filesystem;

std::optional<fs::path> pipeline_folder(const Settings& settings) {
  const auto& dir = settings.text("pipeline.dir");
  return dir.empty() ? std::nullopt : std::optional(fs::absolute(dir).lexically_normal());
}

pipeline::Known surroundings(const Settings& settings, const std::optional<fs::path>& folder) {
  pipeline::Known known;
  std::vector<std::string> providers;
  const bool openai = !settings.text("openai.api_key").empty() ||
                      settings.text("openai.base_url") != provider::OpenAiOptions().base_url;
  if (openai) providers.emplace_back("openai");
  if (!settings.text("anthropic.api_key").empty()) providers.emplace_back("anthropic");
  if (!settings.text("google.api_key").empty()) providers.emplace_back("google");
  for (auto& parser : known_parsers(settings)) providers.push_back(std::move(parser));
  known.providers = std::move(providers);
  known.has_program = [folder](const std::string& program) {
    if (!program.contains('/')) return true;  // Of PATH, where it runs.
    const auto path = folder.value_or(fs::path()) / program;
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  return known;
}

Result<pipeline::PipelineSet::Loaded> load_pipelines(const Settings& settings) {
  const auto folder = pipeline_folder(settings);
  MR_TRY(auto loaded, pipeline::PipelineSet::load(folder, surroundings(settings, folder)));
  if (!loaded.problems.empty()) {
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = loaded.problems.front(),
                      .hint = "'millrace pipeline check' lists all problems"});
  }
  loaded.set.pin_models([&](const pipeline::Stage& stage) {
    const bool chats = stage.provider == "openai" || stage.provider == "anthropic";
    return chats ? settings.text(stage.provider + ".model") : std::string();
  });
  return loaded;
}

}  // namespace millrace::app
