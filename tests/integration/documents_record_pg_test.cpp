// The manifest of a document through the real programs: when each stage ran, by what questions, how
// pictures are drawn; and that a run which has to write it twice writes the same.
#include "integration/documents_world.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;

class DocumentRecords : public PaidDocuments {
 protected:
  json::Object manifest(const std::string& id) {
    return must(parse_json_object(output(id, "manifest"), {.max_bytes = 1 << 20}));
  }
  static std::string text(const json::Value& value) { return std::string(value.as_string()); }
  // Stored contents that are manifests of this document.
  std::set<std::string> manifests_stored(const std::string& id) {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(world().blobs())) {
      if (!entry.is_regular_file()) continue;
      auto content = must(read_file(entry.path(), std::size_t{64} << 20));
      if (content.find(R"("schema":"manifest/1")") == content.npos) continue;
      if (content.find(id) != content.npos) found.insert(std::move(content));
    }
    return found;
  }
};

TEST_F(DocumentRecords, SayWhenEachStageRan) {
  const auto id = upload(made_pdf({letter("Tara Time", "Metformin"), letter("T", "Aspirin")}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto record = manifest(id);
  EXPECT_EQ(record.at("run"), 1);
  const auto started = text(record.at("started_at"));
  const auto created = text(record.at("created_at"));
  std::string before = started;
  for (const auto& stage : record.at("stages").as_array()) {
    const auto name = text(stage.at("name"));
    ASSERT_TRUE(stage.at("started_at").is_string()) << name;
    ASSERT_TRUE(stage.at("ended_at").is_string()) << name;
    // They are all of one form: their letters are in the order of time. One begins when the one
    // before has ended, to the millisecond that ids of jobs have.
    EXPECT_GE(text(stage.at("started_at")), before) << name;
    EXPECT_GE(text(stage.at("ended_at")), text(stage.at("started_at"))) << name;
    EXPECT_LE(text(stage.at("ended_at")), created) << name;
    before = text(stage.at("started_at"));
    EXPECT_TRUE(stage.at("prompt_sha256").is_null()) << name << ": rules are asked nothing";
  }
  // The database's own words.
  EXPECT_EQ(created,
            value("select to_char(to_timestamp((millrace.document_times(o.file_id, o.job_id) ->> "
                  "'ended_ms')::bigint / 1000.0) at time zone 'UTC', "
                  "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') from millrace.document_output o where "
                  "o.file_id = $1::uuid and o.kind = 'manifest'",
                  pg::params(id)));
}

TEST_F(DocumentRecords, SayWhatModelsWereAsked) {
  const auto id = upload(made_pdf({letter("Paula Prompt", "Metformin")}), "letter.pdf", "paid");
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto record = manifest(id);
  std::set<std::string> prompts;
  std::set<std::string> schemas;
  for (const auto& stage : record.at("stages").as_array()) {
    if (stage.at("prompt_sha256").is_null()) continue;
    prompts.insert(text(stage.at("prompt_sha256")));
    schemas.insert(text(stage.at("schema")));
    EXPECT_EQ(text(stage.at("prompt_sha256")).size(), 64U);
  }
  EXPECT_EQ(schemas, (std::set<std::string>{"clinical.detect/1", "clinical.extract/1",
                                            "clinical.narrative/1"}));
  EXPECT_EQ(prompts.size(), 3U) << "each pass has instructions of its own";
}

TEST_F(DocumentRecords, SayHowPicturesAreDrawn) {
  const auto id = upload(made_pdf({letter("Pia Picture", "Metformin")}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  const auto record = manifest(id);
  const auto& pictures = record.at("pictures").as_object();
  EXPECT_EQ(pictures.at("name").as_string(), "page-{page}.png");
  EXPECT_EQ(pictures.at("generator"), record.at("generator"));
  // Each input is there with its digest, on every page.
  const auto& results = record.at("pages").at(0).at("results").as_array();
  ASSERT_EQ(pictures.at("stages").as_array().size(), 2U);
  for (const auto& stage : pictures.at("stages").as_array()) {
    EXPECT_TRUE(std::ranges::any_of(results, [&](const json::Value& result) {
      return result.at("stage") == stage;
    })) << to_json(stage);
  }
  // And so it is drawn: the same picture whenever somebody asks.
  const auto draw = [&] {
    const auto path = fmt::format("/api/v1/documents/{}/pages/1/image", id);
    EXPECT_EQ(api().post(path, who_.token, "").status, 202);
    std::string picture;
    EXPECT_TRUE(eventually([&] {
      const auto answered =
          api().get(fmt::format("/api/v1/documents/{}/outputs/image?page=1", id), who_.token);
      picture = answered.body;
      return answered.status == 200;
    }));
    return blob::sha256(picture).hex();
  };
  const auto first = draw();
  value(
      "delete from millrace.document_output where file_id = $1::uuid and kind = 'image' returning "
      "1",
      pg::params(id));
  EXPECT_EQ(draw(), first);
}

// Its content is stored before the job is settled: a run that has to do it again finds it there.
TEST_F(DocumentRecords, AreTheSameBytesWhenTheyAreWrittenAgain) {
  value("create sequence millrace.record_try", {});
  value(
      "create function millrace.record_fails() returns trigger language plpgsql as $$ begin if "
      "nextval('millrace.record_try') = 1 then raise exception 'once' using errcode = '40001'; end "
      "if; return new; end $$",
      {});
  value(
      "create trigger record_fails before insert on millrace.document_output for each row when "
      "(new.kind = 'manifest') execute function millrace.record_fails()",
      {});
  value("grant usage on sequence millrace.record_try to public", {});
  const auto id = upload(made_pdf({letter("Rhea Record", "Metformin")}));
  ASSERT_EQ(ended(id), "completed") << to_json(document(id));
  value("drop trigger record_fails on millrace.document_output", {});
  EXPECT_EQ(value("select last_value from millrace.record_try"), "2") << "it was written once only";
  EXPECT_EQ(manifests_stored(id), (std::set<std::string>{output(id, "manifest")}));
  expect_manifest(id);
}

}  // namespace
}  // namespace millrace::test
