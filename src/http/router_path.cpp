#include "http/router_path.h"

#include "http/server_utf8.h"

#include <algorithm>

namespace millrace::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Characters that RFC 3986 allows in a path; the others are refused because parsers differ on them,
// the backslash above all.
bool is_path_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("/%-._~!$&'()*+,;=:@").contains(c);
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace

bool append_percent_decoded(std::string& out, std::string_view text, bool plus_is_space) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return true;
}

std::string_view RequestPath::parse(std::string_view raw) {
  segments_.clear();
  decoded_.clear();
  slash_segments_end_ = 0;
  if (!raw.starts_with('/')) return "the path must begin with /";
  if (!std::ranges::all_of(raw, is_path_char)) {
    return "the path has a character that must be percent-encoded";
  }
  if (raw.contains('%')) return decode(raw);
  raw.remove_prefix(1);
  for (;;) {
    const auto slash = raw.find('/');
    const auto segment = raw.substr(0, slash);
    if (segment == "." || segment == "..") return "the path has a . or .. segment";
    if (segments_.size() == kPathSegmentsMax) return "the path has too many segments";
    segments_.push_back(segment);
    if (slash == raw.npos) return {};
    raw.remove_prefix(slash + 1);
  }
}

std::string_view RequestPath::decode(std::string_view raw) {
  decoded_.reserve(raw.size());  // Views into it must not move.
  raw.remove_prefix(1);
  for (;;) {
    const auto slash = raw.find('/');
    const auto begin = decoded_.size();
    if (!append_percent_decoded(decoded_, raw.substr(0, slash), false)) {
      return "the path has a % without two hexadecimal digits";
    }
    const auto segment = std::string_view(decoded_).substr(begin);
    if (segment == "." || segment == "..") return "the path has a . or .. segment";
    if (has_control(segment)) return "the path has an encoded control character";
    if (!is_utf8(segment)) return "the path is not UTF-8";
    if (segments_.size() == kPathSegmentsMax) return "the path has too many segments";
    segments_.push_back(segment);
    if (segment.find_first_of("/\\") != segment.npos) slash_segments_end_ = segments_.size();
    if (slash == raw.npos) return {};
    decoded_.push_back('/');
    raw.remove_prefix(slash + 1);
  }
}

std::string_view RequestPath::rest(std::size_t first) const {
  const auto* begin = segments_[first].data();
  const auto last = segments_.back();
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

}  // namespace millrace::http
