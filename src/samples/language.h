// The languages that samples are written in.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace millrace::samples {

enum class Language { en, de, fr, es };

inline constexpr std::size_t kLanguages = 4;

inline std::size_t at(Language language) { return static_cast<std::size_t>(language); }
inline std::string_view to_string(Language language) {
  constexpr std::string_view kNames[kLanguages] = {"en", "de", "fr", "es"};
  return kNames[at(language)];
}

}  // namespace millrace::samples
