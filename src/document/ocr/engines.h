// Engines: line readers by language, loaded when they are first asked for and kept.
//
// The zygote loads the default languages before it forks, so that a child finds them in memory. One
// thread.
#pragma once

#include "document/ocr/line_reader.h"

#include <map>
#include <memory>
#include <string>

namespace millrace::document {

class Engines {
 public:
  // invalid_argument when there is no data for the language. The reader stays the engines'.
  Result<LineReader*> get(const std::string& language);

 private:
  std::map<std::string, std::unique_ptr<LineReader>> readers_;
};

}  // namespace millrace::document
