// Ids that follow from what they name (B-09, B-10, B-11).
//
// chunk_id and parse_id are those of the source design: the same document, chunker and ordinal give
// the same id whatever the text. They need the generation beside them to name a text. content_id is
// of the text and everything that cut it: equal ids, equal bytes.
#pragma once

#include "base/uuid.h"
#include "chunk/chunk.h"
#include "chunk/digest.h"

#include <cstdint>
#include <string_view>

namespace millrace::chunk {

inline constexpr std::string_view kIdNamespace = "6c8a1e6e-1f0b-4aa8-9f0a-1a7c2e6f2b42";

// RFC 4122, version 5, in the namespace above. Upper-case ASCII letters of `name` are lowered and
// no others, so that no locale has a say.
Uuid name_id(std::string_view name);

struct ProgramVersion {
  std::string_view name;
  std::string_view version;
};
inline constexpr ProgramVersion kChunker{kChunkerName, kChunkerVersion};

// lower("{document_id}:{chunker_name}:{chunker_version}:{chunk_ord}")
Uuid chunk_id(const Uuid& document_id, std::uint64_t ordinal, ProgramVersion chunker = kChunker);
// lower("{document_id}:{parser_name}:{parser_version}")
Uuid parse_id(const Uuid& document_id, ProgramVersion parser);

// "{parsed_sha256}:{chunker_name}:{chunker_version}:{params_sha256}:{start_byte}:{end_byte}"
struct ContentOf {
  Sha256Digest parsed_sha256;
  Sha256Digest params_sha256;
  std::uint64_t start_byte = 0;
  std::uint64_t end_byte = 0;
  ProgramVersion chunker = kChunker;
};
Uuid content_id(const ContentOf& of);

}  // namespace millrace::chunk
