#include "corpus.h"

#include "document/inspect/made_image.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace millrace::hostile {

using namespace document;

std::string eicar() {
  // In two halves: scanners must not take this source for the thing itself.
  return std::string("X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR") + "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*";
}

std::string noise(std::uint32_t seed, std::size_t size) {
  std::mt19937 generator(seed);
  std::string bytes(size, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(generator() & 0xff);
  return bytes;
}

Corpus good_files() {
  Corpus corpus;
  const auto add = [&](std::string name, std::function<std::string()> make) {
    corpus.push_back(
        {.name = name, .expect = Expect::clean, .make = std::move(make), .file_name = name});
  };
  add("letter.pdf", [] {
    MadePdf pdf;
    for (int i = 0; i < 12; ++i) pdf.page("The patient takes Metformin 500 mg.");
    return pdf.bytes();
  });
  add("packed.pdf", [] {
    MadePdf pdf;
    const auto content =
        pdf.add(pdf_stream("/Filter /FlateDecode",
                           deflated("BT /F1 12 Tf (Aspirin) Tj ET " + std::string(20'000, ' '))));
    return pdf.page_of(content).bytes();
  });
  add("scan.png", [] { return made_png(400, 300); });
  add("photo.jpg", [] { return made_jpeg(8, 8); });
  add("fax.tif", [] { return made_tiff(64, 64, 4); });
  add("small.gif", [] { return made_gif(16, 16, 3); });
  add("picture.bmp", [] { return made_bmp(20, 20); });
  add("picture.webp", [] { return made_webp(20, 20); });
  add("grey.pgm", [] { return made_pgm(20, 20); });
  add("letter.docx", [] {
    std::string body;
    for (int i = 0; i < 80; ++i) body += docx_paragraph("Ramipril 5 mg, one in the morning");
    return made_docx(body).bytes();
  });
  add("labs.xlsx", [] {
    std::string rows;
    for (int i = 1; i < 100; ++i) {
      rows += fmt::format(
          "<row r=\"{0}\"><c r=\"A{0}\"><v>{0}</v></c><c r=\"B{0}\" t=\"s\"><v>0</v></c></row>", i);
    }
    return made_xlsx(rows, {"mmol/l"}).bytes();
  });
  add("talk.pptx", [] { return made_pptx({slide_text("One", true), slide_text("Two")}).bytes(); });
  add("letter.odt", [] { return made_odf("text", "<text:p>Hello</text:p>").bytes(); });
  add("notes.txt", [] { return std::string("Blood pressure 120/80\n"); });
  return corpus;
}

Corpus damaged_files() {
  Corpus corpus;
  for (const auto& good : good_files()) {
    if (good.name == "notes.txt") continue;  // Every part of a text is a text.
    for (const int percent : {12, 25, 50, 75, 97}) {
      corpus.push_back({.name = fmt::format("{}% of {}", percent, good.name),
                        .expect = Expect::refused,
                        .make = [make = good.make, percent] {
                          const auto bytes = make();
                          // Less than a type's first bytes is only a short text.
                          constexpr std::size_t kLeast = 12;
                          const auto rest = bytes.size() - kLeast;
                          return bytes.substr(
                              0, kLeast + rest * static_cast<std::size_t>(percent) / 100);
                        }});
    }
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      corpus.push_back({.name = fmt::format("{} with a wrong byte, {}", good.name, seed),
                        .expect = Expect::bounded,
                        .make = [make = good.make, seed] {
                          auto bytes = make();
                          const auto at = (seed * 2'654'435'761U) % bytes.size();
                          bytes[at] = static_cast<char>(bytes[at] ^ (1 << (seed % 8)));
                          return bytes;
                        }});
    }
    corpus.push_back({.name = fmt::format("{} with noise over its middle", good.name),
                      .expect = Expect::bounded,
                      .make = [make = good.make] {
                        auto bytes = make();
                        const auto third = bytes.size() / 3;
                        return bytes.replace(third, third, noise(7, third));
                      }});
  }
  return corpus;
}

Corpus hostile_corpus() {
  Corpus all;
  for (const auto part : {archives, office_files, pdf_bombs, pdf_structures, pdf_actions, images,
                          other_files, damaged_files}) {
    auto files = part();
    std::ranges::move(files, std::back_inserter(all));
  }
  return all;
}

}  // namespace millrace::hostile
