#include "document/write/pdf_writer.h"

#include "document/bounded/refusal.h"
#include "document/write/sink_pipeline.h"

#include <boost/json/object.hpp>

#include <exception>
#include <qpdf/QPDFWriter.hh>
#include <utility>

namespace millrace::document {

QPDFObjectHandle make_text_font(QPDF& pdf, const TextCodes& codes) {
  const auto file = QPDFObjectHandle::newStream(&pdf, empty_font());
  const auto unicode = QPDFObjectHandle::newStream(&pdf, codes.to_unicode());
  // Every code shows the one glyph there is.
  auto glyphs = QPDFObjectHandle::newStream(&pdf, std::string(2 * 65536, '\0'));
  auto descriptor = QPDFObjectHandle::parse(
      "<< /Type /FontDescriptor /FontName /MillraceWords /Flags 5 /FontBBox [0 -200 500 800]"
      " /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 800 /StemV 80 >>");
  descriptor.replaceKey("/FontFile2", file);
  auto cid = QPDFObjectHandle::parse(
      "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /MillraceWords /DW 500"
      " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>");
  cid.replaceKey("/FontDescriptor", pdf.makeIndirectObject(descriptor));
  cid.replaceKey("/CIDToGIDMap", glyphs);
  auto font = QPDFObjectHandle::parse(
      "<< /Type /Font /Subtype /Type0 /BaseFont /MillraceWords /Encoding /Identity-H >>");
  auto descendants = QPDFObjectHandle::newArray();
  descendants.appendItem(pdf.makeIndirectObject(cid));
  font.replaceKey("/DescendantFonts", descendants);
  font.replaceKey("/ToUnicode", unicode);
  return pdf.makeIndirectObject(font);
}

QPDFObjectHandle LateStreams::add(QPDF& pdf, std::shared_ptr<LateStreams> self, Maker make) {
  auto stream = QPDFObjectHandle::newStream(&pdf);
  makers_[stream.getObjGen()] = std::move(make);
  stream.replaceStreamData(std::move(self), QPDFObjectHandle::newNull(),
                           QPDFObjectHandle::newNull());
  return stream;
}

void LateStreams::provideStreamData(QPDFObjGen const& id, Pipeline* pipeline) {
  auto made = makers_.at(id)();
  if (!made.has_value()) {
    error_ = made.error();
    throw std::runtime_error(made.error().message);
  }
  pipeline->writeString(*made);
  pipeline->finish();
}

Result<std::uint64_t> write_pdf(QPDF& pdf, OpSink& sink, const LateStreams& streams) {
  SinkPipeline pipeline(sink);
  try {
    QPDFWriter writer(pdf);
    writer.setOutputPipeline(&pipeline);
    writer.setDeterministicID(true);
    writer.setPreserveEncryption(false);  // What could be opened without a password stays so.
    writer.setDecodeLevel(qpdf_dl_none);  // Streams of the original stay as they are.
    writer.setCompressStreams(true);
    writer.write();
  } catch (const std::exception&) {
    if (pipeline.error()) return fail(*pipeline.error());
    if (streams.error()) return fail(*streams.error());
    return refuse("pdf_structure", "the PDF cannot be written anew");
  }
  return pipeline.bytes();
}

json::Object assembled(std::size_t pages, std::uint64_t bytes) {
  json::Object out;
  out["pages"] = pages;
  out["bytes"] = bytes;
  return out;
}

}  // namespace millrace::document
