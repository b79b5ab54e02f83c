#include "app/config/mask_url.h"

#include <algorithm>
#include <cctype>

namespace millrace::app {
namespace {

constexpr std::string_view kMask = "***";
constexpr auto npos = std::string_view::npos;

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// "password" and "sslpassword", in any case; in a URL also written with %70 and the like.
bool is_secret(std::string_view name, bool percent) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool coded = percent && name[i] == '%' && i + 2 < name.size();
    const int high = coded ? hex_digit(name[i + 1]) : -1;
    const int low = coded ? hex_digit(name[i + 2]) : -1;
    const bool decoded = high >= 0 && low >= 0;
    const char c = decoded ? static_cast<char>(high * 16 + low) : name[i];
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (decoded) i += 2;
  }
  return plain.ends_with("password");
}

// Where "?name=" begins.
std::size_t find_parameters(std::string_view text, std::size_t from) {
  for (auto mark = text.find('?', from); mark != npos; mark = text.find('?', mark + 1)) {
    auto end = mark + 1;
    while (end < text.size() && (is_word(text[end]) || text[end] == '%')) ++end;
    if (end > mark + 1 && end < text.size() && text[end] == '=') return mark;
  }
  return npos;
}

// The place behind "password=", whatever stands before it: a host may have a = in it, too.
std::size_t find_secret(std::string_view part) {
  for (auto equals = part.find('='); equals != npos; equals = part.find('=', equals + 1)) {
    const auto name = part.substr(0, equals);
    if (is_secret(name.substr(name.find_last_of("?=") + 1), true)) return equals + 1;
  }
  return npos;
}

// The text, with the values of secret parameters hidden.
void append_parameters(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto part = text.substr(0, end);
    const auto secret = find_secret(part);
    out += part.substr(0, secret);
    if (secret != npos) out += kMask;
    if (end < text.size()) out += '&';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string mask_uri(std::string_view url, std::size_t authority) {
  // libpq ends the user's part at the first @, unless a slash comes first. A password with a slash
  // or an @ in it is a mistake, and still a password.
  auto at = url.find('@', authority);
  if (url.substr(authority, at - authority).contains('/')) at = npos;
  const auto parameters = find_parameters(url, authority);
  if (const auto last = url.substr(0, parameters).rfind('@'); last != npos && last >= authority) {
    at = at == npos ? last : std::max(at, last);
  }
  std::string out(url.substr(0, authority));
  if (at == npos) {
    append_parameters(out, url.substr(authority));
    return out;
  }
  const auto user = url.substr(authority, at - authority);
  const auto colon = user.find(':');
  if (user.contains("assword=")) return out.append(kMask);  // An @ in a parameter: who can tell?
  out += user.substr(0, colon);
  if (colon != npos) out.append(":").append(kMask);
  append_parameters(out, url.substr(at));
  return out;
}

// Where the value that begins here ends: at a blank or, when quoted, behind the quote. A backslash
// takes the next character as it is.
std::size_t value_end(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '\'';
  if (quoted) ++at;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (quoted && text[at] == '\'') {
      return at + 1;
    } else if (!quoted && is_space(text[at])) {
      return at;
    }
  }
  return quoted ? npos : text.size();
}

std::string mask_keywords(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      out += text[at++];
      continue;
    }
    auto name_end = at;
    while (name_end < text.size() && text[name_end] != '=' && !is_space(text[name_end])) ++name_end;
    auto value = name_end;
    while (value < text.size() && is_space(text[value])) ++value;
    const bool assigned = value < text.size() && text[value] == '=';
    if (assigned) ++value;
    while (value < text.size() && is_space(text[value])) ++value;
    const auto end = value_end(text, value);
    if (!assigned || end == npos) {  // Not libpq's notation.
      if (!out.empty() && !is_space(out.back())) out += ' ';
      return out.append(kMask);
    }
    out += text.substr(at, value - at);
    const auto shown = text.substr(value, end - value);
    const auto scheme = shown.find("://");
    if (is_secret(text.substr(at, name_end - at), false)) {
      out += kMask;
      if (end < text.size() && !is_space(text[end])) out += ' ';  // Behind a quote none is needed.
    } else {
      out += scheme == npos ? std::string(shown) : mask_uri(shown, scheme + 3);
    }
    at = end;
  }
  return out;
}

}  // namespace

std::string mask_url(std::string_view url) {
  const auto begin = std::ranges::find_if_not(url, is_space) - url.begin();
  const auto scheme = url.find("://");
  if (scheme != npos && scheme >= static_cast<std::size_t>(begin)) {
    const auto name =
        url.substr(static_cast<std::size_t>(begin), scheme - static_cast<std::size_t>(begin));
    if (std::ranges::all_of(name, is_word)) return mask_uri(url, scheme + 3);
  }
  return mask_keywords(url);
}

}  // namespace millrace::app
