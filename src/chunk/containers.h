// Quotes and list items that stand open around a line, and the cursor that walks through a line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace millrace::chunk {

// A place in a line by byte and by column; tabs reach to the next multiple of four.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : line_(line) { find_content(); }

  // Columns up to the next character that is no white space.
  std::size_t indent() const { return content_column_ - column_; }
  // From that character on.
  std::string_view content() const { return line_.substr(content_at_); }
  bool is_blank() const { return content_at_ == line_.size(); }
  void skip_columns(std::size_t columns);  // White space only: not more than indent().
  // To the content, and so much of it.
  void skip_marker(std::size_t bytes) {
    at_ = content_at_ + bytes;
    column_ = content_column_ + bytes;
    spare_ = 0;
    find_content();
  }
  // A quote's mark and the space behind it.
  void skip_quote() {
    skip_marker(1);
    if (indent() > 0) skip_columns(1);
  }

 private:
  void find_content() {
    auto column = column_ + spare_;
    auto at = at_;
    for (; at < line_.size(); ++at) {
      if (line_[at] == ' ') {
        ++column;
      } else if (line_[at] == '\t') {
        column += 4 - column % 4;
      } else {
        break;
      }
    }
    content_at_ = at;
    content_column_ = column;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t column_ = 0;
  std::size_t spare_ = 0;  // Columns of a tab that was used in part.
  // Found once for all containers that ask: lines may be nothing but white space.
  std::size_t content_at_ = 0;
  std::size_t content_column_ = 0;
};

struct Container {
  bool is_item = false;
  std::size_t width = 0;  // Columns that belong to an item's lines.
};

struct ListMarker {
  std::size_t size = 0;  // Bytes of "-" or "12."; 0: none.
  bool starts_at_one = true;
  bool is_empty = false;  // Nothing follows on the line.
};
ListMarker list_marker_of(std::string_view content);
bool is_rule(std::string_view content);          // "* * *"
std::size_t rule_end(std::string_view content);  // Where something else than its first mark comes.

class Containers {
 public:
  static constexpr std::size_t kDepthMax = 32;  // Deeper ones are text.

  std::size_t depth() const { return depth_; }
  const Container& operator[](std::size_t i) const { return open_[i]; }
  bool are_items() const { return first_quote_ == depth_; }  // All of them.
  void truncate(std::size_t depth) {
    depth_ = std::min(depth_, depth);
    first_quote_ = std::min(first_quote_, depth);
  }
  // Walks through what the open containers want of a line; says how many go on.
  std::size_t match(LineCursor& cursor) const { return depth_ == 0 ? 0 : match_open(cursor); }

  struct Opening {
    bool paragraph_open = false;  // Then not every list marker begins a list.
    std::size_t matched = 0;
  };
  struct Opened {
    std::size_t count = 0;
    bool is_sibling = false;  // The first is an item of a list that was open.
    std::size_t depth = 0;    // Where the first stands.
  };
  // Opens what begins at the cursor. Containers that did not match are closed then.
  Opened open(LineCursor& cursor, const Opening& opening) {
    return may_open(cursor) ? open_all(cursor, opening) : Opened{};
  }

 private:
  static bool may_open(const LineCursor& cursor) {
    if (cursor.is_blank()) return false;
    const char c = cursor.content().front();
    return c == '>' || c == '-' || c == '+' || c == '*' || (c >= '0' && c <= '9');
  }
  std::size_t match_open(LineCursor& cursor) const;
  Opened open_all(LineCursor& cursor, const Opening& opening);
  void push(std::size_t& kept, Opened& opened, const Container& container);

  std::array<Container, kDepthMax> open_;
  std::size_t depth_ = 0;
  std::size_t first_quote_ = 0;  // So many items come before any quote.
};

}  // namespace millrace::chunk
