#include "layout/clinical/pass_run.h"

#include "layout/json_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::layout::clinical {
namespace {

constexpr double kTokensMax = 1e15;

Result<std::string> hash_of(const Fields& fields, std::string_view name) {
  MR_TRY(const auto text, fields.text(name, 64));
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (text.size() != 64 || !hex) {
    return fields.wrong(name, "must be a SHA-256 in small hexadecimal");
  }
  return std::string(text);
}

Result<std::string> text_of(const Fields& fields, std::string_view name) {
  MR_TRY(const auto text, fields.text(name, 200));
  return std::string(text);
}

}  // namespace

json::Value pass_run_to_json(const PassRun& run) {
  return json::Object{{"pass", to_string(run.pass)},        {"schema", schema_id(run.pass)},
                      {"provider", run.provider},           {"model", run.model},
                      {"prompt_sha256", run.prompt_sha256}, {"input_sha256", run.input_sha256},
                      {"output_sha256", run.output_sha256}, {"tokens_in", run.tokens_in},
                      {"tokens_out", run.tokens_out},       {"finish_reason", run.finish_reason}};
}

Result<PassRun> pass_run_from_json(const json::Value& value) {
  MR_TRY(const auto fields, Fields::of(value, ""));
  PassRun run;
  MR_TRY(const auto name, fields.text("pass", 32));
  const auto pass = std::ranges::find_if(kPasses, [&](Pass p) { return to_string(p) == name; });
  if (pass == kPasses.end()) return fields.wrong("pass", "is none of the passes");
  run.pass = *pass;
  MR_TRY(const auto schema, fields.text("schema", 100));
  if (schema != schema_id(run.pass)) return fields.wrong("schema", "is not that of the pass");
  MR_TRY(run.provider, text_of(fields, "provider"));
  MR_TRY(run.model, text_of(fields, "model"));
  MR_TRY(run.prompt_sha256, hash_of(fields, "prompt_sha256"));
  MR_TRY(run.input_sha256, hash_of(fields, "input_sha256"));
  MR_TRY(run.output_sha256, hash_of(fields, "output_sha256"));
  MR_TRY(const auto tokens_in, fields.number("tokens_in", 0, kTokensMax));
  MR_TRY(const auto tokens_out, fields.number("tokens_out", 0, kTokensMax));
  run.tokens_in = static_cast<std::uint64_t>(tokens_in);
  run.tokens_out = static_cast<std::uint64_t>(tokens_out);
  MR_TRY(run.finish_reason, text_of(fields, "finish_reason"));
  return run;
}

std::string pass_key(const PassRun& run) {
  return fmt::format("{}:{}:{}:{}:{}", schema_id(run.pass), run.provider, run.model,
                     run.prompt_sha256, run.input_sha256);
}

}  // namespace millrace::layout::clinical
