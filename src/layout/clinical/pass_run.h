// PassRun: how the result of a pass came to be, kept beside it.
//
// Enough to say, years later, what was asked of whom, and to know whether asking again could give
// anything new: pass N + 1 has the output hash of pass N in its key.
#pragma once

#include "base/json.h"
#include "layout/clinical/pass.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::layout::clinical {

// Hashes are SHA-256 in hexadecimal.
struct PassRun {
  Pass pass = Pass::detect;
  std::string provider;       // "local", "openai", …
  std::string model;          // As the provider names it, with its version.
  std::string prompt_sha256;  // Of the instructions.
  std::string input_sha256;   // Of what was read: spatial map and the pass before.
  std::string output_sha256;  // Of the stored result, canonical.
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_out = 0;
  std::string finish_reason;
  friend bool operator==(const PassRun&, const PassRun&) = default;
};

json::Value pass_run_to_json(const PassRun& run);
Result<PassRun> pass_run_from_json(const json::Value& value);

// The same for the same question and for no other: pass, schema, model, prompt and input.
std::string pass_key(const PassRun& run);

}  // namespace millrace::layout::clinical
