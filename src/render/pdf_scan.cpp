#include "render/pdf_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace millrace::render {
namespace {

constexpr std::size_t kWordMax = 64;
constexpr int kDepthMax = 1000;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\0';
}

bool is_delimiter(char c) { return std::string_view("()<>[]{}/%").contains(c); }

std::optional<std::uint64_t> to_number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

void PdfScan::complain(const char* why) {
  if (complaint_ == nullptr) complaint_ = why;
}

void PdfScan::feed(std::string_view piece) {
  shape_.bytes += piece.size();
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (state_ == State::stream_body) {
      const auto skipped = std::min<std::uint64_t>(stream_left_, piece.size() - i);
      stream_left_ -= skipped;
      i += skipped;
      if (stream_left_ > 0) return;
      state_ = State::plain;
      if (i == piece.size()) return;
    }
    const char c = piece[i];
    switch (state_) {
      case State::plain:
        plain(c);
        break;
      case State::token:
      case State::name:
        if (is_space(c) || is_delimiter(c)) {
          end_token();
          // After the word `stream` comes the end of its line, then the bytes.
          if (state_ == State::stream_line) {
            if (c == '\n') state_ = State::stream_body;
          } else {
            state_ = State::plain;
            plain(c);
          }
        } else if (word_.size() < kWordMax) {
          word_ += c;
        }
        break;
      case State::comment:
        if (c == '\n' || c == '\r') state_ = State::plain;
        break;
      case State::text:
        if (c == '\\') state_ = State::text_escape;
        if (c == '(') ++text_depth_;
        if (c == ')' && --text_depth_ == 0) state_ = State::plain;
        break;
      case State::text_escape:
        state_ = State::text;
        break;
      case State::hex:
        if (c == '>') state_ = State::plain;
        break;
      case State::open_angle:
        state_ = c == '<' ? State::plain : c == '>' ? State::plain : State::hex;
        if (c == '<') begin_dictionary();
        break;
      case State::close_angle:
        state_ = State::plain;
        if (c != '>' || --dictionaries_ < 0) complain("a dictionary ends that never began");
        break;
      case State::stream_line:
        if (c == '\n') state_ = State::stream_body;
        break;
      case State::stream_body:
        break;
    }
  }
}

void PdfScan::plain(char c) {
  if (is_space(c)) return;
  switch (c) {
    case '%':
      state_ = State::comment;
      return;
    case '(':
      on_value();
      text_depth_ = 1;
      state_ = State::text;
      return;
    case '<':
      state_ = State::open_angle;
      return;
    case '>':
      state_ = State::close_angle;
      return;
    case '[':
      on_value();
      if (++arrays_ > kDepthMax) complain("arrays lie too deep");
      return;
    case ']':
      if (--arrays_ < 0) complain("an array ends that never began");
      return;
    case '/':
      word_.clear();
      state_ = State::name;
      return;
    default:
      word_.assign(1, c);
      state_ = State::token;
  }
}

void PdfScan::begin_dictionary() {
  on_value();
  if (++dictionaries_ > kDepthMax) complain("dictionaries lie too deep");
}

void PdfScan::on_value() {
  if (dictionaries_ == 1 && arrays_ == 0) key_.clear();
}

void PdfScan::end_token() {
  if (state_ == State::name) {
    on_name();
  } else if (const auto number = to_number(word_)) {
    on_number(*number);
  } else {
    on_word();
  }
}

void PdfScan::on_name() {
  if (dictionaries_ != 1 || arrays_ != 0) return;
  if (key_.empty()) {
    key_ = word_;
    last_key_.clear();
    if (key_ == "Parent") has_parent_ = true;
    return;
  }
  if (key_ == "Type") type_ = word_;
  key_.clear();
}

void PdfScan::on_number(std::uint64_t value) {
  if (at_xref_offset_) {
    shape_.xref_offset = value;
    at_xref_offset_ = false;
    ended_ = true;
    return;
  }
  if (dictionaries_ != 1 || arrays_ != 0 || key_.empty()) return;
  if (key_ == "Length") {
    length_ = value;
    has_length_ = true;
  }
  if (key_ == "Count") count_ = value;
  if (in_trailer_ && key_ == "Size") shape_.object_count = value;
  if (in_trailer_ && key_ == "Root") shape_.root_object = value;
  last_key_ = key_;
  key_.clear();
}

void PdfScan::on_word() {
  if (word_ == "R") {
    // "7 0 R": the number that was taken for the length is that of an object.
    if (last_key_ == "Length" && dictionaries_ == 1) has_length_ = false;
    return;
  }
  if (word_ == "stream") {
    if (!has_length_ || dictionaries_ != 0) return complain("a stream has no length");
    stream_left_ = length_;
    state_ = State::stream_line;
    return;
  }
  if (word_ == "endobj") return end_object();
  if (word_ == "trailer") {
    in_trailer_ = true;
  } else if (word_ == "startxref") {
    at_xref_offset_ = true;
  }
  on_value();
}

void PdfScan::end_object() {
  if (dictionaries_ != 0 || arrays_ != 0) complain("an object ends inside of a dictionary");
  if (type_ == "Page") ++shape_.page_count;
  if (type_ == "Pages" && !has_parent_) {
    declared_pages_ = count_;
    ++page_trees_;
  }
  type_.clear();
  key_.clear();
  last_key_.clear();
  has_length_ = false;
  has_parent_ = false;
  count_ = 0;
}

Result<PdfShape> PdfScan::finish() {
  if (state_ == State::token) end_token();
  const auto damaged = [](std::string_view why) {
    return fail(ErrorKind::internal, fmt::format("the browser's PDF cannot be used: {}", why));
  };
  if (complaint_ != nullptr) return damaged(complaint_);
  if (!ended_ || shape_.object_count == 0 || shape_.root_object == 0) {
    return damaged("it has no trailer");
  }
  if (shape_.xref_offset >= shape_.bytes || shape_.object_count > shape_.bytes) {
    return damaged("its trailer points beyond its end");
  }
  if (page_trees_ != 1 || declared_pages_ != shape_.page_count || shape_.page_count == 0) {
    return damaged(fmt::format("it has {} pages and says {}", shape_.page_count, declared_pages_));
  }
  return shape_;
}

}  // namespace millrace::render
