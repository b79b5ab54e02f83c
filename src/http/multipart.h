// MultipartParser: multipart/form-data, piece by piece, in constant memory.
//
// Flow: made from the request's Content-Type; the reader of the body gives it each piece it gets
// and takes events out until the piece is used up:
//
//   std::string_view piece = ...;
//   for (;;) {
//     MR_CO_TRY(const auto event, parser.next(piece));
//     if (event.kind == MultipartEvent::Kind::need_more) break;
//     ...
//   }
//
// and at the end of the body finish() says whether the closing boundary was seen. Boundaries may
// lie across pieces. Pure: no I/O, no coroutine. Errors are invalid_argument.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::http {

struct MultipartLimits {
  std::size_t part_header_max_bytes = 8 * 1024;  // All header lines of one part together.
  std::size_t parts_max = 100;
  std::size_t preamble_max_bytes = 1024;  // Before the first boundary and after the last.
};

struct MultipartPart {
  std::string name;
  // The last component of what the client calls the file: never a path, never with control
  // characters. filename* (RFC 8187) wins over filename. Nothing for an ordinary field.
  std::optional<std::string> file_name;
  std::string content_type;  // "text/plain" when the part does not say.
};

struct MultipartEvent {
  enum class Kind { need_more, part, data, part_end, end };

  Kind kind = Kind::need_more;
  std::string_view data = {};  // Of Kind::data; holds until the next call.
};

class MultipartParser {
 public:
  // From the value of Content-Type. invalid_argument unless it is multipart/form-data with a
  // boundary of 1 to 70 characters.
  static Result<MultipartParser> make(std::string_view content_type, MultipartLimits limits = {});

  // Takes from the front of `input` what belongs to the next event. need_more: all of it was taken.
  // After an error the parser is of no more use.
  Result<MultipartEvent> next(std::string_view& input);
  // invalid_argument when the body ended before the closing boundary.
  Result<void> finish() const;

  // The part that the last Kind::part announced.
  const MultipartPart& part() const { return part_; }

 private:
  enum class State { preamble, after_boundary, headers, body, epilogue };

  MultipartParser(std::string boundary, MultipartLimits limits);
  Result<MultipartEvent> read_preamble(std::string_view& input);
  Result<MultipartEvent> read_after_boundary(std::string_view& input);
  Result<MultipartEvent> read_headers(std::string_view& input);
  Result<MultipartEvent> read_body(std::string_view& input);
  MultipartEvent read_body_directly(std::string_view& input);

  std::string delimiter_;  // CRLF, two dashes and the boundary.
  MultipartLimits limits_;
  State state_ = State::preamble;
  std::string held_;                // The beginning of what may become a delimiter, or of a header.
  std::size_t borrowed_bytes_ = 0;  // At the beginning of held_: no data whatever follows.
  std::string given_;               // What held_ was when it turned out to be data.
  std::size_t skipped_bytes_ = 0;
  std::size_t parts_ = 0;
  MultipartPart part_;
};

struct ContentDisposition {
  std::string type;  // Lower case.
  std::optional<std::string> name;
  std::optional<std::string> file_name;
};

// RFC 6266 and 7578: tokens, quoted strings and, for filename*, RFC 8187 with UTF-8 or ISO-8859-1.
Result<ContentDisposition> parse_content_disposition(std::string_view text);

}  // namespace millrace::http
