#include "template/options.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace millrace::templates {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<std::optional<std::string>> word_of(const json::Object& options, std::string_view name) {
  const auto* value = options.if_contains(name);
  if (value == nullptr || value->is_null()) return std::optional<std::string>();
  const auto* text = value->if_string();
  if (text == nullptr) return wrong(fmt::format("/{} must be a text", name));
  return std::optional(std::string(*text));
}

Result<double> margin_of(const json::Object& margins, std::string_view name) {
  const auto* value = margins.if_contains(name);
  if (value == nullptr || value->is_null()) return 1.0;
  boost::system::error_code code;
  const auto inches = value->is_number() ? value->to_number<double>(code) : -1.0;
  if (code || !(inches >= 0 && inches <= 2)) {
    return wrong(fmt::format("/margins/{} must be a number from 0 to 2", name));
  }
  return inches;
}

Result<Margins> read_margins(const json::Value& value) {
  const auto* object = value.if_object();
  if (object == nullptr) return wrong("/margins must be an object");
  Margins margins;
  MR_TRY(margins.top, margin_of(*object, "top"));
  MR_TRY(margins.right, margin_of(*object, "right"));
  MR_TRY(margins.bottom, margin_of(*object, "bottom"));
  MR_TRY(margins.left, margin_of(*object, "left"));
  return margins;
}

}  // namespace

std::string_view to_string(PageSize size) {
  switch (size) {
    case PageSize::a4:
      return "A4";
    case PageSize::letter:
      return "Letter";
    case PageSize::legal:
      return "Legal";
  }
  return "";
}

std::string_view to_string(ColorMode mode) {
  return mode == ColorMode::color ? "color" : "grayscale";
}

std::string_view to_string(Quality quality) {
  switch (quality) {
    case Quality::draft:
      return "draft";
    case Quality::normal:
      return "normal";
    case Quality::high:
      return "high";
  }
  return "";
}

std::optional<PageSize> page_size_of(std::string_view word) {
  for (const auto size : {PageSize::a4, PageSize::letter, PageSize::legal}) {
    if (to_string(size) == word) return size;
  }
  return std::nullopt;
}

Result<RenderOptions> read_render_options(const json::Object& options) {
  RenderOptions out;
  MR_TRY(const auto size, word_of(options, "pageSize"));
  if (size) {
    out.page_size = page_size_of(*size);
    if (!out.page_size) return wrong("/pageSize must be A4, Letter or Legal");
  }
  MR_TRY(const auto quality, word_of(options, "quality"));
  if (quality && *quality != "normal") {
    if (*quality != "draft" && *quality != "high") {
      return wrong("/quality must be draft, normal or high");
    }
    out.quality = *quality == "draft" ? Quality::draft : Quality::high;
  }
  MR_TRY(const auto color, word_of(options, "colorMode"));
  if (color && *color != "color") {
    if (*color != "grayscale") return wrong("/colorMode must be color or grayscale");
    out.color_mode = ColorMode::grayscale;
  }
  MR_TRY(out.language, word_of(options, "language"));
  if (out.language && !is_language_tag(*out.language)) {
    return wrong("/language must be a language tag such as de or en-GB");
  }
  const auto* margins = options.if_contains("margins");
  if (margins != nullptr && !margins->is_null()) {
    MR_TRY(out.margins, read_margins(*margins));
  }
  return out;
}

}  // namespace millrace::templates
