#include "pipeline/export/export_request.h"

#include <utility>

namespace millrace::pipeline {
namespace {

constexpr std::size_t kMetadataMaxBytes = 1'000;
constexpr std::size_t kNameMaxBytes = 200;
constexpr std::string_view kSubject = "Resume";

render::PageSize size_of(templates::PageSize size) {
  switch (size) {
    case templates::PageSize::a4:
      return render::PageSize::A4;
    case templates::PageSize::letter:
      return render::PageSize::Letter;
    case templates::PageSize::legal:
      return render::PageSize::Legal;
  }
  return render::PageSize::Letter;
}

render::Quality quality_of(templates::Quality quality) {
  switch (quality) {
    case templates::Quality::draft:
      return render::Quality::draft;
    case templates::Quality::normal:
      return render::Quality::normal;
    case templates::Quality::high:
      return render::Quality::high;
  }
  return render::Quality::normal;
}

// The first bytes of it, not in the middle of a character.
std::string cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end));
}

render::PdfMetadata metadata_of(const store::ExportWork& work,
                                const templates::DocumentMetadata& own) {
  render::PdfMetadata metadata;
  metadata.title = cut(work.document->title, kMetadataMaxBytes);
  metadata.author = cut(work.author.empty() ? own.author : work.author, kMetadataMaxBytes);
  metadata.subject = cut(own.subject.empty() ? kSubject : own.subject, kMetadataMaxBytes);
  return metadata;  // No keywords: what a template has of them is for pages, not for files.
}

// Taking a picture takes a third of the time of a print: only for who asks.
bool wants_preview(const store::ExportWork& work) {
  const auto* wish = work.options.if_contains("preview");
  return wish != nullptr && wish->is_bool() && wish->get_bool();
}

}  // namespace

std::string template_of(const store::ExportWork& work) {
  const auto* slug = work.options.if_contains("templateSlug");
  if (slug != nullptr && slug->is_string()) return std::string(slug->get_string());
  return work.document->template_slug;
}

Result<templates::RenderOptions> page_choice(const json::Object& options) {
  MR_TRY(auto choice, templates::read_render_options(options));
  // X-02, for orders that came without: not the template's own.
  if (!choice.page_size) choice.page_size = templates::PageSize::letter;
  if (!choice.margins) choice.margins = templates::Margins();
  return choice;
}

render::RenderRequest render_request(const store::ExportWork& work, templates::Html html,
                                     const templates::RenderOptions& choice,
                                     const ExportLimits& limits) {
  render::RenderRequest request;
  request.options.page_size = size_of(html.page_size);
  const auto margins = choice.margins.value_or(templates::Margins());
  request.options.margins = {
      .top = margins.top, .bottom = margins.bottom, .left = margins.left, .right = margins.right};
  request.options.bleed = html.bleed;
  request.options.quality = quality_of(choice.quality);
  request.options.color_mode = choice.color_mode == templates::ColorMode::grayscale
                                   ? render::ColorMode::grayscale
                                   : render::ColorMode::color;
  request.metadata = metadata_of(work, html.metadata);
  request.timeout = limits.render_timeout;
  if (limits.preview_width_px > 0 && wants_preview(work)) {
    request.preview_width_px = limits.preview_width_px;
  }
  request.html = std::move(html.html);
  return request;
}

std::string file_name_of(std::string_view title) {
  std::string name;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    const bool forbidden = byte < 0x20 || byte == 0x7F ||
                           std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos;
    name += forbidden ? '_' : c;
  }
  // Names of dots and blanks alone are hidden, or none.
  const auto begin = name.find_first_not_of(" .");
  if (begin == std::string::npos) return "export.pdf";
  name = cut(std::string_view(name).substr(begin), kNameMaxBytes);
  name.erase(name.find_last_not_of(" .") + 1);
  return name + ".pdf";
}

}  // namespace millrace::pipeline
