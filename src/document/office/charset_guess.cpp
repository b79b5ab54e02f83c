#include "document/office/charset_guess.h"

#include "document/office/text_encoding.h"

#include <algorithm>
#include <memory>
#include <unicode/ucsdet.h>

namespace millrace::document {
namespace {

constexpr std::size_t kSampleBytes = std::size_t{64} * 1024;
// Of 100. Below it the detector says as much of any bytes; texts of a sentence have 30 and more.
constexpr int kLikely = 26;

// From the line of the first byte that is no ASCII: no character of several bytes is cut there.
std::string_view sample_of(std::string_view bytes) {
  const auto* const high =
      std::ranges::find_if(bytes, [](char c) { return static_cast<signed char>(c) < 0; });
  const auto at = static_cast<std::size_t>(high - bytes.begin());
  const auto line = at == 0 ? bytes.npos : bytes.rfind('\n', at - 1);
  const auto from = line == bytes.npos || at - line > kSampleBytes / 2
                        ? at - std::min(at, kSampleBytes / 2)
                        : line + 1;
  return bytes.substr(from, kSampleBytes);
}

// What is found by a mark or by the bytes themselves, and what no file of today is in.
bool is_for_others(std::string_view name) {
  return name.starts_with("UTF-") || name.starts_with("IBM42");
}

}  // namespace

std::string guess_charset(std::string_view bytes) {
  const auto sample = sample_of(bytes);
  if (sample.empty()) return {};
  UErrorCode error = U_ZERO_ERROR;
  const std::unique_ptr<UCharsetDetector, decltype(&ucsdet_close)> detector(ucsdet_open(&error),
                                                                            &ucsdet_close);
  if (detector == nullptr) return {};
  ucsdet_setText(detector.get(), sample.data(), static_cast<int>(sample.size()), &error);
  int count = 0;
  auto* const* matches = ucsdet_detectAll(detector.get(), &count, &error);
  if (U_FAILURE(error) != 0) return {};
  for (int i = 0; i < count; ++i) {  // The likeliest first.
    const std::string name = ucsdet_getName(matches[i], &error);
    if (is_for_others(name)) continue;
    return ucsdet_getConfidence(matches[i], &error) >= kLikely ? name : std::string();
  }
  return {};
}

bool is_text(std::string_view bytes) {
  return detect_encoding(bytes).has_value() || (is_plain(bytes) && !guess_charset(bytes).empty());
}

}  // namespace millrace::document
