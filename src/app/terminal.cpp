#include "app/terminal.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace millrace::app {
namespace {

std::string_view lookup(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string_view{} : std::string_view(found->second);
}

bool locale_is_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = lookup(environment, name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

std::string_view escape_code(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::red:
      return "\x1b[31m";
    case Style::green:
      return "\x1b[32m";
    case Style::yellow:
      return "\x1b[33m";
    case Style::blue:
      return "\x1b[34m";
    case Style::cyan:
      return "\x1b[36m";
  }
  return "";
}

// Length of the UTF-8 sequence at `at`, 0 when it is not one.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  std::size_t length = 0;
  if (lead < 0x80) {
    length = 1;
  } else if (lead >= 0xc2 && lead < 0xe0) {
    length = 2;
  } else if (lead >= 0xe0 && lead < 0xf0) {
    length = 3;
  } else if (lead >= 0xf0 && lead < 0xf5) {
    length = 4;
  }
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::optional<TerminalSize> terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return TerminalSize{.columns = size.ws_col, .rows = size.ws_row};
}

Terminal Terminal::detect(const Environment& environment) {
  Terminal terminal;
  terminal.out_tty = ::isatty(STDOUT_FILENO) == 1;
  terminal.err_tty = ::isatty(STDERR_FILENO) == 1;
  const bool dumb = lookup(environment, "TERM") == "dumb";
  terminal.color = terminal.out_tty && !dumb && lookup(environment, "NO_COLOR").empty();
  terminal.unicode = locale_is_utf8(environment);
  if (!terminal.out_tty) {
    terminal.width = 0;  // A file or a pipe: nothing is cut.
  } else if (const auto size = terminal_size()) {
    terminal.width = size->columns;
  }
  return terminal;
}

std::string Terminal::paint(Style style, std::string_view text) const {
  if (!color || style == Style::plain || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_code(style), text);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto length = sequence_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0) {
      out += '?';
      ++at;
    } else if (length == 1) {
      if (byte == '\n' || byte == '\t' || byte == '\r') {
        out += ' ';
      } else if (byte < 0x20 || byte == 0x7f) {
        out += '?';
      } else {
        out += text[at];
      }
      ++at;
    } else {
      // U+0080 to U+009F are control characters too.
      const bool control = byte == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
      if (control) {
        out += '?';
      } else {
        out += text.substr(at, length);
      }
      at += length;
    }
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {  // Our own colour sequence: up to 'm'.
      const auto end = text.find('m', at);
      if (end == text.npos) break;
      at = end + 1;
      continue;
    }
    const auto length = sequence_length(text, at);
    at += length == 0 ? 1 : length;
    ++width;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  const std::string_view ellipsis = unicode ? "…" : "~";
  std::string out;
  std::size_t used = 0;
  bool painted = false;
  for (std::size_t at = 0; at < text.size() && used + 1 < width;) {
    if (text[at] == '\x1b') {  // Our own colour sequence takes no room.
      const auto end = std::min(text.find('m', at), text.size() - 1);
      out += text.substr(at, end + 1 - at);
      painted = true;
      at = end + 1;
      continue;
    }
    const auto length = std::max<std::size_t>(1, sequence_length(text, at));
    out += text.substr(at, length);
    at += length;
    ++used;
  }
  out += ellipsis;
  return painted ? out + "\x1b[0m" : out;
}

std::string group_digits(long long value) {
  std::string digits = fmt::format("{}", value < 0 ? -value : value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return value < 0 ? "-" + digits : digits;
}

std::string short_count(double value) {
  const double size = std::fabs(value);
  if (size >= 999'500'000) return fmt::format("{:.1f}G", value / 1e9);
  if (size >= 999'500) return fmt::format("{:.1f}M", value / 1e6);
  if (size >= 9'995) return fmt::format("{:.1f}k", value / 1e3);
  if (size >= 10 || value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.1f}", value);
}

}  // namespace millrace::app
