// PDF files that unpack, draw or are larger than anybody has memory for.
#include "corpus.h"
#include "document/inspect/made_image.h"
#include "document/inspect/made_pdf.h"

namespace millrace::hostile {

using namespace document;

namespace {

constexpr std::uint64_t kMega = 1024 * 1024;

MadePdf one_page() {
  MadePdf pdf;
  pdf.page();
  return pdf;
}

// A page whose content is this stream.
std::string content(std::string_view dictionary, std::string_view data) {
  MadePdf pdf;
  const auto stream = pdf.add(pdf_stream(dictionary, data));
  return pdf.page_of(stream).bytes();
}

std::string image(std::string_view dictionary, std::string_view data = "x") {
  auto pdf = one_page();
  pdf.add(pdf_stream(fmt::format("/Type /XObject /Subtype /Image {}", dictionary), data));
  return pdf.bytes();
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text + ">";
}

// 128 times the same byte for every two.
std::string run_lengths(std::size_t runs) {
  std::string data;
  for (std::size_t i = 0; i < runs; ++i) data += "\x81\x20";
  return data + "\x80";
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string filters(std::size_t count) {
  return "/Filter [" + repeated("/FlateDecode ", count) + "]";
}

using Add = std::function<void(std::string, std::string, std::function<std::string()>)>;

void add_streams(const Add& add) {
  add("content is a bomb", "ratio",
      [] { return content("/Filter /FlateDecode", deflated_zeros(64 * kMega)); });
  add("content of a gigabyte", "ratio",
      [] { return content("/Filter /FlateDecode", deflated_zeros(1024 * kMega)); });
  add("bomb that nobody refers to", "ratio", [] {
    auto pdf = one_page();
    pdf.add(pdf_stream("/Filter /FlateDecode", deflated_zeros(100 * kMega)));
    return pdf.bytes();
  });
  add("font is a bomb", "ratio", [] {
    auto pdf = one_page();
    const auto file = pdf.add(pdf_stream("/Filter /FlateDecode", deflated_zeros(100 * kMega)));
    pdf.add(fmt::format("<< /Type /FontDescriptor /FontFile2 {} 0 R >>", file));
    return pdf.bytes();
  });
  add("filter name with escapes", "ratio",
      [] { return content("/Filter /Fl#61teDecode", deflated_zeros(64 * kMega)); });
  add("bomb in a bomb", "",
      [] { return content(filters(2), deflated(deflated_zeros(500 * kMega))); });
  add("bomb in a bomb in a bomb", "",
      [] { return content(filters(3), deflated(deflated(deflated_zeros(1000 * kMega)))); });
  add("bomb in hexadecimal", "ratio", [] {
    return content("/Filter [/ASCIIHexDecode /FlateDecode]", hex(deflated_zeros(64 * kMega)));
  });
  add("hundreds of streams below the floor", "", [] {
    auto pdf = one_page();
    const auto data = deflated_zeros(15 * kMega);
    for (int i = 0; i < 150; ++i) pdf.add(pdf_stream("/Filter /FlateDecode", data));
    return pdf.bytes();
  });
  for (const std::size_t count : {5, 100, 5'000}) {
    add(fmt::format("chain of {} filters", count), "pdf_filters", [count] {
      return content("/Filter [" + repeated("/ASCIIHexDecode ", count) + "]", "41>");
    });
  }
  add("cross references are a bomb", "ratio", [] {
    std::string file = "%PDF-1.5\n";
    const auto at = file.size();
    file +=
        "1 0 obj\n" + pdf_stream("/Type /XRef /Size 10 /W [1 2 1] /Root 2 0 R /Filter /FlateDecode",
                                 deflated_zeros(300 * kMega));
    return file + fmt::format("\nendobj\nstartxref\n{}\n%%EOF\n", at);
  });
  add("object stream is a bomb", "ratio", [] {
    auto pdf = one_page();
    pdf.add(pdf_stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode",
                       deflated_zeros(300 * kMega)));
    return pdf.bytes();
  });
}

void add_sizes(const Add& add) {
  for (const auto* box : {"[0 0 1000000 1000000]", "[0 0 999999999999 9]",
                          "[-9999999999 -9 9999999999 9]", "[0 0 20001 5]"}) {
    add(fmt::format("page of {}", box), "page_size", [box] {
      MadePdf pdf;
      return pdf.page("x", fmt::format("/MediaBox {}", box)).bytes();
    });
  }
  add("unit of a kilometre", "page_size", [] {
    MadePdf pdf;
    return pdf.page("x", "/UserUnit 1000000").bytes();
  });
  add("image of ten milliard pixels", "pixels",
      [] { return image("/Width 100000 /Height 100000"); });
  add("image with sides beyond numbers", "pixels",
      [] { return image("/Width 9223372036854775807 /Height 2"); });
  add("JPEG that says 65500 by 65500", "pixels",
      [] { return image("/Width 10 /Height 10 /Filter /DCTDecode", made_jpeg(65'500, 65'500)); });
  add("JPEG 2000 of four milliard by four milliard", "pixels", [] {
    return image("/Width 10 /Height 10 /Filter /JPXDecode", "\xff\x4f\xff\x51" + big(47, 2) +
                                                                big(0, 2) + big(0xffffffff, 4) +
                                                                big(0xffffffff, 4) + big(0, 24));
  });
  add("JBIG2 of four milliard by two milliard", "pixels", [] {
    return image("/Width 10 /Height 10 /Filter /JBIG2Decode",
                 big(0, 4) + "\x30" + std::string(1, '\0') + "\x01" + big(19, 4) +
                     big(0xfffffffe, 4) + big(0x7fffffff, 4) + std::string(11, '\0'));
  });
  add("content of a million saved states", "pdf_content",
      [] { return content("", repeated("q ", 1'000'000)); });
  add("forms that double forty times", "pdf_content", [] {
    MadePdf pdf;
    for (int i = 0; i < 40; ++i) {
      pdf.set(20 + i, pdf_stream(fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
                                             "/Resources << /XObject << /X {} 0 R >> >>",
                                             21 + i),
                                 "/X Do /X Do"));
    }
    const auto stream = pdf.add(pdf_stream("", "/X Do"));
    return pdf.page_of(stream, "/Resources << /XObject << /X 20 0 R >> >>").bytes();
  });
  add("forms that multiply by a hundred, five times", "pdf_content", [] {
    MadePdf pdf;
    for (int i = 0; i < 5; ++i) {
      pdf.set(20 + i,
              pdf_stream(fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources "
                                     "<< /XObject << /X {} 0 R >> >>",
                                     21 + i),
                         repeated("/X Do ", 100)));
    }
    pdf.set(25, pdf_stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", "0 0 9 9 re f"));
    const auto stream = pdf.add(pdf_stream("", "/X Do"));
    return pdf.page_of(stream, "/Resources << /XObject << /X 20 0 R >> >>").bytes();
  });
}

void add_bounded(const Add& add) {
  add("rows of two milliard columns", "", [] {
    return content(
        "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 2147483647 /Colors 4 >>",
        deflated("x"));
  });
  add("predictor of nonsense", "", [] {
    return content(
        "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns -5 /BitsPerComponent 99 >>",
        deflated("xxxx"));
  });
  add("fax of a milliard columns", "", [] {
    return image(
        "/Width 10 /Height 10 /Filter /CCITTFaxDecode /DecodeParms << /Columns 1000000000 /K -1 "
        ">>");
  });
  add("sixty-four times its size, in runs", "",
      [] { return content("/Filter /RunLengthDecode", run_lengths(400'000)); });
  add("LZW of noise", "", [] { return content("/Filter /LZWDecode", noise(5, 100'000)); });
  add("hexadecimal without an end", "",
      [] { return content("/Filter /ASCIIHexDecode", repeated("zz", 100'000)); });
  add("85 without an end", "", [] { return content("/Filter /ASCII85Decode", noise(6, 100'000)); });
  add("unknown filter", "", [] { return content("/Filter /MadeUpDecode", "x"); });
  add("encrypted stream in a file without keys", "", [] { return content("/Filter /Crypt", "x"); });
  add("page without an area", "", [] {
    MadePdf pdf;
    return pdf.page("x", "/MediaBox [5 5 5 5]").bytes();
  });
  add("page with a box of words", "", [] {
    MadePdf pdf;
    return pdf.page("x", "/MediaBox [/a /b (c) null]").bytes();
  });
  add("rotation beyond numbers", "", [] {
    MadePdf pdf;
    return pdf.page("x", "/Rotate -9223372036854775808").bytes();
  });
  add("content of a million open brackets", "",
      [] { return content("", repeated("[", 1'000'000)); });
  add("content of a million open strings", "",
      [] { return content("", repeated("(", 1'000'000)); });
  add("inline image without an end", "",
      [] { return content("", "BI /W 9 /H 9 ID " + noise(8, 200'000)); });
  add("form that draws itself", "", [] {
    MadePdf pdf;
    pdf.set(20, pdf_stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject "
                           "<< /X 20 0 R >> >>",
                           "/X Do /X Do"));
    const auto stream = pdf.add(pdf_stream("", "/X Do"));
    return pdf.page_of(stream, "/Resources << /XObject << /X 20 0 R >> >>").bytes();
  });
  add("pattern that paints itself", "", [] {
    auto pdf = one_page();
    pdf.set(30, pdf_stream("/Type /Pattern /PatternType 1 /BBox [0 0 1 1] /XStep 0.0001 /YStep "
                           "0.0001 /Resources << /Pattern << /P 30 0 R >> >>",
                           "/Pattern cs /P scn 0 0 1 1 re f"));
    return pdf.bytes();
  });
  add("broken font", "", [] {
    auto pdf = one_page();
    const auto file =
        pdf.add(pdf_stream("/Length1 100000", std::string("\0\1\0\0", 4) + noise(9, 20'000)));
    pdf.set(3, fmt::format("<< /Type /Font /Subtype /TrueType /FontDescriptor << /FontFile2 {} 0 R "
                           ">> /FirstChar 0 /LastChar 2147483647 /Widths [1] >>",
                           file));
    return pdf.bytes();
  });
  add("font of letters that draw themselves", "", [] {
    auto pdf = one_page();
    pdf.set(40, pdf_stream("", "1 0 d0 BT /F1 1 Tf (a) Tj ET"));
    pdf.set(3,
            "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] "
            "/CharProcs << /a 40 0 R >> /Encoding << /Differences [97 /a] >> /Resources << /Font "
            "<< /F1 3 0 R >> >> >>");
    return pdf.bytes();
  });
  add("function that samples without end", "", [] {
    auto pdf = one_page();
    pdf.add(
        pdf_stream("/FunctionType 0 /Domain [0 1 0 1 0 1] /Range [0 1] /Size [2000000 2000000 "
                   "2000000] /BitsPerSample 32",
                   "x"));
    return pdf.bytes();
  });
}

}  // namespace

Corpus pdf_bombs() {
  Corpus corpus;
  const auto with = [&](Expect expect) {
    return
        [&corpus, expect](std::string name, std::string rule, std::function<std::string()> make) {
          corpus.push_back({.name = "pdf: " + name,
                            .expect = expect,
                            .rule = std::move(rule),
                            .make = std::move(make)});
        };
  };
  add_streams(with(Expect::refused));
  add_sizes(with(Expect::refused));
  add_bounded(with(Expect::bounded));
  return corpus;
}

}  // namespace millrace::hostile
