// The operation `inspect`: is this a document, is it safe to read, and what pages does it have?
#include "document/bounded/mapped_file.h"
#include "document/inspect/content_type.h"
#include "document/inspect/file_name.h"
#include "document/inspect/inspection.h"
#include "document/inspect/signatures.h"
#include "document/op.h"

#include <boost/json/array.hpp>
#include <fmt/format.h>

#include <optional>

namespace millrace::document {

namespace {

constexpr std::string_view kSchema = "inspect/1";
constexpr std::string_view kEngine = "inspect@1";
constexpr std::size_t kFileNameMax = 1'024;

struct Request {
  std::string file_name;
  ActiveContent active = ActiveContent::refuse;
};

Result<Request> parse_request(const json::Object& object) {
  Request request;
  if (const auto* name = object.if_contains("file_name")) {
    if (!name->is_string() || name->as_string().size() > kFileNameMax) {
      return fail(ErrorKind::internal,
                  fmt::format("file_name must be a text of at most {} bytes", kFileNameMax));
    }
    request.file_name = name->as_string();
  }
  if (const auto* active = object.if_contains("active_content")) {
    const auto text =
        active->is_string() ? std::string_view(active->as_string()) : std::string_view();
    if (text != "refuse" && text != "flag") {
      return fail(ErrorKind::internal, "active_content must be refuse or flag");
    }
    request.active = text == "flag" ? ActiveContent::flag : ActiveContent::refuse;
  }
  return request;
}

// Old office files with a password are containers of new ones.
bool is_encrypted_office(std::string_view bytes) {
  static constexpr char16_t kName[] = u"EncryptedPackage";
  const std::string_view wide(reinterpret_cast<const char*>(kName), sizeof(kName) - 2);
  return bytes.find(wide) != bytes.npos;
}

Result<void> inspect_content(std::string_view bytes, const ContentType& type,
                             Inspection& inspection) {
  auto& findings = inspection.findings;
  if (bytes.empty()) {
    findings.refuse("empty", "the file has no bytes");
    return ok();
  }
  scan_signatures(bytes, SignaturePlace::document, findings);
  if (const auto reason = polyglot_reason(bytes, type); !reason.empty()) {
    findings.refuse("polyglot", reason);
  }
  if (!type.is_supported()) {
    if (type.mime == "application/x-ole-storage" && is_encrypted_office(bytes)) {
      findings.refuse("encrypted", "the document needs a password");
    }
    findings.refuse("unsupported_type",
                    fmt::format("the file is {}, which is not read here{}", type.label,
                                type.mime == "image/heif" ? "; send it as JPEG, PNG or TIFF" : ""));
  }
  // What is refused for what it is need not be taken apart.
  if (findings.refused()) return ok();
  if (type.kind == "pdf") return inspect_pdf(bytes, inspection);
  if (type.kind == "image") return inspect_image(bytes, type.mime, inspection);
  if (type.kind == "text") return inspect_text(bytes, inspection);
  return inspect_office(bytes, type.kind, inspection);
}

json::Object to_json(const ContentType& type, const Inspection& inspection) {
  const auto verdict = inspection.findings.verdict();
  json::Array findings;
  for (const auto& finding : inspection.findings.list()) {
    findings.push_back(json::Object{{"rule", finding.rule},
                                    {"severity", to_string(finding.severity)},
                                    {"detail", finding.detail}});
  }
  json::Array pages;
  if (verdict != Verdict::refused) {
    for (const auto& page : inspection.pages) {
      pages.push_back(json::Object{{"page", pages.size() + 1},
                                   {"width_pt", page.width_pt},
                                   {"height_pt", page.height_pt},
                                   {"rotation_deg", page.rotation_deg},
                                   {"text_chars", page.text_chars},
                                   {"content_sha256", page.content_sha256}});
    }
  }
  json::Object result{{"schema", kSchema}, {"engine", kEngine}};
  result["kind"] = type.kind;
  result["mime"] = type.mime;
  result["verdict"] = to_string(verdict);
  result["findings"] = std::move(findings);
  result["page_count"] = pages.size();
  result["pages"] = std::move(pages);
  return result;
}

}  // namespace

Result<json::Object> inspect(const json::Object& object, const OpFiles& files, OpSink& sink) {
  static_cast<void>(sink);
  if (files.fds.empty()) return fail(ErrorKind::internal, "no document was given");
  MR_TRY(const auto request, parse_request(object));
  const Limits limits;
  Inspection inspection(limits, request.active);
  const auto file = MappedFile::open(files.fds[0], limits);
  if (!file.has_value()) {
    MR_TRY_VOID(inspection.findings.take(file.error()));
    return to_json({}, inspection);
  }
  ContentType type;
  try {
    type = detect_type(file->bytes(), limits);
    if (!file->bytes().empty()) {
      check_file_name(request.file_name, type, inspection.findings);
    }
    MR_TRY_VOID(inspect_content(file->bytes(), type, inspection));
  } catch (const std::bad_alloc&) {
    // Everything that a well-behaved document needs fits into the memory of a task.
    inspection.pages.clear();
    inspection.findings.refuse("memory", "the document needs more memory than is allowed");
  } catch (const std::exception& error) {
    return fail(ErrorKind::internal, fmt::format("inspecting failed: {}", error.what()));
  }
  return to_json(type, inspection);
}

}  // namespace millrace::document
