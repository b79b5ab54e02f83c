#include "document/inspect/findings.h"

#include <algorithm>

namespace millrace::document {

std::string_view to_string(Severity severity) {
  return severity == Severity::refuse ? "refuse" : "flag";
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::clean:
      return "clean";
    case Verdict::flagged:
      return "flagged";
    case Verdict::refused:
      return "refused";
  }
  return "refused";
}

void Findings::refuse(std::string_view rule, std::string_view detail) {
  add(rule, Severity::refuse, detail);
}

void Findings::flag(std::string_view rule, std::string_view detail) {
  add(rule, Severity::flag, detail);
}

void Findings::active(std::string_view rule, std::string_view detail) {
  add(rule, active_ == ActiveContent::refuse ? Severity::refuse : Severity::flag, detail);
}

Result<void> Findings::take(const Error& error) {
  if (error.kind != ErrorKind::invalid_argument || error.constraint.empty()) return fail(error);
  refuse(error.constraint, error.message);
  return ok();
}

bool Findings::has(std::string_view rule) const {
  return std::ranges::find(list_, rule, &Finding::rule) != list_.end();
}

Verdict Findings::verdict() const {
  if (list_.empty()) return Verdict::clean;
  const auto found = std::ranges::find(list_, Severity::refuse, &Finding::severity);
  return found == list_.end() ? Verdict::flagged : Verdict::refused;
}

void Findings::add(std::string_view rule, Severity severity, std::string_view detail) {
  const auto same = std::ranges::find(list_, rule, &Finding::rule);
  if (same != list_.end()) {
    if (same->severity == Severity::refuse || severity == Severity::flag) return;
    same->severity = severity;
    same->detail = detail;
    return;
  }
  // A refusal is never the one that is left out.
  if (list_.size() >= findings_max_ && severity == Severity::flag) return;
  list_.push_back({.rule = std::string(rule), .severity = severity, .detail = std::string(detail)});
}

}  // namespace millrace::document
