// extract_passes: what the offline provider says of sample documents, as JSON. Not a part of the
// product, and no judge: bench/extract/scoring.py holds it against the truth with rules of its own.
//
// Takes a folder of millrace-samples with its truth.json. Pages are laid out from the words of the
// truth, or read from --pages DIR: <file>.jsonl with one spatial/1 page a line, as readers gave it.
// Prints one object a line for each file that states facts: {"file", "pages", "detection",
// "extraction", "narrative", "rejected", "ms"}, in the forms that the product stores.
#include "base/json.h"
#include "extract/extract.h"
#include "layout/clinical/detection.h"
#include "layout/clinical/extraction.h"
#include "layout/clinical/narrative.h"
#include "layout/clinical/validation.h"
#include "layout/page_json.h"
#include "layout/raw_page.h"
#include "layout/reading_order.h"
#include "layout/spatial_map.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace millrace;

// Of the page that words of the truth are laid out on, in pixels.
constexpr std::uint32_t kWidth = 1240;
constexpr std::uint32_t kHeight = 1754;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::optional<layout::PageMap> arranged(std::uint32_t number, std::uint32_t height,
                                        std::string_view engine,
                                        const std::vector<layout::RawWord>& words) {
  const layout::PageInfo info{.page = number,
                              .width_px = kWidth,
                              .height_px = height,
                              .dpi = 150,
                              .engine = std::string(engine)};
  auto made = layout::to_raw_page(
      info, {.visible = {.x1 = kWidth, .y1 = static_cast<double>(height)}}, words);
  if (!made.has_value()) return std::nullopt;
  auto map = layout::arrange(std::move(*made));
  if (!map.has_value()) return std::nullopt;
  return std::move(*map);
}

// Plain text, set in letters of one width as a printer would.
std::optional<layout::PageMap> typed_page(const std::string& text, std::uint32_t number) {
  constexpr double kLetter = 8;
  constexpr double kLine = 18;
  std::istringstream lines(text);
  std::vector<layout::RawWord> words;
  double y = 60;
  for (std::string line; std::getline(lines, line); y += kLine) {
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] == ' ') {
        ++at;
        continue;
      }
      const auto end = std::min(line.find(' ', at), line.size());
      const auto x = 60 + kLetter * static_cast<double>(at);
      const auto width = kLetter * static_cast<double>(end - at);
      words.push_back({.text = line.substr(at, end - at),
                       .box = {.x0 = x, .y0 = y, .x1 = x + width, .y1 = y + 12},
                       .conf = 0.99});
      at = end;
    }
  }
  const auto height = std::max<double>(kHeight, y + 60);
  return arranged(number, static_cast<std::uint32_t>(height), "text", words);
}

std::optional<layout::PageMap> page_of_truth(const json::Object& page, std::uint32_t number) {
  const auto& listed = page.at("words").as_array();
  if (listed.empty()) return typed_page(std::string(page.at("text").as_string()), number);
  std::vector<layout::RawWord> words;
  for (const auto& word : listed) {
    const auto& box = word.at("bbox").as_array();
    const auto at = [&](std::size_t i) { return box[i].to_number<double>(); };
    words.push_back({.text = std::string(word.at("text").as_string()),
                     .box = {.x0 = at(0) * kWidth,
                             .y0 = at(1) * kHeight,
                             .x1 = at(2) * kWidth,
                             .y1 = at(3) * kHeight},
                     .conf = 0.99});
  }
  return arranged(number, kHeight, "truth", words);
}

std::optional<layout::SpatialMap> map_of(const json::Object& file,
                                         const std::optional<std::filesystem::path>& folder) {
  std::vector<layout::PageMap> pages;
  if (folder) {
    std::istringstream lines(
        read_text(*folder / (std::string(file.at("file").as_string()) + ".jsonl")));
    for (std::string line; std::getline(lines, line);) {
      auto page = layout::parse_page_json(line);
      if (page.has_value()) pages.push_back(std::move(*page));
    }
  } else {
    std::uint32_t number = 0;
    for (const auto& page : file.at("pages").as_array()) {
      if (auto made = page_of_truth(page.as_object(), ++number)) pages.push_back(std::move(*made));
    }
  }
  if (pages.empty()) return std::nullopt;
  auto map = layout::merge_pages(std::move(pages));
  if (!map.has_value()) return std::nullopt;
  return std::move(*map);
}

json::Value said_of(const json::Object& file, const layout::SpatialMap& map) {
  const auto begun = std::chrono::steady_clock::now();
  const auto detection = extract::detect(map);
  const auto extraction = extract::extract(detection, map);
  const auto narrative = extract::narrate(extraction);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
  json::Array rejected;
  for (const auto& findings : {layout::clinical::validate_detection(detection, map),
                               layout::clinical::validate_extraction(extraction, detection, map),
                               layout::clinical::validate_narrative(narrative, extraction)}) {
    for (const auto& finding : findings) {
      if (finding.severity == layout::clinical::Severity::reject)
        rejected.emplace_back(layout::clinical::describe(finding));
    }
  }
  json::Array pages;
  for (const auto& page : map.pages) pages.push_back(layout::page_to_json(page));
  return json::Object{{"file", file.at("file")},
                      {"pages", std::move(pages)},
                      {"detection", layout::clinical::detection_to_json(detection, map)},
                      {"extraction", layout::clinical::extraction_to_json(extraction)},
                      {"narrative", layout::clinical::narrative_to_json(narrative)},
                      {"rejected", std::move(rejected)},
                      {"ms", took.count()}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  std::optional<std::filesystem::path> pages;
  if (args.size() == 3 && args[1] == "--pages") pages = args[2];
  if (args.empty() || (args.size() > 1 && !pages)) {
    fmt::print(stderr, "extract_passes DIR [--pages DIR]\n");
    return 2;
  }
  const auto truth = parse_json(read_text(std::filesystem::path(args[0]) / "truth.json"),
                                {.max_bytes = std::size_t{1} << 30});
  if (!truth.has_value()) {
    fmt::print(stderr, "truth.json: {}\n", truth.error().message);
    return 1;
  }
  for (const auto& file : truth->as_object().at("files").as_array()) {
    if (file.at("facts").as_array().empty()) continue;
    const auto map = map_of(file.as_object(), pages);
    // A file that cannot be laid out has nothing said of it: everything in it is missed.
    if (map) fmt::print("{}\n", to_json(said_of(file.as_object(), *map)));
  }
  return 0;
}
