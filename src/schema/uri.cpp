#include "schema/uri.h"

#include <charconv>

namespace millrace::schema {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return -1;
}

// RFC 3986, 5.2.4: "." and ".." are taken out.
std::string without_dots(std::string_view path) {
  std::string out;
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  bool directory = false;  // Ends in "." or "..", so a '/' stays at the end.
  std::size_t from = absolute ? 1 : 0;
  while (from <= path.size()) {
    const auto slash = std::min(path.find('/', from), path.size());
    const auto segment = path.substr(from, slash - from);
    directory = segment == "." || segment == "..";
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    from = slash + 1;
  }
  if (directory) kept.emplace_back();
  if (absolute) out += '/';
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i > 0) out += '/';
    out += kept[i];
  }
  return out;
}

std::string merged_path(const UriParts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return std::string(base.path.substr(0, slash + 1)) + std::string(path);
}

std::string joined(const UriParts& parts, std::string_view path) {
  std::string out;
  if (parts.scheme) (out += *parts.scheme) += ':';
  if (parts.authority) (out += "//") += *parts.authority;
  out += path;
  if (parts.query) (out += '?') += *parts.query;
  if (parts.fragment) (out += '#') += *parts.fragment;
  return out;
}

bool is_scheme(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'z') continue;
    const bool inner = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (i == 0 || !inner) return false;
  }
  return true;
}

}  // namespace

UriParts split_uri(std::string_view text) {
  UriParts parts;
  if (const auto hash = text.find('#'); hash != std::string_view::npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  if (const auto mark = text.find('?'); mark != std::string_view::npos) {
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (const auto colon = text.find(':');
      colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    parts.scheme = text.substr(0, colon);
    text = text.substr(colon + 1);
  }
  if (text.starts_with("//")) {
    const auto end = std::min(text.find('/', 2), text.size());
    parts.authority = text.substr(2, end - 2);
    text = text.substr(end);
  }
  parts.path = text;
  return parts;
}

std::string resolve_uri(std::string_view base, std::string_view reference) {
  auto target = split_uri(reference);
  if (target.scheme) return joined(target, without_dots(target.path));
  const auto from = split_uri(base);
  target.scheme = from.scheme;
  if (target.authority) return joined(target, without_dots(target.path));
  target.authority = from.authority;
  if (target.path.empty()) {
    if (!target.query) target.query = from.query;
    return joined(target, from.path);
  }
  if (target.path.starts_with('/')) return joined(target, without_dots(target.path));
  return joined(target, without_dots(merged_path(from, target.path)));
}

std::string_view without_fragment(std::string_view uri) { return uri.substr(0, uri.find('#')); }

std::string_view fragment_of(std::string_view uri) {
  const auto hash = uri.find('#');
  return hash == std::string_view::npos ? std::string_view{} : uri.substr(hash + 1);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::optional<std::vector<std::string>> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  if (pointer.empty()) return tokens;
  if (!pointer.starts_with('/')) return std::nullopt;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    const char c = pointer[i];
    if (c == '/') {
      tokens.emplace_back();
    } else if (c != '~') {
      tokens.back() += c;
    } else {
      if (i + 1 == pointer.size() || (pointer[i + 1] != '0' && pointer[i + 1] != '1')) {
        return std::nullopt;
      }
      tokens.back() += pointer[++i] == '0' ? '~' : '/';
    }
  }
  return tokens;
}

void append_token(std::string& pointer, std::string_view token) {
  pointer += '/';
  for (const char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

std::optional<std::size_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc{} || end != token.data() + token.size()) return std::nullopt;
  return index;
}

}  // namespace millrace::schema
