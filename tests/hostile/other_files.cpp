// Files that are nothing, something else, or two things at once; names; texts.
#include "corpus.h"
#include "document/inspect/made_image.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"

namespace millrace::hostile {

using namespace document;
using namespace std::string_literals;

namespace {

std::string pdf() {
  MadePdf made;
  return made.page().bytes();
}

std::string zip() { return MadeZip().add("Main.class", "\xca\xfe\xba\xbe").bytes(); }

using Add = std::function<void(std::string, std::string, std::function<std::string()>)>;

void add_types(const Add& add) {
  add("nothing", "empty", [] { return ""s; });
  for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
    add(fmt::format("one byte, {}", static_cast<unsigned char>(byte)), "unsupported_type",
        [byte] { return std::string(1, byte); });
  }
  add("noise", "unsupported_type", [] { return noise(41, 1'000); });
  add("much noise", "unsupported_type", [] { return noise(42, 2'000'000); });
  add("zeros", "unsupported_type", [] { return std::string(1'000'000, '\0'); });
  const std::pair<const char*, std::string> types[] = {
      {"Linux program",
       "\x7f"
       "ELF\x02\x01\x01"s +
           std::string(100, '\0')},
      {"Windows program", "MZ\x90\0"s + std::string(200, '\0') + "PE\0\0"s},
      {"shell script", "#!/bin/sh\nrm -rf /\n"},
      {"batch file", "@echo off\r\nformat c:\r\n"},
      {"PHP", "<?php system($_GET['c']); ?>"},
      {"web page", "<!doctype html><script>alert(1)</script>"},
      {"web page with a mark", "\xef\xbb\xbf  <HTML><body onload=x>"},
      {"SVG with a script", "<svg xmlns='http://www.w3.org/2000/svg'><script>x</script></svg>"},
      {"XML laughs", "<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'ha'>]><l>&a;</l>"},
      {"RTF with an object", "{\\rtf1{\\object\\objdata 0105}}"},
      {"old office file", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + std::string(600, '\0')},
      {"archive", zip()},
      {"empty archive", "PK\x05\x06" + std::string(18, '\0')},
      {"gzip bomb", "\x1f\x8b\x08\0\0\0\0\0\0\x03"s + deflated_zeros(50'000'000, true)},
      {"RAR", "Rar!\x1a\x07\x01\0"s},
      {"7z", "7z\xbc\xaf\x27\x1c\0\x04"s},
      {"TAR", std::string(257, 'a') + "ustar\0"s + std::string(300, '\0')},
      {"shortcut", "L\0\0\0\x01\x14\x02\0"s + std::string(100, '\0')},
      {"Flash", "FWS\x0a" + noise(43, 100)},
      {"Java class", "\xca\xfe\xba\xbe\0\0\0\x34"s},
      {"PostScript", "%!PS-Adobe-3.0\n{loop} exec\n"},
      {"HEIF",
       "\0\0\0\x18"
       "ftypheic"s +
           noise(44, 200)},
      {"film",
       "\0\0\0\x18"
       "ftypmp42"s +
           noise(45, 200)},
  };
  for (const auto& [what, bytes] : types) {
    add(what, "unsupported_type", [bytes] { return bytes; });
  }
  add("test virus", "eicar_test_file", [] { return eicar(); });
  add("test virus with a line end", "eicar_test_file", [] { return eicar() + "\r\n"; });
  add("test virus in a text", "eicar_test_file", [] { return "Dear all,\n" + eicar() + "\nBye"; });
  add("test virus in a remark of a photograph", "eicar_test_file",
      [] { return made_jpeg(8, 8, jpeg_segment(0xfe, eicar())); });
  add("test virus in a text of a png", "eicar_test_file",
      [] { return made_png(4, 4, png_chunk("tEXt", "a\0"s + eicar())); });
  add("base64 of a program in a text", "embedded_executable",
      [] { return "data: TVqQAAMAAAAEA"s + "AAA//8AALgAAAA"; });
}

void add_polyglots(const Add& add) {
  add("PDF and archive", "polyglot", [] { return pdf() + zip(); });
  add("PDF and archive with a long remark", "polyglot", [] {
    auto bytes = zip();
    bytes.replace(bytes.size() - 2, 2, little(pdf().size(), 2));
    return "%PDF-1.4\n" + bytes + pdf();
  });
  add("archive and PDF", "polyglot", [] { return MadeZip().add("a.pdf", pdf(), false).bytes(); });
  add("web page and PDF", "polyglot",
      [] { return "<html><script>x</script><!--" + pdf() + "-->"; });
  add("program and PDF", "polyglot", [] { return "MZ" + std::string(100, '\0') + pdf(); });
  add("noise and PDF", "polyglot", [] { return noise(46, 600) + pdf(); });
  add("GIF and PDF", "polyglot", [] { return made_gif(4, 4) + pdf(); });
  add("GIF and script", "polyglot",
      [] { return made_gif(4, 4).replace(6, 2, "/*") + "*/=1;alert(1)"; });
  add("GIF and archive", "polyglot", [] { return made_gif(4, 4) + zip(); });
  add("JPEG and PDF in a remark", "polyglot",
      [] { return made_jpeg(8, 8, jpeg_segment(0xfe, pdf())); });
  add("JPEG and archive", "polyglot", [] { return made_jpeg(8, 8) + zip(); });
  add("JPEG and web page", "polyglot",
      [] { return made_jpeg(8, 8, jpeg_segment(0xfe, "<script>alert(1)</script>")); });
  add("JPEG and PHP", "polyglot",
      [] { return made_jpeg(8, 8, jpeg_segment(0xe1, "<?php phpinfo(); ?>")); });
  add("JPEG and RAR", "polyglot", [] { return made_jpeg(8, 8) + "Rar!\x1a\x07"; });
  add("PNG and archive", "polyglot", [] { return made_png(4, 4) + zip(); });
  add("PNG and PHP", "polyglot",
      [] { return made_png(4, 4, png_chunk("tEXt", "Comment\0<?php x ?>"s)); });
  add("PNG and web page", "polyglot", [] { return made_png(4, 4) + "<html></html>"; });
  add("BMP and script", "", [] { return made_bmp(4, 4).replace(2, 2, "/*") + "*/=1;alert(1)"; });
  add("BMP and archive", "polyglot", [] { return made_bmp(4, 4) + zip(); });
  add("WebP and archive", "polyglot", [] { return made_webp(4, 4) + zip(); });
  add("TIFF and archive", "polyglot", [] { return made_tiff(8, 8) + zip(); });
  add("text and archive", "", [] { return "Just a text\n" + zip(); });
  add("office file and PDF", "polyglot", [] {
    auto made = made_docx("");
    made.entries.insert(made.entries.begin(),
                        MadeEntry{.name = "a.pdf", .content = pdf(), .packed = false});
    return made.bytes();
  });
}

void add_texts(const Add& add) {
  add("text of a hundred megabytes", "text_bytes", [] { return std::string(100'000'000, 'a'); });
  add("text of a million pages", "page_count", [] { return std::string(1'000'000, '\f') + "x"; });
  add("text of one line of forty megabytes", "page_count",
      [] { return std::string(40'000'000, 'a'); });
  add("text of line ends", "page_count", [] { return std::string(5'000'000, '\n'); });
}

}  // namespace

Corpus other_files() {
  Corpus corpus;
  const Add add = [&](std::string name, std::string rule, std::function<std::string()> make) {
    corpus.push_back({.name = name,
                      .expect = Expect::refused,
                      .rule = std::move(rule),
                      .make = std::move(make)});
  };
  add_types(add);
  add_polyglots(add);
  add_texts(add);
  const std::pair<std::string, const char*> names[] = {{"report.exe", "name_mismatch"},
                                                       {"report.pdf.js", "name_mismatch"},
                                                       {"report.png", "name_mismatch"},
                                                       {"report.docx", "name_mismatch"},
                                                       {"report\u202Efdp.pdf", "name_trick"},
                                                       {"../../../etc/passwd.pdf", "name_trick"},
                                                       {"a\x01"
                                                        "b.pdf",
                                                        "name_trick"},
                                                       {"a.pdf.", "name_trick"},
                                                       {"a.pdf               .exe", "name_trick"},
                                                       {"\xff\xfe.pdf", "name_trick"},
                                                       {"C:\\Windows\\a.pdf", "name_trick"}};
  for (const auto& [name, rule] : names) {
    corpus.push_back({.name = fmt::format("name {}", corpus.size()),
                      .expect = Expect::flagged,
                      .rule = rule,
                      .make = pdf,
                      .file_name = name});
  }
  return corpus;
}

}  // namespace millrace::hostile
