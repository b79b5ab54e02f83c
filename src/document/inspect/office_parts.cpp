#include "document/inspect/office_parts.h"

#include "document/bounded/xml_reader.h"
#include "document/inspect/embedded_scan.h"
#include "document/inspect/signatures.h"
#include "document/office/package.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace millrace::document {

namespace {

// Reads any part; names of elements are unambiguous enough across the formats.
class PartHandler final : public XmlHandler {
 public:
  explicit PartHandler(Findings& findings) : findings_(findings) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "Relationship") {
      check_relationship(attributes);
    } else if (name == "instrText") {
      in_field_ = true;
    } else if (name == "fldSimple") {
      check_field(attributes.get("instr"));
    } else if (name == "f") {
      in_formula_ = true;
      formula_.clear();
    } else if (name == "altChunk") {
      findings_.flag("office_alt_chunk", "a part in another format that is shown in the document");
    } else if (name == "ddeLink" || name == "dde-connection-decl" || name == "dde-source") {
      findings_.active("office_dde", "a link that asks another program for data");
    } else if (name == "event-listener") {
      findings_.active("office_macro", "an event that runs a macro");
    } else if (name == "encryption-data") {
      findings_.refuse("encrypted", "the document needs a password");
    } else if (name == "section-source" || name == "plugin" || name == "floating-frame") {
      if (is_remote(attributes.get("href"))) {
        findings_.flag("office_external_link", "content that lies elsewhere");
      }
    }
  }

  void end(std::string_view name) override {
    if (name == "instrText") in_field_ = false;
    if (name == "p" || name == "fldChar") {
      // Codes are cut into runs at will; a field ends with its mark, at the latest with the
      // paragraph.
      if (name == "p" || field_.size() > kFieldMax) finish_field();
    }
    if (name == "f" && in_formula_) {
      in_formula_ = false;
      if (is_dde_formula(formula_)) {
        findings_.active("office_dde", "a formula that asks another program for data");
      }
    }
  }

  void text(std::string_view text) override {
    if (in_field_ && field_.size() < kFieldMax) field_ += text;
    if (in_formula_ && formula_.size() < kFieldMax) formula_ += text;
  }

 private:
  static constexpr std::size_t kFieldMax = 64 * 1024;

  void finish_field() {
    check_field(field_);
    field_.clear();
  }

  void check_field(std::string_view code) {
    if (!code.empty() && is_dde_field(code)) {
      findings_.active("office_dde", "a field that asks another program for data");
    }
  }

  void check_relationship(const XmlAttributes& attributes) {
    const auto type = attributes.get("Type");
    const auto kind = type.substr(type.rfind('/') == type.npos ? 0 : type.rfind('/') + 1);
    if (kind == "vbaProject" || kind == "xlMacrosheet") {
      findings_.active("office_macro", "the document has macros");
    }
    const bool external = attributes.get("TargetMode") == "External";
    if (kind == "officeDocument" && !external && !is_xml_part(attributes.get("Target"))) {
      // Programs would show it; it is neither searched nor read.
      findings_.refuse("office_structure", "the body of the document has no name of XML");
    }
    if (!external || kind == "hyperlink") return;
    const bool remote = is_remote(attributes.get("Target"));
    if (kind == "attachedTemplate") {
      // A template on the writer's own disk is named in every second document.
      if (remote) findings_.active("office_remote_template", "a template that lies elsewhere");
    } else if (kind == "oleObject" || kind == "frame" || kind == "subDocument") {
      if (remote) findings_.active("office_remote_object", "an object that lies elsewhere");
    } else {
      findings_.flag("office_external_link", "content that lies elsewhere");
    }
  }

  Findings& findings_;
  bool in_field_ = false;
  bool in_formula_ = false;
  std::string field_;
  std::string formula_;
};

bool is_embedded(std::string_view name) {
  return name.find("embeddings/") != name.npos || name.ends_with(".docx") ||
         name.ends_with(".xlsx") || name.ends_with(".zip");
}

void check_name(std::string_view name, Findings& findings) {
  const auto has = [&](std::string_view text) { return name.find(text) != name.npos; };
  if (has("vbaproject") || has("vbadata") || has("/macrosheets/") || has("/dialogsheets/") ||
      name.starts_with("basic/") || name.starts_with("scripts/")) {
    findings.active("office_macro", "the document has macros");
  }
  if (has("/activex/")) findings.active("office_activex", "the document has ActiveX controls");
  if (has("/embeddings/") && !name.ends_with('/')) {
    findings.flag("office_embedded_object", "an object within the document");
  }
  if (is_program_name(name)) {
    findings.refuse("embedded_executable", "a part of the document has the name of a program");
  }
}

}  // namespace

bool is_remote(std::string_view target) {
  auto text = layout::to_lower(target.substr(0, 64));
  std::ranges::replace(text, '\\', '/');
  std::string_view rest = text;
  if (rest.starts_with("file:")) {
    rest.remove_prefix(5);
    const auto slashes = std::min(rest.find_first_not_of('/'), rest.size());
    // file:///C:/… is here, file://server/… and file://///server/… are not.
    const bool drive = rest.size() > slashes + 1 && rest[slashes + 1] == ':';
    return !drive && (slashes == 2 || slashes >= 4);
  }
  return rest.starts_with("//") || rest.find("://") != rest.npos || rest.starts_with("mhtml:");
}

bool is_dde_field(std::string_view code) {
  const auto text = layout::to_lower(code);
  for (auto at = text.find("dde"); at != std::string::npos; at = text.find("dde", at + 1)) {
    const bool starts = at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0;
    auto end = at + 3;
    if (text.compare(end, 4, "auto") == 0) end += 4;
    const bool ends =
        end < text.size() &&
        (std::isspace(static_cast<unsigned char>(text[end])) != 0 || text[end] == '"');
    if (starts && ends) return true;
  }
  return false;
}

bool is_dde_formula(std::string_view formula) {
  // program|'topic'!item; within quotation marks a bar is only text.
  bool quoted = false;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    if (formula[i] == '"') quoted = !quoted;
    if (formula[i] == '|' && !quoted) return formula.find('!', i) != formula.npos;
  }
  return false;
}

Result<void> check_office_parts(const ZipFile& zip, Findings& findings, const Limits& limits) {
  UnpackBudget budget(limits, zip.size());
  for (const auto& entry : zip.entries()) {
    const auto name = layout::to_lower(entry.name);
    check_name(name, findings);
    if (is_embedded(name)) {
      MR_TRY(const auto part, zip.read_all(entry, budget, limits.embedded_bytes_max));
      MR_TRY_VOID(EmbeddedScan(findings, budget, limits).scan(part, name, 2));
      continue;
    }
    SignatureScan scan(findings, SignaturePlace::document);
    if (!is_xml_part(name)) {
      MR_TRY_VOID(zip.read(entry, budget, [&](std::string_view piece) {
        scan.add(piece);
        return ok();
      }));
      continue;
    }
    if (entry.bytes == 0) continue;
    PartHandler handler(findings);
    XmlReader reader(handler, limits);
    MR_TRY_VOID(zip.read(entry, budget, [&](std::string_view piece) {
      scan.add(piece);
      return reader.feed(piece);
    }));
    MR_TRY_VOID(reader.finish());
  }
  if (const auto pictures = count_pictures(zip); pictures > 0) {
    findings.flag("office_pictures", pictures == 1
                                         ? "a picture in the document, which is not read"
                                         : fmt::format("{} pictures in the document, which are "
                                                       "not read",
                                                       pictures));
  }
  return ok();
}

}  // namespace millrace::document
