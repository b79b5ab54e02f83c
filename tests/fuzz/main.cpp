// One program for all fuzz targets: `fuzz_parsers --target=json [libFuzzer's options] CORPUS`. They
// share the instrumented parsers, so a program each would only cost linking. tools/fuzz knows how
// to call it; --list names the targets.
#include "fuzz/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace millrace::fuzz {

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      {"answers", fuzz_answers},
      {"arrays", fuzz_arrays},
      {"chunks", fuzz_chunks},
      {"config", fuzz_config},
      {"conninfo", fuzz_conninfo},
      {"control", fuzz_control},
      {"credentials", fuzz_credentials},
      {"duration", fuzz_duration},
      {"fault_plan", fuzz_fault_plan},
      {"http_outcome", fuzz_http_outcome},
      {"job_spec", fuzz_job_spec},
      {"json", fuzz_json},
      {"jwks", fuzz_jwks},
      {"lines", fuzz_lines},
      {"multipart", fuzz_multipart},
      {"names", fuzz_names},
      {"pattern", fuzz_pattern},
      {"request", fuzz_request},
      {"request_headers", fuzz_request_headers},
      {"rest_query", fuzz_rest_query},
      {"retry_after", fuzz_retry_after},
      {"schema", fuzz_schema},
      {"script", fuzz_script},
      {"server_files", fuzz_server_files},
      {"settlements", fuzz_settlements},
      {"text", fuzz_text},
      {"times", fuzz_times},
      {"token", fuzz_token},
      {"words", fuzz_words},
  };
  return all;
}

namespace {

const Target* chosen = nullptr;

[[noreturn]] void list_and_leave(int code) {
  for (const auto& target : targets()) {
    std::fprintf(code == 0 ? stdout : stderr, "%s\n", std::string(target.name).c_str());
  }
  std::exit(code);
}

}  // namespace
}  // namespace millrace::fuzz

// libFuzzer leaves words with two dashes alone; they stay, because it starts itself again with the
// same words.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace millrace::fuzz;
  constexpr std::string_view kTarget = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word == "--list") list_and_leave(0);
    if (word == "--stretch") stretch_always();
    if (!word.starts_with(kTarget)) continue;
    const auto found = std::ranges::find(targets(), word.substr(kTarget.size()), &Target::name);
    if (found != targets().end()) chosen = &*found;
  }
  if (chosen == nullptr) list_and_leave(2);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millrace::fuzz::chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
