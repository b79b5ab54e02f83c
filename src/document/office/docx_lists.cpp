#include "document/office/docx_lists.h"

#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace millrace::document {

namespace {

constexpr int kStartMax = 1'000'000;

int number_of(std::string_view text, int otherwise = 0) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

NumberFormat format_of(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::pair<std::string_view, NumberFormat>>(
      {{"none", NumberFormat::none},
       {"decimalZero", NumberFormat::decimal_zero},
       {"bullet", NumberFormat::bullet},
       {"lowerLetter", NumberFormat::lower_letter},
       {"upperLetter", NumberFormat::upper_letter},
       {"lowerRoman", NumberFormat::lower_roman},
       {"upperRoman", NumberFormat::upper_roman}});
  const auto* const found =
      std::ranges::find(kNames, name, [](const auto& one) { return one.first; });
  return found == kNames.end() ? NumberFormat::decimal : found->second;
}

int depth_of(std::string_view name) {
  for (const std::string_view start : {"list bullet ", "list number "}) {
    if (name.starts_with(start)) return std::clamp(number_of(name.substr(start.size())), 0, 8);
  }
  return 0;
}

// Nothing: a level that no list has.
std::optional<int> level_of(std::string_view text) {
  const auto level = number_of(text);
  return level >= 0 && level < DocxNumbering::kLevels ? std::optional(level) : std::nullopt;
}

bool is_on(std::string_view value) { return value != "0" && value != "false" && value != "off"; }

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

}  // namespace

void DocxStyles::start(std::string_view name, const XmlAttributes& attributes) {
  if (skipping_ > 0 || name == "pPrChange") {
    ++skipping_;
    return;
  }
  if (name == "style") {
    const auto id = short_id(attributes.get("styleId"));
    const bool fits = !id.empty() && (styles_.size() < kStylesMax || styles_.contains(id));
    open_ = fits ? &styles_[std::string(id)] : nullptr;
    return;
  }
  if (open_ == nullptr) return;
  const auto value = short_id(attributes.get("val"));
  if (name == "name") {
    open_->name = layout::to_lower(value);
  } else if (name == "basedOn") {
    open_->based_on = value;
  } else if (name == "outlineLvl") {
    open_->outline = number_of(value, 9);
  } else if (name == "numId") {
    open_->number = value;
  } else if (name == "ilvl") {
    open_->level = std::clamp(number_of(value), 0, DocxNumbering::kLevels - 1);
  }
}

void DocxStyles::end(std::string_view name) {
  if (skipping_ > 0) {
    --skipping_;
  } else if (name == "style") {
    open_ = nullptr;
  }
}

DocxStyles::Meaning DocxStyles::follow(std::string_view id) const {
  constexpr int kBasedMax = 32;  // Styles may be based on each other in a circle.
  constexpr std::string_view kHeading = "heading ";
  Meaning meaning;
  bool heading_known = false;
  auto at = styles_.find(id);
  for (int i = 0; i < kBasedMax && at != styles_.end(); ++i) {
    const auto& style = at->second;
    if (!heading_known && style.name.starts_with(kHeading)) {
      meaning.heading =
          std::clamp(number_of(std::string_view(style.name).substr(kHeading.size())), 0, 6);
      heading_known = meaning.heading > 0;
    } else if (!heading_known && style.name == "title") {
      meaning.heading = 1;
      heading_known = true;
    }
    if (!heading_known && style.outline) {
      // The last level is that of plain text.
      meaning.heading =
          *style.outline >= 0 && *style.outline < 9 ? std::min(*style.outline + 1, 6) : 0;
      heading_known = true;
    }
    if (meaning.number.empty() && !style.number.empty()) {
      meaning.number = style.number;
      meaning.numbered_style = at->first;
    }
    if (!meaning.level) meaning.level = style.level;
    if (meaning.depth == 0) meaning.depth = depth_of(style.name);
    at = style.based_on.empty() ? styles_.end() : styles_.find(style.based_on);
  }
  return meaning;
}

const DocxStyles::Meaning& DocxStyles::meaning(std::string_view style) {
  static const Meaning kNothing;
  if (!styles_.contains(style)) return kNothing;
  const auto found = meanings_.find(style);
  if (found != meanings_.end()) return found->second;
  return meanings_.emplace(std::string(style), follow(style)).first->second;
}

void DocxNumbering::start(std::string_view name, const XmlAttributes& attributes) {
  const auto value = attributes.get("val");
  if (name == "abstractNum") {
    abstract_ = short_id(attributes.get("abstractNumId"));
    number_.clear();
  } else if (name == "num") {
    number_ = short_id(attributes.get("numId"));
    abstract_.clear();
  } else if (name == "lvlOverride") {
    at_ = level_of(attributes.get("ilvl"));
  } else if (name == "lvl") {
    const auto& of = number_.empty() ? abstract_ : number_;
    const auto at = level_of(attributes.get("ilvl"));
    if (of.empty() || !at || !has_room()) return;
    open_ = &(number_.empty() ? levels_ : own_levels_)[{of, *at}];
    open_->format = NumberFormat::decimal;
  } else if (open_ != nullptr) {
    start_level(name, value);
  } else if (name == "startOverride") {
    if (number_.empty() || !at_ || !has_room()) return;
    overrides_[{number_, *at_}] = std::clamp(number_of(value), 0, kStartMax);
  } else {
    start_numbering(name, short_id(value));
  }
}

void DocxNumbering::start_numbering(std::string_view name, std::string_view id) {
  if (id.empty() || !has_room()) return;
  if (name == "abstractNumId") {
    abstracts_.emplace(number_, id);
  } else if (name == "numStyleLink") {
    styles_named_.emplace(abstract_, id);
  } else if (name == "styleLink") {
    styles_made_.emplace(id, abstract_);
  }
}

void DocxNumbering::start_level(std::string_view name, std::string_view value) {
  constexpr std::size_t kTextMax = 64;
  if (name == "numFmt") {
    open_->format = format_of(value);
  } else if (name == "lvlText") {
    // No program shows longer ones; they would stand before every item.
    if (value.size() > kTextMax) return;
    open_->text = value;
    std::ranges::replace_if(
        *open_->text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  } else if (name == "start") {
    open_->start = std::clamp(number_of(value), 0, kStartMax);
  } else if (name == "pStyle") {
    open_->style = short_id(value);
  } else if (name == "isLgl") {
    open_->legal = is_on(value);
  }
}

void DocxNumbering::end(std::string_view name) {
  if (name == "lvl") open_ = nullptr;
}

const std::string* DocxNumbering::abstract_of(const std::string& number) const {
  const auto found = abstracts_.find(number);
  if (found == abstracts_.end()) return nullptr;
  const auto style = styles_named_.find(found->second);
  if (style == styles_named_.end()) return &found->second;
  const auto made = styles_made_.find(style->second);
  return made == styles_made_.end() ? &found->second : &made->second;
}

std::string DocxNumbering::counter(const std::string& number) const {
  const auto* abstract = abstract_of(number);
  return abstract == nullptr ? "number " + number : *abstract;
}

const DocxNumbering::Level& DocxNumbering::level(const std::string& number, int at) const {
  static const Level kBullet;
  if (const auto own = own_levels_.find({number, at}); own != own_levels_.end()) return own->second;
  const auto* abstract = abstract_of(number);
  if (abstract == nullptr) return kBullet;
  const auto found = levels_.find({*abstract, at});
  return found == levels_.end() ? kBullet : found->second;
}

std::optional<int> DocxNumbering::start_override(const std::string& number, int at) const {
  const auto found = overrides_.find({number, at});
  return found == overrides_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<int> DocxNumbering::level_of_style(const std::string& number,
                                                 std::string_view style) const {
  const auto* abstract = abstract_of(number);
  if (style.empty() || abstract == nullptr) return std::nullopt;
  for (int at = 0; at < kLevels; ++at) {
    const auto found = levels_.find({*abstract, at});
    if (found != levels_.end() && found->second.style == style) return at;
  }
  return std::nullopt;
}

int DocxCounters::start_of(const std::string& number, int at) const {
  if (const auto own = numbering_.start_override(number, at)) return *own;
  return numbering_.level(number, at).start.value_or(1);
}

std::string DocxCounters::next(const std::string& number, int at) {
  constexpr std::size_t kListsMax = 10'000;
  if (counts_.size() > kListsMax) counts_.clear();
  if (begun_.size() > kListsMax) begun_.clear();
  auto& counts = counts_[numbering_.counter(number)];
  const auto place = static_cast<std::size_t>(at);
  // A numbering that begins anew does so once: at its first item of the level.
  const bool begins = begun_.emplace(number, at).second && numbering_.start_override(number, at);
  if (begins || !counts[place]) {
    counts[place] = start_of(number, at);
  } else {
    ++*counts[place];
  }
  // Deeper levels begin again below the next item.
  std::fill(counts.begin() + at + 1, counts.end(), std::nullopt);

  return marker_of(number, at, counts);
}

std::string DocxCounters::marker_of(const std::string& number, int at, const Counts& counts) const {
  const auto& level = numbering_.level(number, at);
  if (level.format == NumberFormat::bullet) {
    return level.text && is_blank(*level.text) ? std::string() : std::string(kBulletMarker);
  }
  std::array<std::optional<std::string>, DocxNumbering::kLevels> known;
  const auto shown = [&](int of) -> const std::string& {
    auto& text = known[static_cast<std::size_t>(of)];
    if (text) return *text;
    auto format = of == at ? level.format : numbering_.level(number, of).format;
    if (level.legal && format != NumberFormat::decimal_zero) format = NumberFormat::decimal;
    const auto count = counts[static_cast<std::size_t>(of)];
    text = number_text(format, count ? *count : start_of(number, of));
    return *text;
  };
  if (!level.text) return level.format == NumberFormat::none ? "" : shown(at) + ".";
  std::string marker;
  const std::string_view text = *level.text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool counted = text[i] == '%' && i + 1 < text.size() && text[i + 1] >= '1' &&
                         text[i + 1] <= '9' && text[i + 1] - '1' <= at;
    if (counted) {
      marker += shown(text[++i] - '1');
    } else {
      marker += text[i];
    }
  }
  const auto end = marker.find_last_not_of(" \t");
  marker.resize(end == std::string::npos ? 0 : end + 1);
  return marker;
}

}  // namespace millrace::document
