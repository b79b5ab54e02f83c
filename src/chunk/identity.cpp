#include "chunk/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace millrace::chunk {
namespace {

const std::string& namespace_bytes() {
  static const std::string bytes = [] {
    const auto id = Uuid::parse(kIdNamespace).value();
    return std::string(id.bytes.begin(), id.bytes.end());
  }();
  return bytes;
}

}  // namespace

Uuid name_id(std::string_view name) {
  auto text = namespace_bytes();
  for (const char c : name) {
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const auto digest = sha1_of(text);
  Uuid id;
  std::ranges::copy_n(digest.begin(), 16, id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0fU) | 0x50U);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3fU) | 0x80U);
  return id;
}

Uuid chunk_id(const Uuid& document_id, std::uint64_t ordinal, ProgramVersion chunker) {
  return name_id(fmt::format("{}:{}:{}:{}", document_id, chunker.name, chunker.version, ordinal));
}

Uuid parse_id(const Uuid& document_id, ProgramVersion parser) {
  return name_id(fmt::format("{}:{}:{}", document_id, parser.name, parser.version));
}

Uuid content_id(const ContentOf& of) {
  return name_id(fmt::format("{}:{}:{}:{}:{}:{}", to_hex(of.parsed_sha256), of.chunker.name,
                             of.chunker.version, to_hex(of.params_sha256), of.start_byte,
                             of.end_byte));
}

}  // namespace millrace::chunk
