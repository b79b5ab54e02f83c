// ModelFile: the language data that Tesseract's project publishes (*.traineddata), read with
// bounds.
//
// A file is a table of offsets and the components behind it; numbers are little endian.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace millrace::document {

enum class ModelPart : std::size_t {
  network = 17,
  punctuation_words = 18,
  words = 19,
  number_words = 20,
  characters = 21,
  codes = 22,
};

class ModelFile {
 public:
  // not_found when no folder has data for the language.
  static Result<ModelFile> open(const std::string& language);

  // Empty when the file has no such part.
  std::string_view part(ModelPart part) const;

 private:
  explicit ModelFile(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string bytes_;
};

// Reads numbers one after the other. After the end everything is 0 and failed() is true.
class ModelReader {
 public:
  explicit ModelReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    const auto bytes = take(sizeof(T));
    if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view text() { return take(number<std::uint32_t>()); }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const auto out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace millrace::document
