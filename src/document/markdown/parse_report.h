// ParseReport: what is known of a document besides its Markdown.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

class ParseReport {
 public:
  std::string title = {};
  std::string language = {};  // As the document says it: "de", "en-GB".
  std::string encoding = {};  // Of text files.
  std::uint32_t page_count = 1;
  bool has_pages = false;  // Page marks stand in the Markdown.
  std::vector<std::uint32_t> pages_without_text = {};
  std::vector<std::uint32_t> pages_recognised = {};
  std::vector<std::string> running_text = {};  // Headers and footers that were left out.

  // Something that a reader should know; the same rule again is only counted.
  void warn(std::string_view rule, std::string_view detail, std::uint64_t count = 1);
  bool has_warning(std::string_view rule) const { return warnings_.contains(rule); }

  json::Object to_json() const;

 private:
  struct Warning {
    std::string detail;
    std::uint64_t count = 0;
  };
  std::map<std::string, Warning, std::less<>> warnings_;
};

// One line, no controls, not longer than titles are.
std::string clean_title(std::string_view text);

}  // namespace millrace::document
