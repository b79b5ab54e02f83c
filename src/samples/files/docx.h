// docx: the smallest Word document that is one.
#pragma once

#include "samples/files/flow.h"

#include <span>
#include <string>
#include <string_view>

namespace millrace::samples {

struct DocxExtra {
  std::string_view name;
  std::string_view bytes;
};

// `extras` are added as they are: macros and other things that should be found.
std::string docx_of(const Flow& flow, std::span<const DocxExtra> extras = {});

}  // namespace millrace::samples
