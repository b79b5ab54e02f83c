// extract_evaluate: how much of what is true the offline provider finds, and how much of what it
// says is true. Not a part of the product.
//
// Takes a folder of millrace-samples with its truth.json. Pages are laid out from the words of the
// truth, or read from --pages DIR: <file>.jsonl with one spatial/1 page a line, as OCR gave it, or
// <file>.N.tsv as Tesseract writes them.
// Names are compared folded. One predicted fact answers every equal fact of the truth.
#include "base/json.h"
#include "extract/dates.h"
#include "extract/extract.h"
#include "extract/folding.h"
#include "extract/frequency.h"
#include "extract/quantity.h"
#include "extract/reading.h"
#include "extract/terms.h"
#include "layout/clinical/ucum.h"
#include "layout/clinical/validation.h"
#include "layout/page_json.h"
#include "layout/raw_page.h"
#include "layout/reading_order.h"
#include "layout/sources/tesseract.h"
#include "layout/spatial_map.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace millrace;
using layout::clinical::Detection;
using layout::clinical::Extraction;
using layout::clinical::Fact;
using layout::clinical::FactType;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Letters and figures only, folded: "HbA1c" and "HBA 1C" agree, spaces and dashes say nothing.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : extract::fold(text)) {
    if (c != ' ' && c != '-' && c != '\n' && c != '.' && c != ',' && c != '\'') out += c;
  }
  return out;
}

std::string text_of(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::optional<double> number_of(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* found = object == nullptr ? nullptr : object->if_contains(name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}

std::string unit_code(std::string_view unit) {
  if (unit.empty()) return {};
  if (unit.find_first_of("[{*") != std::string_view::npos) return std::string(unit);
  const std::string number = "1 " + std::string(unit);
  const auto tokens = extract::tokens_of(std::string_view(number));
  const auto read = extract::read_unit(tokens, 1, number);
  if (read.tokens > 0) return read.code;
  return layout::clinical::to_ucum(unit).value_or(std::string(unit));
}

std::string number_text(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

// One thing to find or found, as strings that are compared.
struct Claim {
  std::string key;
  std::string shown;
  bool novel = false;
  std::uint32_t page = 0;
};

struct Score {
  std::size_t truth = 0, found = 0, novel = 0, novel_found = 0, said = 0, right = 0;
};

class Bench {
 public:
  Bench(std::filesystem::path dir, std::optional<std::filesystem::path> pages)
      : dir_(std::move(dir)), pages_(std::move(pages)) {}

  int run(std::size_t misses_max, bool dump_all) {
    dump_ = dump_all;
    auto parsed = parse_json(read_text(dir_ / "truth.json"), {.max_bytes = std::size_t{1} << 30});
    if (!parsed.has_value()) {
      fmt::print(stderr, "truth.json: {}\n", parsed.error().message);
      return 1;
    }
    for (const auto& file : parsed->as_object().at("files").as_array()) one_file(file);
    report(misses_max);
    return rejections_ == 0 ? 0 : 2;
  }

 private:
  std::optional<layout::SpatialMap> map_of(const json::Value& file) {
    std::vector<layout::PageMap> pages;
    const auto name = text_of(file, "file");
    if (pages_) {
      std::istringstream lines(read_text(*pages_ / (name + ".jsonl")));
      for (std::string line; std::getline(lines, line);) {
        auto page = layout::parse_page_json(line);
        if (page.has_value()) pages.push_back(std::move(*page));
      }
      for (std::uint32_t part = 1; pages.empty() || part > 1; ++part) {
        auto more = tsv_pages(*pages_ / fmt::format("{}.{}.tsv", name, part), pages.size());
        if (more.empty()) break;
        for (auto& page : more) pages.push_back(std::move(page));
      }
    } else {
      std::uint32_t number = 0;
      for (const auto& page : file.as_object().at("pages").as_array()) {
        ++number;
        auto made = layout_page(page, number);
        if (made) pages.push_back(std::move(*made));
      }
    }
    if (pages.empty()) return std::nullopt;
    auto map = layout::merge_pages(std::move(pages));
    if (!map.has_value()) return std::nullopt;
    return std::move(*map);
  }

  // Pages of one file of Tesseract, numbered on from those before.
  static std::vector<layout::PageMap> tsv_pages(const std::filesystem::path& path,
                                                std::size_t before) {
    std::vector<layout::PageMap> out;
    if (!std::filesystem::exists(path)) return out;
    auto raw = layout::parse_tesseract_tsv(read_text(path));
    if (!raw.has_value()) return out;
    for (auto& page : *raw) {
      page.info.page = static_cast<std::uint32_t>(before + out.size() + 1);
      auto map = layout::arrange(std::move(page));
      if (map.has_value()) out.push_back(std::move(*map));
    }
    return out;
  }

  // Plain text, set in letters of one width as a printer would.
  static std::optional<layout::PageMap> text_page(const std::string& text, std::uint32_t number) {
    constexpr double kLetter = 8;
    constexpr double kLine = 18;
    std::istringstream lines(text);
    std::vector<layout::RawWord> raw;
    double y = 60;
    for (std::string line; std::getline(lines, line); y += kLine) {
      for (std::size_t at = 0; at < line.size();) {
        if (line[at] == ' ') {
          ++at;
          continue;
        }
        const auto end = std::min(line.find(' ', at), line.size());
        const auto x = 60 + kLetter * static_cast<double>(at);
        raw.push_back({.text = line.substr(at, end - at),
                       .box = {.x0 = x,
                               .y0 = y,
                               .x1 = x + kLetter * static_cast<double>(end - at),
                               .y1 = y + 12},
                       .conf = 0.99});
        at = end;
      }
    }
    const auto height = std::max(1754.0, y + 60);
    layout::PageInfo info{.page = number,
                          .width_px = 1240,
                          .height_px = static_cast<std::uint32_t>(height),
                          .dpi = 150,
                          .engine = "text"};
    auto made = layout::to_raw_page(info, {.visible = {.x1 = 1240, .y1 = height}}, raw);
    if (!made.has_value()) return std::nullopt;
    auto map = layout::arrange(std::move(*made));
    if (!map.has_value()) return std::nullopt;
    return std::move(*map);
  }

  static std::optional<layout::PageMap> layout_page(const json::Value& page, std::uint32_t number) {
    const auto* words = page.as_object().if_contains("words");
    if (words != nullptr && words->is_array() && words->as_array().empty())
      return text_page(text_of(page, "text"), number);
    if (words == nullptr || !words->is_array()) return std::nullopt;
    layout::PageInfo info{
        .page = number, .width_px = 1240, .height_px = 1754, .dpi = 150, .engine = "truth"};
    std::vector<layout::RawWord> raw;
    for (const auto& word : words->as_array()) {
      const auto& box = word.as_object().at("bbox").as_array();
      const auto at = [&](std::size_t i) { return box[i].to_number<double>(); };
      raw.push_back(
          {.text = text_of(word, "text"),
           .box = {.x0 = at(0) * 1240, .y0 = at(1) * 1754, .x1 = at(2) * 1240, .y1 = at(3) * 1754},
           .conf = 0.99});
    }
    auto made = layout::to_raw_page(info, {.visible = {.x1 = 1240, .y1 = 1754}}, raw);
    if (!made.has_value()) return std::nullopt;
    auto map = layout::arrange(std::move(*made));
    if (!map.has_value()) return std::nullopt;
    return std::move(*map);
  }

  void one_file(const json::Value& file) {
    const auto& facts = file.as_object().at("facts").as_array();
    if (facts.empty()) return;
    const auto map = map_of(file);
    if (!map) return;
    file_ = text_of(file, "file");
    const auto start = std::chrono::steady_clock::now();
    const auto detection = extract::detect(*map);
    const auto extraction = extract::extract(detection, *map);
    elapsed_ += std::chrono::steady_clock::now() - start;
    page_count_ += map->pages.size();
    const auto narrative = extract::narrate(extraction);
    check(detection, extraction, narrative, *map);
    if (dump_) dump(*map, detection, extraction);
    compare(facts, detection, extraction, *map);
  }

  void check(const Detection& detection, const Extraction& extraction,
             const layout::clinical::Narrative& narrative, const layout::SpatialMap& map) {
    for (const auto& findings : {layout::clinical::validate_detection(detection, map),
                                 layout::clinical::validate_extraction(extraction, detection, map),
                                 layout::clinical::validate_narrative(narrative, extraction)}) {
      for (const auto& finding : findings) {
        ++findings_[fmt::format("{} {}", layout::clinical::to_string(finding.severity),
                                layout::clinical::to_string(finding.rule))];
        if (finding.severity == layout::clinical::Severity::reject) {
          ++rejections_;
          fmt::print("REJECT {} {}\n", file_, layout::clinical::describe(finding));
        }
      }
    }
  }

  static void dump(const layout::SpatialMap& map, const Detection& detection,
                   const Extraction& extraction) {
    for (const auto& page : map.pages) fmt::print("--- page\n{}\n", page.text);
    fmt::print("type {} language {}\n", detection.document_type.value, detection.language);
    for (const auto& section : detection.sections)
      fmt::print("section {} {}-{}\n", section.kind, section.words.first, section.words.last);
    for (const auto& entity : detection.entities)
      fmt::print("{} {} [{}] {:.2f}\n", entity.id, layout::clinical::to_string(entity.category),
                 entity.text, entity.conf);
    for (const auto& fact : extraction.facts)
      fmt::print("{}\n", to_json(layout::clinical::fact_to_json(fact)));
  }

  // -- claims --

  using Claims = std::map<std::string, std::vector<Claim>>;

  static std::string assertion_key(const json::Value& fact) {
    const auto* found = fact.as_object().if_contains("assertion");
    if (found == nullptr) return "----";
    const auto flag = [&](std::string_view name, char c) {
      const auto* value = found->as_object().if_contains(name);
      return value != nullptr && value->is_bool() && value->get_bool() ? c : '-';
    };
    return {flag("negated", 'n'), flag("family", 'f'), flag("historical", 'h'),
            flag("hypothetical", 'y')};
  }

  static std::string assertion_key(const Fact& fact) {
    using namespace layout::clinical;
    std::string out = "----";
    if (fact.assertion.polarity == Polarity::negated) out[0] = 'n';
    if (fact.subject == Subject::family) out[1] = 'f';
    if (fact.assertion.temporality == Temporality::historical) out[2] = 'h';
    if (fact.assertion.temporality == Temporality::hypothetical ||
        fact.assertion.temporality == Temporality::future)
      out[3] = 'y';
    return out;
  }

  static void put(Claims& claims, std::string_view kind, std::string key, std::string shown,
                  bool novel, std::uint32_t page) {
    claims[std::string(kind)].push_back(
        {.key = std::move(key), .shown = std::move(shown), .novel = novel, .page = page});
  }

  static void truth_claims(const json::Value& fact, Claims& out) {
    const auto type = text_of(fact, "type");
    const auto name = text_of(fact, "name");
    const auto* novel_value = fact.as_object().if_contains("novel");
    const bool novel = novel_value != nullptr && novel_value->is_bool() && novel_value->get_bool();
    const auto page = static_cast<std::uint32_t>(number_of(fact, "page").value_or(0));
    const auto shown = fmt::format("{} | {}", name, text_of(fact, "text"));
    if (type == "medication") {
      put(out, "medication", plain(name), shown, novel, page);
      put(out, "medication+assertion", plain(name) + assertion_key(fact),
          shown + " " + assertion_key(fact), novel, page);
      if (const auto* dose = fact.as_object().if_contains("dose")) {
        put(out, "dose",
            plain(name) + "|" + number_text(number_of(*dose, "value")) +
                unit_code(text_of(*dose, "unit")),
            shown, novel, page);
      }
      if (const auto* frequency = fact.as_object().if_contains("frequency"))
        put(out, "frequency", plain(name) + "|" + text_of(*frequency, "normal"),
            shown + " => " + text_of(*frequency, "normal"), novel, page);
      if (!text_of(fact, "route").empty())
        put(out, "route", plain(name) + "|" + text_of(fact, "route"), shown, novel, page);
    } else if (type == "lab") {
      const auto value = number_of(fact, "value");
      const auto result = value ? text_of(fact, "comparator") + number_text(value)
                                : plain(text_of(fact, "value_text"));
      put(out, "lab name", plain(name), shown, novel, page);
      put(out, "lab", plain(name) + "|" + result + unit_code(text_of(fact, "unit")), shown, novel,
          page);
      if (number_of(fact, "low") || number_of(fact, "high"))
        put(out, "range",
            plain(name) + "|" + number_text(number_of(fact, "low")) + ".." +
                number_text(number_of(fact, "high")),
            shown, novel, page);
      if (!text_of(fact, "flag").empty())
        put(out, "flag", plain(name) + "|" + text_of(fact, "flag"), shown, novel, page);
    } else if (type == "allergy") {
      put(out, "allergy", plain(name) + assertion_key(fact).substr(0, 1), shown, novel, page);
      if (!text_of(fact, "reaction").empty())
        put(out, "reaction", plain(name) + "|" + plain(text_of(fact, "reaction")), shown, novel,
            page);
    } else if (type == "condition" || type == "procedure") {
      put(out, type, plain(name), shown, novel, page);
      put(out, type + "+assertion", plain(name) + assertion_key(fact),
          shown + " " + assertion_key(fact), novel, page);
    } else if (type == "date") {
      put(out, "date", text_of(fact, "iso"), shown, novel, page);
    } else if (type == "person") {
      put(out, "person", plain(name), shown + " " + text_of(fact, "role"), novel, page);
    } else if (type == "identifier") {
      put(out, "identifier", plain(name), shown, novel, page);
    } else if (type == "vital") {
      const auto value = number_of(fact, "value");
      put(out, "vital", value ? number_text(value) : plain(text_of(fact, "value_text")), shown,
          novel, page);
    }
  }

  static std::string normal_route(std::string_view text) {
    const auto fold = extract::fold(text);
    const auto has = [&](std::string_view part) { return fold.find(part) != std::string::npos; };
    if (has("subcut") || has("subkut") || has("sous-cut") || has("s.c") || fold == "sc" ||
        has("s. c") || has("sq"))
      return "subcutaneous";
    if (has("inh")) return "inhaled";
    if (has("oral") || has("mouth") || has("p.o") || fold == "po" || has("per os") ||
        has("bouche") || has("boca") || has("einnehmen") || has("p. o") || has("v.o"))
      return "oral";
    return fold;
  }

  static void said_claims(const Extraction& extraction, const Detection& detection,
                          const layout::SpatialMap& map, Claims& out) {
    std::map<std::string_view, const layout::clinical::Entity*> entities;
    for (const auto& entity : detection.entities) entities.emplace(entity.id, &entity);
    for (const auto& fact : extraction.facts) {
      const std::string name(fact.name());
      const auto page = entities.at(fact.evidence.front())->at.page;
      const auto shown = to_json(json::Value(fact.value));
      const auto& value = fact.value;
      const auto at = [&](std::string_view field) -> const json::Value& { return value.at(field); };
      switch (fact.type) {
        case FactType::MedicationStatement:
          put(out, "medication", plain(name), shown, false, page);
          put(out, "medication+assertion", plain(name) + assertion_key(fact),
              shown + assertion_key(fact), false, page);
          if (at("dose").is_object())
            put(out, "dose",
                plain(name) + "|" + number_text(number_of(at("dose"), "value")) +
                    unit_code(text_of(at("dose"), "unit")),
                shown, false, page);
          if (at("frequency").is_string())
            put(out, "frequency",
                plain(name) + "|" + extract::normal_frequency(at("frequency").get_string()), shown,
                false, page);
          if (at("route").is_string())
            put(out, "route", plain(name) + "|" + normal_route(at("route").get_string()), shown,
                false, page);
          break;
        case FactType::Observation: {
          const bool vital = entities.at(fact.evidence.front())->category ==
                             layout::clinical::Category::vital_sign;
          const auto number = number_of(at("value"), "value");
          const std::string comparator =
              at("comparator").is_string() ? std::string(at("comparator").get_string()) : "";
          auto result =
              number
                  ? comparator + number_text(number)
                  : plain(at("text").is_string() ? std::string_view(at("text").get_string()) : "");
          if (vital) {
            if (const auto unit = result.find("mmhg"); unit != std::string::npos)
              result.resize(unit);
            put(out, "vital", result, shown, false, page);
            break;
          }
          put(out, "lab name", plain(name), shown, false, page);
          put(out, "lab", plain(name) + "|" + result + unit_code(text_of(at("value"), "unit")),
              shown, false, page);
          if (at("range").is_object())
            put(out, "range",
                plain(name) + "|" + number_text(number_of(at("range"), "low")) + ".." +
                    number_text(number_of(at("range"), "high")),
                shown, false, page);
          if (at("flag").is_string())
            put(out, "flag", plain(name) + "|" + std::string(at("flag").get_string()), shown, false,
                page);
          break;
        }
        case FactType::AllergyIntolerance:
          put(out, "allergy", plain(name) + assertion_key(fact).substr(0, 1), shown, false, page);
          if (at("reaction").is_string())
            put(out, "reaction", plain(name) + "|" + plain(at("reaction").get_string()), shown,
                false, page);
          break;
        case FactType::Condition:
        case FactType::Procedure: {
          const std::string kind = fact.type == FactType::Condition ? "condition" : "procedure";
          put(out, kind, plain(name), shown, false, page);
          put(out, kind + "+assertion", plain(name) + assertion_key(fact),
              shown + assertion_key(fact), false, page);
          break;
        }
        default:
          break;
      }
    }
    std::vector<extract::PageReading> readings;
    for (const auto& page : map.pages) readings.push_back(extract::read_page(page, ""));
    const auto order = extract::day_month_of(readings, detection.language);
    for (const auto& entity : detection.entities) {
      if (entity.category == layout::clinical::Category::date) {
        const auto date = extract::date_of(entity.text, order);
        put(out, "date", date ? date->iso() : "?", entity.text, false, entity.at.page);
      }
      if (entity.category == layout::clinical::Category::person)
        put(out, "person", plain(entity.text), entity.text, false, entity.at.page);
      if (entity.category == layout::clinical::Category::identifier)
        put(out, "identifier", plain(entity.text), entity.text, false, entity.at.page);
    }
  }

  void compare(const json::Array& facts, const Detection& detection, const Extraction& extraction,
               const layout::SpatialMap& map) {
    Claims truth;
    Claims said;
    for (const auto& fact : facts) truth_claims(fact, truth);
    said_claims(extraction, detection, map, said);
    std::set<std::string> kinds;
    for (const auto& [kind, claims] : truth) kinds.insert(kind);
    for (const auto& [kind, claims] : said) kinds.insert(kind);
    for (const auto& kind : kinds) {
      auto& score = scores_[kind];
      std::set<std::pair<std::uint32_t, std::string>> known;
      std::set<std::pair<std::uint32_t, std::string>> claimed;
      for (const auto& claim : truth[kind]) known.emplace(claim.page, claim.key);
      for (const auto& claim : said[kind]) claimed.emplace(claim.page, claim.key);
      for (const auto& claim : truth[kind]) {
        const bool found = claimed.contains({claim.page, claim.key});
        ++score.truth;
        score.found += found ? 1 : 0;
        score.novel += claim.novel ? 1 : 0;
        score.novel_found += claim.novel && found ? 1 : 0;
        if (!found)
          misses_[kind].push_back(fmt::format("  missed{} {} p{}: {}", claim.novel ? "*" : " ",
                                              file_, claim.page, claim.shown));
      }
      for (const auto& claim : said[kind]) {
        const bool right = known.contains({claim.page, claim.key});
        ++score.said;
        score.right += right ? 1 : 0;
        if (!right)
          wrong_[kind].push_back(
              fmt::format("  wrong   {} p{}: {}  [{}]", file_, claim.page, claim.shown, claim.key));
      }
    }
  }

  static double share(std::size_t part, std::size_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  }

  void report(std::size_t misses_max) {
    fmt::print("{:<22} {:>6} {:>7} {:>9} {:>7} {:>9} {:>6}\n", "kind", "truth", "recall",
               "precision", "listed", "novel", "said");
    for (const auto& [kind, score] : scores_) {
      fmt::print("{:<22} {:>6} {:>7.3f} {:>9.3f} {:>7.3f} {:>5.3f}/{:<4} {:>5}\n", kind,
                 score.truth, share(score.found, score.truth), share(score.right, score.said),
                 share(score.found - score.novel_found, score.truth - score.novel),
                 share(score.novel_found, score.novel), score.novel, score.said);
    }
    for (const auto& [finding, count] : findings_) fmt::print("finding {}: {}\n", finding, count);
    const auto millis = std::chrono::duration<double, std::milli>(elapsed_).count();
    fmt::print("{} pages, {:.3f} ms a page\n", page_count_,
               millis / static_cast<double>(std::max<std::size_t>(1, page_count_)));
    for (const auto& list : {&misses_, &wrong_}) {
      for (const auto& [kind, lines] : *list) {
        if (lines.empty() || misses_max == 0) continue;
        fmt::print("{} ({}):\n", kind, lines.size());
        for (std::size_t i = 0; i < std::min(lines.size(), misses_max); ++i)
          fmt::print("{}\n", lines[i]);
      }
    }
  }

  std::filesystem::path dir_;
  bool dump_ = false;
  std::optional<std::filesystem::path> pages_;
  std::string file_;
  std::map<std::string, Score> scores_;
  std::map<std::string, std::vector<std::string>> misses_;
  std::map<std::string, std::vector<std::string>> wrong_;
  std::map<std::string, std::size_t> findings_;
  std::size_t rejections_ = 0;
  std::size_t page_count_ = 0;
  std::chrono::steady_clock::duration elapsed_ = {};
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  std::optional<std::filesystem::path> pages;
  std::size_t misses = 10;
  bool dump = false;
  std::string dir;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--pages" && i + 1 < args.size()) {
      pages = args[++i];
    } else if (args[i] == "--misses" && i + 1 < args.size()) {
      misses = std::stoul(args[++i]);
    } else if (args[i] == "--dump") {
      dump = true;
    } else {
      dir = args[i];
    }
  }
  if (dir.empty()) {
    fmt::print(stderr, "extract_evaluate DIR [--pages DIR] [--misses N] [--dump]\n");
    return 1;
  }
  return Bench(dir, pages).run(misses, dump);
}
