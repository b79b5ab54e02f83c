#include "output/csv_text.h"

#include "layout/code_points.h"

#include <charconv>

namespace millrace::output {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() &&
         text.find_first_of("naNA") == std::string_view::npos;
}

bool is_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").contains(text.front()) && !is_number(text);
}

}  // namespace

std::string csv_field(std::string_view text) {
  std::string clean;
  if (is_formula(text)) clean += '\'';
  for (std::size_t i = 0; i < text.size();) {
    const auto next = layout::decode_at(text, i);
    const bool control = next.code < 0x20 && next.code != '\n' && next.code != '\t';
    if (next.valid && !control) {
      clean += text.substr(i, next.bytes);
    } else {
      layout::append_utf8(clean, layout::kReplacement);
    }
    i += next.bytes;
  }
  if (clean.find_first_of(",\"\n\t") == std::string::npos) return clean;
  std::string out = "\"";
  for (const char c : clean) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_row(std::initializer_list<std::string_view> fields) {
  std::string out;
  for (bool first = true; const auto field : fields) {
    if (!first) out += ',';
    first = false;
    out += csv_field(field);
  }
  return out + "\r\n";
}

}  // namespace millrace::output
