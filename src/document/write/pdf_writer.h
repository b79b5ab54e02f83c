// What assembling PDFs has in common: the font of invisible text, and writing.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "document/inspect/qpdf.h"
#include "document/op.h"
#include "document/write/page_lines.h"
#include "document/write/text_stream.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace millrace::document {

// An indirect font object without glyphs.
QPDFObjectHandle make_text_font(QPDF& pdf, const TextCodes& codes);

// Streams whose bytes are made when they are written, and not kept.
class LateStreams final : public QPDFObjectHandle::StreamDataProvider {
 public:
  using Maker = std::function<Result<std::string>()>;

  QPDFObjectHandle add(QPDF& pdf, std::shared_ptr<LateStreams> self, Maker make);
  void provideStreamData(QPDFObjGen const& id, Pipeline* pipeline) override;
  const std::optional<Error>& error() const { return error_; }

 private:
  std::map<QPDFObjGen, Maker> makers_;
  std::optional<Error> error_;
};

// Writes the same bytes for the same document: no dates, the id from the content.
Result<std::uint64_t> write_pdf(QPDF& pdf, OpSink& sink, const LateStreams& streams);

// The operation for each kind of input.
Result<json::Object> assemble_pdf(const PageLines& pages, int fd, const std::string& title,
                                  OpSink& sink);
Result<json::Object> assemble_image(const PageLines& pages, int fd, const std::string& title,
                                    bool show_unread, OpSink& sink);
Result<json::Object> assemble_office(const PageLines& pages, const std::string& title,
                                     OpSink& sink);

json::Object assembled(std::size_t pages, std::uint64_t bytes);

}  // namespace millrace::document
