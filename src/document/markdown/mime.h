// MIME: what e-mails are made of: header fields, parameters, encodings of content and of words.
//
// Tolerant and bounded: every function is linear in its input, and what is broken is read as far as
// it goes. Views point into the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

struct HeaderField {
  std::string name = {};   // In lower case.
  std::string value = {};  // Unfolded; bytes as they came.
};

class MimeHeaders {
 public:
  // Takes the fields off the front of a message or part, with the empty line behind them.
  static MimeHeaders take(std::string_view& bytes);

  // The first of that name; empty when there is none.
  std::string_view get(std::string_view name) const;
  const std::vector<HeaderField>& fields() const { return fields_; }

 private:
  std::vector<HeaderField> fields_;
};

// "text/html; charset=utf-8" and "attachment; filename*=utf-8''a%20b".
struct MimeValue {
  std::string value = {};                                           // In lower case: "text/html".
  std::map<std::string, std::string, std::less<>> parameters = {};  // As UTF-8.

  std::string_view parameter(std::string_view name) const;
};
MimeValue parse_mime_value(std::string_view text);

// =?utf-8?Q?Gr=C3=BC=C3=9Fe?= and bytes beyond ASCII, as UTF-8 on one line.
std::string decode_header(std::string_view value);

// base64 and quoted-printable; everything else stays as it is.
std::string decode_transfer(std::string_view body, std::string_view encoding);
// How many bytes that gives.
std::uint64_t decoded_size(std::string_view body, std::string_view encoding);

// The parts between the boundaries of a multipart body, `parts_max` at most. Without a boundary in
// it: none.
std::vector<std::string_view> split_multipart(std::string_view body, std::string_view boundary,
                                              std::size_t parts_max);

// Whether a text begins like a message: fields that mails have.
bool looks_like_mail(std::string_view bytes);

}  // namespace millrace::document
