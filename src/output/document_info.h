// DocumentInfo: what the outputs say of the document itself. The caller fills it; nothing here is
// looked up.
#pragma once

#include "base/version.h"
#include "output/instant.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::output {

// The file as it was uploaded.
struct SourceFile {
  std::string file_name = {};
  std::string sha256 = {};  // Small hexadecimal.
  std::uint64_t size_bytes = 0;
  std::string mime = {};
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

struct DocumentInfo {
  std::string document_id = {};
  SourceFile source = {};
  std::string title = {};                 // Empty: the file's name.
  std::string language = {};              // BCP 47; empty when it is not known.
  std::string patient_id = {};            // Empty when nobody was named.
  std::vector<std::string> engines = {};  // Those that read pages, each once: "tesseract@5.3".
  std::uint32_t page_count = 0;           // Of the file; 0 when it is not known.
  std::optional<Instant> processed_at = {};
  std::string generator = "millrace@" + std::string(kVersion);

  std::string_view shown_title() const { return title.empty() ? source.file_name : title; }
};

// "tesseract@5.3 fast" → "tesseract", "5.3 fast"; without an @ there is no version.
struct EngineName {
  std::string_view name;
  std::string_view version;
};

inline EngineName split_engine(std::string_view engine) {
  const auto at = engine.find('@');
  if (at == std::string_view::npos) return {.name = engine, .version = {}};
  return {.name = engine.substr(0, at), .version = engine.substr(at + 1)};
}

// Letters and figures in parts of at most eight, as xml:lang wants it. A language comes from a
// model's answer: what is no tag is left out.
bool is_language_tag(std::string_view text);

// 64 small hexadecimal digits.
bool is_sha256(std::string_view text);

}  // namespace millrace::output
