#include "document/inspect/embedded_scan.h"

#include "document/bounded/refusal.h"
#include "document/bounded/zip_file.h"
#include "document/inspect/content_type.h"
#include "document/inspect/signatures.h"

#include <fmt/format.h>

namespace millrace::document {

Result<void> EmbeddedScan::scan(std::string_view bytes, std::string_view name,
                                std::uint32_t depth) {
  if (is_program_name(name)) {
    findings_.refuse("embedded_executable", "an embedded file has the name of a program");
  }
  scan_signatures(bytes, SignaturePlace::embedded, findings_);
  if (bytes.starts_with("PK\x03\x04")) return scan_archive(bytes, depth);
  for (const auto start : {"Rar!\x1a", "7z\xbc\xaf", "\x1f\x8b", "MSCF", "\xfd\x37zXZ"}) {
    if (bytes.starts_with(start)) {
      findings_.flag("embedded_archive", "an archive within the document that is not looked into");
    }
  }
  return ok();
}

Result<void> EmbeddedScan::scan_archive(std::string_view bytes, std::uint32_t depth) {
  if (depth > limits_.archive_depth_max) {
    return refuse("archive_depth", fmt::format("archives within archives, more than {} deep",
                                               limits_.archive_depth_max));
  }
  const auto zip = ZipFile::open(bytes, limits_);
  if (!zip.has_value()) {
    // What a bomb is refused for counts here too.
    const auto& rule = zip.error().constraint;
    if (rule == "ratio" || rule == "unpacked_bytes" || rule == "archive_entries" ||
        rule == "zip_overlap") {
      return fail(zip.error());
    }
    findings_.flag("embedded_archive", "an archive within the document that cannot be opened");
    return ok();
  }
  for (const auto& entry : zip->entries()) {
    if (entry.name.ends_with('/')) continue;
    if (entry.name.ends_with("vbaProject.bin")) {
      findings_.active("office_macro", "an embedded document has macros");
    }
    auto part = zip->read_all(entry, budget_, limits_.embedded_bytes_max);
    if (!part.has_value()) {
      if (part.error().constraint != "damaged" && part.error().constraint != "zip_size") {
        return fail(part.error());
      }
      findings_.flag("embedded_archive", "an archive within the document is damaged");
      continue;
    }
    MR_TRY_VOID(scan(*part, entry.name, depth + 1));
  }
  return ok();
}

}  // namespace millrace::document
