// Content-Disposition of a part, and the parameters of header values.
#include "http/multipart_disposition.h"

#include "http/message.h"
#include "http/multipart.h"
#include "http/server_utf8.h"

#include <algorithm>

namespace millrace::http {
namespace {

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

bool is_token_char(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

std::string_view take_token(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_token_char);
  const auto token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(token.size());
  return token;
}

// Behind the opening quote. Only \" and \\ are escapes: some clients send Windows paths as they
// are.
Result<std::string> take_quoted(std::string_view& text) {
  std::string value;
  while (!text.empty()) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return value;
    if (c == '\\' && !text.empty() && (text.front() == '"' || text.front() == '\\')) {
      c = text.front();
      text.remove_prefix(1);
    }
    value.push_back(c);
  }
  return refuse("a quoted value has no closing quote");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// charset'language'percent-encoded
Result<std::string> decode_extended(std::string_view text) {
  const auto first = text.find('\'');
  const auto second = first == text.npos ? text.npos : text.find('\'', first + 1);
  if (second == text.npos) return refuse("filename* must have the form charset'language'value");
  const auto charset = text.substr(0, first);
  const bool latin = same_name(charset, "ISO-8859-1");
  if (!latin && !same_name(charset, "UTF-8")) {
    return refuse("the character set of filename* must be UTF-8 or ISO-8859-1");
  }
  std::string value;
  const auto encoded = text.substr(second + 1);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    auto byte = static_cast<unsigned char>(encoded[i]);
    if (byte == '%') {
      const int high = i + 2 < encoded.size() ? hex_digit(encoded[i + 1]) : -1;
      const int low = i + 2 < encoded.size() ? hex_digit(encoded[i + 2]) : -1;
      if (high < 0 || low < 0) return refuse("filename* has a % without two hexadecimal digits");
      byte = static_cast<unsigned char>(high * 16 + low);
      i += 2;
    }
    if (latin && byte >= 0x80) {
      value.push_back(static_cast<char>(0xC0U | (byte >> 6U)));
      value.push_back(static_cast<char>(0x80U | (byte & 0x3FU)));
    } else {
      value.push_back(static_cast<char>(byte));
    }
  }
  return value;
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

// The last component: what a client calls "C:\scans\..\a.pdf" is "a.pdf" here.
Result<std::string> checked_file_name(std::string name) {
  if (!is_utf8(name)) return refuse("the file name is not UTF-8");
  if (const auto slash = name.find_last_of("/\\"); slash != name.npos) name.erase(0, slash + 1);
  if (has_control(name)) return refuse("the file name has a control character");
  if (name == "." || name == "..") name.clear();
  return name;
}

}  // namespace

Result<HeaderParameters> parse_parameters(std::string_view text) {
  HeaderParameters result;
  const auto first_end = std::min(text.find(';'), text.size());
  auto value = text.substr(0, first_end);
  skip_blanks(value);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  result.value = value;
  text.remove_prefix(first_end);
  for (;;) {
    skip_blanks(text);
    if (text.empty()) return result;
    if (text.front() != ';') return refuse("header parameters must be separated by ;");
    text.remove_prefix(1);
    skip_blanks(text);
    if (text.empty()) return result;  // Some clients end with a semicolon.
    const auto name = take_token(text);
    skip_blanks(text);
    if (name.empty() || !text.starts_with('=')) {
      return refuse("a header parameter must have the form name=value");
    }
    text.remove_prefix(1);
    skip_blanks(text);
    if (result.parameter(name)) return refuse("a header parameter is given twice");
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      MR_TRY(auto quoted, take_quoted(text));
      result.parameters.emplace_back(name, std::move(quoted));
    } else {
      // Not only a token: unquoted boundaries with = and : are common.
      const auto plain = text.substr(0, text.find_first_of("; \t\""));
      text.remove_prefix(plain.size());
      result.parameters.emplace_back(name, plain);
    }
  }
}

const std::string* HeaderParameters::parameter(std::string_view name) const {
  for (const auto& [key, text] : parameters) {
    if (same_name(key, name)) return &text;
  }
  return nullptr;
}

Result<ContentDisposition> parse_content_disposition(std::string_view text) {
  MR_TRY(const auto header, parse_parameters(text));
  ContentDisposition result{.type = header.value};
  std::ranges::transform(result.type, result.type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (const auto* name = header.parameter("name")) {
    if (!is_utf8(*name)) return refuse("the name of a part is not UTF-8");
    if (has_control(*name)) return refuse("the name of a part has a control character");
    result.name = *name;
  }
  if (const auto* extended = header.parameter("filename*")) {
    MR_TRY(auto decoded, decode_extended(*extended));
    MR_TRY(result.file_name, checked_file_name(std::move(decoded)));
  } else if (const auto* plain = header.parameter("filename")) {
    MR_TRY(result.file_name, checked_file_name(*plain));
  }
  return result;
}

}  // namespace millrace::http
