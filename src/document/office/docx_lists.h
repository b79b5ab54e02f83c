// Styles and numberings of DOCX: which paragraphs are headings or items of lists, and what stands
// before them.
//
// Paragraphs name a style, styles are based on others, and either may name a numbering; its levels
// are in an abstract one, which several may share and then count on together.
#pragma once

#include "document/bounded/xml_reader.h"
#include "document/office/list_marker.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::document {

class DocxStyles final : public XmlHandler {
 public:
  // What a paragraph has from its style and those that it is based on.
  struct Meaning {
    int heading = 0;
    std::string number = {};          // Of its numbering; "0": none, whatever is below.
    std::optional<int> level = {};    // In the numbering.
    std::string numbered_style = {};  // The one that names the numbering.
    int depth = 0;                    // "List Bullet 3": 3.
  };
  const Meaning& meaning(std::string_view style);

  void start(std::string_view name, const XmlAttributes& attributes) override;
  void end(std::string_view name) override;
  void text(std::string_view) override {}

 private:
  struct Style {
    std::string based_on = {};
    std::string name = {};  // In lower case.
    std::optional<int> outline = {};
    std::string number = {};
    std::optional<int> level = {};
  };
  Meaning follow(std::string_view id) const;

  static constexpr std::size_t kStylesMax = 10'000;

  std::map<std::string, Style, std::less<>> styles_;
  std::map<std::string, Meaning, std::less<>> meanings_;
  Style* open_ = nullptr;
  std::uint32_t skipping_ = 0;
};

class DocxNumbering final : public XmlHandler {
 public:
  static constexpr int kLevels = 9;

  struct Level {
    NumberFormat format = NumberFormat::bullet;
    std::optional<std::string> text = {};  // "%1.%2": the numbers of these levels.
    std::optional<int> start = {};
    std::string style = {};  // Paragraphs of this style stand at the level.
    bool legal = false;      // Numbers of all levels are decimal here.
  };

  const Level& level(const std::string& number, int at) const;
  std::optional<int> start_override(const std::string& number, int at) const;
  std::optional<int> level_of_style(const std::string& number, std::string_view style) const;
  // Numberings with the same name here count on together.
  std::string counter(const std::string& number) const;

  void start(std::string_view name, const XmlAttributes& attributes) override;
  void end(std::string_view name) override;
  void text(std::string_view) override {}

 private:
  using Place = std::pair<std::string, int>;
  const std::string* abstract_of(const std::string& number) const;
  void start_numbering(std::string_view name, std::string_view id);
  void start_level(std::string_view name, std::string_view value);
  // Of everything together. What comes behind it is not there.
  static constexpr std::size_t kEntriesMax = 200'000;
  bool has_room() const {
    return levels_.size() + own_levels_.size() + overrides_.size() + abstracts_.size() +
               styles_named_.size() + styles_made_.size() <
           kEntriesMax;
  }

  std::map<Place, Level> levels_;      // Of abstract numberings.
  std::map<Place, Level> own_levels_;  // Of numberings that have their own instead.
  std::map<Place, int> overrides_;
  std::map<std::string, std::string> abstracts_;  // Of numberings.
  // An abstract numbering may be another one, by a style of lists that both name.
  std::map<std::string, std::string> styles_named_;
  std::map<std::string, std::string> styles_made_;  // From the style.
  std::string abstract_;
  std::string number_;
  std::optional<int> at_;  // Of an override; nothing where there is no such level.
  Level* open_ = nullptr;
};

// Counts the items of a text.
class DocxCounters {
 public:
  explicit DocxCounters(const DocxNumbering& numbering) : numbering_(numbering) {}
  // What stands before the next item; nothing where the level shows nothing.
  std::string next(const std::string& number, int at);

 private:
  using Counts = std::array<std::optional<int>, DocxNumbering::kLevels>;
  int start_of(const std::string& number, int at) const;
  std::string marker_of(const std::string& number, int at, const Counts& counts) const;

  const DocxNumbering& numbering_;
  std::map<std::string, Counts> counts_;
  std::set<std::pair<std::string, int>> begun_;
};

}  // namespace millrace::document
