// T18 through the real programs: hostile files of one tenant, letters of another and plain jobs,
// all at once in one worker. The hostile ones end as they must, the others do not notice, and what
// lies on the disk meanwhile is bounded and gone afterwards.
#include "corpus.h"
#include "integration/documents_world.h"

namespace millrace::test {
namespace {

constexpr std::uint64_t kScratchBytes = 8ULL * 1024 * 1024;
constexpr std::uint64_t kSlots = 4;
constexpr std::size_t kEvery = 7;  // Of the corpus; all of it goes through tests/hostile.
constexpr int kLetters = 8;
constexpr int kPlainJobs = 300;

std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) total += entry.file_size(error);
  }
  return total;
}

class HostileDocuments : public Documents {
 protected:
  static void SetUpTestSuite() { world_ = std::make_unique<UploadWorld>(); }
  void SetUp() override {
    // Attempts that fail follow each other at once.
    value(
        "select millrace.set_queue('fast_queue', '{\"backoff_base\": \"50 ms\", "
        "\"backoff_cap\": \"100 ms\"}')");
    worker_ = std::make_unique<DocumentWorker>(
        *world_, std::map<std::string, std::string>{
                     {"MILLRACE_DOCUMENTS_SCRATCH_BYTES", std::to_string(kScratchBytes)}});
  }
  void TearDown() override { worker_.reset(); }

  // The status of the answer, and the id when it was taken.
  std::pair<int, std::string> offer(const UploadWorld::Person& who, const std::string& content,
                                    const std::string& name) {
    auto ask = UploadWorld::raw(who, content, {}, name);
    const auto made = api().ask(ask);
    return {made.status, made.status == 201 ? text_of(made, "id") : std::string()};
  }
  std::string tenants_own(const std::string& what, const UploadWorld::Person& who) {
    return value(what, pg::params(who.tenant.to_string()));
  }
};

TEST_F(HostileDocuments, t18_HostileFilesHarmNobodyElse) {
  const auto attacker = world().person();
  const auto patient = world().person();
  const auto blobs_before = bytes_below(world().blobs());
  std::vector<std::string> hostile;
  std::map<std::string, std::string> names;
  std::vector<std::string> letters;
  std::uint64_t sent_bytes = 0;
  std::uint64_t largest = 0;
  std::uint64_t peak = 0;
  const auto look = [&] { peak = std::max(peak, worker_->scratch_bytes()); };

  value(
      "select count(*) from millrace.enqueue_array('noop', array(select jsonb_build_object('n', i) "
      "from generate_series(1, $1::int) i), '{}')",
      pg::params(kPlainJobs));
  const auto corpus = hostile::hostile_corpus();
  for (std::size_t i = 0; i < corpus.size(); i += kEvery) {
    const auto content = corpus[i].make();
    if (content.size() > kScratchBytes / 2) continue;
    const auto [status, id] = offer(attacker, content, fmt::format("file-{}.bin", i));
    // Refused at the door, or taken in and judged.
    EXPECT_TRUE(status == 201 || status / 100 == 4) << corpus[i].name << ": " << status;
    if (!id.empty()) {
      hostile.push_back(id);
      names[id] = corpus[i].name;
      sent_bytes += content.size();
      largest = std::max<std::uint64_t>(largest, content.size());
    }
    if (letters.size() < kLetters) {
      letters.push_back(offer(patient,
                              made_pdf({letter(fmt::format("Innocent {}", i), "Metformin"),
                                        letter(fmt::format("Second {}", i), "Aspirin")}),
                              "letter.pdf")
                            .second);
    }
    look();
  }
  ASSERT_EQ(letters.size(), static_cast<std::size_t>(kLetters));
  ASSERT_GE(hostile.size(), 50U);

  const auto all_ended = [&](const std::vector<std::string>& ids) {
    look();
    return std::ranges::all_of(ids, [&](const auto& id) {
      const auto now = state(id);
      return now != "uploaded" && now != "processing";
    });
  };
  EXPECT_TRUE(eventually([&] { return all_ended(letters); }));
  for (int minute = 0; minute < 4 && !all_ended(hostile); ++minute) {
    eventually([&] { return all_ended(hostile); });
  }

  // Everybody else: right, at the first attempt, and once.
  for (const auto& id : letters) {
    EXPECT_EQ(state(id), "completed") << to_json(document(id));
    who_ = patient;
    expect_manifest(id);
  }
  EXPECT_EQ(tenants_own("select count(*) from millrace.attempt where tenant_id = $1::uuid and "
                        "outcome not in ('ok')",
                        patient),
            "0");
  const std::string plain_done =
      "select count(*) from millrace.jobs where job_type = 'noop' and status = 'completed'";
  EXPECT_TRUE(eventually([&] { return value(plain_done) == std::to_string(kPlainJobs); }))
      << value(plain_done);
  EXPECT_EQ(
      tenants_own("select count(*) from millrace.quarantine where tenant_id = $1::uuid", patient),
      "0");
  expect_sound();

  // The hostile ones: each has an end, and what was refused is handed out by nobody.
  std::map<std::string, int> ends;
  for (const auto& id : hostile) {
    const auto end = state(id);
    ++ends[end];
    if (end != "failed" && end != "partial") continue;
    fmt::print(
        "{} {}: {}\n", names[id], end,
        value("select string_agg(distinct a.outcome || ' ' || left(a.error::text, 200), '; ') "
              "from millrace.attempt a join millrace.job_fact j using (job_id) where "
              "j.payload ->> 'shell_file_id' = $1 and a.outcome <> 'ok'",
              pg::params(id)));
  }
  EXPECT_EQ(ends["uploaded"] + ends["processing"], 0);
  EXPECT_GT(ends["rejected"], 0);
  EXPECT_EQ(value("select count(*) from millrace.document_output o join millrace.shell_files f on "
                  "f.id = o.file_id where f.status = 'rejected'"),
            "0");

  // The disk: what is kept, and what the tasks under way hold; nothing with a name, ever.
  EXPECT_LE(peak, kScratchBytes + kSlots * (largest + 4096));
  EXPECT_GT(peak, 0U);
  EXPECT_EQ(bytes_below(worker_->scratch()), 0U);
  EXPECT_TRUE(fs::is_empty(worker_->scratch()));
  const auto grown = bytes_below(world().blobs()) - blobs_before;
  for (const auto& [end, count] : ends) fmt::print("{} {}, ", count, end);
  fmt::print(
      "{} letters and {} plain jobs beside {} hostile files; scratch at most {} KiB of {} "
      "KiB, blobs grew by {} KiB for {} KiB sent\n",
      letters.size(), kPlainJobs, hostile.size(), peak / 1024, kScratchBytes / 1024, grown / 1024,
      sent_bytes / 1024);
}

}  // namespace
}  // namespace millrace::test
