// RequestPath: the path of a request taken apart, each segment decoded once.
//
// Nothing is collapsed: "%2F" stays inside its segment, "%252F" becomes the three characters "%2F",
// empty segments stay empty, and "." and ".." (however they are encoded) are refused. What a proxy
// in front and we make of a path is then the same or an error.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::http {

inline constexpr std::size_t kPathSegmentsMax = 64;

class RequestPath {
 public:
  // What is wrong with it, or nothing. Segments point into `raw` or into this object.
  std::string_view parse(std::string_view raw);

  // "/a/b" has two segments, "/" has one that is empty.
  std::span<const std::string_view> segments() const { return segments_; }
  // Segments from `first` on as they stood, with their slashes. An encoded slash would be
  // indistinguishable from a real one there: see has_encoded_slash.
  std::string_view rest(std::size_t first) const;
  bool has_encoded_slash(std::size_t first) const { return first < slash_segments_end_; }

 private:
  std::string_view decode(std::string_view raw);

  std::string decoded_;
  std::vector<std::string_view> segments_;
  std::size_t slash_segments_end_ = 0;  // Behind the last segment that holds an encoded slash.
};

// Percent-decoding of one component. False for a % without two hexadecimal digits; `plus_is_space`
// as in the queries that browsers send.
bool append_percent_decoded(std::string& out, std::string_view text, bool plus_is_space);

}  // namespace millrace::http
