// made_pdf: a small PDF with a text layer, written by hand: pages of lines in Helvetica. Equal
// lines give an equal page, whatever is on the others.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace millrace::test {

using PdfPage = std::vector<std::string>;

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
      std::string escaped;
      for (const char c : line) {
        if (c == '(' || c == ')' || c == '\\') escaped += '\\';
        escaped += c;
      }
      text += fmt::format("({}) Tj T*\n", escaped);
    }
    text += "ET\n";
    objects.push_back(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R "
                    "/Resources << /Font << /F1 3 0 R >> >> >>",
                    5 + 2 * i));
    objects.push_back(fmt::format("<< /Length {} >>\nstream\n{}endstream", text.size(), text));
  }
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

}  // namespace millrace::test
