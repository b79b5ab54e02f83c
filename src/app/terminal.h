// Terminal: what the place we print to can show. Asked once, at start-up.
//
// Colours only on a terminal, never with NO_COLOR or TERM=dumb. Text that came from outside goes
// through printable() first: a job's error message must not move the reader's cursor.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::app {

using Environment = std::map<std::string, std::string>;

enum class Style { plain, bold, dim, red, green, yellow, blue, cyan };

struct Terminal {
  bool out_tty = false;  // Standard output is a terminal.
  bool err_tty = false;
  bool color = false;    // On standard output.
  bool unicode = false;  // UTF-8 locale: bars and box characters.
  std::size_t width = 100;

  static Terminal detect(const Environment& environment);

  std::string paint(Style style, std::string_view text) const;
};

struct TerminalSize {
  std::size_t columns = 0;
  std::size_t rows = 0;
};
// Now; people resize their windows.
std::optional<TerminalSize> terminal_size();

// One line without control characters: those become spaces or '?'. Not UTF-8 becomes '?'.
std::string printable(std::string_view text);
// Columns that `text` takes: code points, without escape sequences.
std::size_t display_width(std::string_view text);
// At most `width` columns, cut with an ellipsis; escape sequences stay whole.
std::string cut_to_width(std::string_view text, std::size_t width, bool unicode);
// "1 234 567": thin grouping for people.
std::string group_digits(long long value);
// "1.2k", "15", "3.4M".
std::string short_count(double value);

}  // namespace millrace::app
