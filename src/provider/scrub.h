// scrub: a message of a service on its way into errors and logs.
//
// Services repeat what they were sent: a wrong key, a sentence of a document that they did not
// like. Both become "[...]"; the rest, which says what is wrong, stays.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millrace::provider {

struct ScrubOptions {
  std::span<const std::string_view> secrets = {};
  std::string_view private_text = {};  // Of the request: what documents say.
  std::size_t bytes_max = 400;
};

// One line of printable text. Of private_text no run of 12 bytes survives, and no quoted word.
std::string scrub(std::string_view message, const ScrubOptions& options);

}  // namespace millrace::provider
