#include "http/multipart.h"

#include "http/message.h"
#include "http/multipart_disposition.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::http {
namespace {

using Kind = MultipartEvent::Kind;

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, "multipart body: " + std::move(message));
}

bool is_boundary(std::string_view text) {
  if (text.empty() || text.size() > 70 || text.back() == ' ') return false;
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("'()+_,-./:=? ").contains(c);
  });
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

// How many characters at the end of `text` are a beginning of `delimiter`.
std::size_t partial_match(std::string_view text, std::string_view delimiter) {
  auto size = std::min(text.size(), delimiter.size() - 1);
  while (size > 0 && !delimiter.starts_with(text.substr(text.size() - size))) --size;
  return size;
}

Result<MultipartPart> parse_part_headers(std::string_view lines) {
  MultipartPart part{.content_type = "text/plain"};
  bool disposed = false;
  if (lines.starts_with(' ') || lines.starts_with('\t') || lines.contains("\r\n ") ||
      lines.contains("\r\n\t")) {
    return refuse("a part's header is folded");
  }
  while (!lines.empty()) {
    const auto end = lines.find("\r\n");
    const auto line = lines.substr(0, end);
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 2);
    const auto colon = line.find(':');
    if (colon == line.npos || colon == 0) return refuse("a line of a part's header has no name");
    if (std::ranges::any_of(line, is_control)) {
      return refuse("a part's header has a control character");
    }
    auto value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    const auto name = line.substr(0, colon);
    if (same_name(name, "Content-Disposition")) {
      if (disposed) return refuse("a part has two Content-Disposition headers");
      auto disposition = parse_content_disposition(value);
      if (!disposition) return refuse("Content-Disposition: " + disposition.error().message);
      if (disposition->type != "form-data" || !disposition->name) {
        return refuse("Content-Disposition of a part must be form-data with a name");
      }
      part.name = *std::move(disposition->name);
      part.file_name = std::move(disposition->file_name);
      disposed = true;
    } else if (same_name(name, "Content-Type")) {
      part.content_type = value;
    } else if (same_name(name, "Content-Transfer-Encoding") && !same_name(value, "binary") &&
               !same_name(value, "8bit") && !same_name(value, "7bit")) {
      return refuse("Content-Transfer-Encoding of a part must be 7bit, 8bit or binary");
    }
  }
  if (!disposed) return refuse("a part has no Content-Disposition");
  return part;
}

}  // namespace

MultipartParser::MultipartParser(std::string boundary, MultipartLimits limits)
    : delimiter_("\r\n--" + std::move(boundary)),
      limits_(limits),
      held_("\r\n") {}  // The first delimiter may stand at the very beginning, without its CRLF.

Result<MultipartParser> MultipartParser::make(std::string_view content_type,
                                              MultipartLimits limits) {
  const auto header = parse_parameters(content_type);
  if (!header || !same_name(header->value, "multipart/form-data")) {
    return fail(ErrorKind::invalid_argument, "Content-Type must be multipart/form-data");
  }
  const auto* boundary = header->parameter("boundary");
  if (boundary == nullptr || !is_boundary(*boundary)) {
    return fail(ErrorKind::invalid_argument,
                "Content-Type multipart/form-data needs a boundary of 1 to 70 characters");
  }
  return MultipartParser(*boundary, limits);
}

Result<MultipartEvent> MultipartParser::next(std::string_view& input) {
  for (;;) {
    const auto before = state_;
    auto event = [&]() -> Result<MultipartEvent> {
      switch (state_) {
        case State::preamble:
          return read_preamble(input);
        case State::after_boundary:
          return read_after_boundary(input);
        case State::headers:
          return read_headers(input);
        case State::body:
          return read_body(input);
        case State::epilogue:
          break;
      }
      skipped_bytes_ += input.size();
      input = {};
      if (skipped_bytes_ > limits_.preamble_max_bytes)
        return refuse("text after the last boundary");
      return MultipartEvent{};
    }();
    // A step that ends one state without an event leads into the next one.
    if (!event || event->kind != Kind::need_more || state_ == before) return event;
  }
}

Result<void> MultipartParser::finish() const {
  if (state_ == State::epilogue) return ok();
  return refuse("it ends before the closing boundary");
}

Result<MultipartEvent> MultipartParser::read_preamble(std::string_view& input) {
  skipped_bytes_ += input.size();
  held_.append(input);
  const auto found = held_.find(delimiter_);
  if (found == held_.npos) {
    input = {};
    held_.erase(0, held_.size() - partial_match(held_, delimiter_));
    if (skipped_bytes_ > limits_.preamble_max_bytes + delimiter_.size()) {
      return refuse("no boundary at its beginning");
    }
    return MultipartEvent{};
  }
  input = input.substr(input.size() - (held_.size() - found - delimiter_.size()));
  if (found > limits_.preamble_max_bytes) return refuse("no boundary at its beginning");
  skipped_bytes_ = 0;
  held_.clear();
  state_ = State::after_boundary;
  return MultipartEvent{};
}

// Behind a delimiter: CRLF and a part, or -- and the end. Blanks before the CRLF are padding.
Result<MultipartEvent> MultipartParser::read_after_boundary(std::string_view& input) {
  while (!input.empty()) {
    held_.push_back(input.front());
    input.remove_prefix(1);
    if (held_ == "--") {
      held_.clear();
      state_ = State::epilogue;
      return MultipartEvent{.kind = Kind::end};
    }
    if (held_.ends_with("\r\n")) {
      if (++parts_ > limits_.parts_max) {
        return refuse(fmt::format("more than {} parts", limits_.parts_max));
      }
      held_ = "\r\n";  // So that a part without any header line ends like the others.
      state_ = State::headers;
      return MultipartEvent{};
    }
    const auto padding = held_.find_first_not_of(" \t");
    const bool begins_well = padding == held_.npos || held_.substr(padding) == "\r" || held_ == "-";
    if (!begins_well || held_.size() > 64)
      return refuse("a boundary is not followed by a new line");
  }
  return MultipartEvent{};
}

Result<MultipartEvent> MultipartParser::read_headers(std::string_view& input) {
  const auto before = held_.size();
  const auto room = limits_.part_header_max_bytes + 4;
  held_.append(input.substr(0, room > before ? room - before : 0));
  const auto end = held_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == held_.npos) {
    if (held_.size() >= room) {
      return refuse(fmt::format("the header of a part is longer than {} bytes",
                                limits_.part_header_max_bytes));
    }
    input = {};
    return MultipartEvent{};
  }
  input.remove_prefix(end + 4 - before);
  const auto lines = std::string_view(held_).substr(0, end);
  MR_TRY(part_, parse_part_headers(lines.size() < 2 ? lines : lines.substr(2)));
  // An empty part's delimiter may follow at once: its CRLF is the one that ended the header. If it
  // does not follow, that CRLF is no data.
  held_ = "\r\n";
  borrowed_bytes_ = 2;
  state_ = State::body;
  return MultipartEvent{.kind = Kind::part};
}

// held_ is a beginning of the delimiter; what follows decides whether it was one or data.
Result<MultipartEvent> MultipartParser::read_body(std::string_view& input) {
  if (held_.empty()) return read_body_directly(input);
  while (!input.empty() && held_.size() < delimiter_.size() &&
         input.front() == delimiter_[held_.size()]) {
    held_.push_back(input.front());
    input.remove_prefix(1);
  }
  if (held_.size() == delimiter_.size()) {
    held_.clear();
    borrowed_bytes_ = 0;
    state_ = State::after_boundary;
    return MultipartEvent{.kind = Kind::part_end};
  }
  if (input.empty()) return MultipartEvent{};
  // The delimiter has one CR, its first character: no other delimiter can begin inside held_.
  given_.assign(held_, borrowed_bytes_);
  held_.clear();
  borrowed_bytes_ = 0;
  if (given_.empty()) return read_body_directly(input);
  return MultipartEvent{.kind = Kind::data, .data = given_};
}

MultipartEvent MultipartParser::read_body_directly(std::string_view& input) {
  if (input.empty()) return {};
  const auto found = input.find(delimiter_);
  if (found == 0) {
    input.remove_prefix(delimiter_.size());
    state_ = State::after_boundary;
    return {.kind = Kind::part_end};
  }
  const auto held = found == input.npos ? partial_match(input, delimiter_) : 0;
  const auto data = input.substr(0, found == input.npos ? input.size() - held : found);
  input.remove_prefix(data.size());
  if (held > 0) {
    held_ = input;
    input = {};
  }
  if (data.empty()) return {};
  return {.kind = Kind::data, .data = data};
}

}  // namespace millrace::http
