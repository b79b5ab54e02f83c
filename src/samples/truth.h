// Truth: what is known about a sample file: its text, where the words stand, what it says, and what
// should become of it. README.md describes the JSON.
#pragma once

#include "base/json.h"
#include "samples/fact.h"
#include "samples/language.h"
#include "samples/page/sheet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::samples {

struct TruthWord {
  std::string text;
  Rect box;  // Fractions of the upright page.
};

struct TruthCheckbox {
  std::string label;
  bool checked = false;
  Rect box;
};

struct TruthPage {
  std::string text;
  std::vector<TruthWord> words = {};
  std::vector<TruthCheckbox> checkboxes = {};
  bool text_layer = false;
  int rotation_deg = 0;  // Clockwise turn of the stored page.
  double skew_deg = 0;   // Clockwise, on top of that.
};

struct TruthFile {
  std::string file;
  std::string sample_class;
  std::string kind;  // letter, lab_report, …
  Language language = Language::en;
  std::uint64_t seed = 0;
  std::string state = "completed";  // completed, rejected, failed, partial
  std::string rule = {};            // The finding expected of a hostile file.
  std::vector<std::string> effects = {};
  std::vector<TruthPage> pages = {};
  std::vector<Fact> facts = {};
};

TruthPage truth_of(const SheetPage& page);
json::Object to_json(const TruthFile& file);

}  // namespace millrace::samples
