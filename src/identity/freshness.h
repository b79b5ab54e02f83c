// freshness_of: how long an answer may be used before asking again (RFC 9111, as far as key sets
// need it).
#pragma once

#include "http/message.h"

#include <chrono>
#include <vector>

namespace millrace::identity {

struct FreshnessBounds {
  std::chrono::seconds unsaid{600};  // When the server says nothing we understand.
  std::chrono::seconds least{60};    // Also for no-store and no-cache: every call cannot ask.
  std::chrono::seconds most{86'400};
};

// Cache-Control's max-age less Age, within the bounds.
std::chrono::seconds freshness_of(const std::vector<http::Header>& headers,
                                  const FreshnessBounds& bounds);

}  // namespace millrace::identity
