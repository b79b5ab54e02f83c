// The key of a page's result is computed twice: by the database, which looks for results that can
// be used again, and by the worker, which writes them. Two opinions would mean that every page is
// read, and paid for, twice.
#include "base/random.h"
#include "base/run.h"
#include "pg/pool.h"
#include "pipeline/definition/parse.h"
#include "pipeline/definition/pipeline_set.h"
#include "pipeline/stage_job.h"
#include "sql/document_world.h"
#include "store/document_store.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <set>

namespace millrace::test {
namespace {

class ReuseKeyPg : public DocumentTest {
 protected:
  // What the worker is told about the page of a job, by the call it makes.
  store::DocumentWork work_of(const std::string& job) {
    return must(run_blocking(io, store->document_work(JobId{must(Uuid::parse(job))})));
  }
  std::string by_database(const std::string& file, const std::string& page,
                          const pipeline::Stage& stage) {
    const auto plan = pipeline::plan_of(guardian, stage);
    return sql.value(
        "select encode(reuse_key, 'hex') from millrace.reuse_keys($1::uuid, $2, $3, array(select "
        "jsonb_array_elements_text($4::jsonb))) where page = $5::int",
        pg::params(file, stage.name, pipeline::stage_version(stage), to_json(plan.at("inputs")),
                   page));
  }
  void put_result(const std::string& file, int page, std::string_view stage,
                  std::string_view content) {
    sql.run(
        "select millrace.put_result(d, jsonb_build_object('page', $2::int, 'stage', $3::text, "
        "'reuse_key', "
        "repeat('0', 64), 'blob', $4::jsonb), null) from millrace.document d where file_id = "
        "$1::uuid",
        pg::params(file, page, stage, stored(sql, content)));
  }

  boost::asio::io_context io{1};
  SeededRandom random{7};
  pg::Pool pool{io.get_executor(),
                pg::connect_options(database.url("millrace_worker")),
                {.connections_max = 1},
                random};
  std::unique_ptr<store::DocumentStore> store = store::make_document_store(pool);
  pipeline::Pipeline guardian =
      pipeline::parse_pipeline(pipeline::built_in_text("guardian.toml")).pipeline.value();
};

TEST_F(ReuseKeyPg, DatabaseAndWorkerAgreeOnEveryStagePerPage) {
  const auto file = scanned({"one", "two", "three"});
  for (const auto* stage : {"fast_queue_spatial", "ai_queue_pass1", "ai_queue_pass2"}) {
    put_result(file, 1, stage, fmt::format("{} of one", stage));
    put_result(file, 2, stage, fmt::format("{} of two", stage));
    put_result(file, 3, stage, fmt::format("{} of three", stage));
  }
  std::set<std::string> keys;
  int compared = 0;
  for (const auto row : sql.rows(
           "select job_id, payload ->> 'page' from millrace.job_fact where payload ? 'page'")) {
    const auto work = work_of(std::string(row.text(0)));
    for (const auto& stage : guardian.stages) {
      if (stage.each != pipeline::Each::page) continue;
      const auto key = pipeline::reuse_key(guardian, stage, work);
      EXPECT_EQ(key, by_database(file, std::string(row.text(1)), stage))
          << stage.name << " " << row.text(1);
      keys.insert(key);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 9);
  EXPECT_EQ(keys.size(), 9U);
}

TEST_F(ReuseKeyPg, TheyAgreeWhereThePageBeforeHasNoResult) {
  const auto file = scanned({"one", "two"});
  put_result(file, 2, "fast_queue_spatial", "map of two");
  const auto job = sql.value("select job_id from millrace.job_fact where payload ->> 'page' = '2'");
  const auto& stage = *guardian.find("ai_queue_pass1");
  EXPECT_EQ(pipeline::reuse_key(guardian, stage, work_of(job)), by_database(file, "2", stage));
  // And a page that lacks what the stage reads has no key: nothing can be taken over for it.
  EXPECT_EQ(by_database(file, "1", stage), "(none)");
}

}  // namespace
}  // namespace millrace::test
