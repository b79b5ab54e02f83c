#include "document/markdown/made_parse.h"
#include "document/markdown/mime.h"

#include <gtest/gtest.h>

namespace millrace::document {
namespace {

TEST(Mail, HeadTextAndAttachments) {
  const auto out = parsed(
      "From: =?utf-8?B?SsO8cmc=?= <j@example.org>\r\nTo: a@example.org,\r\n b@example.org\r\n"
      "Subject: =?iso-8859-1?Q?Gr=FC=DFe?=\r\n =?iso-8859-1?Q?_aus_Bern?=\r\n"
      "Date: Mon, 1 Jan 2024 10:00:00 +0100\r\nMIME-Version: 1.0\r\n"
      "Content-Type: multipart/mixed; boundary=\"out;er\"\r\n\r\npreamble\r\n--out;er\r\n"
      "Content-Type: multipart/alternative; boundary=inner\r\n\r\n--inner\r\n"
      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
      "quoted-printable\r\n\r\n"
      "Hello J=C3=BCrg,\r\n\r\n# not a heading =\r\ngoes on\r\n\r\n> quoted\r\n> too\r\n--inner\r\n"
      "Content-Type: text/html\r\n\r\n<p>never shown</p>\r\n--inner--\r\n--out;er\r\n"
      "Content-Type: application/pdf; name=\"old.pdf\"\r\n"
      "Content-Disposition: attachment; filename*0*=utf-8''Be%20; filename*1*=richt%C3%A4.pdf\r\n"
      "Content-Transfer-Encoding: base64\r\n\r\nQUJD\r\nREU=\r\n--out;er--\r\nepilogue\r\n");
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.text("kind"), "mail");
  EXPECT_EQ(out.text("title"), "Grüße aus Bern");
  EXPECT_EQ(out.warnings(), "attachments");
  EXPECT_EQ(out.markdown,
            "# Grüße aus Bern\n\n"
            "- **From:** Jürg \\<j@example.org>\n"
            "- **To:** a@example.org, b@example.org\n"
            "- **Date:** Mon, 1 Jan 2024 10:00:00 +0100\n\n"
            "Hello Jürg,\n\n\\# not a heading goes on\n\n> quoted\\\n> too\n\n"
            "## Attachments\n\n- Be richtä.pdf (application/pdf, 5 bytes)\n");
}

TEST(Mail, HtmlWhenThereIsNoPlainText) {
  const std::string mail =
      "From: a@b\nTo: c@d\nSubject: x\nContent-Type: multipart/alternative; boundary=b\n\n"
      "--b\nContent-Type: text/plain\n\n  \n--b\nContent-Type: text/html; charset=windows-1252\n\n"
      "<h2>Hi</h2><p>\x80 5</p>\n--b--\n";
  EXPECT_NE(parsed(mail).markdown.find("## Hi\n\n€ 5\n"), std::string::npos)
      << parsed(mail).markdown;
}

// Apple Mail hangs what is attached on the HTML form; invitations are a form of their own.
TEST(Mail, WhatHangsOnAFormThatIsNotShownIsListed) {
  const std::string mail =
      "From: a@b\nTo: c@d\nSubject: x\nContent-Type: multipart/alternative; boundary=b\n\n"
      "--b\nContent-Type: text/plain\n\nplain text\n"
      "--b\nContent-Type: text/x-amp-html\n\n<p>never shown</p>\n"
      "--b\nContent-Type: multipart/mixed; boundary=c\n\n"
      "--c\nContent-Type: text/html\n\n<p>never shown</p>\n"
      "--c\nContent-Type: application/pdf; name=report.pdf\n\nABC\n"
      "--c\nContent-Type: text/plain; name=notes.txt\nContent-Disposition: attachment\n\nABCD\n"
      "--c\nContent-Type: text/html\n\n<p>never shown</p>\n--c--\n"
      "--b\nContent-Type: multipart/mixed; boundary=none\n\nnever shown\n"
      "--b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n--b--\n";
  const auto out = parsed(mail);
  EXPECT_EQ(out.warnings(), "attachments, mime");
  EXPECT_EQ(out.markdown,
            "# x\n\n- **From:** a@b\n- **To:** c@d\n\nplain text\n\n## Attachments\n\n"
            "- report.pdf (application/pdf, 3 bytes)\n- notes.txt (text/plain, 4 bytes)\n"
            "- without a name (text/calendar, 15 bytes)\n");
}

TEST(Mail, PicturesOfAFormThatIsNotShownAreNoAttachments) {
  const std::string mail =
      "From: a@b\nTo: c@d\nSubject: x\nContent-Type: multipart/alternative; boundary=b\n\n"
      "--b\nContent-Type: text/plain\n\nplain text\n"
      "--b\nContent-Type: multipart/related; boundary=c\n\n"
      "--c\nContent-Type: text/html\n\n<p><img src='cid:logo'></p>\n"
      "--c\nContent-Type: image/png; name=logo.png\nContent-ID: <logo>\n\nPNG\n"
      "--c\nContent-Type: image/png\nContent-ID: <sign>\nContent-Disposition: inline\n\nPNG\n";
  const auto logo = parsed(mail + "--c--\n--b--\n");
  EXPECT_EQ(logo.warnings(), "");
  EXPECT_EQ(logo.markdown, "# x\n\n- **From:** a@b\n- **To:** c@d\n\nplain text\n");
  const auto marked = parsed(mail +
                             "--c\nContent-Type: image/png; name=scan.png\nContent-ID: <scan>\n"
                             "Content-Disposition: attachment\n\nPNG\n--c--\n--b--\n");
  EXPECT_EQ(marked.warnings(), "attachments");
  EXPECT_TRUE(marked.markdown.ends_with("## Attachments\n\n- scan.png (image/png, 3 bytes)\n"))
      << marked.markdown;
}

TEST(Mail, BrokenMessagesAreReadAsFarAsTheyGo) {
  const std::string head = "From: a@b\nTo: c@d\nSubject: x\n";
  const auto without = parsed(head + "Content-Type: multipart/mixed\n\nbody text\n");
  EXPECT_EQ(without.warnings(), "mime");
  EXPECT_NE(without.markdown.find("body text"), std::string::npos);
  const auto open =
      parsed(head + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\n\nlast");
  EXPECT_NE(open.markdown.find("first\n\nlast\n"), std::string::npos) << open.markdown;
  EXPECT_NE(markdown_of(head + "Content-Transfer-Encoding: base64\n\nSGVsbG8*gd29ybGQ=")
                .find("Hello world"),
            std::string::npos);
  EXPECT_EQ(decode_header("=?utf-8?B?w6?= =?nobody?Q?a=?= =?utf-8?Q?unfinished"),
            "\uFFFD"
            "a =?utf-8?Q?unfinished");
}

// J03.
TEST(Mail, PartsWithinPartsEnd) {
  std::string mail = "From: a@b\nTo: c@d\nSubject: x\n";
  for (int i = 0; i < 2'000; ++i) {
    mail += "Content-Type: multipart/mixed; boundary=b" + std::to_string(i) + "\n\n--b" +
            std::to_string(i) + "\n";
  }
  EXPECT_EQ(parsed(mail + "\nend").warnings(), "depth");
  std::string wide =
      "From: a@b\nTo: c@d\nSubject: x\nContent-Type: multipart/mixed; boundary=b\n\n";
  for (int i = 0; i < 100'000; ++i) wide += "--b\nContent-Type: image/png\n\nx\n";
  const auto out = parsed(wide);
  EXPECT_EQ(out.warnings(), "attachments, parts");
  EXPECT_LT(out.markdown.size(), 20'000U);
  std::string fields = "From: a@b\nTo: c@d\nSubject: x\n";
  for (int i = 0; i < 100'000; ++i) fields += "X-" + std::to_string(i) + ": y\n z\n";
  EXPECT_EQ(parsed(fields + "\nbody").error, "");
}

TEST(Mail, AMailboxLineAndProseAreNoFields) {
  EXPECT_NE(markdown_of("From a@b Mon Jan 1 00:00:00 2024\nFrom: a@b\nTo: c@d\nSubject: s\n\nt\n")
                .find("# s\n"),
            std::string::npos);
  EXPECT_EQ(parsed("Note: this is text\nwith: colons\n\nand more").text("kind"), "text");
}

}  // namespace
}  // namespace millrace::document
