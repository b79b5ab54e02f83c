// Quotes and list items that stand open around a line, and the cursor that walks through a line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

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
  void skip_marker(std::size_t bytes);     // To the content, and so much of it.

 private:
  void find_content();

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

  std::size_t depth() const { return open_.size(); }
  const Container& operator[](std::size_t i) const { return open_[i]; }
  bool are_items() const { return first_quote_ == open_.size(); }  // All of them.
  void truncate(std::size_t depth) {
    if (depth < open_.size()) open_.resize(depth);
    first_quote_ = std::min(first_quote_, depth);
  }
  // Walks through what the open containers want of a line; says how many go on.
  std::size_t match(LineCursor& cursor) const;

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
  Opened open(LineCursor& cursor, const Opening& opening);

 private:
  void push(std::size_t& kept, Opened& opened, Container container);

  std::vector<Container> open_;
  std::size_t first_quote_ = 0;  // So many items come before any quote.
};

}  // namespace millrace::chunk
