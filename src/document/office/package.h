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

class Package {
 public:
  static Result<Package> open(std::string_view bytes, const Limits& limits);

  bool has(std::string_view part) const { return zip_.find(part) != nullptr; }
  // Feeds a part to the handler. A part that is not there is read as empty.
  Result<void> read(std::string_view part, XmlHandler& handler);

  std::uint64_t pictures() const { return count_pictures(zip_); }

  TextBudget& text() { return text_; }
  const Limits& limits() const { return limits_; }

 private:
  Package(ZipFile zip, const Limits& limits)
      : zip_(std::move(zip)), limits_(limits), unpacked_(limits), text_(limits) {}

  ZipFile zip_;
  const Limits& limits_;
  UnpackBudget unpacked_;
  TextBudget text_;
};

// Where the relationships of a part lead: id → part ("word/header1.xml"). External ones are left
// out.
Result<std::map<std::string, std::string, std::less<>>> relationships_of(Package& package,
                                                                         std::string_view part);

// Readers of the formats, one each.
Result<std::vector<Flow>> read_docx(Package& package);
Result<std::vector<Flow>> read_pptx(Package& package);
Result<std::vector<Flow>> read_xlsx(Package& package);
Result<std::vector<Flow>> read_odf(Package& package);  // odt, ods and odp.

}  // namespace millrace::document
