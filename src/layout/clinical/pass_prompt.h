// Pass prompts: what a model is given for each pass, made from the spatial map and the pass before.
//
// A request is instructions, input and a schema; how they become a call is the provider's business.
// Long documents become several requests that overlap by some lines; merge.h joins their answers.
// Lines of the document begin with a number and a bar, so nothing in them can pass for a part of
// the request. The same map gives the same bytes.
#pragma once

#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/pass.h"
#include "layout/clinical/routing.h"
#include "layout/spatial_map.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::layout::clinical {

struct PromptOptions {
  std::size_t input_bytes_max = 48 * 1024;  // Of one request.
  std::uint32_t overlap_lines = 3;
  std::uint32_t context_lines = 1;  // Around lines with entities, in pass 2.
  std::size_t requests_max = 2'000;
  std::string audience = "patient";
};

// Lines of one page, both included.
struct PageSlice {
  std::uint32_t page = 0;
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;
  friend bool operator==(const PageSlice&, const PageSlice&) = default;
};

struct PassRequest {
  Pass pass = Pass::detect;
  std::string_view instructions = {};
  std::string input = {};
  std::vector<PageSlice> slices = {};        // What of the document it is about.
  std::vector<std::string> references = {};  // Ids of the entities or facts in it.
};

// The fixed part, whose hash is the prompt's.
std::string_view instructions_of(Pass pass);

// Nothing can have more tokens than bytes: the bound for a limiter's reservation.
std::uint64_t tokens_bound(const PassRequest& request);

// invalid_argument when a line is longer than a request may be, or there would be too many
// requests.
Result<std::vector<PassRequest>> detect_requests(const SpatialMap& map,
                                                 const PromptOptions& options = {});
// Only lines with entities and those around them. None without entities.
Result<std::vector<PassRequest>> extract_requests(const SpatialMap& map, const Detection& detection,
                                                  const PromptOptions& options = {});
// Facts that were dropped are not told. None without facts.
Result<std::vector<PassRequest>> narrate_requests(const Extraction& extraction,
                                                  std::span<const RoutedFact> routed,
                                                  std::span<const Conflict> conflicts,
                                                  const PromptOptions& options = {});

// The JSON of an answer: bare, or in one fence of three backticks as models like to have it.
// invalid_argument for anything else, and for more than the limit.
Result<json::Value> parse_answer(std::string_view text, const PassLimits& limits = {});

}  // namespace millrace::layout::clinical
