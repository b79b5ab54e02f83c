// draw_first_pages: pictures of the first pages of PDFs, drawn by millrace-document in its jail.
#pragma once

#include "app/context.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace millrace::app {

// Each PDF with the PNG that it becomes. Blocks. unavailable: the program is not there, or the
// machine gives no jail.
Result<void> draw_first_pages(
    Context& context,
    const std::vector<std::pair<std::filesystem::path, std::filesystem::path>>& files);

}  // namespace millrace::app
