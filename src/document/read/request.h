// Members of a request, checked: an operation names what is wrong and with which member.
#pragma once

#include "base/json.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

Result<std::string> string_member(const json::Object& request, std::string_view name,
                                  std::string_view otherwise = {});
Result<double> number_member(const json::Object& request, std::string_view name, double low,
                             double high, double otherwise);
Result<std::uint32_t> page_member(const json::Object& request);
// Empty: not given.
Result<std::vector<std::uint32_t>> pages_member(const json::Object& request);
// One of the names that Tesseract's data files have.
Result<std::vector<std::string>> languages_member(const json::Object& request);

}  // namespace millrace::document
