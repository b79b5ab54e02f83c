#include "api/webhook/parser_signature.h"

#include "identity/digest.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace millrace::api {
namespace {

// One code point at the front of valid UTF-8.
std::uint32_t next_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (size > text.size()) {
    text = {};
    return 0xfffd;
  }
  std::uint32_t point = size == 1 ? lead : lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) point = point << 6 | (byte(i) & 0x3fU);
  text.remove_prefix(size);
  return point;
}

void write_text(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const auto point = next_code_point(text);
    switch (point) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (point >= 0x20 && point < 0x7f) {
          out += static_cast<char>(point);
        } else if (point < 0x10000) {
          out += fmt::format("\\u{:04x}", point);
        } else {
          const auto rest = point - 0x10000;
          out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
        }
    }
  }
  out += '"';
}

void write_number(double number, std::string& out) {
  auto text = json_number(number);
  // A float stays one there.
  if (text.find_first_of(".eEn") == text.npos) text += ".0";
  out += text;
}

void write(const json::Value& value, std::string& out) {
  if (const auto* object = value.if_object()) {
    std::vector<std::string_view> names;
    for (const auto& [name, ignored] : *object) names.emplace_back(name);
    // By code point, which is the order of UTF-8's bytes.
    std::ranges::sort(names);
    out += '{';
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i > 0) out += ',';
      write_text(names[i], out);
      out += ':';
      write(object->at(names[i]), out);
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      write((*array)[i], out);
    }
    out += ']';
  } else if (value.is_string()) {
    write_text(value.get_string(), out);
  } else if (value.is_double()) {
    write_number(value.get_double(), out);
  } else {
    out += to_json(value);
  }
}

bool is_hex_digest(std::string_view text) {
  return text.size() == 64 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool signed_with(std::string_view key, std::string_view bytes, std::string_view signature) {
  return identity::equal_in_constant_time(identity::to_hex(identity::hmac_sha256(key, bytes)),
                                          signature);
}

}  // namespace

std::string job_secret(const Secret<std::string>& master, JobId job) {
  return identity::to_hex(identity::hmac_sha256(master.reveal(), job.to_string()));
}

std::vector<std::string> ParserKeys::keys_of(std::optional<JobId> job) const {
  std::vector<std::string> keys;
  if (job) {
    for (const auto& master : options_.masters) keys.push_back(job_secret(master, *job));
  }
  if (!options_.global.reveal().empty()) keys.push_back(options_.global.reveal());
  return keys;
}

bool ParserKeys::fits(std::optional<JobId> job, std::string_view raw,
                      std::string_view signature) const {
  if (!is_hex_digest(signature)) return false;
  return std::ranges::any_of(
      keys_of(job), [&](const std::string& key) { return signed_with(key, raw, signature); });
}

bool ParserKeys::fits_canonical(JobId job, const json::Value& body,
                                std::string_view signature) const {
  if (!options_.canonical_json) return false;
  return fits(job, sorted_ascii_json(body), signature) ||
         fits(job, canonical_json(body), signature);
}

std::string sorted_ascii_json(const json::Value& value) {
  std::string out;
  write(value, out);
  return out;
}

}  // namespace millrace::api
