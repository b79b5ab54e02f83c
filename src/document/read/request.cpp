#include "document/read/request.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::document {
namespace {

constexpr std::size_t kLanguagesMax = 8;
constexpr std::size_t kPagesMax = 64;
constexpr double kPageMax = 5'000;

std::unexpected<Error> wrong(std::string_view name, std::string_view rule) {
  return fail(ErrorKind::invalid_argument, fmt::format("{} {}", name, rule));
}

// It becomes part of a file name.
bool is_language(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return name.size() >= 2 && name.size() <= 16 && std::ranges::all_of(name, allowed);
}

}  // namespace

Result<std::string> string_member(const json::Object& request, std::string_view name,
                                  std::string_view otherwise) {
  const auto* value = request.if_contains(name);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) return wrong(name, "must be a string");
  return std::string(value->get_string());
}

Result<double> number_member(const json::Object& request, std::string_view name, double low,
                             double high, double otherwise) {
  const auto* value = request.if_contains(name);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) return wrong(name, "must be a number");
  const auto number = value->to_number<double>();
  if (!(number >= low && number <= high)) {
    return wrong(name, fmt::format("must be between {} and {}", low, high));
  }
  return number;
}

Result<std::uint32_t> page_member(const json::Object& request) {
  MR_TRY(const auto page, number_member(request, "page", 1, kPageMax, 1));
  if (page != std::floor(page)) return wrong("page", "must be a whole number");
  return static_cast<std::uint32_t>(page);
}

Result<std::vector<std::uint32_t>> pages_member(const json::Object& request) {
  const auto* value = request.if_contains("pages");
  if (value == nullptr) return std::vector<std::uint32_t>();
  if (!value->is_array() || value->get_array().empty() || value->get_array().size() > kPagesMax) {
    return wrong("pages", fmt::format("must be an array of 1 to {} page numbers", kPagesMax));
  }
  std::vector<std::uint32_t> out;
  for (const auto& entry : value->get_array()) {
    const auto* number = entry.if_int64();
    if (number == nullptr || *number < 1 || *number > static_cast<std::int64_t>(kPageMax)) {
      return wrong("pages", fmt::format("must be whole numbers between 1 and {}", kPageMax));
    }
    out.push_back(static_cast<std::uint32_t>(*number));
  }
  return out;
}

Result<std::vector<std::string>> languages_member(const json::Object& request) {
  const auto* value = request.if_contains("languages");
  if (value == nullptr) return std::vector<std::string>{"eng"};
  if (!value->is_array() || value->get_array().empty() ||
      value->get_array().size() > kLanguagesMax) {
    return wrong("languages", fmt::format("must be an array of 1 to {} names", kLanguagesMax));
  }
  std::vector<std::string> out;
  for (const auto& entry : value->get_array()) {
    if (!entry.is_string() || !is_language(std::string_view(entry.get_string()))) {
      return wrong("languages", "must be names of language data, such as eng");
    }
    out.emplace_back(entry.get_string());
  }
  return out;
}

}  // namespace millrace::document
