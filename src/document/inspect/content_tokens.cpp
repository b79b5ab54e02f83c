#include "document/inspect/content_tokens.h"

#include <cctype>

namespace millrace::document {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == '\0';
}

bool is_delimiter(char c) {
  return std::string_view("()<>[]{}/%").find(c) != std::string_view::npos;
}

}  // namespace

void ContentTokens::add(std::string_view piece) {
  for (const char c : piece) add_byte(c);
}

void ContentTokens::finish() {
  if (state_ == State::word) end_word();
}

void ContentTokens::add_byte(char c) {
  switch (state_) {
    case State::string:
      if (c == '\\') {
        state_ = State::escape;
      } else if (c == '(') {
        ++depth_;
        ++string_bytes_;
      } else if (c == ')' && --depth_ == 0) {
        state_ = State::between;
      } else {
        ++string_bytes_;
      }
      return;
    case State::escape:
      ++string_bytes_;  // An octal escape counts its digits too: about is enough.
      state_ = State::string;
      return;
    case State::hex:
      if (c == '>') {
        string_bytes_ += (hex_digits_ + 1) / 2;
        state_ = State::between;
      } else if (c == '<' && hex_digits_ == 0) {
        state_ = State::between;  // A dictionary, which only inline images and marks have.
      } else if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
        ++hex_digits_;
      }
      return;
    case State::comment:
      if (c == '\n' || c == '\r') state_ = State::between;
      return;
    case State::image:
      return in_image(c);
    case State::word:
    case State::name:
      if (!is_blank(c) && !is_delimiter(c)) {
        auto& text = state_ == State::word ? word_ : name_;
        if (text.size() < kWordMax) text += c;
        return;
      }
      if (state_ == State::word) end_word();
      if (state_ != State::image) state_ = State::between;
      if (state_ == State::image) return in_image(c);
      break;
    case State::between:
      break;
  }
  begin(c);
}

void ContentTokens::begin(char c) {
  if (is_blank(c)) return;
  if (c == '(') {
    state_ = State::string;
    depth_ = 1;
  } else if (c == '<') {
    state_ = State::hex;
    hex_digits_ = 0;
  } else if (c == '%') {
    state_ = State::comment;
  } else if (c == '/') {
    state_ = State::name;
    name_ = "/";
  } else if (!is_delimiter(c)) {
    state_ = State::word;
    word_ = c;
  }
}

void ContentTokens::end_word() {
  const auto first = static_cast<unsigned char>(word_.front());
  const bool is_operator = std::isalpha(first) != 0 || first == '\'' || first == '"';
  if (!is_operator) return;
  take_({.name = word_, .last_name = name_, .string_bytes = string_bytes_});
  string_bytes_ = 0;
  if (word_ != "ID") return;
  state_ = State::image;
  image_end_ = 0;
}

// The data of an inline image: anything up to "EI" with blanks around it.
void ContentTokens::in_image(char c) {
  const bool blank = is_blank(c);
  if (image_end_ == 3 && blank) {
    state_ = State::between;
  } else if (image_end_ == 1 && c == 'E') {
    image_end_ = 2;
  } else if (image_end_ == 2 && c == 'I') {
    image_end_ = 3;
  } else {
    image_end_ = blank ? 1 : 0;
  }
}

}  // namespace millrace::document
