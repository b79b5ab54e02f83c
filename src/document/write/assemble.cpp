// assemble: a document and the words of its pages → a PDF that can be searched. Pages that were not
// read are in it without words. `unread: blank`: their pictures are not decoded, since to do so may
// be what kills the reader.
#include "document/office/office.h"
#include "document/op.h"
#include "document/read/request.h"
#include "document/write/pdf_writer.h"

namespace millrace::document {

Result<json::Object> assemble(const json::Object& request, const OpFiles& files, OpSink& sink) {
  MR_TRY(const auto kind, string_member(request, "kind"));
  MR_TRY(const auto title, string_member(request, "title"));
  if (files.fds.size() < 2) {
    return fail(ErrorKind::invalid_argument, "there must be a document and a file of pages");
  }
  MR_TRY(const auto pages, PageLines::open(files.fds[1]));
  MR_TRY(const auto unread, string_member(request, "unread", "shown"));
  if (unread != "shown" && unread != "blank") {
    return fail(ErrorKind::invalid_argument, "unread must be shown or blank");
  }
  if (kind == "pdf") return assemble_pdf(pages, files.fds[0], title, sink);
  if (kind == "image") return assemble_image(pages, files.fds[0], title, unread == "shown", sink);
  if (is_office_kind(kind)) return assemble_office(pages, title, sink);
  return fail(ErrorKind::invalid_argument, "kind must be one that inspect answers");
}

}  // namespace millrace::document
