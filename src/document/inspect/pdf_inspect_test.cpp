#include "document/bounded/limits.h"
#include "document/inspect/inspection.h"
#include "document/inspect/made_image.h"
#include "document/inspect/made_inspection.h"
#include "document/inspect/made_pdf.h"
#include "document/inspect/made_zip.h"
#include "document/inspect/pdf_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace millrace::document {
namespace {

MadePdf one_page() {
  MadePdf pdf;
  pdf.page();
  return pdf;
}

std::string with_catalog(std::string_view extra) {
  auto pdf = one_page();
  return pdf.catalog(extra).bytes();
}

TEST(PdfInspect, AGoodFileIsClean) {
  MadePdf pdf;
  pdf.page("First page").page("Second", "/Rotate 90 /MediaBox [0 0 200 100]");
  const auto result = inspected(pdf.bytes(), "a.pdf");
  EXPECT_EQ(result.verdict(), "clean") << rules_of(pdf.bytes());
  EXPECT_EQ(result.text("kind"), "pdf");
  EXPECT_EQ(result.text("mime"), "application/pdf");
  ASSERT_EQ(result.pages(), 2U);
  EXPECT_EQ(result.page(1).at("width_pt").to_number<double>(), 612);
  EXPECT_EQ(result.page(1).at("text_chars").to_number<int>(), 10);
  EXPECT_EQ(result.page(2).at("rotation_deg").to_number<int>(), 90);
  EXPECT_EQ(result.page(2).at("width_pt").to_number<double>(), 200);
}

TEST(PdfNames, LongOnesAreNoneOfTheFormat) {
  QPDF pdf;
  pdf.emptyPDF();
  PdfNames names;
  const auto kind = pdf.makeIndirectObject(QPDFObjectHandle::newName("/JavaScript"));
  const auto other =
      pdf.makeIndirectObject(QPDFObjectHandle::newName("/" + std::string(1'000'000, 's')));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(names.of(kind), "/JavaScript");
    EXPECT_EQ(names.of(other), "");
    EXPECT_EQ(names.of(QPDFObjectHandle::newName("/S")), "/S");
    EXPECT_EQ(names.of(QPDFObjectHandle::newString("/S")), "");
  }
}

TEST(PdfInspect, ScriptsThatRunByThemselvesAreRefused) {
  const auto script = "<< /S /JavaScript /JS (app.alert\\(1\\)) >>";
  EXPECT_EQ(rules_of(with_catalog(fmt::format("/OpenAction {}", script))), "pdf_javascript:refuse");
  EXPECT_EQ(rules_of(with_catalog(fmt::format("/AA << /WC {} >>", script))),
            "pdf_javascript:refuse");
  EXPECT_EQ(
      rules_of(with_catalog(fmt::format("/Names << /JavaScript << /Names [(a) {}] >> >>", script))),
      "pdf_javascript:refuse");
  MadePdf page;
  page.page("x", fmt::format("/AA << /O {} >>", script));
  EXPECT_EQ(rules_of(page.bytes()), "pdf_javascript:refuse");
  EXPECT_EQ(rules_of(with_catalog(fmt::format("/OpenAction {}", script)), "", "flag"),
            "pdf_javascript:flag");
  // Behind an honest action.
  EXPECT_EQ(rules_of(with_catalog(
                fmt::format("/OpenAction << /S /GoTo /D [4 0 R /Fit] /Next [{}] >>", script))),
            "pdf_javascript:refuse");
  MadePdf chain;
  for (int i = 100; i < 2'100; ++i) {
    chain.set(i, fmt::format("<< /S /GoTo /D [4 0 R /Fit] /Next {} 0 R >>", i + 1));
  }
  chain.set(2'100, script).page("x").catalog("/OpenAction 100 0 R");
  EXPECT_EQ(rules_of(chain.bytes()), "pdf_javascript:refuse") << "however many there are";
  // Names may be written with escapes.
  EXPECT_EQ(rules_of(with_catalog("/OpenAction << /S /Java#53cript /J#53 (x) >>")),
            "pdf_javascript:refuse");
  EXPECT_EQ(rules_of(with_catalog("/OpenAction [4 0 R /Fit]")), "") << "a place to open at";
}

TEST(PdfInspect, ScriptsOfFieldsAreFlagged) {
  auto pdf = one_page();
  pdf.add("<< /FT /Tx /T (dose) /AA << /K << /S /JavaScript /JS (check) >> >> >>");
  EXPECT_EQ(rules_of(pdf.bytes()), "pdf_javascript:flag");
  auto twin = one_page();
  twin.add("<< /FT /Tx /T (dose) /V (JavaScript) >>");
  EXPECT_EQ(rules_of(twin.bytes()), "");
}

TEST(PdfInspect, ProgramsThatAreStartedAreRefused) {
  auto pdf = one_page();
  pdf.add("<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /Launch /F (cmd.exe) >> >>");
  EXPECT_EQ(rules_of(pdf.bytes()), "pdf_launch:refuse");
  EXPECT_EQ(rules_of(pdf.bytes(), "", "flag"), "pdf_launch:flag");
  auto twin = one_page();
  twin.add(
      "<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (https://a.example) >> "
      ">>");
  EXPECT_EQ(rules_of(twin.bytes()), "");
}

TEST(PdfInspect, ActionsThatReachOutAreFlaggedUnlessTheyRunByThemselves) {
  for (const auto* kind : {"SubmitForm", "ImportData", "GoToR", "GoToE"}) {
    auto pdf = one_page();
    pdf.add(fmt::format("<< /S /{} /F (a) >>", kind));
    EXPECT_EQ(rules_of(pdf.bytes()), "pdf_remote_action:flag") << kind;
    EXPECT_EQ(rules_of(with_catalog(fmt::format("/OpenAction << /S /{} /F (a) >>", kind))),
              "pdf_remote_action:refuse")
        << kind;
  }
  EXPECT_EQ(rules_of(with_catalog("/OpenAction << /S /GoTo /D [4 0 R /Fit] >>")), "");
}

TEST(PdfInspect, FormsOfXfaAndMediaAreFlagged) {
  EXPECT_EQ(rules_of(with_catalog("/AcroForm << /Fields [] /XFA [] >>")), "pdf_xfa:flag");
  EXPECT_EQ(rules_of(with_catalog("/AcroForm << /Fields [] >>")), "");
  auto pdf = one_page();
  pdf.add("<< /Type /Annot /Subtype /RichMedia >>");
  EXPECT_EQ(rules_of(pdf.bytes()), "pdf_rich_media:flag");
  EXPECT_EQ(rules_of(with_catalog("/Collection << /View /D >>")), "pdf_portfolio:flag");
}

TEST(PdfInspect, EmbeddedProgramsAreRefusedOtherFilesFlagged) {
  const auto with_file = [](std::string_view content, std::string_view name) {
    auto pdf = one_page();
    const auto stream = pdf.add(pdf_stream("/Type /EmbeddedFile", content));
    pdf.add(fmt::format("<< /Type /Filespec /F ({}) /EF << /F {} 0 R >> >>", name, stream));
    return pdf.bytes();
  };
  EXPECT_EQ(rules_of(with_file("<invoice/>", "invoice.xml")), "pdf_embedded_file:flag");
  EXPECT_EQ(rules_of(with_file("MZ\x90 binary", "photo.png")),
            "embedded_executable:refuse, pdf_embedded_file:flag");
  EXPECT_EQ(rules_of(with_file("harmless", "setup.exe")),
            "pdf_embedded_file:flag, embedded_executable:refuse");
}

// /Type is optional there: what a stream is, is said by what refers to it.
TEST(PdfInspect, EmbeddedFilesAreThoseThatAreReferredToAsSuch) {
  const auto with_file = [](std::string_view content, std::string_view type,
                            std::string_view list = "/EF << /F 30 0 R >>") {
    auto pdf = one_page();
    // Behind the file, and before it.
    pdf.set(30, pdf_stream(type, content));
    pdf.set(list.find("31 0 R") == list.npos ? 40 : 20,
            fmt::format("<< /Type /Filespec /F (photo.png) {} >>", list));
    pdf.set(31, pdf_stream(type, content));
    return rules_of(pdf.bytes());
  };
  constexpr auto kRefused = "pdf_embedded_file:flag, embedded_executable:refuse";
  const std::string elf(
      "\x7f"
      "ELF\x02\x01\x01\0",
      8);
  const auto zip = MadeZip().add("run.sh", "#!/bin/sh\nrm -r /\n").bytes();
  for (const auto& content : {elf, std::string("#!/bin/sh\nrm -r /\n"), zip}) {
    for (const auto* list :
         {"/EF << /F 30 0 R >>", "/EF << /F 31 0 R >>", "/EF << /UF 30 0 R >>",
          "/EF << /DOS 30 0 R >>", "/EF << /Mac 30 0 R >>", "/EF << /Unix 30 0 R >>",
          "/EF << >> /RF << /F [(photo.png) 30 0 R] >>"}) {
      EXPECT_EQ(with_file(content, "", list), kRefused) << list;
    }
    EXPECT_EQ(with_file(content, "/Subtype /Image /Width 1 /Height 1"), kRefused);
  }
  EXPECT_EQ(with_file(zip, "/Type /EmbeddedFile /Subtype /Image"),
            "embedded_executable:refuse, pdf_embedded_file:flag");
  EXPECT_EQ(with_file(deflated(elf), "/Filter /FlateDecode"), kRefused);
  auto deep = MadeZip().add("a.txt", "text").bytes();
  for (int i = 0; i < 3; ++i) deep = MadeZip().add("in.zip", deep).bytes();
  EXPECT_EQ(with_file(deep, ""), "pdf_embedded_file:flag, archive_depth:refuse");
  EXPECT_EQ(with_file("<invoice/>", ""), "pdf_embedded_file:flag");
  // Nobody's file: bytes of a picture may be any.
  auto pdf = one_page();
  pdf.add(pdf_stream("/Subtype /Image /Width 1 /Height 1", elf));
  pdf.add(pdf_stream("", "#! no file"));
  EXPECT_EQ(rules_of(pdf.bytes()), "");
}

TEST(PdfInspect, RefusesAPasswordAndFlagsEncryptionWithout) {
  auto pdf = one_page();
  pdf.trailer =
      "/ID [(0123456789abcdef) (0123456789abcdef)] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 "
      "/O <4141414141414141414141414141414141414141414141414141414141414141> "
      "/U <4242424242424242424242424242424242424242424242424242424242424242> >>";
  EXPECT_EQ(rules_of(pdf.bytes()), "encrypted:refuse");
}

// F17.
TEST(PdfInspect, RefusesAStreamThatUnpacksWithoutEnd) {
  auto pdf = one_page();
  pdf.add(pdf_stream("/Filter /FlateDecode", deflated_zeros(64 * kMiB)));
  EXPECT_EQ(rules_of(pdf.bytes()), "ratio:refuse");
  auto twin = one_page();
  twin.add(pdf_stream("/Filter /FlateDecode", deflated_zeros(8 * kMiB)));
  EXPECT_EQ(rules_of(twin.bytes()), "") << "below the floor";
}

TEST(PdfInspect, RefusesAStreamThatIsPackedTwice) {
  const auto inner = deflated_zeros(64 * kMiB);
  auto pdf = one_page();
  pdf.add(pdf_stream("/Filter [/FlateDecode /FlateDecode]", deflated(inner)));
  EXPECT_EQ(rules_of(pdf.bytes()), "ratio:refuse");
}

TEST(PdfInspect, RefusesLongChainsOfFilters) {
  const auto with = [](int filters) {
    std::string chain;
    std::string data = "text";
    for (int i = 0; i < filters; ++i) {
      chain += "/ASCIIHexDecode ";
      std::string hex;
      for (const char c : data) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
      data = hex + ">";
    }
    auto pdf = one_page();
    pdf.add(pdf_stream(fmt::format("/Filter [{}]", chain), data));
    return pdf.bytes();
  };
  EXPECT_EQ(rules_of(with(4)), "");
  EXPECT_EQ(rules_of(with(5)), "pdf_filters:refuse");
}

TEST(PdfInspect, RefusesCirclesInThePageTree) {
  auto pdf = one_page();
  pdf.set(2, "<< /Type /Pages /Count 1 /Kids [2 0 R] >>");
  EXPECT_EQ(rules_of(pdf.bytes()), "pdf_page_tree:refuse");
}

TEST(PdfInspect, RefusesDepthOfThePageTree) {
  const auto nested = [](int depth) {
    MadePdf pdf;
    pdf.set(2, "<< /Type /Pages /Count 1 /Kids [100 0 R] >>");
    for (int i = 0; i < depth; ++i) {
      pdf.set(100 + i, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", 101 + i));
    }
    pdf.set(100 + depth, "<< /Type /Page /MediaBox [0 0 9 9] >>");
    return pdf.bytes();
  };
  EXPECT_EQ(rules_of(nested(60)), "");
  EXPECT_EQ(rules_of(nested(64)), "pdf_page_tree:refuse");
}

TEST(PdfInspect, RefusesTooManyPages) {
  const auto with = [](int kids, std::optional<std::int64_t> count) {
    MadePdf pdf;
    std::string list;
    for (int i = 0; i < kids; ++i) list += "4 0 R ";
    pdf.set(4, "<< /Type /Page /MediaBox [0 0 9 9] >>");
    pdf.set(2, fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", count.value_or(kids), list));
    return pdf.bytes();
  };
  EXPECT_EQ(rules_of(with(5'000, {})), "");
  EXPECT_EQ(rules_of(with(5'001, {})), "page_count:refuse");
  EXPECT_EQ(rules_of(with(1, 1'000'000)), "page_count:refuse");
  EXPECT_EQ(rules_of(with(1, 2)), "pdf_page_count:flag");
}

TEST(PdfInspect, RefusesGiantPagesAndImages) {
  MadePdf pdf;
  pdf.page("x", "/MediaBox [0 0 30000 100]");
  EXPECT_EQ(rules_of(pdf.bytes()), "page_size:refuse");
  const auto image = [](std::string_view dictionary, std::string_view data) {
    auto made = one_page();
    made.add(pdf_stream(fmt::format("/Type /XObject /Subtype /Image {}", dictionary), data));
    return made.bytes();
  };
  EXPECT_EQ(rules_of(image("/Width 10000 /Height 10001", "")), "pixels:refuse");
  EXPECT_EQ(rules_of(image("/Width 100 /Height 100", "")), "");
  // What the codec's own header says counts too.
  EXPECT_EQ(rules_of(image("/Width 8 /Height 8 /Filter /DCTDecode", made_jpeg(65'000, 65'000))),
            "pixels:refuse");
  EXPECT_EQ(rules_of(image("/Width 8 /Height 8 /Filter /DCTDecode", made_jpeg(8, 8))), "");
}

TEST(PdfInspect, RefusesDocumentsWithoutPages) {
  EXPECT_EQ(rules_of(MadePdf().bytes()), "no_pages:refuse");
}

TEST(PdfInspect, RefusesWhatWasCutOff) {
  MadePdf pdf;
  for (int i = 0; i < 20; ++i) pdf.page("A page of text");
  const auto bytes = pdf.bytes();
  for (const auto share : {0.2, 0.5, 0.9}) {
    const auto cut =
        bytes.substr(0, static_cast<std::size_t>(static_cast<double>(bytes.size()) * share));
    EXPECT_EQ(rules_of(cut), "truncated:refuse") << share;
  }
}

TEST(PdfInspect, HashesAreOfWhatAPageShows) {
  const auto hash = [](MadePdf pdf) { return inspected(pdf.bytes()).hash(); };
  const auto same = hash(one_page());
  {
    auto other = one_page();
    other.add("<< /Unrelated true >>");
    EXPECT_EQ(hash(other), same) << "another object in the file";
  }
  {
    MadePdf moved;
    moved.add("(shifts the numbers of objects)");
    moved.page();
    EXPECT_EQ(hash(moved), same) << "numbers of objects";
  }
  {
    MadePdf other;
    other.page("Hello patient!");
    EXPECT_NE(hash(other), same) << "text";
  }
  {
    MadePdf other;
    other.page("Hello patient", "/Rotate 90");
    EXPECT_NE(hash(other), same) << "rotation";
  }
  {
    MadePdf other;
    other.page("Hello patient", "/CropBox [0 0 300 300]");
    EXPECT_NE(hash(other), same) << "boxes";
  }
  {
    auto other = one_page();
    other.set(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>");
    EXPECT_NE(hash(other), same) << "resources";
  }
  {
    MadePdf other;
    other.page("Hello patient", "/Annots [<< /Subtype /Stamp /Rect [0 0 9 9] >>]");
    EXPECT_NE(hash(other), same) << "annotations";
  }
}

// What a document names itself may be called like what is left out elsewhere.
TEST(PdfInspect, HashesKnowPicturesAndFontsByWhateverName) {
  constexpr std::string_view kNames[] = {"Thumb",         "Metadata",     "Parent",
                                         "PieceInfo",     "LastModified", "StructParent",
                                         "StructParents", "Length",       "Im1"};
  const auto image = [](std::string_view name, std::string_view pixels, bool apart) {
    MadePdf pdf;
    pdf.set(20, pdf_stream("/Subtype /Image /Width 1 /Height 1", pixels));
    // An entry of the map that makes it look like a page.
    const auto map = fmt::format("<< /Type /Page /{} 20 0 R >>", name);
    pdf.set(21, apart ? map : "null");
    const auto content = pdf.add(pdf_stream("", fmt::format("/{} Do", name)));
    pdf.page_of(content, fmt::format("/Resources << /XObject {} >>", apart ? "21 0 R" : map));
    return inspected(pdf.bytes()).hash();
  };
  const auto font = [](std::string_view name, std::string_view kind) {
    MadePdf pdf;
    pdf.set(20, fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} >>", kind));
    const auto content = pdf.add(pdf_stream("", fmt::format("BT /{} 12 Tf (a) Tj ET", name)));
    pdf.page_of(content, fmt::format("/Resources << /Font << /{} 20 0 R >> >>", name));
    return inspected(pdf.bytes()).hash();
  };
  const auto state = [](std::string_view name, std::string_view look) {
    MadePdf pdf;
    pdf.set(20, pdf_stream("/Subtype /Form /BBox [0 0 9 9]", look));
    pdf.page("Hello", fmt::format("/Annots [<< /Subtype /Widget /Rect [0 0 9 9] /AS /{0} /AP << /N "
                                  "<< /Type /Page /{0} 20 0 R >> >> >>]",
                                  name));
    return inspected(pdf.bytes()).hash();
  };
  for (const auto name : kNames) {
    EXPECT_NE(image(name, "a", false), image(name, "b", false)) << name;
    EXPECT_NE(image(name, "a", true), image(name, "b", true)) << name;
    EXPECT_NE(font(name, "Times-Roman"), font(name, "Symbol")) << name;
    EXPECT_NE(state(name, "0 0 9 9 re f"), state(name, "")) << name;
  }
}

// Of a picture or a form, and of pages that something refers to.
TEST(PdfInspect, HashesLeaveOutWhatIsAboutAnObject) {
  const auto hash = [](std::string_view about, std::string_view note) {
    MadePdf pdf;
    pdf.set(20, pdf_stream(fmt::format("/Subtype /Image /Width 1 /Height 1 {}", about), "a"));
    pdf.set(21, pdf_stream("/Type /Metadata", note));
    const auto content = pdf.add(pdf_stream("", "/Im1 Do"));
    pdf.page_of(content,
                "/Resources << /XObject << /Im1 20 0 R >> >> /Annots [<< /Subtype /Link /Rect "
                "[0 0 9 9] /StructParent 3 /Beside 40 0 R >>]");
    pdf.set(40, fmt::format("<< /Type /Page /MediaBox [0 0 9 9] /Parent 2 0 R /Thumb 21 0 R {} >>",
                            about));
    return inspected(pdf.bytes()).hash();
  };
  const auto same = hash("", "");
  EXPECT_EQ(hash("", "another"), same);
  for (const auto* about : {"/Metadata 21 0 R", "/PieceInfo << /X 21 0 R >>",
                            "/LastModified (D:2021)", "/StructParents 7"}) {
    EXPECT_EQ(hash(about, "a note"), same) << about;
  }
  EXPECT_NE(hash("/Rotate 90", ""), same);
}

// A form that was filled in otherwise is another page, wherever the file says so.
TEST(PdfInspect, HashesKnowWhatIsTicked) {
  const auto hash = [](std::string_view widget, std::string_view field) {
    MadePdf pdf;
    pdf.set(20, fmt::format("<< /FT /Btn /T (f) {} >>", field));
    pdf.page(
        "Hello patient",
        fmt::format("/Annots [<< /Subtype /Widget /Parent 20 0 R /Rect [0 0 9 9] {} >>]", widget));
    return inspected(pdf.bytes()).hash();
  };
  const auto looks = "/AP << /N << /Yes 3 0 R >> >>";
  EXPECT_NE(hash("/AS /Yes", ""), hash("/AS /Off", ""));
  EXPECT_NE(hash("", "/V /Yes"), hash("", "/V /Off")) << "without looks";
  EXPECT_NE(hash(looks, "/V /Yes"), hash(looks, "/V /Off")) << "without a state";
  EXPECT_NE(hash("/AS /Yes", "/Ff 65536"), hash("/AS /Yes", "")) << "a button to push is no box";
}

// Where looks are missing, or are to be made anew, they come from the value and the form.
TEST(PdfInspect, HashesKnowWhatFieldsAreDrawnFrom) {
  const auto hash = [](std::string_view form, std::string_view widget, std::string_view field) {
    MadePdf pdf;
    pdf.catalog(fmt::format("/AcroForm << {} >>", form));
    pdf.set(20, "<< /T (f) /Parent 21 0 R >>");
    pdf.set(21, fmt::format("<< /FT /Tx /T (g) {} >>", field));
    pdf.page(
        "Hello patient",
        fmt::format("/Annots [<< /Subtype /Widget /Parent 20 0 R /Rect [0 0 9 9] {} >>]", widget));
    return inspected(pdf.bytes()).hash();
  };
  const auto looks = "/AS /N /AP << /N << /N 3 0 R >> >>";
  const auto anew = "/NeedAppearances true";
  EXPECT_NE(hash("", "", "/V (a)"), hash("", "", "/V (b)")) << "of a field further up";
  EXPECT_NE(hash("", "", "/DA (/F1 9 Tf)"), hash("", "", "/DA (/F1 99 Tf)"));
  EXPECT_NE(hash("/DA (/F1 9 Tf)", "", ""), hash("/DA (/F1 99 Tf)", "", ""));
  EXPECT_NE(hash(anew, looks, "/V (a)"), hash(anew, looks, "/V (b)"));
  EXPECT_NE(hash(anew, looks, "/V (a)"), hash("", looks, "/V (a)"));
  EXPECT_EQ(hash("/DA (/F1 9 Tf)", looks, ""), hash("/DA (/F1 99 Tf)", looks, ""))
      << "looks are there";
}

TEST(PdfInspect, HashesOfPagesThatReferToEachOtherEnd) {
  auto pdf = one_page();
  pdf.set(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Again 3 0 R /Other 9 0 R >>");
  pdf.set(9, "<< /Back 3 0 R >>");
  EXPECT_EQ(inspected(pdf.bytes()).verdict(), "clean");
}

TEST(PdfInspect, OnlyTheChangedPageHasAnotherHash) {
  MadePdf before;
  before.page("one").page("two").page("three");
  MadePdf after;
  after.page("one").page("2").page("three");
  const auto a = inspected(before.bytes());
  const auto b = inspected(after.bytes());
  EXPECT_EQ(a.hash(1), b.hash(1));
  EXPECT_NE(a.hash(2), b.hash(2));
  EXPECT_EQ(a.hash(3), b.hash(3));
}

// What pages share without a reference, or by way of what stands on them, is read again for each.
TEST(PdfInspect, RefusesPagesThatAreTooMuchWork) {
  const auto detail = [](std::string_view page, std::uint64_t visits_max) {
    MadePdf pdf;
    std::string all;
    for (int i = 0; i < 200; ++i) all += "20 0 R ";
    pdf.set(20, "<< /Subtype /Widget /Rect [0 0 9 9] /X 1 >>");
    pdf.set(21, "<< /FT /Tx /Parent 21 0 R /V (v) >>");
    pdf.set(22, fmt::format("[ {} ]", all));
    pdf.page("text", page);
    const Limits limits{.pdf_visits_max = visits_max};
    Inspection inspection(limits, ActiveContent::refuse);
    const auto bytes = pdf.bytes();
    EXPECT_TRUE(inspect_pdf(bytes, inspection).has_value());
    const auto& findings = inspection.findings.list();
    return findings.empty() ? "" : findings.front().rule + ": " + findings.front().detail;
  };
  const auto shared = "/Annots 22 0 R";
  EXPECT_EQ(detail(shared, 1'000), "");
  EXPECT_EQ(detail(shared, 100), "pdf_complexity: too many annotations");
  const auto field = "/Annots [<< /Subtype /Widget /Rect [0 0 9 9] /Parent 21 0 R >>]";
  EXPECT_EQ(detail(field, 1'000), "");
  EXPECT_EQ(detail(field, 50), "pdf_complexity: too many fields");
  std::string numbers;
  for (int i = 0; i < 1'000; ++i) numbers += "1 ";
  const auto resources = "/Resources << /Font << /F1 3 0 R >> /X [" + numbers + "] >>";
  EXPECT_EQ(detail(resources, 1'000), "");
  EXPECT_EQ(detail(resources, 100), "pdf_complexity: the pages have too much in common");
}

// Few bytes that renderers pay for: each form draws the next some times.
TEST(PdfInspect, RefusesFormsThatMultiply) {
  const auto with = [](int levels, std::string_view draws) {
    MadePdf pdf;
    for (int i = 0; i < levels; ++i) {
      const auto resources = fmt::format("/Resources << /XObject << /X {} 0 R >> >>", 21 + i);
      pdf.set(20 + i,
              pdf_stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] " + resources, draws));
    }
    const auto content = pdf.add(pdf_stream("", "/X Do"));
    return pdf.page_of(content, "/Resources << /XObject << /X 20 0 R >> >>").bytes();
  };
  EXPECT_EQ(rules_of(with(8, "/X Do /X Do")), "");
  EXPECT_EQ(rules_of(with(30, "/X Do /X Do")), "pdf_content:refuse");
  EXPECT_EQ(rules_of(with(30, "/X Do")), "");
  EXPECT_EQ(rules_of(with(40, "/X Do")), "pdf_content:refuse") << "too deep";
}

TEST(PdfInspect, RefusesStatesThatAreNeverRestored) {
  const auto with = [](std::string_view text, int times) {
    std::string content;
    for (int i = 0; i < times; ++i) content += text;
    MadePdf pdf;
    const auto stream = pdf.add(pdf_stream("", content));
    return pdf.page_of(stream).bytes();
  };
  EXPECT_EQ(rules_of(with("q ", 10'001)), "pdf_content:refuse");
  EXPECT_EQ(rules_of(with("q Q ", 50'000)), "");
}

TEST(PdfInspect, CountsTextInForms) {
  MadePdf pdf;
  const auto form = pdf.add(
      pdf_stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", "BT (twelve chars) Tj ET"));
  const auto content = pdf.add(pdf_stream("", "/X Do"));
  pdf.page_of(content, fmt::format("/Resources << /XObject << /X {} 0 R >> >>", form));
  EXPECT_EQ(inspected(pdf.bytes()).page(1).at("text_chars").to_number<int>(), 12);
}

}  // namespace
}  // namespace millrace::document
