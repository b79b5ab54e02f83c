#include "render/pdf_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace millrace::render {
namespace {

constexpr std::size_t kWordMax = 64;
constexpr int kDepthMax = 1000;
constexpr std::size_t kAnchorsMax = 1000;
constexpr std::size_t kTablesMax = 8;
constexpr std::size_t kPagesMax = 100'000;

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

// "#20" of a name stands for a blank.
std::string decoded_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned value = 0;
    const auto digits = name.substr(i + 1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool escape = name[i] == '#' && digits.size() == 2 && error == std::errc() &&
                        end == digits.data() + digits.size();
    out += escape ? static_cast<char>(value) : name[i];
    if (escape) i += 2;
  }
  return out;
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
      begin_array();
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

void PdfScan::begin_array() {
  if (dictionaries_ == 1 && arrays_ == 0) {
    array_key_ = key_;
    array_numbers_ = 0;
  }
  on_value();
  if (++arrays_ > kDepthMax) complain("arrays lie too deep");
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
  // "[24 0 R /XYZ 0 792 0]"
  const bool leads = dictionaries_ == 1 && arrays_ == 1 && array_numbers_ == 2 && word_ == "XYZ";
  if (leads && destinations_.size() < kAnchorsMax) {
    destinations_.emplace_back(array_key_, array_first_);
  }
  if (dictionaries_ != 1 || arrays_ != 0) return;
  if (key_.empty()) {
    key_ = word_;
    ++entries_;
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
  if (dictionaries_ == 0 && arrays_ == 0) number_ = std::exchange(generation_, value);
  if (dictionaries_ == 1 && arrays_ == 1 && ++array_numbers_ == 1) array_first_ = value;
  if (dictionaries_ != 1 || arrays_ != 0 || key_.empty()) return;
  if (key_ == "Dests") catalog_table_ = value;
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
  if (word_ == "obj") object_ = number_;
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
  if (type_ == "Page") {
    ++shape_.page_count;
    if (pages_.size() < kPagesMax) pages_.push_back(object_);
  }
  note_destinations();
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

void PdfScan::note_destinations() {
  const bool only = !destinations_.empty() && destinations_.size() == entries_ && type_.empty();
  if (only && tables_.size() < kTablesMax) tables_[object_] = std::move(destinations_);
  destinations_.clear();
  entries_ = 0;
}

void PdfScan::find_anchors() {
  const auto table = tables_.find(catalog_table_);
  if (table == tables_.end()) return;
  std::map<std::uint64_t, int> numbers;
  for (std::size_t i = 0; i < pages_.size(); ++i) numbers[pages_[i]] = static_cast<int>(i) + 1;
  for (const auto& [name, object] : table->second) {
    const auto page = numbers.find(object);
    const bool whole = name.size() < kWordMax;  // Longer ones are cut.
    if (whole && page != numbers.end()) shape_.anchors[decoded_name(name)] = page->second;
  }
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
  find_anchors();
  return shape_;
}

}  // namespace millrace::render
