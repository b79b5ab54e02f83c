#include "document/ocr/engines.h"

#include <utility>

namespace millrace::document {

Result<LineReader*> Engines::get(const std::string& language) {
  auto& reader = readers_[language];
  if (reader == nullptr) {
    auto own = make_network_reader(language);
    if (own.has_value()) {
      reader = *std::move(own);
    } else {
      MR_TRY(reader, make_tesseract_reader(language));  // Models of another form.
    }
  }
  return reader.get();
}

}  // namespace millrace::document
