// The three passes over a document: where is what, what does it say, how to tell it.
//
// Each pass has one JSON form, named by its schema id. What a model answers (Form::answer) is
// checked, put in place and completed before it is kept (Form::stored): offsets are ours, never the
// model's, because models cannot count.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace millrace::layout::clinical {

enum class Pass { detect, extract, narrate };

inline constexpr std::array<Pass, 3> kPasses = {Pass::detect, Pass::extract, Pass::narrate};

std::string_view to_string(Pass pass);  // "detect"
std::string_view schema_id(Pass pass);  // "clinical.detect/1"
std::string_view job_type(Pass pass);   // "ai_queue_pass1"
std::optional<Pass> pass_of_job(std::string_view job_type);

enum class Form { answer, stored };

struct PassLimits {
  std::size_t answer_bytes_max = std::size_t{8} * 1024 * 1024;
  std::size_t items_max = 20'000;   // Entities, facts, sentences.
  std::size_t references_max = 64;  // Entities of a fact, facts of a sentence.
  std::size_t text_bytes_max = 4'096;
  std::size_t entity_bytes_max = 500;
  std::size_t id_bytes_max = 32;
};

// One word of a fixed set, as it stands in JSON.
template <class E>
struct Label {
  E value;
  std::string_view name;
};

template <class E, std::size_t N>
constexpr std::string_view name_in(const std::array<Label<E>, N>& labels, E value) {
  for (const auto& label : labels) {
    if (label.value == value) return label.name;
  }
  return {};
}

template <class E, std::size_t N>
constexpr std::optional<E> value_in(const std::array<Label<E>, N>& labels, std::string_view name) {
  for (const auto& label : labels) {
    if (label.name == name) return label.value;
  }
  return std::nullopt;
}

}  // namespace millrace::layout::clinical
