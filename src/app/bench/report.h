// Report: the plots of `make bench` in one page, from its results.json.
#pragma once

#include "app/context.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace millrace::app {

// Names and SVG texts of what the results have figures for. No I/O.
std::vector<std::pair<std::string, std::string>> bench_plots(const json::Object& results);
// The whole page.
std::string bench_page(const json::Object& results);

Result<int> write_bench_report(Context& context, const std::filesystem::path& results,
                               const std::filesystem::path& out);

}  // namespace millrace::app
