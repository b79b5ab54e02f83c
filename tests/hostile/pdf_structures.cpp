// PDF files whose objects lead nowhere, in circles, or too deep.
#include "corpus.h"
#include "document/inspect/made_image.h"
#include "document/inspect/made_pdf.h"

namespace millrace::hostile {

using namespace document;

namespace {

MadePdf one_page() {
  MadePdf pdf;
  pdf.page();
  return pdf;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string with_object(std::string body) {
  auto pdf = one_page();
  pdf.add(std::move(body));
  return pdf.bytes();
}

std::string with_tree(std::string root) {
  auto pdf = one_page();
  return pdf.set(2, std::move(root)).bytes();
}

std::string with_trailer(std::string text) {
  auto pdf = one_page();
  pdf.trailer = std::move(text);
  return pdf.bytes();
}

// The last occurrence of `what` becomes `with`.
std::string changed(std::string bytes, std::string_view what, std::string_view with) {
  const auto at = bytes.rfind(what);
  return bytes.replace(at, what.size(), with);
}

// A file whose cross references are a stream with this dictionary and data.
std::string with_xref_stream(std::string_view dictionary, std::string_view data) {
  std::string file = "%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n";
  const auto at = file.size();
  file += "9 0 obj\n" + pdf_stream(fmt::format("/Type /XRef /Root 1 0 R {}", dictionary), data);
  return file + fmt::format("\nendobj\nstartxref\n{}\n%%EOF\n", at);
}

// Objects 10 to 12 in an object stream (9), found by a cross-reference stream.
std::string with_object_stream(std::string_view dictionary, std::string_view data, int holder = 9) {
  std::string file = "%PDF-1.5\n";
  std::string table;
  const auto entry = [&](int type, std::size_t a, int b) {
    table += static_cast<char>(type) + big(a, 4) + big(static_cast<std::uint64_t>(b), 1);
  };
  entry(0, 0, 0);
  const auto put = [&](int number, std::string_view body) {
    entry(1, file.size(), 0);
    file += fmt::format("{} 0 obj\n{}\nendobj\n", number, body);
  };
  put(1, "<< /Type /Catalog /Pages 2 0 R >>");
  put(2, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>");
  put(3, "<< /Type /Page /MediaBox [0 0 9 9] /Parent 2 0 R /Resources 10 0 R >>");
  for (int i = 4; i < 9; ++i) entry(0, 0, 0);
  put(9, pdf_stream(dictionary, data));
  for (int i = 0; i < 3; ++i) entry(2, static_cast<std::size_t>(holder), i);
  const auto at = file.size();
  entry(1, at, 0);
  file += "13 0 obj\n" + pdf_stream("/Type /XRef /Root 1 0 R /Size 14 /W [1 4 1]", table);
  return file + fmt::format("\nendobj\nstartxref\n{}\n%%EOF\n", at);
}

using Add = std::function<void(std::string, std::string, std::function<std::string()>)>;

void add_trees(const Add& add, const Add& bounded) {
  add("tree that is its own child", "pdf_page_tree",
      [] { return with_tree("<< /Type /Pages /Count 1 /Kids [2 0 R] >>"); });
  add("two trees that are each other's child", "pdf_page_tree", [] {
    MadePdf pdf;
    pdf.set(2, "<< /Type /Pages /Count 1 /Kids [20 0 R] >>")
        .set(20, "<< /Type /Pages /Count 1 /Kids [2 0 R] >>");
    return pdf.bytes();
  });
  add("tree ten thousand deep", "pdf_page_tree", [] {
    MadePdf pdf;
    pdf.set(2, "<< /Type /Pages /Count 1 /Kids [10 0 R] >>");
    for (int i = 10; i < 10'010; ++i)
      pdf.set(i, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", i + 1));
    return pdf.set(10'010, "<< /Type /Page >>").bytes();
  });
  add("a million pages declared", "page_count", [] {
    auto pdf = one_page();
    pdf.count = 1'000'000;
    return pdf.bytes();
  });
  add("one page a million times", "page_count", [] {
    return with_tree("<< /Type /Pages /Count 1000000 /Kids [" + repeated("4 0 R ", 1'000'000) +
                     "] >>");
  });
  add("five thousand and one pages", "page_count", [] {
    MadePdf pdf;
    pdf.set(4, "<< /Type /Page /MediaBox [0 0 9 9] >>");
    return pdf.set(2, "<< /Type /Pages /Count 5001 /Kids [" + repeated("4 0 R ", 5'001) + "] >>")
        .bytes();
  });
  add("tree that doubles thirty times", "", [] {
    MadePdf pdf;
    pdf.set(2, "<< /Type /Pages /Count 1 /Kids [10 0 R 10 0 R] >>");
    for (int i = 10; i < 40; ++i)
      pdf.set(i, fmt::format("<< /Type /Pages /Count 1 /Kids [{0} 0 R {0} 0 R] >>", i + 1));
    return pdf.set(40, "<< /Type /Page >>").bytes();
  });
  add("no pages", "no_pages", [] { return with_tree("<< /Type /Pages /Count 0 /Kids [] >>"); });
  add("children that are numbers", "no_pages",
      [] { return with_tree("<< /Type /Pages /Count 3 /Kids [1 2 3] >>"); });
  bounded("count below zero", "", [] {
    auto pdf = one_page();
    pdf.count = -5;
    return pdf.bytes();
  });
  bounded("page that is its own parent and resource", "", [] {
    MadePdf pdf;
    pdf.set(4, "<< /Type /Page /Parent 4 0 R /Resources 4 0 R /Contents 4 0 R /Annots 4 0 R >>");
    return pdf.set(2, "<< /Type /Pages /Count 1 /Kids [4 0 R] >>").bytes();
  });
  add("pages that share a hundred thousand objects", "pdf_complexity", [] {
    MadePdf pdf;
    std::string list;
    for (int i = 1'000; i < 11'000; ++i) {
      pdf.set(i, "<< /A 1 >>");
      list += fmt::format("/X{0} {0} 0 R ", i);
    }
    pdf.set(5, "<< /XObject << " + list + " >> >>");
    std::string kids;
    for (int i = 0; i < 1'000; ++i) {
      pdf.set(20'000 + i, "<< /Type /Page /MediaBox [0 0 9 9] /Resources 5 0 R >>");
      kids += fmt::format("{} 0 R ", 20'000 + i);
    }
    return pdf.set(2, "<< /Type /Pages /Count 1000 /Kids [" + kids + "] >>").bytes();
  });
}

void add_references(const Add& add, const Add& bounded) {
  add("a million and a hundred thousand objects", "pdf_objects", [] {
    std::string file = "%PDF-1.4\n";
    for (int i = 1; i <= 1'100'000; ++i) file += fmt::format("{} 0 obj 0 endobj\n", i);
    return file + "trailer << /Root 1 0 R >>\nstartxref\n0\n%%EOF\n";
  });
  bounded("references that begin with themselves", "", [] {
    const auto bytes = one_page().bytes();
    return changed(bytes, "/Root 1 0 R",
                   fmt::format("/Root 1 0 R /Prev {}", bytes.rfind("xref\n0")));
  });
  bounded("references to references in a circle", "", [] {
    auto bytes = one_page().bytes();
    const auto first = bytes.rfind("xref\n0");
    const auto second = bytes.size();
    bytes +=
        fmt::format("xref\n0 0\ntrailer << /Root 1 0 R /Size 5 /Prev {} >>\nstartxref\n{}\n%%EOF\n",
                    first, second);
    return changed(bytes, "/Size 6", fmt::format("/Prev {} /Size 6", second));
  });
  bounded("references that declare four milliard", "",
          [] { return changed(one_page().bytes(), "xref\n0 6", "xref\n0 4000000000"); });
  bounded("references with numbers below zero", "",
          [] { return changed(one_page().bytes(), "xref\n0 6", "xref\n-5 6"); });
  bounded("size of two milliard", "",
          [] { return changed(one_page().bytes(), "/Size 6", "/Size 2147483647"); });
  bounded("references outside the file", "", [] {
    return changed(one_page().bytes(), "startxref\n", "startxref\n99999999999999999999");
  });
  bounded("references to the middle of an object", "",
          [] { return changed(one_page().bytes(), "startxref\n", "startxref\n20\n%"); });
  bounded("reference stream of a milliard entries", "", [] {
    return with_xref_stream("/Size 1000000000 /W [1 2 1] /Index [0 1000000000]", "\1\0\0\0");
  });
  bounded("reference stream of empty entries", "", [] {
    return with_xref_stream("/Size 2000000000 /W [0 0 0] /Index [0 2000000000]", "x");
  });
  bounded("reference stream of broad fields", "",
          [] { return with_xref_stream("/Size 5 /W [1000000000 1000000000 1]", "x"); });
  bounded("reference stream with fields below zero", "",
          [] { return with_xref_stream("/Size 5 /W [-1 2 1]", noise(1, 500)); });
  bounded("reference stream that begins with itself", "",
          [] { return with_xref_stream("/Size 10 /W [1 2 1] /Prev 56", std::string(40, '\1')); });
  bounded("no references at all", "", [] {
    const auto bytes = one_page().bytes();
    return bytes.substr(0, bytes.rfind("xref\n0")) + "%%EOF\n";
  });
  bounded("a thousand trailers", "", [] {
    return one_page().bytes() +
           repeated("trailer << /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF\n", 1'000);
  });
  bounded("object stream within itself", "", [] {
    return with_object_stream("/Type /ObjStm /N 3 /First 15", "9 0 10 3 11 6  1 2 3 ", 9);
  });
  bounded("objects in an object stream in an object stream", "", [] {
    return with_object_stream("/Type /ObjStm /N 1 /First 5", "10 0 << /A 10 0 R >>", 10);
  });
  bounded("object stream of a milliard objects", "",
          [] { return with_object_stream("/Type /ObjStm /N 1000000000 /First 5", "10 0 <<>>"); });
  bounded("object stream that begins beyond its end", "",
          [] { return with_object_stream("/Type /ObjStm /N 1 /First 2000000000", "10 0 <<>>"); });
  bounded("object stream that extends itself", "", [] {
    return with_object_stream("/Type /ObjStm /N 1 /First 5 /Extends 9 0 R", "10 0 <<>>");
  });
  bounded("object stream that is none", "",
          [] { return with_object_stream("/Type /XObject /Subtype /Image", "10 0 <<>>", 3); });
  bounded("object stream that claims to be an image", "", [] {
    return with_object_stream(
        "/Type /ObjStm /Subtype /Image /Width 9 /Height 9 /N 1 /First 5 /Filter /FlateDecode",
        deflated("10 0 <<>>" + std::string(12'000'000, ' ')));
  });
}

constexpr int kTimes = 30'000;

// Many objects that refer to one that is large: whoever goes through it for each never ends.
std::string with_sharers(std::string_view sharer, std::string_view entry) {
  auto pdf = one_page();
  std::string entries;
  for (int i = 0; i < kTimes; ++i) entries += fmt::format("/K{} {} ", i, entry);
  pdf.set(9, "<< " + entries + ">>");
  pdf.set(10, "<< /S /SubmitForm /Next 11 0 R >>");
  pdf.set(11, "[ " + repeated("10 0 R ", kTimes) + "]");
  pdf.set(12, pdf_stream("", "a file"));
  for (int i = 0; i < kTimes; ++i) pdf.set(100 + i, std::string(sharer));
  return pdf.bytes();
}

// The same of a long text or name, which is object 9.
std::string with_long_shared(std::string_view sharer, std::string shared) {
  auto pdf = one_page();
  pdf.set(9, std::move(shared));
  for (int i = 0; i < kTimes; ++i) pdf.set(100 + i, std::string(sharer));
  return pdf.bytes();
}

void add_sharers(const Add& flagged) {
  flagged("files that all objects share", "pdf_embedded_file",
          [] { return with_sharers("<< /EF 9 0 R >>", "12 0 R"); });
  flagged("related files that all objects share", "pdf_embedded_file",
          [] { return with_sharers("<< /EF << >> /RF 9 0 R >>", "12 0 R"); });
  flagged("a list of files that all objects share", "pdf_embedded_file",
          [] { return with_sharers("<< /EF << >> /RF << /F 11 0 R >> >>", "12 0 R"); });
  flagged("actions that all objects share", "pdf_remote_action",
          [] { return with_sharers("<< /AA 9 0 R >>", "10 0 R"); });
  flagged("a chain of actions that all objects share", "pdf_remote_action",
          [] { return with_sharers("<< /AA << /E 10 0 R >> >>", "10 0 R"); });
  flagged("chains of actions that go on together", "pdf_remote_action", [] {
    return with_sharers("<< /AA << /E << /S /SubmitForm /Next 11 0 R >> >> >>", "10 0 R");
  });
  flagged("a name of a file that all objects share", "pdf_embedded_file", [] {
    return with_long_shared("<< /EF << >> /F 9 0 R /UF 9 0 R >>",
                            "(" + std::string(10'000'000, 's') + ")");
  });
  // Not of ten megabytes: qpdf itself copies it for each object that it reads.
  flagged("a kind that all objects share", "pdf_embedded_file", [] {
    return with_long_shared("<< /EF << >> /S 9 0 R /Subtype 9 0 R >>",
                            "/" + std::string(1'000'000, 's'));
  });
}

// A thousand pages, which are one: what it refers to is gone through for each of them.
std::string with_equal_pages(MadePdf pdf, std::string_view page, std::string_view tree) {
  constexpr int kPages = 1'000;
  pdf.set(4, fmt::format("<< /Type /Page /MediaBox [0 0 9 9] /Parent 2 0 R {} >>", page));
  return pdf
      .set(2, fmt::format("<< /Type /Pages /Count {} /Kids [{}] {} >>", kPages,
                          repeated("4 0 R ", kPages), tree))
      .bytes();
}

void add_pages(const Add& add) {
  add("pages that share ten thousand annotations", "pdf_complexity", [] {
    MadePdf pdf;
    pdf.set(5, "[ " + repeated("6 0 R ", 10'000) + "]");
    pdf.set(6, "<< /Subtype /Link /Rect [0 0 9 9] >>");
    return with_equal_pages(pdf, "/Annots 5 0 R", "");
  });
  add("pages with fields that are their own parents", "pdf_complexity", [] {
    MadePdf pdf;
    pdf.set(5, "[ " + repeated("6 0 R ", 1'000) + "]");
    pdf.set(6, "<< /Subtype /Widget /Rect [0 0 9 9] /Parent 7 0 R >>");
    pdf.set(7, "<< /FT /Tx /Parent 7 0 R /V (v) >>");
    return with_equal_pages(pdf, "/Annots 5 0 R", "");
  });
  add("pages that inherit a hundred thousand numbers", "pdf_complexity", [] {
    return with_equal_pages({}, "", "/Resources << /X [" + repeated("1 ", 100'000) + "] >>");
  });
}

void add_depths(const Add& bounded) {
  bounded("arrays a hundred thousand deep", "",
          [] { return with_object(repeated("[", 100'000) + repeated("]", 100'000)); });
  bounded("dictionaries a hundred thousand deep", "",
          [] { return with_object(repeated("<</A ", 100'000) + "1" + repeated(">>", 100'000)); });
  bounded("arrays that never end", "", [] { return with_object(repeated("[", 1'000'000)); });
  bounded("deep trailer", "",
          [] { return with_trailer("/X " + repeated("[", 50'000) + repeated("]", 50'000)); });
  bounded("name of a megabyte", "", [] { return with_object("/" + std::string(1'000'000, 'N')); });
  bounded("string of ten megabytes without an end", "",
          [] { return with_object("(" + std::string(10'000'000, 's')); });
  bounded("hexadecimal string without an end", "",
          [] { return with_object("<" + std::string(5'000'000, 'a')); });
  bounded("number of a megabyte", "", [] { return with_object(std::string(1'000'000, '9')); });
  bounded("ten thousand dots", "", [] { return with_object(repeated("1.2.3 ", 10'000)); });
  bounded("length that is its own stream", "",
          [] { return with_object("<< /Length 6 0 R >>\nstream\nabc\nendstream"); });
  bounded("length beyond the file", "",
          [] { return with_object("<< /Length 2000000000 >>\nstream\nabc\nendstream"); });
  bounded("length below zero", "",
          [] { return with_object("<< /Length -1 >>\nstream\nabc\nendstream"); });
  bounded("stream without an end", "",
          [] { return with_object("<< /Length 5 >>\nstream\n" + noise(2, 50'000)); });
  bounded("a million words stream", "",
          [] { return one_page().bytes() + repeated("stream\n", 1'000'000) + "%%EOF"; });
  bounded("a million streams that begin like deflate", "",
          [] { return one_page().bytes() + repeated("stream\nx\x9c", 1'000'000) + "%%EOF"; });
  bounded("a million words obj", "",
          [] { return "%PDF-1.4\n" + repeated("1 0 obj\n", 900'000) + "%%EOF"; });
  bounded("a million words xref", "",
          [] { return "%PDF-1.4\n" + repeated("xref\n", 1'000'000) + "%%EOF"; });
  bounded("a million words trailer", "",
          [] { return "%PDF-1.4\n" + repeated("trailer << ", 500'000) + "%%EOF"; });
  bounded("reference to itself", "", [] {
    auto pdf = one_page();
    pdf.set(30, "30 0 R");
    return pdf.catalog("/X 30 0 R").bytes();
  });
  bounded("catalog that is a number", "", [] {
    auto pdf = one_page();
    return pdf.set(1, "7").bytes();
  });
  bounded("catalog that is a stream", "", [] {
    auto pdf = one_page();
    return pdf.set(1, pdf_stream("/Type /Catalog /Pages 2 0 R", "x")).bytes();
  });
  bounded("root that does not exist", "",
          [] { return changed(one_page().bytes(), "/Root 1 0 R", "/Root 99 0 R"); });
}

}  // namespace

Corpus pdf_structures() {
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
  const Add refused = with(Expect::refused);
  const Add bounded = with(Expect::bounded);
  add_trees(refused, bounded);
  add_references(refused, bounded);
  add_pages(refused);
  add_sharers(with(Expect::flagged));
  add_depths(bounded);
  refused("header and nothing", "", [] { return std::string("%PDF-1.7\n"); });
  refused("header and end", "", [] { return std::string("%PDF-1.7\n%%EOF\n"); });
  refused("header and noise", "", [] { return "%PDF-1.7\n" + noise(11, 1'000'000); });
  refused("header, noise and end", "",
          [] { return "%PDF-1.7\n" + noise(12, 1'000'000) + "\n%%EOF\n"; });
  return corpus;
}

}  // namespace millrace::hostile
