// Strings to sign as Microsoft documents them. Its pages keep their keys to themselves, so the
// signatures here were computed over the same strings by another implementation (Python's hmac)
// with the emulator's public key; tests/blob shows that Azurite accepts ours.
#include "blob/azure_sign.h"

#include "blob/digest.h"
#include "blob/wire_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::blob {
namespace {

using testing::Contains;
using testing::Not;

constexpr std::string_view kEmulatorKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

AzureAccount emulator() {
  return {.name = "devstoreaccount1", .key = Secret(from_base64(kEmulatorKey).value())};
}

TEST(BlobAzureSign, SharedKeyExampleOfTheDocumentation) {
  const AzureRequest request{
      .method = "GET",
      .path = "/mycontainer",
      .query = {{"restype", "container"}, {"comp", "metadata"}, {"timeout", "20"}},
      .headers = {{"x-ms-version", "2015-02-21"}, {"x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT"}}};
  const std::string expected =
      "GET\n\n\n\n\n\n\n\n\n\n\n\n"
      "x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"
      "/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20";
  EXPECT_EQ(azure_string_to_sign(request, "myaccount"), expected);
  EXPECT_EQ(hmac_sha256(emulator().key.reveal(), expected).base64(),
            "1u9lui2jDxj0+fpbHjQ5m5NnastJRSYM+PSmfi8TXx4=");
}

TEST(BlobAzureSign, PutWithABodyOnTheEmulator) {
  const AzureRequest request{.method = "PUT",
                             .path = "/devstoreaccount1/c/b",
                             .query = {},
                             .headers = {{"x-ms-blob-type", "BlockBlob"},
                                         {"Content-Type", "text/plain"},
                                         {"Content-MD5", "XrY7u+Ae7tCTyyK7j1rNww=="}},
                             .body_bytes = 11};
  const auto headers =
      azure_sign(request, emulator(), parse_iso_time("2015-06-26T23:39:12Z").value());
  EXPECT_THAT(headers,
              Contains(http::Header(
                  "Authorization",
                  "SharedKey devstoreaccount1:6y3wt6bW79WWYiacg/EyvXai1Bx4B41o5bITqd6YWow=")));
  EXPECT_THAT(headers, Contains(http::Header("x-ms-version", "2021-12-02")));
}

TEST(BlobAzureSign, RangeAndConditionsHaveTheirLines) {
  const AzureRequest request{.method = "GET",
                             .path = "/c/b",
                             .query = {},
                             .headers = {{"Range", "bytes=0-9"},
                                         {"If-Unmodified-Since", "Fri, 26 Jun 2015 23:39:12 GMT"}}};
  EXPECT_EQ(azure_string_to_sign(request, "acc"),
            "GET\n\n\n\n\n\n\n\n\n\nFri, 26 Jun 2015 23:39:12 GMT\nbytes=0-9\n/acc/c/b");
}

// INTEGRATIONS 4.3: 16 lines, the version pinned.
TEST(BlobAzureSign, SasIsSignedLineByLine) {
  const AzureSas sas{.container = "docs",
                     .blob = "sha256/ab/x",
                     .starts = parse_iso_time("2030-01-01T00:00:00Z").value(),
                     .expires = parse_iso_time("2030-01-01T00:05:00Z").value(),
                     .https_only = true,
                     .content_disposition = "attachment; filename=\"a.pdf\"",
                     .content_type = "application/pdf"};
  EXPECT_EQ(azure_sas_string_to_sign(sas, "devstoreaccount1"),
            "r\n2030-01-01T00:00:00Z\n2030-01-01T00:05:00Z\n"
            "/blob/devstoreaccount1/docs/sha256/ab/x\n\n\nhttps\n2021-12-02\nb\n\n\n\n"
            "attachment; filename=\"a.pdf\"\n\n\napplication/pdf");
  const auto query = azure_sas(sas, emulator());
  EXPECT_EQ(to_query(query),
            "sv=2021-12-02&sp=r&st=2030-01-01T00%3A00%3A00Z&se=2030-01-01T00%3A05%3A00Z&sr=b"
            "&spr=https&rscd=attachment%3B%20filename%3D%22a.pdf%22&rsct=application%2Fpdf"
            "&sig=AOwageHyp5Byci%2Fspf0CNjpqFwnNJTyGv7Ukywc6NVg%3D");
}

TEST(BlobAzureSign, SasForHttpDoesNotNameAProtocol) {
  const AzureSas sas{.container = "docs",
                     .blob = "b",
                     .starts = parse_iso_time("2030-01-01T00:00:00Z").value(),
                     .expires = parse_iso_time("2030-01-01T00:05:00Z").value(),
                     .https_only = false};
  for (const auto& [name, value] : azure_sas(sas, emulator())) EXPECT_NE(name, "spr");
}

}  // namespace
}  // namespace millrace::blob
