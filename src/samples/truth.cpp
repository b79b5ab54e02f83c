#include "samples/truth.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cmath>

namespace millrace::samples {
namespace {

Rect fraction(const Rect& rect, const SheetPage& page) {
  return {rect.x0 / page.width_pt, rect.y0 / page.height_pt, rect.x1 / page.width_pt,
          rect.y1 / page.height_pt};
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

json::Array box_json(const Rect& box) {
  return {rounded(box.x0), rounded(box.y0), rounded(box.x1), rounded(box.y1)};
}

json::Object to_json(const TruthPage& page, std::size_t number) {
  json::Object object;
  object["page"] = number;
  object["text_layer"] = page.text_layer;
  object["rotation_deg"] = page.rotation_deg;
  object["skew_deg"] = page.skew_deg;
  object["text"] = page.text;
  json::Array words;
  for (const TruthWord& word : page.words) {
    words.push_back(json::Object{{"text", word.text}, {"bbox", box_json(word.box)}});
  }
  object["words"] = std::move(words);
  if (!page.checkboxes.empty()) {
    json::Array boxes;
    for (const TruthCheckbox& check : page.checkboxes) {
      boxes.push_back(json::Object{
          {"label", check.label}, {"checked", check.checked}, {"bbox", box_json(check.box)}});
    }
    object["checkboxes"] = std::move(boxes);
  }
  return object;
}

}  // namespace

TruthPage truth_of(const SheetPage& page) {
  TruthPage truth;
  truth.text = page.text();
  for (const TextItem& item : page.items) {
    for (const SheetWord& word : item.words) {
      truth.words.push_back({word.text, fraction(word.ink, page)});
    }
  }
  for (const SheetCheckbox& check : page.checkboxes) {
    truth.checkboxes.push_back({check.label, check.checked, fraction(check.box, page)});
  }
  return truth;
}

json::Object to_json(const TruthFile& file) {
  json::Object object;
  object["file"] = file.file;
  object["class"] = file.sample_class;
  object["kind"] = file.kind;
  object["language"] = to_string(file.language);
  object["seed"] = file.seed;
  object["expected_state"] = file.state;
  if (!file.rule.empty()) object["expected_rule"] = file.rule;
  json::Array effects;
  for (const std::string& effect : file.effects) effects.emplace_back(effect);
  object["effects"] = std::move(effects);
  json::Array pages;
  for (std::size_t i = 0; i < file.pages.size(); ++i) {
    pages.push_back(to_json(file.pages[i], i + 1));
  }
  object["pages"] = std::move(pages);
  json::Array facts;
  for (const Fact& fact : file.facts) facts.push_back(samples::to_json(fact));
  object["facts"] = std::move(facts);
  return object;
}

}  // namespace millrace::samples
