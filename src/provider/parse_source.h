// What a parser outside is given: a document, and where it may say that it is done.
#pragma once

#include "provider/clamd.h"

#include <cstdint>
#include <string>
#include <utility>

namespace millrace::provider {

// A link, or the bytes.
struct ParseSource {
  std::string url = {};  // Holds for an hour; empty: the bytes are sent.
  ByteSource bytes = {};
  std::uint64_t size_bytes = 0;
  std::string file_name = {};
  std::string content_type = "application/octet-stream";
};

// Empty url: it says nothing, it is asked.
struct ParseCallback {
  std::string url = {};
  std::pair<std::string, std::string> header = {};
};

}  // namespace millrace::provider
