// Documents of which something cannot be done, through the real programs: pages that are not read,
// whichever they are; scans with a stamp; pages that may not be drawn; jobs that have to wait.
#include "integration/documents_world.h"

#include <array>

namespace millrace::test {
namespace {

using testing::HasSubstr;

class PartialDocuments : public Documents {
 protected:
  // Of the only page of a document; it is never read again.
  std::string quarantine(const std::string& file) {
    const auto hash =
        value("select encode(content_sha256, 'hex') from millrace.page where file_id = $1::uuid",
              pg::params(file));
    value(
        "insert into millrace.quarantine (tenant_id, sha256, what, stage, reason, quarantined_at) "
        "values ($1::uuid, decode($2, 'hex'), 'page', 'fast_queue_ocr', 'reader_crashed', now()) "
        "returning 1",
        pg::params(who_.tenant.to_string(), hash));
    return hash;
  }
  std::string stage(const std::string& id) {
    return value("select stage from millrace.document where file_id = $1::uuid", pg::params(id));
  }
  std::string outputs(const std::string& id) {
    return value(
        "select coalesce(string_agg(kind, ' ' order by kind), '') from millrace.document_output "
        "where file_id = $1::uuid",
        pg::params(id));
  }
};

std::string pipeline_of(const std::string& name, const std::string& reading) {
  return fmt::format(
      "name = \"{0}\"\nversion = \"1.0.0\"\n[[stage]]\nname = \"{0}_scan\"\nrun = \"scan\"\n"
      "queue = \"{0}\"\n[[stage]]\nname = \"{0}_read\"\nrun = \"ocr\"\nqueue = \"{0}_read\"\n{1}",
      name, reading);
}

TEST_F(PartialDocuments, APageThatIsNotReadLeavesTheOthersWhicheverItIs) {
  for (const bool scans : {false, true}) {
    for (int gap = 0; gap < 3; ++gap) {
      std::vector<std::string> files;  // The page alone, and among others.
      if (scans) {
        const auto bad = ScanPage{.shade = 200 + gap};
        std::vector<ScanPage> all = {{.shade = 240}, {.shade = 241}, {.shade = 242}};
        all[static_cast<std::size_t>(gap)] = bad;
        files = {made_scans({bad}), made_scans(all)};
      } else {
        const auto bad = letter(fmt::format("Bad {}", gap), "Warfarin");
        std::vector<PdfPage> all = {letter("One", "Metformin"), letter("Two", "Aspirin"),
                                    letter("Three", "Insulin")};
        all[static_cast<std::size_t>(gap)] = bad;
        files = {made_pdf({bad}), made_pdf(all)};
      }
      const auto alone = upload(files[0]);
      ASSERT_EQ(ended(alone), "completed") << to_json(document(alone));
      quarantine(alone);
      const auto id = upload(files[1]);
      ASSERT_EQ(ended(id), "partial") << scans << gap << to_json(document(id));
      EXPECT_EQ(value("select string_agg(page || ' ' || failed_reason, ', ') from millrace.page "
                      "where file_id = $1::uuid and state = 'failed'",
                      pg::params(id)),
                fmt::format("{} quarantined", gap + 1));
      expect_manifest(id);
      if (!scans) EXPECT_EQ(output(id, "pdf"), files[1]);
    }
  }
  expect_sound();
}

// Jobs that wait already when one of their pages turns out to be poison: alone, and in a group.
TEST_F(PartialDocuments, d06_APageThatWaitsIsNotReadOnceItIsInQuarantine) {
  const TempFolder pipelines;
  pipelines.write("held.toml", pipeline_of("held", ""));
  const DocumentWorker worker(world(), {{"MILLRACE_PIPELINE_DIR", pipelines.path().string()}});
  const auto bad = letter("Held", "Warfarin");
  const auto alone = upload(made_pdf({bad}), "alone.pdf", "held");
  ASSERT_EQ(ended(alone), "completed") << to_json(document(alone));
  const auto dark = upload(made_scans({{.shade = 205}}), "dark.pdf", "held");
  ASSERT_EQ(ended(dark), "completed") << to_json(document(dark));
  value("select millrace.pause_queue('held_read')");
  // What is known already is not read a second time; these have pages that nobody knows.
  value("delete from millrace.page_result where file_id in ($1::uuid, $2::uuid) returning 1",
        pg::params(alone, dark));
  std::vector<PdfPage> letters(8, bad);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (i != 1) letters[i] = letter(fmt::format("Held {}", i), "Metformin");
  }
  const auto grouped = upload(made_pdf(letters), "a.pdf", "held");
  const auto scanned = upload(made_scans({{.shade = 206}, {.shade = 205}}), "b.pdf", "held");
  for (const auto& id : {grouped, scanned}) {
    ASSERT_TRUE(eventually([&] { return stage(id) == "held_read"; })) << to_json(document(id));
  }
  ASSERT_EQ(
      value("select count(*) from millrace.job_fact where payload ->> 'shell_file_id' = $1 and "
            "payload -> 'pages' = '[1, 2]'",
            pg::params(grouped)),
      "1");
  quarantine(alone);
  quarantine(dark);
  value("select millrace.resume_queue('held_read')");
  for (const auto& id : {grouped, scanned}) {
    EXPECT_EQ(ended(id), "partial") << to_json(document(id));
    EXPECT_EQ(value("select string_agg(page || ' ' || failed_reason, ', ') from millrace.page "
                    "where file_id = $1::uuid and state = 'failed'",
                    pg::params(id)),
              "2 quarantined");
    EXPECT_THAT(output(id, "text"), testing::Not(HasSubstr("Warfarin")));
  }
  EXPECT_THAT(output(grouped, "text"), HasSubstr("Held 0"));
}

// Two words of a copier on a picture are no text of the page.
TEST_F(PartialDocuments, AScanWithAStampIsNoSearchablePdfBeforeItIsRead) {
  const TempFolder pipelines;
  pipelines.write("stamped.toml", pipeline_of("stamped", ""));
  const DocumentWorker worker(world(), {{"MILLRACE_PIPELINE_DIR", pipelines.path().string()}});
  value("select millrace.pause_queue('stamped_read')");
  const std::string stamp = "Received by the practice on 4 May 2021";
  const auto scan = made_scans({{.shade = 230, .stamp = stamp}, {.shade = 231, .stamp = stamp}});
  const auto print = made_pdf({letter("Printed", "Metformin"), letter("Second", "Aspirin")});
  const auto stamped = upload(scan, "scan.pdf", "stamped");
  const auto printed = upload(print, "letter.pdf", "stamped");
  for (const auto& id : {stamped, printed}) {
    ASSERT_TRUE(eventually([&] { return stage(id) == "stamped_read"; })) << to_json(document(id));
  }
  EXPECT_EQ(value("select min(text_chars) >= 20 from millrace.page where file_id = $1::uuid",
                  pg::params(stamped)),
            "t");
  EXPECT_EQ(outputs(stamped), "");
  EXPECT_EQ(outputs(printed), "pdf");
  EXPECT_EQ(output(printed, "pdf"), print);
  value("select millrace.resume_queue('stamped_read')");
  EXPECT_EQ(ended(stamped), "completed") << to_json(document(stamped));
  EXPECT_EQ(ended(printed), "completed") << to_json(document(printed));
  EXPECT_EQ(output(printed, "pdf"), print);
}

TEST_F(PartialDocuments, APictureOfAPageInQuarantineIsNotDrawn) {
  const auto id = upload(made_pdf({letter("Never Drawn", "Metformin")}));
  ASSERT_EQ(ended(id), "completed");
  quarantine(id);
  const auto asked =
      api().post(fmt::format("/api/v1/documents/{}/pages/1/image", id), who_.token, "");
  ASSERT_EQ(asked.status / 100, 2) << asked.body;
  const auto job = text_of(asked, "job_id");
  EXPECT_TRUE(eventually([&] {
    return value("select error ->> 'error_type' from millrace.job_history where job_id = $1::uuid",
                 pg::params(job)) == "quarantined";
  }));
  EXPECT_THAT(outputs(id), testing::Not(HasSubstr("image")));
  EXPECT_EQ(state(id), "completed");
}

// Workers take the jobs of every pipeline that is registered: here only one is to be there.
class ServedDocuments : public PartialDocuments {
 protected:
  void be_served_by(std::map<std::string, std::string> env) {
    worker_.reset();
    env["MILLRACE_PIPELINE_DIR"] = pipelines_.path().string();
    worker_ = std::make_unique<DocumentWorker>(world(), std::move(env));
  }
  void TearDown() override {
    worker_.reset();
    worker_ = std::make_unique<DocumentWorker>(world());
  }

  TempFolder pipelines_;
};

// A white TIFF of one bit a pixel: to be drawn it takes eight times its size, and more.
std::string made_wide_tiff(std::uint32_t side) {
  const auto little = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
  };
  const std::vector<std::array<std::uint32_t, 3>> fields = {
      {256, 4, side}, {257, 4, side}, {258, 3, 1},
      {259, 3, 1},    {262, 3, 0},    {273, 4, 122},
      {277, 3, 1},    {278, 4, side}, {279, 4, side / 8 * side}};
  std::string file = std::string("II*\0", 4) + little(8, 4) + little(9, 2);
  for (const auto& [tag, type, value] : fields) {
    file += little(tag, 2) + little(type, 2) + little(1, 4) + little(value, 4);
  }
  return file + little(0, 4) + std::string(std::size_t{side} / 8 * side, '\0');
}

// What a child that draws a page for a service ends with means what it means of one that reads it;
// without room it cannot decode the picture.
TEST_F(ServedDocuments, APageThatCannotBeDrawnForAServiceFailsAsOneThatCannotBeRead) {
  pipelines_.write("drawn.toml", pipeline_of("drawn",
                                             "provider = \"google\"\nmax_attempts = 1\n"
                                             "limits = { memory = \"16M\" }\n"));
  be_served_by({{"MILLRACE_GOOGLE_VISION_URL", "http://127.0.0.1:9"},
                {"MILLRACE_GOOGLE_ALLOW_HTTP", "true"},
                {"GOOGLE_CLOUD_API_KEY", "k"}});
  const auto id = upload(made_wide_tiff(6'000), "scan.tif", "drawn");
  EXPECT_EQ(ended(id), "failed") << to_json(document(id));
  EXPECT_EQ(
      value("select failed_reason from millrace.page where file_id = $1::uuid", pg::params(id)),
      "reader_failed");
}

TEST_F(ServedDocuments, ADocumentThatWaitsForAProviderSaysSo) {
  pipelines_.write("unset.toml", pipeline_of("unset", "provider = \"google\"\n"));
  be_served_by({});
  const auto id = upload(made_scans({{.shade = 221}}), "scan.pdf", "unset");
  ASSERT_TRUE(eventually([&] { return document(id).at("waiting").is_object(); }))
      << to_json(document(id));
  const auto shown = document(id);
  EXPECT_EQ(shown.at("state"), "processing");
  EXPECT_THAT(std::string(shown.at("waiting").at("reason").as_string()),
              HasSubstr("not configured"));
  EXPECT_EQ(shown.at("waiting").at("stage"), "unset_read");
}

TEST_F(ServedDocuments, ADocumentWaitsForAVirusScannerThatIsAwayAndLosesNoAttempt) {
  pipelines_.write("watched.toml", pipeline_of("watched", ""));
  be_served_by(
      {{"MILLRACE_DOCUMENTS_CLAMD", "unix:" + (pipelines_.path() / "clamd.ctl").string()}});
  const auto id = upload(made_pdf({letter("Vera Virus", "Metformin")}), "letter.pdf", "watched");
  ASSERT_TRUE(eventually([&] { return document(id).at("waiting").is_object(); }))
      << to_json(document(id));
  const auto shown = document(id);
  EXPECT_THAT(std::string(shown.at("waiting").at("reason").as_string()), HasSubstr("clamd"));
  EXPECT_EQ(shown.at("waiting").at("stage"), "watched_scan");
  EXPECT_EQ(value("select string_agg(distinct a.outcome || ' ' || a.charged, ', ') from "
                  "millrace.attempt a join millrace.job_fact j using (job_id) where j.payload ->> "
                  "'shell_file_id' = $1",
                  pg::params(id)),
            "throttled false");
}

}  // namespace
}  // namespace millrace::test
