// Settings of the services outside that ingest asks, and of the webhooks that they answer by.
#include "app/config/schema.h"

namespace millrace::app {
namespace {

constexpr std::int64_t kDayMs = std::int64_t{24} * 60 * 60 * 1000;

std::vector<SettingSpec> embedding_specs() {
  using enum SettingType;
  return {
      {.section = "openai",
       .key = "embed_model",
       .type = text,
       .default_value = "text-embedding-3-small",
       .description = "Model of stages that embed with openai and name none; limits are those of "
                      "openai:<model>"},
      {.section = "openai",
       .key = "embed_dimensions",
       .type = integer,
       .default_value = "0",
       .description = "Shorter vectors, of models that can make them; 0: as the model makes them",
       .min = 0,
       .max = 16'000},
      {.section = "openai",
       .key = "embed_version",
       .type = text,
       .default_value = "1",
       .description = "Change it when vectors of the same model must not be compared any more"},
      {.section = "openai",
       .key = "embed_inputs_max",
       .type = integer,
       .default_value = "256",
       .description = "Texts of one call",
       .min = 1,
       .max = 2'048},
      {.section = "openai",
       .key = "price_embed",
       .type = text,
       .default_value = "0.02",
       .description = "Of a million tokens that are embedded, in the currency of budgets"},
  };
}

std::vector<SettingSpec> parser_specs() {
  using enum SettingType;
  return {
      {.section = "parse",
       .key = "deadline",
       .type = duration,
       .default_value = "1h",
       .description = "How long a parser outside is waited for",
       .min = 1'000,
       .max = 7 * kDayMs},
      {.section = "llamaparse",
       .key = "base_url",
       .type = text,
       .default_value = "https://api.cloud.llamaindex.ai",
       .description = "LlamaCloud"},
      {.section = "llamaparse",
       .key = "api_key",
       .type = text,
       .default_value = "",
       .description = "With it pipelines may name the provider llamaparse for parsing",
       .aliases = {{"LLAMA_CLOUD_API_KEY"}},
       .secret = true},
      {.section = "llamaparse",
       .key = "tier",
       .type = choice,
       .default_value = "cost_effective",
       .description = "How thoroughly it parses (its tier fast makes no Markdown)",
       .choices = {"cost_effective", "agentic", "agentic_plus"}},
      {.section = "llamaparse",
       .key = "version",
       .type = text,
       .default_value = "",
       .description = "Version of its parser, which must be said: latest would move under you"},
      {.section = "llamaparse",
       .key = "source",
       .type = choice,
       .default_value = "upload",
       .description = "Whether documents are sent, or a link to them that holds for an hour",
       .choices = {"upload", "url"}},
      {.section = "llamaparse",
       .key = "upload_max_bytes",
       .type = integer,
       .default_value = "104857600",
       .description = "Largest document that is sent; larger ones are given by a link",
       .min = 1'024,
       .max = 1'073'741'824},
      {.section = "llamaparse",
       .key = "price_page",
       .type = text,
       .default_value = "0.003",
       .description = "Of one page, in the currency of budgets"},
      {.section = "llamaparse",
       .key = "allow_http",
       .type = boolean,
       .default_value = "false",
       .description = "base_url may be http: for a gateway on a network that is trusted"},
      {.section = "parser",
       .key = "url",
       .type = text,
       .default_value = "",
       .description = "A parser that answers by webhook: asked at <url>/parse. With it, and with "
                      "webhook.secret and server.public_url, pipelines may name the provider "
                      "webhook for parsing"},
      {.section = "parser",
       .key = "token",
       .type = text,
       .default_value = "",
       .description = "Sent to it as bearer",
       .secret = true},
      {.section = "parser",
       .key = "version",
       .type = text,
       .default_value = "1",
       .description = "Of that parser: change it when it parses otherwise"},
      {.section = "parser",
       .key = "price_document",
       .type = text,
       .default_value = "0",
       .description = "Of one document, in the currency of budgets"},
      {.section = "parser",
       .key = "allow_http",
       .type = boolean,
       .default_value = "false",
       .description = "url may be http: for a parser on a network that is trusted"},
  };
}

std::vector<SettingSpec> webhook_specs() {
  using enum SettingType;
  return {
      {.section = "webhook",
       .key = "enabled",
       .type = boolean,
       .default_value = "true",
       .description = "Services outside may deliver to /webhooks"},
      {.section = "webhook",
       .key = "secret",
       .type = text,
       .default_value = "",
       .description = "Of which the secrets of single jobs are made; 32 bytes or more, the same "
                      "for servers and workers",
       .aliases = {{"MASTER_WEBHOOK_SECRET"}},
       .secret = true},
      {.section = "webhook",
       .key = "previous_secret",
       .type = text,
       .default_value = "",
       .description = "Still accepted while jobs that were asked for with it wait",
       .secret = true},
      {.section = "webhook",
       .key = "global_secret",
       .type = text,
       .default_value = "",
       .description = "Accepted for every job, for parsers that know one secret only",
       .aliases = {{"LLAMAPARSE_WEBHOOK_SECRET"}},
       .secret = true},
      {.section = "webhook",
       .key = "signing_keys",
       .type = list,
       .default_value = "",
       .description = "Keys of Standard Webhooks (whsec_…, whpk_…) that callbacks may be signed "
                      "with; several while one replaces another",
       .secret = true},
      {.section = "webhook",
       .key = "canonical_json",
       .type = boolean,
       .default_value = "false",
       .description = "Signatures over the sorted, compact form of the JSON count too"},
      {.section = "webhook",
       .key = "allowed_addresses",
       .type = list,
       .default_value = "",
       .description = "Addresses and networks that may deliver; default: any"},
      {.section = "webhook",
       .key = "body_max_bytes",
       .type = integer,
       .default_value = "33554432",
       .description = "Largest delivery",
       .min = 1'024,
       .max = 268'435'456},
  };
}

}  // namespace

std::vector<SettingSpec> remote_specs() {
  auto all = embedding_specs();
  for (auto part : {parser_specs(), webhook_specs()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace millrace::app
