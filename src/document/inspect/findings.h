// Findings: what is wrong with a document, rule by rule, and the verdict that follows.
//
// A rule has a name that programs know (docs list them) and a severity: `refuse` keeps the document
// out, `flag` lets it in and says so. Details are for people and never quote the document.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"

#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

enum class Severity { flag, refuse };
enum class Verdict { clean, flagged, refused };

std::string_view to_string(Severity severity);
std::string_view to_string(Verdict verdict);

struct Finding {
  std::string rule;
  Severity severity = Severity::flag;
  std::string detail;
};

// What to do about content that acts by itself: macros, scripts, launched programs.
enum class ActiveContent { refuse, flag };

class Findings {
 public:
  explicit Findings(ActiveContent active = ActiveContent::refuse, const Limits& limits = {})
      : active_(active), findings_max_(limits.findings_max) {}

  // Each rule is noted once, with the graver severity.
  void refuse(std::string_view rule, std::string_view detail);
  void flag(std::string_view rule, std::string_view detail);
  // Refused or flagged as the caller of the operation wishes.
  void active(std::string_view rule, std::string_view detail);
  // A refusal that came as an error. Errors that are no refusals are passed on.
  Result<void> take(const Error& error);

  const std::vector<Finding>& list() const { return list_; }
  bool has(std::string_view rule) const;
  bool refused() const { return verdict() == Verdict::refused; }
  Verdict verdict() const;

 private:
  void add(std::string_view rule, Severity severity, std::string_view detail);

  ActiveContent active_;
  std::size_t findings_max_;
  std::vector<Finding> list_;
};

}  // namespace millrace::document
