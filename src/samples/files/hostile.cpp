#include "samples/files/hostile.h"

#include "samples/files/docx.h"
#include "samples/files/zip.h"
#include "samples/page/paint.h"
#include "samples/page/typeset.h"
#include "samples/writing/writers.h"

#include <fmt/format.h>

#include <string_view>

namespace millrace::samples {
namespace {

// The test pattern of virus scanners, in two halves: no scanner should find it in this program.
std::string eicar() {
  return std::string("X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR") + "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*";
}

// A PDF from its objects, numbered from 1; the first is the catalogue.
std::string raw_pdf(const std::vector<std::string>& objects) {
  std::string pdf = "%PDF-1.7\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    offsets.push_back(pdf.size());
    pdf += fmt::format("{} 0 obj\n", i + 1) + objects[i] + "\nendobj\n";
  }
  const std::size_t table = pdf.size();
  pdf += fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (const std::size_t offset : offsets) pdf += fmt::format("{:010} 00000 n \n", offset);
  pdf += fmt::format("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n",
                     objects.size() + 1, table);
  return pdf;
}

std::string stream(std::string_view dictionary, const std::string& bytes) {
  return fmt::format("<< /Length {} {} >>\nstream\n", bytes.size(), dictionary) + bytes +
         "\nendstream";
}

constexpr std::string_view kPages = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
constexpr std::string_view kPage =
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
    "/Resources << /Font << /F1 5 0 R >> >> >>";
constexpr std::string_view kFont = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

std::string script_pdf() {
  constexpr std::string_view kCatalogue =
      "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS "
      "(app.alert\\('hello'\\);) >> >>";
  return raw_pdf({std::string(kCatalogue), std::string(kPages), std::string(kPage),
                  stream("", "BT /F1 12 Tf 72 760 Td (Please enable all features.) Tj ET"),
                  std::string(kFont)});
}

// 96 MiB of spaces in less than 100 KB.
std::string bomb_pdf() {
  const std::string content(std::size_t{96} * 1024 * 1024, ' ');
  return raw_pdf({"<< /Type /Catalog /Pages 2 0 R >>", std::string(kPages), std::string(kPage),
                  stream("/Filter /FlateDecode", zlib_packed(content)), std::string(kFont)});
}

// Says that everything is encrypted, with a handler and a key that open nothing.
std::string locked_pdf() {
  constexpr std::string_view kHandler =
      "<< /Filter /Standard /V 2 /R 3 /Length 128 /P -3904 /O "
      "<6f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0> /U "
      "<a1b2c3d4e5f60718293a4b5c6d7e8f90112233445566778899aabbccddeeff00> >>";
  std::string pdf = raw_pdf({"<< /Type /Catalog /Pages 2 0 R >>", std::string(kPages),
                             std::string(kPage), stream("", "\x91\x02\x7F\x33 not for you"),
                             std::string(kFont), std::string(kHandler)});
  const std::string_view root = "/Root 1 0 R";
  pdf.insert(pdf.rfind(root) + root.size(),
             " /Encrypt 6 0 R /ID [<00112233445566778899aabbccddeeff> "
             "<00112233445566778899aabbccddeeff>]");
  return pdf;
}

void put32(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>((value >> shift) & 0xFFU);
}

// A picture that says to be 60000 by 60000 pixels.
std::string giant_png() {
  Image image(pixCreate(8, 8, 8));
  l_uint8* data = nullptr;
  std::size_t size = 0;
  pixWriteMemPng(&data, &size, image.get(), 0);
  std::string png(reinterpret_cast<const char*>(data), size);
  lept_free(data);
  std::string header = "IHDR";
  put32(header, 60000);
  put32(header, 60000);
  header += png.substr(24, 5);
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : header) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc & 1U) != 0 ? 0xEDB88320U ^ (crc >> 1U) : crc >> 1U;
  }
  put32(header, ~crc);
  return png.replace(12, header.size(), header);
}

std::string program() {
  std::string bytes = "MZ\x90";
  bytes += std::string("\0\x03\0\0\0\x04\0\0\0\xFF\xFF\0\0\xB8", 14);
  bytes.resize(60, '\0');
  bytes += std::string("\x80\0\0\0", 4);
  bytes.resize(128, '\0');
  bytes += std::string("PE\0\0L\x01", 6);
  bytes.resize(1024, '\0');
  return bytes;
}

std::string letter_pdf(std::uint64_t seed) {
  Letters letters;
  const Document document = write_letter(Chance(seed).fork("hostile"), Language::en);
  PdfPages pdf(document.title);
  for (const SheetPage& page : typeset(document, letters)) pdf.add(page, letters);
  return pdf.finish();
}

}  // namespace

std::vector<Sample> hostile_samples(std::uint64_t seed) {
  std::vector<Sample> samples;
  const auto add = [&](std::string_view file, std::string bytes, std::string_view rule) {
    TruthFile truth;
    truth.file = file;
    truth.sample_class = "hostile";
    truth.kind = "hostile";
    truth.seed = seed;
    truth.state = "rejected";
    truth.rule = rule;
    samples.push_back({std::move(bytes), std::move(truth)});
  };
  const Flow flow = flow_of(write_letter(Chance(seed).fork("hostile flow"), Language::en));
  const std::string pdf = letter_pdf(seed);

  add("hostile_eicar.txt", eicar() + "\n", "eicar_test_file");
  const std::string pattern = eicar();
  const DocxExtra infected = {"word/embeddings/note.txt", pattern};
  add("hostile_eicar.docx", docx_of(flow, std::span(&infected, 1)), "eicar_test_file");
  Zip zip;
  zip.add("report/note.txt", pattern);
  add("hostile_eicar.zip", std::move(zip).finish(), "unsupported_type");
  const DocxExtra macros = {"word/vbaProject.bin",
                            std::string_view("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 Attribute VB_Name "
                                             "= \"ThisDocument\" Sub AutoOpen()")};
  add("hostile_macro.docm", docx_of(flow, std::span(&macros, 1)), "office_macro");
  add("hostile_script.pdf", script_pdf(), "pdf_javascript");
  add("hostile_bomb.pdf", bomb_pdf(), "ratio");
  add("hostile_locked.pdf", locked_pdf(), "encrypted");
  add("hostile_truncated.pdf", pdf.substr(0, pdf.size() / 3), "truncated");
  add("hostile_program.pdf", program(), "unsupported_type");
  add("hostile_empty.pdf", {}, "empty");
  add("hostile_giant.png", giant_png(), "pixels");
  return samples;
}

}  // namespace millrace::samples
