// What an export asks of template and renderer, made of an order and a document: pure.
//
// Flow: options of the order → page_choice → HTML by the template → render_request with the
// metadata of the PDF. Errors are invalid_argument and name the option.
#pragma once

#include "base/result.h"
#include "render/request.h"
#include "store/export_work.h"
#include "template/template.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::pipeline {

// Of the stage: what one PDF may take.
struct ExportLimits {
  std::chrono::milliseconds render_timeout = render::kRenderTimeout;
  unsigned preview_width_px = 0;  // Of the picture that an order may ask for; 0: none is made.
};

// The template of the order, else of the document.
std::string template_of(const store::ExportWork& work);

Result<templates::RenderOptions> page_choice(const json::Object& options);

render::RenderRequest render_request(const store::ExportWork& work, templates::Html html,
                                     const templates::RenderOptions& choice,
                                     const ExportLimits& limits);

// "{title}.pdf" as every file system takes it: no separators, no controls, 200 bytes at
// most.
std::string file_name_of(std::string_view title);

}  // namespace millrace::pipeline
