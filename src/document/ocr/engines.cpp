#include "document/ocr/engines.h"

#include <utility>

namespace millrace::document {

Result<LineReader*> Engines::get(const std::string& language) {
  auto& reader = readers_[language];
  if (reader == nullptr) {
    MR_TRY(reader, make_tesseract_reader(language));
  }
  return reader.get();
}

}  // namespace millrace::document
