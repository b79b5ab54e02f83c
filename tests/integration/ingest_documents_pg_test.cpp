// Ingest through the real programs with the model of the product: from an upload to chunks that can
// be searched. B-02, B-03, B-06 … B-11, B-24, B-25, U-11, V-23.
#include "integration/ingest_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(IngestedDocuments, u11_AMarkdownFileEndsPublished) {
  const auto text = made_markdown("Calder Mill", 12);
  const auto id = ingest(text);
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_THAT(output(id, "markdown"),
              HasSubstr("The mill of Calder Mill has a wheel with 7 paddles."));
  const auto row =
      must(parse_json_object(value("select to_jsonb(c)::text from millrace.document_chunks c where "
                                   "document_id = $1::uuid and chunk_ord = 3",
                                   pg::params(id))));
  EXPECT_EQ(row.at("embed_model"), "universal-sentence-encoder-lite");
  EXPECT_EQ(row.at("heading_path").as_array().at(0), "Calder Mill");
  EXPECT_EQ(row.at("config"), "english");
  EXPECT_LE(row.at("meta").at("tokens").to_number<int>(), 128);
  // B-06, B-07, B-08
  EXPECT_EQ(upload_job(id, "parsed_path"),
            fmt::format("storage://{}/parsed/{}.md", who_.user.to_string(), id));
  const auto place =
      fmt::format("/storage/v1/object/medical-docs/{}/parsed/{}.md", who_.user.to_string(), id);
  const auto service = api().jwt(identity::Role::service_role, who_.tenant);
  for (const auto& token : {who_.token, service}) {
    const auto fetched = api().get(place, token);
    EXPECT_EQ(fetched.status, 200) << fetched.body;
    EXPECT_EQ(fetched.body, output(id, "markdown"));
  }
  EXPECT_EQ(text_of(api().get(place, world().person().token), "statusCode"), "404");
  EXPECT_EQ(upload_job(id, "parsed_sha256"), blob::sha256(output(id, "markdown")).hex());
  EXPECT_EQ(upload_job(id, "chunks_version"), "markdown-simple@1");
  EXPECT_EQ(upload_job(id, "embed_model"), "universal-sentence-encoder-lite");
  // B-24
  const auto progress = must(parse_json_object(upload_job(id, "progress")));
  EXPECT_EQ(progress.at("chunks_total"), progress.at("chunks_done"));
  EXPECT_EQ(progress.at("chunks_total"), progress.at("embeds_done"));
  EXPECT_GT(progress.at("chunks_total").to_number<int>(), 5);
  EXPECT_EQ(progress.at("vectors_in_buffer"), 0);
  // As everybody sees it.
  const auto told = document(id);
  EXPECT_EQ(told.at("pipeline").at("name"), "ingest");
  EXPECT_EQ(told.at("kind"), "markdown");
  EXPECT_TRUE(told.at("page_count").is_null());
  const auto lines = output(id, "chunks");
  EXPECT_EQ(std::ranges::count(lines, '\n'), progress.at("chunks_total").to_number<int>());
  const auto manifest = must(parse_json_object(output(id, "manifest")));
  EXPECT_EQ(manifest.at("state"), "completed");
  expect_sound();
}

TEST_F(IngestedDocuments, EveryKindOfDocumentThatTheParserReadsIsIngested) {
  const std::map<std::string, std::string> files = {
      {"page.html",
       "<html lang=\"de\"><body><h1>Die M\xc3\xbchle</h1><p>Das Wasser treibt das Rad der "
       "M\xc3\xbchle, und der M\xc3\xbcller \xc3\xb6"
       "ffnet das Tor.</p></body></html>"},
      {"note.txt", "The water drives the wheel of the mill.\n\nThe miller opens the gate.\n"},
      {"mail.eml",
       "From: a@example.org\r\nTo: b@example.org\r\nSubject: The mill\r\n\r\nThe wheel turns.\r\n"},
      {"letter.pdf", made_pdf({letter("Ada", "Metformin"), letter("Ada", "Aspirin")})}};
  for (const auto& [name, content] : files) {
    const auto id = ingest(content, name);
    ASSERT_EQ(ended(id), "completed") << name << ": " << to_json(document(id));
    expect_published(id, name);
    if (name == "letter.pdf") {
      EXPECT_EQ(document(id).at("page_count"), 2);
      EXPECT_EQ(value("select string_agg(distinct page_end::text, ' ') from "
                      "millrace.document_chunks where "
                      "document_id = $1::uuid and text like '%Aspirin%'",
                      pg::params(id)),
                "2");
    }
    if (name == "page.html") {
      EXPECT_EQ(
          value("select distinct config from millrace.document_chunks where document_id = $1::uuid",
                pg::params(id)),
          "german");
    }
  }
}

// B-07, I07: equal texts of a tenant are one content, and embedded once; another tenant's are its
// own.
TEST_F(IngestedDocuments, i07_EqualTextsAreEmbeddedOnceInTheTenantAndNeverAcross) {
  const auto text = made_markdown("Equal Mill", 6);
  const auto embedded = [&](const std::string& id) {
    return value(
        "select summary #>> '{embeddings,taken_over}' || ' of ' || (summary ->> 'chunks') from "
        "millrace.document where file_id = $1::uuid",
        pg::params(id));
  };
  const auto first = ingest(text);
  ASSERT_EQ(ended(first), "completed");
  const auto chunks =
      count("select count(*) from millrace.document_chunks where document_id = $1::uuid",
            pg::params(first));
  EXPECT_EQ(embedded(first), fmt::format("0 of {}", chunks));
  const auto second = ingest(text + "\n\n", "copy.md");  // Other bytes, the same text.
  ASSERT_EQ(ended(second), "completed");
  EXPECT_EQ(embedded(second), fmt::format("{0} of {0}", chunks));
  expect_published(second);
  EXPECT_EQ(value("select count(distinct encode(parsed_sha256, 'hex')) from millrace.generation "
                  "where file_id in "
                  "($1::uuid, $2::uuid)",
                  pg::params(first, second)),
            "1");
  who_ = world().person();
  const auto other = ingest(text);
  ASSERT_EQ(ended(other), "completed");
  EXPECT_EQ(embedded(other), fmt::format("0 of {}", chunks));
}

// Begun anew with the same text: nothing is made twice. With another text: nothing of the old one
// stays.
TEST_F(IngestedDocuments, f07_AParseWithAnotherTextReplacesAllChunks) {
  const auto id = ingest(made_markdown("Old Mill", 20));
  ASSERT_EQ(ended(id), "completed");
  expect_published(id);
  const auto ids = [&] {
    return value(
        "select string_agg(chunk_id::text || xmin::text, ',' order by chunk_ord) from "
        "millrace.document_chunks where document_id = $1::uuid",
        pg::params(id));
  };
  const auto before = ids();
  const auto retry = [&] {
    const auto answered = api().ask({.method = "POST",
                                     .path = "/api/v1/documents/" + id + "/retry",
                                     .token = who_.token,
                                     .body = "",
                                     .content_type = "application/json"});
    EXPECT_EQ(answered.status, 202) << answered.body;
    return ended(id);
  };
  ASSERT_EQ(retry(), "completed") << to_json(document(id));
  EXPECT_EQ(ids(), before);
  // The parser gives another text: a shorter file under the id.
  const auto other = ingest(made_markdown("New Mill", 3), "new.md");
  ASSERT_EQ(ended(other), "completed");
  value(
      "update millrace.shell_files f set sha256 = o.sha256, size_bytes = o.size_bytes from "
      "millrace.shell_files o "
      "where f.id = $1::uuid and o.id = $2::uuid returning 1",
      pg::params(id, other));
  ASSERT_EQ(retry(), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_THAT(output(id, "markdown"), Not(HasSubstr("Old Mill")));
  EXPECT_EQ(value("select count(*) from millrace.document_chunks where document_id = $1::uuid and "
                  "text like '%Old Mill%'",
                  pg::params(id)),
            "0");
}

// The Content-Type of an upload says in what its letters are written, also when it is begun anew;
// where nobody says it, it is guessed, and the document tells so.
TEST_F(IngestedDocuments, TheCharsetThatTheSenderDeclaresIsBelieved) {
  const std::string water_wheel = "\x90\x85\x8e\xd4";  // 水車, in Shift_JIS: too short to guess.
  auto ask = UploadWorld::raw(who_, water_wheel, {}, "wheel.txt");
  ask.path += "&pipeline=ingest";
  ask.content_type = "text/plain; charset=Shift_JIS";
  const auto made = api().ask(ask);
  ASSERT_EQ(made.status, 201) << made.body;
  const auto id = text_of(made, "id");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  EXPECT_EQ(output(id, "markdown"), "水車\n");
  EXPECT_EQ(document(id).at("summary").at("warnings").as_array().size(), 0U);
  ASSERT_EQ(api().post("/api/v1/documents/" + id + "/retry", who_.token, "").status / 100, 2);
  ASSERT_EQ(ended(id), "completed");
  EXPECT_EQ(output(id, "markdown"), "水車\n");

  const auto guessed = ingest(
      "M\xb3yn wodny stoi nad rzek\xb1. Ko\xb3o m\xb3y\xf1skie ma dwana\xb6"
      "cie \xb3opatek, a woda p\xb3ynie przez \xb6luz\xea; m\xb3ynarz otwiera j\xb1 rano.\n",
      "mill.txt");
  ASSERT_EQ(ended(guessed), "completed") << to_json(document(guessed));
  EXPECT_THAT(output(guessed, "markdown"), HasSubstr("Koło młyńskie ma dwanaście łopatek"));
  EXPECT_EQ(document(guessed).at("summary").at("warnings").at(0).at("rule"), "charset_guess");
}

TEST_F(IngestedDocuments, AFileWithoutTextFailsAndSaysSo) {
  const auto id = ingest("   \n\n \n", "empty.txt");
  EXPECT_THAT(ended(id), testing::AnyOf("failed", "rejected")) << to_json(document(id));
  EXPECT_EQ(upload_job(id, "status"), "failed_parse");
}

// Longer than a chunk: some chunks have nothing that a model could read.
TEST_F(IngestedDocuments, ALongRunOfSpacesFailsNoDocument) {
  const auto id = ingest("one" + std::string(10'000, ' ') + "two\n");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_GT(count("select count(*) from millrace.document_chunks where document_id = $1::uuid and "
                  "btrim(text) = ''",
                  pg::params(id)),
            0);
}

TEST_F(IngestedDocuments, ADocumentOfCharactersThatNobodySeesFailsAndSaysSo) {
  std::string text;
  for (int i = 0; i < 3'000; ++i) text += "\u00a0\u200b\u3000";
  const auto id = ingest(text + "\n");
  EXPECT_EQ(ended(id), "failed") << to_json(document(id));
  EXPECT_THAT(upload_job(id, "last_error"), HasSubstr("no_text"));
}

// A page has a mark whatever is on it: that is no text, and nothing is paid for it.
TEST_F(IngestedDocuments, ADocumentOfBlankPagesFailsAndSaysSo) {
  const auto id = ingest(made_pdf({{}, {}}), "blank.pdf");
  EXPECT_EQ(ended(id), "failed") << to_json(document(id));
  EXPECT_EQ(upload_job(id, "status"), "failed_parse");
  EXPECT_THAT(upload_job(id, "last_error"), HasSubstr("no_text"));
  EXPECT_EQ(
      value("select count(*) from millrace.generation where file_id = $1::uuid", pg::params(id)),
      "0");
}

TEST_F(IngestedDocuments, AFileThatIsNoDocumentIsRejected) {
  const auto id = ingest(std::string("\x7f"
                                     "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
                                     16) +
                             std::string(300, '\1'),
                         "a.bin");
  EXPECT_EQ(ended(id), "rejected") << to_json(document(id));
  EXPECT_EQ(upload_job(id, "status"), "failed_parse");
}

// Pages that are pictures are recognised; what is on them can be searched.
TEST_F(IngestedDocuments, AScanIsRecognised) {
  const TempFolder folder;
  const auto made = run_command({MILLRACE_SAMPLES, "demo", "--out", folder.path().string()});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto id =
      ingest(must(read_file(folder.path() / "clean_04_medication_list.tif")), "scan.tif");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_THAT(output(id, "markdown"), HasSubstr("<!-- page 1 -->"));
  EXPECT_GT(output(id, "markdown").size(), 200U);
}

// B-25: what is large goes by in pieces.
TEST_F(IngestedDocuments, b25_ALargeTextIsCutInBatches) {
  const auto id = ingest(made_markdown("Long Mill", 2'000));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  expect_published(id);
  EXPECT_GT(count("select count(*) from millrace.document_chunks where document_id = $1::uuid",
                  pg::params(id)),
            1'999);
  // B-13: as many as were cut; how large batches are: ingest_kills_pg_test, b15_*.
  EXPECT_EQ(value("select chunks_total - (select count(*) from millrace.document_chunks c where "
                  "c.generation_id = "
                  "g.generation_id) from millrace.generation g where file_id = $1::uuid",
                  pg::params(id)),
            "0");
}

}  // namespace
}  // namespace millrace::test
