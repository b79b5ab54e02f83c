// Pages that try to get out, to stay for ever, or to use up everything.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::render {

struct HostilePage {
  std::string name;
  std::string html;
};

// What is known of a way.
struct WayFacts {
  // Why a listener does not hear it even where no wall stands; empty: it does, which a test shows.
  std::string_view unheard = {};
  bool past_policy = false;        // The policy alone lets it through.
  bool past_interception = false;  // Interception alone does.
  bool with_scripts = false;       // Goes nowhere where none run, though there is none in it.
};

// One way a page has to reach another machine.
struct Way {
  std::string_view name;
  std::string_view html;  // @H: host and port.
  WayFacts facts = {};
};

std::span<const Way> calling_ways();
// Whether it goes anywhere where scripts run, or where they do not: what is within <noscript> is
// there only where they do not.
bool acts(const Way& way, bool scripts);
HostilePage calling_page(const Way& way, std::string_view host, unsigned short port);
// Every way that acts, to each of several names of this machine.
std::vector<HostilePage> calling_pages(unsigned short port, bool scripts);
// Ways to put a file of this machine on the page: a text, and a drawing with text in it.
std::vector<HostilePage> reading_pages(const std::string& text_file, const std::string& svg_file);
// Loops, floods and things that are too large.
std::vector<HostilePage> greedy_pages();

}  // namespace millrace::render
