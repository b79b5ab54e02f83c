// The commands about documents, with a database and a folder of blobs, without a worker: what one
// would do to a document is done by the functions that it calls.
#include "base/file.h"
#include "blob/digest.h"
#include "output/manifest.h"
#include "program.h"
#include "support/database.h"
#include "support/document_script.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kLetter = "%PDF-1.7 Dear colleague, Metformin 500 mg";
const std::string kText = "--- page 1 of 1 ---\nMetformin 500 mg\n";

class DocumentsCli : public testing::Test {
 protected:
  RunOptions options() const {
    RunOptions options;
    options.env["MILLRACE_STORAGE_FOLDER"] = (folder_.path() / "blobs").string();
    return options;
  }
  std::vector<std::string> with_database(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--database-url", database_.url()});
    return arguments;
  }
  RunResult run(std::vector<std::string> arguments) {
    return run_millrace(with_database(std::move(arguments)), options());
  }
  // As an installation with a secret that lasts.
  RunResult run_with_secret(std::vector<std::string> arguments,
                            const std::string& secret = std::string(40, 's')) {
    auto with = options();
    with.env["MILLRACE_AUTH_JWT_SECRET"] = secret;
    return run_millrace(with_database(std::move(arguments)), with);
  }
  json::Value json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto result = run(std::move(arguments));
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  }
  std::string file(const std::string& name, const std::string& content) {
    return folder_.write(name, content).string();
  }
  std::string add(const std::string& name, const std::string& content) {
    const auto rows = json({"documents", "add", file(name, content)}).as_array();
    return std::string(rows.at(0).at("id").as_string());
  }
  DocumentScript script(const std::string& id) { return DocumentScript(database_, id); }

  // A document of one page that was read; its outputs are `outputs`, stored before.
  std::string completed(const std::vector<DocumentScript::Output>& outputs) {
    const auto id = add("letter.pdf", kLetter);
    for (const auto& output : outputs) add("stored-" + output.name, output.content);
    auto worker = script(id);
    worker.begin();
    worker.scan(1);
    worker.page(1, DocumentScript::fact("Metformin"));
    worker.end(outputs);
    return id;
  }
  static DocumentScript::Output text() {
    return {"text", "text.txt", "text/plain; charset=utf-8", kText};
  }
  static DocumentScript::Output manifest(const std::string& text_sha256) {
    output::Manifest made{
        .document_id = "0190a000-0000-7000-8000-000000000001",
        .generator = "millrace@test",
        .state = "completed",
        .inputs = {{.file_name = "letter.pdf",
                    .sha256 = blob::sha256(kLetter).hex(),
                    .size_bytes = kLetter.size(),
                    .mime = "application/pdf"}},
        .pipeline = {.name = "guardian", .version = "1", .sha256 = std::string(64, 'c')},
        .artifacts = {{.name = "text.txt",
                       .kind = "text",
                       .mime = "text/plain",
                       .sha256 = text_sha256,
                       .size_bytes = kText.size()}}};
    return {"manifest", "manifest.json", "application/json", output::manifest_json(made)};
  }
  std::filesystem::path out() const { return folder_.path() / "out"; }
  std::vector<std::string> files_in(const std::filesystem::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  TestDatabase database_;
  TempFolder folder_;
};

TEST_F(DocumentsCli, AddingTwiceFindsTheSameDocument) {
  const auto path = file("letter.pdf", kLetter);
  const auto first = json({"documents", "add", path}).as_array().at(0).as_object();
  EXPECT_EQ(first.at("answer").as_string(), "added");
  EXPECT_EQ(first.at("sha256").as_string(), blob::sha256(kLetter).hex());
  const auto again = json({"documents", "add", path}).as_array().at(0).as_object();
  EXPECT_EQ(again.at("answer").as_string(), "found");
  EXPECT_EQ(again.at("id"), first.at("id"));
  const auto renamed =
      json({"documents", "add", path, "--name", "other.pdf"}).as_array().at(0).as_object();
  EXPECT_NE(renamed.at("id"), first.at("id"));
  EXPECT_EQ(json({"documents", "list"}).as_array().size(), 2U);
  EXPECT_EQ(json({"documents", "list", "--limit", "1"}).as_array().size(), 1U);
  EXPECT_TRUE(json({"documents", "list", "--state", "completed"}).as_array().empty());
  EXPECT_THAT(run({"documents", "add", path}).out, HasSubstr("was there already"));
}

TEST_F(DocumentsCli, WhatCannotBeAddedIsSaidInOneLine) {
  const auto path = file("letter.pdf", kLetter);
  const auto missing = run({"documents", "add", (folder_.path() / "nothing.pdf").string()});
  EXPECT_EQ(missing.code, 3) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("nothing.pdf"));
  EXPECT_EQ(run({"documents", "add", folder_.path().string()}).code, 2);
  EXPECT_EQ(run({"documents", "add", path, path, "--name", "x"}).code, 2);
  EXPECT_EQ(run({"documents", "add", path, "--patient", "somebody"}).code, 2);
  const auto nobody =
      run({"documents", "add", path, "--patient", "0190a000-0000-7000-8000-00000000ffff"});
  EXPECT_EQ(nobody.code, 3) << nobody.err;
  EXPECT_THAT(nobody.err, HasSubstr("[MR036]"));
  EXPECT_EQ(nobody.error_lines(), 1U);
  EXPECT_EQ(run({"documents", "add"}).code, 2);
}

TEST_F(DocumentsCli, WaitingEndsWithTheDocumentAndSaysHow) {
  for (const bool good : {true, false}) {
    const auto path = file("letter.pdf", kLetter + (good ? "1" : "2"));
    BackgroundProgram waiting(
        with_database({"documents", "add", path, "--wait", "--timeout", "60s"}), options());
    std::string id;
    ASSERT_TRUE(eventually([&] {
      const auto rows = json({"documents", "list", "--state", "uploaded"}).as_array();
      if (!rows.empty()) id = rows[0].at("id").as_string();
      return !id.empty();
    }));
    auto worker = script(id);
    worker.begin();
    worker.scan(2);
    worker.page(1);
    if (good) worker.page(2);
    worker.end();
    EXPECT_EQ(waiting.wait(), good ? 0 : 9) << waiting.err();
  }
}

TEST_F(DocumentsCli, WatchingEndsAtOnceWhereAllHasEnded) {
  const auto id = completed({});
  EXPECT_EQ(run({"documents", "watch"}).code, 0);
  const auto watched = run({"documents", "watch", id});
  EXPECT_EQ(watched.code, 0) << watched.err;
  EXPECT_THAT(watched.out, HasSubstr("completed"));
  const auto waits = add("other.pdf", "%PDF-1.7 other");
  const auto late = run({"documents", "watch", waits, "--timeout", "1s"});
  EXPECT_EQ(late.code, 5) << late.err;
}

TEST_F(DocumentsCli, ShowTellsPagesFindingsOutputsAndFacts) {
  const auto id = add("letter.pdf", kLetter);
  add("stored.txt", kText);
  auto worker = script(id);
  worker.begin();
  worker.scan(2, R"([{"rule":"pdf_attachment","severity":"flag","detail":"one"}])");
  worker.page(1, DocumentScript::fact("Metformin"));
  worker.end({text()});
  const auto shown = run({"documents", "show", id, "--facts"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const auto* part : {"partial", "pdf_attachment", "text.txt", "93 %", "ocr", "Metformin",
                           "failed in fast_queue_ocr: missing", "guardian@1", "2, 1 failed"}) {
    EXPECT_THAT(shown.out, HasSubstr(part));
  }
  const auto object = json({"documents", "show", id, "--facts"}).as_object();
  EXPECT_EQ(object.at("pages").as_array().size(), 2U);
  EXPECT_EQ(object.at("facts").as_array().size(), 1U);
  const auto unknown = run({"documents", "show", "0190a000-0000-7000-8000-00000000ffff"});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("[MR041]"));
  EXPECT_EQ(run({"documents", "show", "x"}).code, 2);
}

TEST_F(DocumentsCli, ExportWritesAllAndHoldsItAgainstTheManifest) {
  const auto id = completed({text(), manifest(blob::sha256(kText).hex())});
  const auto done = run({"documents", "export", id, "--out", out().string(), "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.json().at("verified").as_bool());
  EXPECT_THAT(files_in(out()), testing::ElementsAre("manifest.json", "text.txt"));
  EXPECT_EQ(must(read_file(out() / "text.txt")), kText);
  // Again, over what is there.
  EXPECT_EQ(run({"documents", "export", id, "--format", "text", "--out", out().string()}).code, 0);
  const auto none = run({"documents", "export", id, "--format", "fhir", "--out", out().string()});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("it has manifest, text"));
  EXPECT_EQ(run({"documents", "export", id, "--format", "doc", "--out", out().string()}).code, 2);
  EXPECT_EQ(run({"documents", "export", id}).code, 2);
}

TEST_F(DocumentsCli, AManifestThatDoesNotFitIsAnError) {
  const auto id = completed({text(), manifest(std::string(64, '0'))});
  const auto done = run({"documents", "export", id, "--out", out().string()});
  EXPECT_EQ(done.code, 4) << done.err;
  EXPECT_THAT(done.err, HasSubstr("manifest.json"));
}

// A folder that was handed out, held against the signature in it by others: each byte counts.
TEST_F(DocumentsCli, AFolderIsSignedAndNoByteOfItCanBeChanged) {
  const auto id = completed({text(), manifest(blob::sha256(kText).hex())});
  const auto done = run_with_secret({"documents", "export", id, "--out", out().string(), "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(files_in(out()), testing::ElementsAre("manifest.json", "manifest.sig", "text.txt"));
  const auto key = std::string(done.json().at("public_key").as_string());

  const std::vector<std::string> verify = {"documents", "verify", out().string()};
  EXPECT_EQ(run_with_secret(verify).code, 0);
  auto by_key = verify;  // Somebody who has neither the database nor the secret.
  by_key.insert(by_key.end(), {"--key", key, "--original", file("original.pdf", kLetter)});
  const auto held = run_millrace(by_key, options());
  EXPECT_EQ(held.code, 0) << held.err;
  EXPECT_THAT(held.out, HasSubstr("made of this original"));
  by_key.back() = file("original.pdf", kLetter + " ");
  EXPECT_EQ(run_millrace(by_key, options()).code, 4);
  EXPECT_EQ(run(verify).code, 2) << "nobody says whose signature would be good";
  EXPECT_EQ(run_with_secret(verify, std::string(40, 'x')).code, 4);

  for (const auto* name : {"manifest.json", "manifest.sig", "text.txt"}) {
    const auto whole = must(read_file(out() / name));
    auto changed = whole;
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    must(write_file_atomically(out() / name, changed, 0600));
    const auto refused = run_with_secret(verify);
    EXPECT_EQ(refused.code, 4) << name << refused.err;
    must(write_file_atomically(out() / name, whole, 0600));
  }
  // A file and the manifest with it, as whoever can write the folder would: the digests agree.
  auto other = kText;
  other[other.size() - 2] = '!';
  must(write_file_atomically(out() / "text.txt", other, 0600));
  must(write_file_atomically(out() / "manifest.json", manifest(blob::sha256(other).hex()).content,
                             0600));
  const auto refused = run_with_secret(verify);
  EXPECT_EQ(refused.code, 4);
  EXPECT_THAT(refused.err, HasSubstr("manifest.json is not what was signed"));
}

// Without a secret nothing is signed, and no old signature stays beside a new manifest.
TEST_F(DocumentsCli, WithoutASecretTheManifestIsNotSignedAndThatIsSaid) {
  const auto id = completed({text(), manifest(blob::sha256(kText).hex())});
  const std::vector<std::string> exported = {"documents", "export", id, "--out", out().string()};
  EXPECT_EQ(run_with_secret(exported).code, 0);
  const auto done = run(exported);
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("not signed"));
  EXPECT_THAT(files_in(out()), testing::ElementsAre("manifest.json", "text.txt"));
}

TEST_F(DocumentsCli, DamagedContentIsNotWritten) {
  const auto id = completed({text()});
  const auto hex = blob::sha256(kText).hex();
  bool damaged = false;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_.path() / "blobs")) {
    if (!entry.is_regular_file() || entry.file_size() != kText.size()) continue;
    if (must(read_file(entry.path())) != kText) continue;
    std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
    std::fstream(entry.path(), std::ios::in | std::ios::out | std::ios::binary) << 'X';
    damaged = true;
  }
  ASSERT_TRUE(damaged);
  const auto done = run({"documents", "export", id, "--format", "text", "--out", out().string()});
  EXPECT_NE(done.code, 0);
  EXPECT_TRUE(files_in(out()).empty());
}

TEST_F(DocumentsCli, AnExportOfWhatIsNotReadyIsAConflict) {
  const auto id = add("letter.pdf", kLetter);
  const auto early = run({"documents", "export", id, "--out", out().string()});
  EXPECT_EQ(early.code, 4) << early.err;
  EXPECT_THAT(early.err, HasSubstr("[MR042]"));
}

TEST_F(DocumentsCli, PicturesAreAskedForAndWaitedFor) {
  const auto id = completed({text()});
  add("stored.png", "the picture of page one");
  BackgroundProgram waiting(
      with_database({"documents", "export", id, "--format", "images", "--out", out().string()}),
      options());
  auto sql = database_.connect();
  std::string job;
  ASSERT_TRUE(eventually([&] {
    const auto rows = must(sql.query(
        "select job_id::text from millrace.claim_next_job_v3('a test', '{document_image}')"));
    if (!rows.empty()) job = rows[0].text(0);
    return !job.empty();
  }));
  script(id).draw(job, 1, "the picture of page one");
  must(sql.query("select millrace.complete_job($1::uuid, 'a test')", pg::params(job)));
  EXPECT_EQ(waiting.wait(), 0) << waiting.err();
  EXPECT_EQ(must(read_file(out() / "page-1.png")), "the picture of page one");
  // It is there now: nobody draws it again.
  EXPECT_EQ(run({"documents", "export", id, "--format", "images", "--out", out().string()}).code,
            0);
}

TEST_F(DocumentsCli, ARetryBeginsAnewOnce) {
  const auto id = completed({});
  const auto begun = json({"documents", "retry", id}).as_array();
  EXPECT_EQ(begun.at(0).at("answer").as_string(), "begun");
  EXPECT_EQ(begun.at(0).at("run").as_int64(), 2);
  EXPECT_EQ(run({"documents", "retry", id}).code, 4);
  EXPECT_EQ(run({"documents", "retry", "0190a000-0000-7000-8000-00000000ffff"}).code, 3);
}

TEST_F(DocumentsCli, d06_ARetryOfWhatIsInQuarantineSaysWhatToDo) {
  const auto id = completed({});
  const auto sha256 = blob::sha256(kLetter).hex();
  script(id).quarantine(sha256);
  const auto people = run({"documents", "retry", id});
  EXPECT_EQ(people.code, 4);
  EXPECT_THAT(people.out, HasSubstr("quarantined"));
  EXPECT_THAT(people.err, HasSubstr("millrace documents release " + sha256));
  const auto programs = run({"documents", "retry", id, "--json"});
  EXPECT_EQ(programs.code, 4);
  const auto row = programs.json().as_array().at(0).as_object();
  EXPECT_EQ(row.at("answer").as_string(), "quarantined");
  EXPECT_THAT(std::string(row.at("hint").as_string()), HasSubstr(sha256));
  EXPECT_EQ(run({"documents", "release", sha256}).code, 0);
  EXPECT_EQ(run({"documents", "retry", id}).code, 0);
}

TEST_F(DocumentsCli, QuarantineIsListedAndReleased) {
  const auto id = add("letter.pdf", kLetter);
  const std::string sha256(64, 'f');
  script(id).quarantine(sha256);
  const auto rows = json({"documents", "quarantine"}).as_array();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("sha256").as_string(), sha256);
  EXPECT_EQ(run({"documents", "release", sha256}).code, 0);
  EXPECT_EQ(run({"documents", "release", sha256}).code, 3);
  EXPECT_EQ(run({"documents", "release", "abc"}).code, 2);
  EXPECT_TRUE(json({"documents", "quarantine"}).as_array().empty());
}

TEST_F(DocumentsCli, BudgetsAreSetAndSpendingIsShown) {
  const auto id = add("letter.pdf", kLetter);
  EXPECT_EQ(run({"limits", "budget", "openai", "--per-day", "0.50"}).code, 0);
  EXPECT_EQ(run({"limits", "budget", "openai", "--per-day", "lots"}).code, 2);
  EXPECT_EQ(run({"limits", "budget", "openai"}).code, 2);
  auto sql = database_.connect("millrace_worker");
  must(sql.query(
      "select millrace.begin_call(jsonb_build_object('job_id', $1::text, 'delivery_count', 1,"
      " 'stage', 'ai_queue_pass1', 'provider', 'openai', 'model', 'm', 'request_sha256',"
      " repeat('a', 64), 'estimated_tokens', 10, 'reserved_micros', 300000))",
      pg::params(script(id).first_job())));
  const auto rows = json({"limits", "spend"}).as_array();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("budget_micros").as_int64(), 500'000);
  const auto shown = run({"limits", "spend", "--days", "1"});
  EXPECT_THAT(shown.out, HasSubstr("0.30"));
  EXPECT_THAT(shown.out, HasSubstr("0.50"));
  EXPECT_EQ(run({"limits", "budget", "openai", "--per-day", "none"}).code, 0);
  EXPECT_TRUE(json({"limits", "spend"}).as_array()[0].at("budget_micros").is_null());
}

}  // namespace
}  // namespace millrace::test
