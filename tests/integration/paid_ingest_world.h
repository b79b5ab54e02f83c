// Ingest whose texts are embedded by a service that wants money, for tests: the stand-in of
// tests/provider, and the settings of server and worker that make them use it.
#pragma once

#include "integration/ingest_world.h"

#include <filesystem>
#include <map>
#include <string>

namespace millrace::test {

inline constexpr const char* kPaidIngest = R"(
name = "ingest"
version = "2.0.0"

[[queue]]
name = "ingest"
max_attempts = 7

[[stage]]
name = "ingest_document"
run = "parse"
queue = "ingest"

[[stage]]
name = "ingest_validate"
run = "validate"
queue = "ingest"

[[stage]]
name = "ingest_chunk"
run = "chunk"
queue = "ingest"
options = { max_tokens = 512, target_tokens = 300 }

[[stage]]
name = "ingest_embed"
run = "embed"
queue = "ingest"
provider = "openai"
call_timeout = "5s"
options = { batch_max = 4 }

[[stage]]
name = "ingest_publish"
run = "publish"
queue = "ingest"
)";

// `pipelines` holds kPaidIngest as ingest.toml. A token is a millionth.
inline std::map<std::string, std::string> paid_ingest_env(const std::filesystem::path& pipelines,
                                                          const StandInProgram& stand_in) {
  return {{"MILLRACE_PIPELINE_DIR", pipelines.string()},
          {"MILLRACE_OPENAI_BASE_URL", stand_in.url() + "/v1"},
          {"OPENAI_API_KEY", "k"},
          {"MILLRACE_OPENAI_ALLOW_HTTP", "true"},
          {"MILLRACE_OPENAI_EMBED_MODEL", "stand-in-embed"},
          {"MILLRACE_OPENAI_PRICE_EMBED", "1.00"}};
}

}  // namespace millrace::test
