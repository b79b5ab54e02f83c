#include "template/escape.h"
#include "template/template_parts.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::templates {
namespace {

struct Paper {
  double width_mm, height_mm;
  std::string_view css_size;  // Of @page.
};

Paper paper_of(PageSize size) {
  switch (size) {
    case PageSize::a4:
      return {210, 297, "A4"};
    case PageSize::letter:
      return {215.9, 279.4, "letter"};
    case PageSize::legal:
      return {215.9, 355.6, "legal"};
  }
  return {};
}

// Holds for every page; a template's own style comes after it.
constexpr std::string_view kBaseStyle = R"css(*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6 { break-after: avoid; }
p, li, dd { orphans: 2; widows: 2; text-wrap: pretty; }
table { border-collapse: collapse; }
thead { display: table-header-group; }
tr, img, svg, figure, blockquote { break-inside: avoid; }
img { max-width: 100%; }
svg.chart { display: block; width: 100%; height: auto; direction: ltr; }
)css";

// A draft leaves backgrounds to the printer, which leaves them out.
constexpr std::string_view kExactStyle =
    "html { -webkit-print-color-adjust: exact; print-color-adjust: exact; }\n";

// Nothing is fetched and nothing runs, even if a browser finds something we did not.
constexpr std::string_view kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:";

struct Choice {
  std::string language;
  PageSize page_size;
  Margins margins;
};

Choice choose(const TemplateInfo& info, const json::Value& data, const RenderOptions& options) {
  Choice choice{.language = info.language,
                .page_size = options.page_size.value_or(info.page_size),
                .margins = options.margins.value_or(info.margins)};
  if (const auto* object = data.if_object()) {
    const auto* own = object->if_contains("language");
    if (own != nullptr && own->is_string() && is_language_tag(own->get_string())) {
      choice.language = std::string(own->get_string());
    }
  }
  if (options.language && is_language_tag(*options.language)) choice.language = *options.language;
  return choice;
}

const json::Value& labels_for(const Template::Parts& parts, const std::string& language) {
  static const json::Value none = json::Object();
  for (const auto& tag : {language, language.substr(0, language.find('-')), parts.info.language}) {
    if (const auto found = parts.labels.find(tag); found != parts.labels.end()) {
      return found->second;
    }
  }
  return none;
}

json::Value page_value(const Choice& choice, const RenderOptions& options) {
  json::Object anchors;
  for (const auto& [anchor, page] : options.anchor_pages) anchors[anchor] = page;
  return json::Object{{"size", to_string(choice.page_size)},
                      {"language", choice.language},
                      {"direction", is_right_to_left(choice.language) ? "rtl" : "ltr"},
                      {"color", to_string(options.color_mode)},
                      {"quality", to_string(options.quality)},
                      {"anchors", std::move(anchors)}};
}

// Browsers lay pages out in whole pixels; what is left over would show as a hairline between the
// page and its margins. It goes into the margin below.
std::string page_margins(const Choice& choice, const TemplateInfo& info, const Paper& paper) {
  const auto& margins = choice.margins;
  if (!info.bleed) {
    return fmt::format("{}in {}in {}in {}in", margins.top, margins.right, margins.bottom,
                       margins.left);
  }
  constexpr double kPixels = 96;  // An inch.
  const double height = paper.height_mm / 25.4 * kPixels;
  const double top = std::round(margins.top * kPixels);
  const double content = std::max(1.0, std::floor(height - top - margins.bottom * kPixels));
  return fmt::format("{:.0f}px 0 {:.3f}px 0", top, height - top - content);
}

std::string page_style(const Choice& choice, const TemplateInfo& info) {
  const auto& margins = choice.margins;
  const auto paper = paper_of(choice.page_size);
  return fmt::format(
      ":root {{ --page-width: {}mm; --page-height: {}mm; --margin-top: {}in; --margin-right: {}in; "
      "--margin-bottom: {}in; --margin-left: {}in; }}\n"
      "@page {{ size: {}; margin: {}; }}\n",
      paper.width_mm, paper.height_mm, margins.top, margins.right, margins.bottom, margins.left,
      paper.css_size, page_margins(choice, info, paper));
}

std::string describe(const std::vector<schema::Violation>& violations) {
  constexpr std::size_t kShownMax = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(violations.size(), kShownMax); ++i) {
    const auto& violation = violations[i];
    out += fmt::format("{}{} ({})", i == 0 ? "" : "; ", violation.message, violation.keyword);
  }
  if (violations.size() > kShownMax) {
    out += fmt::format("; and {} more", violations.size() - kShownMax);
  }
  return out;
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

Result<DocumentMetadata> metadata_of(const Template::Parts& parts, Evaluator& evaluator) {
  DocumentMetadata metadata;
  MR_TRY(auto title, evaluator.run(*parts.title));
  MR_TRY(auto author, evaluator.run(*parts.author));
  MR_TRY(auto subject, evaluator.run(*parts.subject));
  metadata.title = one_line(std::move(title));
  if (metadata.title.empty()) metadata.title = parts.info.title;
  metadata.author = one_line(std::move(author));
  metadata.subject = one_line(std::move(subject));
  for (const auto& keyword : parts.keywords) {
    MR_TRY(auto word, evaluator.run(*keyword));
    if (auto line = one_line(std::move(word)); !line.empty()) {
      metadata.keywords.push_back(std::move(line));
    }
  }
  return metadata;
}

std::string head(const Choice& choice, const RenderOptions& options, const TemplateInfo& info,
                 const DocumentMetadata& metadata) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"{}\" dir=\"{}\" class=\"paper-{} {} {}\">\n<head>\n"
      "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<title>{}</title>\n<meta name=\"generator\" content=\"Millrace, template {} {}\">\n",
      choice.language, is_right_to_left(choice.language) ? "rtl" : "ltr",
      to_string(choice.page_size), to_string(options.color_mode), to_string(options.quality),
      kPolicy, escaped_html(metadata.title), info.name, info.version);
  const auto meta = [&](std::string_view name, std::string_view content) {
    if (content.empty()) return;
    out += fmt::format("<meta name=\"{}\" content=\"{}\">\n", name, escaped_html(content));
  };
  meta("author", metadata.author);
  meta("description", metadata.subject);
  meta("keywords", fmt::format("{}", fmt::join(metadata.keywords, ", ")));
  return out;
}

}  // namespace

Result<Html> render(const Template& page, const json::Value& data, const RenderOptions& options) {
  const auto& parts = page.parts();
  const auto& info = parts.info;
  MR_TRY(const auto filled, parts.schema.with_defaults(data));
  if (const auto violations = parts.schema.validate(filled); !violations.empty()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("data for template {}: {}", info.name, describe(violations)));
  }
  const auto choice = choose(info, filled, options);
  const auto page_facts = page_value(choice, options);
  Evaluator evaluator({.data = &filled,
                       .labels = &labels_for(parts, choice.language),
                       .page = &page_facts,
                       .locale = &find_locale(choice.language)},
                      options.limits);
  const auto with_name = [&](Error error) {
    return fail_with_context(fmt::format("template {}", info.name), std::move(error));
  };
  auto metadata = metadata_of(parts, evaluator);
  if (!metadata) return with_name(metadata.error());
  auto style = evaluator.run(*parts.style);
  if (!style) return with_name(style.error());
  auto body = evaluator.run(*parts.page);
  if (!body) return with_name(body.error());
  Html out{.metadata = std::move(*metadata),
           .language = choice.language,
           .page_size = choice.page_size,
           .bleed = info.bleed,
           .warnings = evaluator.warnings()};
  out.html = head(choice, options, info, out.metadata);
  out.html += fmt::format(
      "<style>\n{}{}{}</style>\n<style>\n{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      kBaseStyle, options.quality == Quality::draft ? "" : kExactStyle, page_style(choice, info),
      *style, *body);
  return out;
}

}  // namespace millrace::templates
