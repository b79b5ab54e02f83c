// Exports whose worker dies: at every step between claim and settlement, in the middle of a
// rendering, with its browsers, or told to stop. One file comes of each order, whatever happened.
#include "integration/exports_world.h"

#include <fstream>
#include <sstream>

namespace millrace::test {
namespace {

// All points of an export, from the list that tools/fault_points keeps, and of its settlement.
std::vector<std::string> export_points() {
  std::vector<std::string> points;
  std::ifstream list(MILLRACE_FAULT_POINTS);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string name;
    std::string file;
    words >> kind >> name >> file;
    if (kind != "point") continue;
    const bool ours =
        file == "src/store/export_work.cpp" || file == "src/pipeline/export/export_handler.cpp";
    if (ours || name.starts_with("settle_with")) points.push_back(name);
  }
  return points;
}

class KilledExports : public Exports {
 protected:
  void TearDown() override { worker_.reset(); }  // Each test says who works when.

  void expect_one_file(const std::string& job, const std::string& what) {
    EXPECT_EQ(world().count("select count(*) from millrace.export_history where job_id = $1::uuid",
                            pg::params(job)),
              1)
        << what;
    const auto file = download(job);
    EXPECT_EQ(file.status, 200) << what;
    EXPECT_THAT(words_of(file.body), testing::HasSubstr(what)) << what;
  }
};

TEST_F(KilledExports, a_worker_that_dies_at_any_step_costs_the_rendering_and_nothing_else) {
  const auto points = export_points();
  ASSERT_GE(points.size(), 12U);
  // One death after the other: a job that meets three is taken for their cause.
  for (const auto& point : points) {
    const auto job = order(keep(point, resume(point)));
    {
      ExportWorkerProgram victim(world(), {{"MILLRACE_FAULT", point + "=kill"}});
      EXPECT_TRUE(victim.dies()) << point << " was not reached";
    }
    ExportWorkerProgram next(world());
    ASSERT_EQ(ended(job), "completed") << point << ": " << to_json(state(job));
    expect_one_file(job, point);
  }
  expect_sound();
}

TEST_F(KilledExports, kill_nine_in_the_middle_of_a_rendering_takes_the_browsers_along) {
  auto victim = std::make_unique<ExportWorkerProgram>(world());
  ASSERT_EQ(ended(order(keep("warm", resume("warm")))), "completed");
  const auto browsers = victim->browsers();
  ASSERT_FALSE(browsers.empty());
  victim->signal_browsers(SIGSTOP);
  const auto job = order(keep("CV", resume("Phoenix")));
  ASSERT_TRUE(eventually([&] { return status(job) == "processing"; }));
  victim->kill();
  for (const auto pid : browsers) {
    EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; })) << "a browser outlives its worker";
  }
  ExportWorkerProgram next(world());
  EXPECT_EQ(ended(job), "completed") << to_json(state(job));
  expect_one_file(job, "Phoenix");
  EXPECT_EQ(value("select count(*) from millrace.attempt where job_id = $1::uuid and outcome = "
                  "'lost'",
                  pg::params(job)),
            "1");
}

// three browsers that die of a document are poison, for it alone.
TEST_F(KilledExports, a_browser_that_dies_is_a_retry_and_the_third_time_the_end) {
  ExportWorkerProgram worker(world());
  const auto document = keep("CV", resume("Ada"));
  std::string job;
  const auto charged = [&] {
    return value("select count(*) from millrace.attempt where job_id = $1::uuid and charged",
                 pg::params(job));
  };
  // A warm browser stands still, is given the document, and dies of it. False: it was about to open
  // its next page, and the document waited for another one.
  const auto dies_of_it = [&](int death) {
    EXPECT_EQ(ended(order(keep("warm", resume("warm")))), "completed");
    worker.signal_browsers(SIGSTOP);
    if (death == 1) {
      job = order(document);
    } else {
      run_now(job);
    }
    EXPECT_TRUE(eventually([&] {
      return status(job) == "processing" && state(job).at("progress").to_number<int>() >= 50;
    })) << to_json(state(job));
    worker.signal_browsers(SIGKILL);
    EXPECT_TRUE(eventually([&] { return status(job) != "processing"; })) << to_json(state(job));
    return charged() == std::to_string(death);
  };
  ASSERT_TRUE(eventually([&] {
    int deaths = 0;
    while (deaths < 3 && dies_of_it(deaths + 1)) {
      ++deaths;
      EXPECT_EQ(error_type(job), "render_crashed") << deaths;
    }
    return deaths == 3 || HasFailure();
  }));
  EXPECT_EQ(ended(job), "failed") << to_json(state(job));
  const auto other = order(keep("CV", resume("Ada")));
  EXPECT_EQ(ended(other), "completed") << to_json(state(other));
}

TEST_F(KilledExports, told_to_stop_a_worker_finishes_what_it_prints) {
  const auto id = keep("CV", long_resume("Ada", 60, 4));
  const auto job = order(id);
  {
    ExportWorkerProgram leaving(world());
    ASSERT_TRUE(eventually([&] { return status(job) != "pending"; }));
    // SIGTERM, and its end: 0.
  }
  const auto now = engine_status(job);
  EXPECT_TRUE(now == "completed" || now == "pending") << now << ": done, or handed back uncharged";
  EXPECT_EQ(value("select count(*) from millrace.attempt where job_id = $1::uuid and charged and "
                  "outcome <> 'ok'",
                  pg::params(job)),
            "0");
  ExportWorkerProgram next(world());
  EXPECT_EQ(ended(job), "completed") << to_json(state(job));
}

}  // namespace
}  // namespace millrace::test
