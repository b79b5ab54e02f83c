// Inspection: what `inspect` learns of one document. Inspectors of each kind fill one in.
#pragma once

#include "document/bounded/limits.h"
#include "document/inspect/findings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct InspectedPage {
  double width_pt = 0;  // Of what is visible, before the rotation.
  double height_pt = 0;
  int rotation_deg = 0;          // Clockwise, to make it upright.
  std::uint64_t text_chars = 0;  // About: characters that a text layer shows.
  std::string content_sha256 = {};
};

struct Inspection {
  explicit Inspection(const Limits& all, ActiveContent active)
      : limits(all), findings(active, all) {}

  const Limits& limits;
  Findings findings;
  std::vector<InspectedPage> pages = {};
};

// Each reads the whole document. What the document is guilty of becomes findings; an error means
// that we could not do our work.
Result<void> inspect_pdf(std::string_view bytes, Inspection& inspection);
Result<void> inspect_image(std::string_view bytes, std::string_view mime, Inspection& inspection);
Result<void> inspect_office(std::string_view bytes, std::string_view kind, Inspection& inspection);
Result<void> inspect_text(std::string_view bytes, Inspection& inspection);

}  // namespace millrace::document
