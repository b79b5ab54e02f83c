// Pages that try to get out, to stay for ever, or to use up everything.
#pragma once

#include <string>
#include <vector>

namespace millrace::render {

struct HostilePage {
  std::string name;
  std::string html;
};

// Every way a page has to reach another machine, to each of several names of this one.
std::vector<HostilePage> calling_pages(unsigned short port);
// Loops, floods and things that are too large.
std::vector<HostilePage> greedy_pages();

}  // namespace millrace::render
