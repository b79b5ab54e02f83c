#include "document/markdown/parse_report.h"

#include "layout/code_points.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace millrace::document {
namespace {

constexpr std::size_t kTitleBytesMax = 500;

json::Array to_array(const std::vector<std::uint32_t>& pages) {
  return json::Array(pages.begin(), pages.end());
}

}  // namespace

void ParseReport::warn(std::string_view rule, std::string_view detail, std::uint64_t count) {
  auto found = warnings_.find(rule);
  if (found == warnings_.end()) {
    found = warnings_.emplace(std::string(rule), Warning{.detail = std::string(detail)}).first;
  }
  found->second.count += count;
}

json::Object ParseReport::to_json() const {
  json::Object out;
  out["page_count"] = page_count;
  out["has_pages"] = has_pages;
  if (!title.empty()) out["title"] = title;
  if (!language.empty()) out["language"] = language;
  if (!encoding.empty()) out["encoding"] = encoding;
  out["pages_without_text"] = to_array(pages_without_text);
  out["pages_recognised"] = to_array(pages_recognised);
  out["running_text"] = json::Array(running_text.begin(), running_text.end());
  json::Array list;
  for (const auto& [rule, warning] : warnings_) {
    list.push_back(
        json::Object{{"rule", rule}, {"detail", warning.detail}, {"count", warning.count}});
  }
  out["warnings"] = std::move(list);
  return out;
}

std::string clean_title(std::string_view text) {
  std::string out;
  bool blank = false;
  for (std::size_t at = 0; at < text.size() && out.size() < kTitleBytesMax;) {
    const auto decoded = layout::decode_at(text, at);
    at += decoded.bytes;
    if (layout::is_space(decoded.code)) {
      blank = !out.empty();
    } else if (!layout::is_control(decoded.code)) {
      if (blank) out += ' ';
      blank = false;
      layout::append_utf8(out, decoded.valid ? decoded.code : layout::kReplacement);
    }
  }
  return out;
}

}  // namespace millrace::document
