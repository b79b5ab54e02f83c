// made_pdf: a small PDF with a text layer, written by hand: pages of lines in Helvetica. Equal
// lines give an equal page, whatever is on the others.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace millrace::test {

using PdfPage = std::vector<std::string>;

inline std::string pdf_of(const std::vector<std::string>& objects) {
  std::string pdf = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
  std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    table += fmt::format("{:010} 00000 n \n", pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const auto at = pdf.size();
  pdf += fmt::format("{}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n", table,
                     objects.size() + 1, at);
  return pdf;
}

inline std::string escaped(const std::string& line) {
  std::string out;
  for (const char c : line) {
    if (c == '(' || c == ')' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

inline std::string made_pdf(const std::vector<PdfPage>& pages) {
  std::vector<std::string> objects;
  std::string kids;
  for (std::size_t i = 0; i < pages.size(); ++i) kids += fmt::format("{} 0 R ", 4 + 2 * i);
  objects.emplace_back("<< /Type /Catalog /Pages 2 0 R >>");
  objects.push_back(fmt::format("<< /Type /Pages /Count {} /Kids [ {}] >>", pages.size(), kids));
  objects.emplace_back(
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string text = "BT /F1 11 Tf 60 780 Td 16 TL\n";
    for (const auto& line : pages[i]) {
      text += fmt::format("({}) Tj T*\n", escaped(line));
    }
    text += "ET\n";
    objects.push_back(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R "
                    "/Resources << /Font << /F1 3 0 R >> >> >>",
                    5 + 2 * i));
    objects.push_back(fmt::format("<< /Length {} >>\nstream\n{}endstream", text.size(), text));
  }
  return pdf_of(objects);
}

// One page that is too long for one question to a model: hundreds of wide lines, and something to
// find on a few of them.
inline std::string made_long_pdf(const std::string& name) {
  std::string text = "BT /F1 11 Tf 60 8000 Td 16 TL\n";
  for (int line = 0; line < 450; ++line) {
    auto words = fmt::format("Line {} of {}:", line, name);
    while (words.size() < 280) words += " nothing of note here";
    if (line % 100 == 50) words = "Metformin 500 mg twice daily";
    text += fmt::format("({}) Tj T*\n", escaped(words));
  }
  text += "ET\n";
  return pdf_of(
      {"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [ 4 0 R ] >>",
       "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
       "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2000 8100] /Contents 5 0 R /Resources << /Font "
       "<< /F1 3 0 R >> >> >>",
       fmt::format("<< /Length {} >>\nstream\n{}endstream", text.size(), text)});
}

// A page that is nothing but a picture of one shade of grey; with a stamp, a line of text on it.
struct ScanPage {
  int shade = 255;
  std::string stamp = {};
};

inline std::string made_scans(const std::vector<ScanPage>& pages) {
  constexpr int kSide = 10;
  std::vector<std::string> objects;
  std::string kids;
  for (std::size_t i = 0; i < pages.size(); ++i) kids += fmt::format("{} 0 R ", 4 + 3 * i);
  objects.emplace_back("<< /Type /Catalog /Pages 2 0 R >>");
  objects.push_back(fmt::format("<< /Type /Pages /Count {} /Kids [ {}] >>", pages.size(), kids));
  objects.emplace_back(
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string content = "q 595 0 0 842 0 0 cm /Im Do Q\n";
    if (!pages[i].stamp.empty()) {
      content += fmt::format("BT /F1 11 Tf 60 780 Td ({}) Tj ET\n", escaped(pages[i].stamp));
    }
    objects.push_back(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R "
                    "/Resources << /Font << /F1 3 0 R >> /XObject << /Im {} 0 R >> >> >>",
                    5 + 3 * i, 6 + 3 * i));
    objects.push_back(
        fmt::format("<< /Length {} >>\nstream\n{}endstream", content.size(), content));
    const std::string pixels(std::size_t{kSide} * kSide, static_cast<char>(pages[i].shade));
    objects.push_back(
        fmt::format("<< /Type /XObject /Subtype /Image /Width {0} /Height {0} /BitsPerComponent 8 "
                    "/ColorSpace /DeviceGray /Length {1} >>\nstream\n{2}\nendstream",
                    kSide, pixels.size(), pixels));
  }
  return pdf_of(objects);
}

}  // namespace millrace::test
