// PDF: bytes first, then the cross references, then every object, then the pages.
#include "document/bounded/refusal.h"
#include "document/inspect/embedded_scan.h"
#include "document/inspect/inspection.h"
#include "document/inspect/pdf_active.h"
#include "document/inspect/pdf_digest.h"
#include "document/inspect/pdf_pages.h"
#include "document/inspect/pdf_streams.h"
#include "document/inspect/pdf_text_count.h"
#include "document/inspect/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <qpdf/QPDFExc.hh>
#include <set>

namespace millrace::document {

namespace {

constexpr std::size_t kWarningsMax = 20'000;

// Where a whole file ends; some programs add a little behind it.
bool has_end(std::string_view bytes) {
  constexpr std::size_t kEndWithin = 2'048;
  return bytes.substr(bytes.size() - std::min(bytes.size(), kEndWithin)).find("%%EOF") !=
         bytes.npos;
}

class PdfInspector {
 public:
  PdfInspector(std::string_view bytes, Inspection& inspection)
      : bytes_(bytes),
        inspection_(inspection),
        limits_(inspection.limits),
        budget_(inspection.limits, bytes.size()),
        content_budget_(inspection.limits, bytes.size()),
        file_budget_(inspection.limits, bytes.size()) {}

  Result<void> run() {
    MR_TRY_VOID(check_object_count());
    MR_TRY_VOID(count_raw_streams(bytes_, limits_));
    pdf_.setSuppressWarnings(true);
    pdf_.processMemoryFile("document", bytes_.data(), bytes_.size());
    if (pdf_.numWarnings() > 0 && !has_end(bytes_)) {
      return refuse("truncated", "the document ends too early");
    }
    if (pdf_.isEncrypted()) inspection_.findings.flag("encrypted", "readable without a password");
    if (pdf_.getXRefTable().size() > limits_.pdf_objects_max) {
      return refuse("pdf_objects", fmt::format("more than {} objects", limits_.pdf_objects_max));
    }
    MR_TRY_VOID(check_object_streams(pdf_, budget_, limits_));
    if (!pdf_.getRoot().isDictionary()) return refuse("damaged", "the document has no root");
    MR_TRY_VOID(check_objects());
    return inspect_pages();
  }

 private:
  Result<void> check_object_count() const {
    std::uint64_t count = 0;
    for (auto at = bytes_.find(" obj"); at != bytes_.npos; at = bytes_.find(" obj", at + 4)) {
      if (++count > limits_.pdf_objects_max) {
        return refuse("pdf_objects", fmt::format("more than {} objects", limits_.pdf_objects_max));
      }
    }
    return ok();
  }

  Result<void> check_objects() {
    PdfActive active(pdf_, names_, inspection_.findings);
    active.check_catalog();
    active.check(pdf_.getTrailer());
    for (const auto& [id, entry] : pdf_.getXRefTable()) {
      if (entry.getType() == 0) continue;
      auto object = pdf_.getObject(id);
      active.check(object);
      if (object.isStream()) MR_TRY_VOID(check_stream(object));
      if (pdf_.numWarnings() > kWarningsMax) {
        return refuse("damaged", "too much of the document cannot be read");
      }
    }
    // What they are is said by those that refer to them, which may stand anywhere in the file.
    for (const auto& id : active.files()) {
      if (files_.contains(id)) continue;
      MR_TRY_VOID(check_embedded(pdf_.getObject(id), file_budget_));
    }
    return ok();
  }

  Result<void> check_stream(QPDFObjectHandle stream) {
    auto dictionary = stream.getDict();
    MR_TRY_VOID(filters_of(stream, limits_));
    const bool is_image = names_.of(dictionary.getKey("/Subtype")) == "/Image";
    if (is_image) MR_TRY_VOID(check_image(stream, limits_));
    if (names_.of(dictionary.getKey("/Type")) == "/EmbeddedFile") {
      files_.insert(stream.getObjGen());
      return check_embedded(stream, budget_);
    }
    if (is_image) return ok();
    SignatureScan scan(inspection_.findings, SignaturePlace::document);
    const auto piped = pipe_counted(stream, budget_, [&](std::string_view piece) {
      scan.add(piece);
      return ok();
    });
    if (!piped.has_value()) return fail(piped.error());
    return ok();
  }

  Result<void> check_embedded(QPDFObjectHandle stream, UnpackBudget& budget) {
    std::string file;
    const auto piped = pipe_counted(stream, budget, [&](std::string_view piece) -> Result<void> {
      if (file.size() + piece.size() > limits_.embedded_bytes_max) {
        return refuse("embedded_size", "a file within the document is too large");
      }
      file += piece;
      return ok();
    });
    if (!piped.has_value()) return fail(piped.error());
    return EmbeddedScan(inspection_.findings, budget, limits_).scan(file, {}, 1);
  }

  Result<void> inspect_pages() {
    MR_TRY(const auto pages, pages_of(pdf_, inspection_.findings, limits_));
    PdfDigest digest(pdf_, limits_);
    PdfTextCount text(content_budget_, limits_);
    const auto rounded = [](double value) { return std::round(value * 100) / 100; };
    for (const auto& page : pages) {
      InspectedPage inspected{.width_pt = rounded(page.width_pt),
                              .height_pt = rounded(page.height_pt),
                              .rotation_deg = page.rotation_deg};
      MR_TRY(inspected.text_chars, text.count(page));
      MR_TRY(inspected.content_sha256, digest.digest(page));
      inspection_.pages.push_back(std::move(inspected));
    }
    return ok();
  }

  std::string_view bytes_;
  Inspection& inspection_;
  const Limits& limits_;
  UnpackBudget budget_;
  UnpackBudget content_budget_;  // What is unpacked a second time, for the pages.
  UnpackBudget file_budget_;     // Likewise, for files that do not say that they are.
  std::set<QPDFObjGen> files_;   // Looked at as files.
  PdfNames names_;
  QPDF pdf_;
};

}  // namespace

Result<void> inspect_pdf(std::string_view bytes, Inspection& inspection) {
  auto& findings = inspection.findings;
  try {
    const auto outcome = PdfInspector(bytes, inspection).run();
    if (outcome.has_value()) return ok();
    return findings.take(outcome.error());
  } catch (const QPDFExc& error) {
    if (error.getErrorCode() == qpdf_e_password) {
      findings.refuse("encrypted", "the document needs a password");
    } else if (!has_end(bytes)) {
      findings.refuse("truncated", "the document ends too early");
    } else {
      findings.refuse("damaged", "the document cannot be read");
    }
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    // qpdf says so of numbers out of range and the like.
    findings.refuse("damaged", "the document cannot be read");
  }
  return ok();
}

}  // namespace millrace::document
