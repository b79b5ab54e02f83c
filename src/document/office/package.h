// Package: the parts of an office file, each read once as XML.
#pragma once

#include "document/bounded/xml_reader.h"
#include "document/bounded/zip_file.h"
#include "document/office/flow.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

// Parts that are pictures, which nothing here reads; the one of the file in a folder aside.
std::uint64_t count_pictures(const ZipFile& zip);

// Is it XML by its name, and no file of its own? Inspection searches these parts for what runs or
// reaches out, and no others are read: whatever a package names, nobody reads what nobody searched.
bool is_xml_part(std::string_view part);

class Package {
 public:
  static Result<Package> open(std::string_view bytes, const Limits& limits);

  // Only those that are XML by their name are there (is_xml_part).
  bool has(std::string_view part) const { return find(part) != nullptr; }
  // Feeds a part to the handler. A part that is not there is read as empty.
  Result<void> read(std::string_view part, XmlHandler& handler);

  std::uint64_t pictures() const { return count_pictures(zip_); }

  TextBudget& text() { return text_; }
  const Limits& limits() const { return limits_; }

 private:
  Package(ZipFile zip, const Limits& limits)
      : zip_(std::move(zip)), limits_(limits), unpacked_(limits), text_(limits) {}
  const ZipEntry* find(std::string_view part) const;

  ZipFile zip_;
  const Limits& limits_;
  UnpackBudget unpacked_;
  TextBudget text_;
};

// Where the relationships of a part lead: by id ("rId4") and by kind ("styles", the end of the
// type) to names of parts ("word/header1.xml"). External ones are left out, and what no program
// writes: names longer than those of parts may be, more of them than any document has. What they
// name may not be there; it never lies outside the package.
class Relationships {
 public:
  static constexpr std::size_t kLinksMax = 100'000;  // Of one part.

  Relationships(std::string_view part, const Limits& limits)
      : part_(part), target_bytes_max_(limits.entry_name_bytes_max) {}
  void add(const XmlAttributes& attributes);

  // Null when there is none.
  const std::string* target(std::string_view id) const;
  // The first of a kind that is there, else the part of the usual name beside this one.
  std::string first(const Package& package, std::string_view kind, std::string_view usual) const;

 private:
  struct Link {
    std::string kind;
    std::string target;
  };
  std::string part_;
  std::size_t target_bytes_max_;
  std::vector<Link> links_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
};
// Of the package itself when the part has no name.
Result<Relationships> relationships_of(Package& package, std::string_view part);

// The part that the file is about: the one that the package says ("officeDocument"), else the usual
// one. It may not be there.
std::string main_part_of(Package& package, std::string_view usual);

// Reads ids of relationships from attributes, whatever prefix their namespace has ("r:id").
class RelationshipIds {
 public:
  // Of an element that may declare namespaces.
  void note(const XmlAttributes& attributes);
  // Empty when there is none.
  std::string_view id(const XmlAttributes& attributes) const;

 private:
  std::vector<std::string> prefixes_;
};

// Readers of the formats, one each.
Result<std::vector<Flow>> read_docx(Package& package);
Result<std::vector<Flow>> read_pptx(Package& package);
Result<std::vector<Flow>> read_xlsx(Package& package);
Result<std::vector<Flow>> read_odf(Package& package);  // odt, ods and odp.

}  // namespace millrace::document
