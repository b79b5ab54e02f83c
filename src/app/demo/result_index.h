// result_index: what became of the demo's documents, as one page of HTML to open.
//
// Links are relative to <folder>/results; nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::app {

struct IndexEntry {
  std::string file;
  std::string state;
  std::string rules;  // Of what was found; empty.
  std::vector<std::pair<std::string_view, std::string_view>> outputs = {};  // Kind, file name.
};

std::string result_index(const std::vector<IndexEntry>& entries);

}  // namespace millrace::app
