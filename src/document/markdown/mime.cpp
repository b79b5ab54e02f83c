#include "document/markdown/mime.h"

#include "document/markdown/charset.h"
#include "document/markdown/parse_report.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::document {
namespace {

constexpr std::size_t kFieldsMax = 1'000;
constexpr std::size_t kFieldBytesMax = 64 * 1024;
constexpr std::size_t kParametersMax = 64;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

// The next line without its end, which is taken off the front.
std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  auto line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 127 && c != ':'; });
}

int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

int base64_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

std::string from_base64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int value = base64_of(c);
    if (value < 0) continue;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

// `in_word`: in a header, where blanks are underscores.
std::string from_quoted(std::string_view text, bool in_word) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '_' && in_word) {
      out += ' ';
    } else if (c != '=') {
      out += c;
    } else if (at + 2 < text.size() && hex_of(text[at + 1]) >= 0 && hex_of(text[at + 2]) >= 0) {
      out += static_cast<char>(hex_of(text[at + 1]) * 16 + hex_of(text[at + 2]));
      at += 2;
    } else {
      // A line that goes on; blanks may stand before its end.
      auto end = at + 1;
      while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
        ++end;
      if (end < text.size() && text[end] == '\n')
        at = end;
      else if (end < text.size())
        out += c;
    }
  }
  return out;
}

std::string from_percent(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool code = text[at] == '%' && at + 2 < text.size() && hex_of(text[at + 1]) >= 0 &&
                      hex_of(text[at + 2]) >= 0;
    if (code) {
      out += static_cast<char>(hex_of(text[at + 1]) * 16 + hex_of(text[at + 2]));
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::string as_utf8(std::string_view bytes, std::string_view charset) {
  if (auto text = decode(bytes, charset)) return *std::move(text);
  if (auto text = decode_text(bytes, {})) return std::move(text->text);
  std::string out;  // Bytes that are no text: what is ASCII of them.
  for (const char c : bytes) out += static_cast<signed char>(c) < 0x20 ? '?' : c;
  return out;
}

// One =?charset?B?text?= at the front; nothing when it is none.
struct EncodedWord {
  std::string text;
  std::size_t bytes = 0;
};
std::optional<EncodedWord> encoded_word(std::string_view text) {
  constexpr std::size_t kWordMax = 1'000;
  text = text.substr(0, kWordMax);
  const auto charset_end = text.find('?', 2);
  if (charset_end == text.npos || charset_end + 2 >= text.size() || text[charset_end + 2] != '?') {
    return std::nullopt;
  }
  const auto begin = charset_end + 3;
  const auto end = text.find("?=", begin);
  if (end == text.npos) return std::nullopt;
  auto charset = text.substr(2, charset_end - 2);
  charset = charset.substr(0, charset.find('*'));  // A language may follow.
  const auto body = text.substr(begin, end - begin);
  const char kind = text[charset_end + 1];
  if (kind != 'B' && kind != 'b' && kind != 'Q' && kind != 'q') return std::nullopt;
  const auto bytes = kind == 'B' || kind == 'b' ? from_base64(body) : from_quoted(body, true);
  return EncodedWord{.text = as_utf8(bytes, charset), .bytes = end + 2};
}

// name="a;b" → up to the ';' that ends it.
std::string_view take_parameter(std::string_view& rest) {
  bool quoted = false;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (rest[at] == '\\' && quoted)
      ++at;
    else if (rest[at] == '"')
      quoted = !quoted;
    else if (rest[at] == ';' && !quoted)
      break;
  }
  at = std::min(at, rest.size());
  const auto out = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return out;
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with('"')) return std::string(text);
  std::string out;
  for (std::size_t at = 1; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    out += text[at];
  }
  return out;
}

}  // namespace

MimeHeaders MimeHeaders::take(std::string_view& bytes) {
  MimeHeaders out;
  while (!bytes.empty()) {
    auto rest = bytes;
    const auto line = take_line(rest);
    if (line.empty()) {
      bytes = rest;
      break;
    }
    if ((line.front() == ' ' || line.front() == '\t') && !out.fields_.empty()) {
      auto& value = out.fields_.back().value;
      if (value.size() < kFieldBytesMax) value.append(" ").append(trimmed(line));
      bytes = rest;
      continue;
    }
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    if (colon == line.npos || !is_field_name(trimmed(name))) {
      // "From somebody Mon Jan 1" of a mailbox; otherwise the text has begun without a blank line.
      if (!(out.fields_.empty() && line.starts_with("From "))) break;
    } else if (out.fields_.size() < kFieldsMax) {
      out.fields_.push_back(
          {.name = layout::to_lower(trimmed(name)),
           .value = std::string(trimmed(line.substr(colon + 1, kFieldBytesMax)))});
    }
    bytes = rest;
  }
  return out;
}

std::string_view MimeHeaders::get(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &HeaderField::name);
  return found == fields_.end() ? std::string_view() : std::string_view(found->value);
}

std::string_view MimeValue::parameter(std::string_view name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

MimeValue parse_mime_value(std::string_view text) {
  MimeValue out;
  out.value = layout::to_lower(trimmed(take_parameter(text)));
  std::map<std::string, std::string> pieces;  // "filename*0*" and the like, in order.
  for (std::size_t count = 0; !text.empty() && count < kParametersMax; ++count) {
    const auto one = take_parameter(text);
    const auto equals = one.find('=');
    if (equals == one.npos) continue;
    auto name = layout::to_lower(trimmed(one.substr(0, equals)));
    auto value = unquoted(one.substr(equals + 1));
    if (name.find('*') == std::string::npos) {
      out.parameters.try_emplace(std::move(name), decode_header(value));
    } else {
      pieces.try_emplace(std::move(name), std::move(value));
    }
  }
  // Values in pieces, and with a charset: name*0*=utf-8''a%20; name*1=b
  std::map<std::string, std::pair<std::string, std::string>> joined;  // Charset, bytes.
  for (auto& [name, value] : pieces) {
    auto& [charset, bytes] = joined[name.substr(0, name.find('*'))];
    std::string_view rest = value;
    if (!name.ends_with('*')) {
      bytes.append(rest);
      continue;
    }
    const auto first = rest.find('\'');
    const auto second = first == rest.npos ? first : rest.find('\'', first + 1);
    if (bytes.empty() && second != rest.npos) {
      charset = rest.substr(0, first);
      rest.remove_prefix(second + 1);
    }
    bytes.append(from_percent(rest));
  }
  for (const auto& [name, value] : joined) {
    out.parameters[name] = clean_title(as_utf8(value.second, value.first));
  }
  return out;
}

std::string decode_header(std::string_view value) {
  std::string out;
  std::string plain;  // Bytes between encoded words.
  bool after_word = false;
  const auto flush = [&](bool before_word) {
    // Blanks between two encoded words say nothing.
    const bool blank = trimmed(plain).empty();
    if (!(after_word && before_word && blank)) out += as_utf8(plain, "utf-8");
    plain.clear();
  };
  while (!value.empty()) {
    const auto word = value.starts_with("=?") ? encoded_word(value) : std::nullopt;
    if (!word) {
      plain += value.front();
      value.remove_prefix(1);
      continue;
    }
    flush(true);
    out += word->text;
    after_word = true;
    value.remove_prefix(word->bytes);
  }
  flush(false);
  std::string line;
  bool blank = false;
  for (const char c : out) {
    if (c == ' ' || (static_cast<unsigned char>(c) < 0x20)) {
      blank = !line.empty();
    } else {
      if (std::exchange(blank, false)) line += ' ';
      line += c;
    }
  }
  return line;
}

std::string decode_transfer(std::string_view body, std::string_view encoding) {
  if (encoding == "base64") return from_base64(body);
  if (encoding == "quoted-printable") return from_quoted(body, false);
  return std::string(body);
}

std::uint64_t decoded_size(std::string_view body, std::string_view encoding) {
  if (encoding == "base64") {
    const auto count = std::ranges::count_if(body, [](char c) { return base64_of(c) >= 0; });
    return static_cast<std::uint64_t>(count) * 6 / 8;
  }
  return encoding == "quoted-printable" ? from_quoted(body, false).size() : body.size();
}

std::vector<std::string_view> split_multipart(std::string_view body, std::string_view boundary,
                                              std::size_t parts_max) {
  std::vector<std::string_view> parts;
  if (boundary.empty()) return parts;
  const auto mark = std::string("--").append(boundary);
  std::size_t begin = std::string_view::npos;  // Of the open part.
  auto rest = body;
  const auto offset = [&] { return body.size() - rest.size(); };
  const auto close = [&](std::size_t end) {
    if (begin == std::string_view::npos) return;
    auto part = body.substr(begin, end - begin);
    if (part.ends_with('\n')) part.remove_suffix(1);
    if (part.ends_with('\r')) part.remove_suffix(1);
    parts.push_back(part);
    begin = std::string_view::npos;
  };
  while (!rest.empty() && parts.size() < parts_max) {
    const auto at = offset();
    const auto line = take_line(rest);
    if (!line.starts_with(mark)) continue;
    const auto tail = trimmed(line.substr(mark.size()));
    if (!tail.empty() && tail != "--") continue;
    close(at);
    if (tail == "--") return parts;
    begin = offset();
  }
  if (parts.size() < parts_max) close(body.size());
  return parts;
}

bool looks_like_mail(std::string_view bytes) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"from", "to", "subject", "date", "received", "mime-version", "message-id", "return-path",
       "content-type", "delivered-to", "reply-to", "cc"});
  constexpr std::size_t kHead = 16 * 1024;
  auto head = bytes.substr(0, kHead);
  const auto headers = MimeHeaders::take(head);
  std::size_t known = 0;
  for (const auto& field : headers.fields()) {
    if (std::ranges::find(kNames, field.name) != kNames.end()) ++known;
  }
  return known >= 3 && !headers.get("from").empty();
}

}  // namespace millrace::document
