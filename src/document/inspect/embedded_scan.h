// EmbeddedScan: files within files. Looks for signatures, opens archives within archives down to a
// depth, and counts all that it unpacks against one budget.
#pragma once

#include "base/result.h"
#include "document/bounded/inflate.h"
#include "document/inspect/findings.h"

#include <string_view>

namespace millrace::document {

class EmbeddedScan {
 public:
  EmbeddedScan(Findings& findings, UnpackBudget& budget, const Limits& limits)
      : findings_(findings), budget_(budget), limits_(limits) {}

  // A whole file that was found `depth` archives deep; its name if it has one. Refusals of the
  // budget and archive_depth, embedded_size; broken archives are flagged, nobody opens them.
  Result<void> scan(std::string_view bytes, std::string_view name, std::uint32_t depth);

 private:
  Result<void> scan_archive(std::string_view bytes, std::uint32_t depth);

  Findings& findings_;
  UnpackBudget& budget_;
  const Limits& limits_;
};

}  // namespace millrace::document
