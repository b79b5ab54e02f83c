// add_form: a request gets a multipart/form-data body of one field and one file, whose bytes are
// taken from their source as the network takes them.
#pragma once

#include "base/random.h"
#include "http/message.h"
#include "provider/clamd.h"

#include <cstdint>
#include <string>
#include <utility>

namespace millrace::provider {

struct FormUpload {
  std::pair<std::string, std::string> field;
  std::string file_field;
  std::string file_name;  // Quotes and controls are replaced.
  std::string content_type;
  ByteSource bytes;
  std::uint64_t size_bytes = 0;
};

void add_form(http::Request& request, FormUpload upload, Random& random);

}  // namespace millrace::provider
