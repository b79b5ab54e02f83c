// G-13: the job types of the maintenance family. Nobody in the product handles them: their jobs
// wait where they are, untouched and reported, until a worker comes that does.
#include "integration/worker_world.h"
#include "worker/handlers/builtin.h"

#include <algorithm>
#include <map>

namespace millrace::test {
namespace {

// The last six of Q-03.
const std::vector<std::string> kMaintenance = {"audit_cleanup",      "notification_delivery",
                                               "report_generation",  "backup_operation",
                                               "system_maintenance", "consent_verification"};

class MaintenanceTypes : public WorldTest {
 protected:
  MaintenanceTypes() {
    options.queues = {{.name = "system"}, {.name = "default"}};
    for (const auto& type : kMaintenance) jobs_[type] = enqueue(type, R"({"why": "G-13"})");
  }

  std::string unhandled() {
    return text(
        "select string_agg(job_type, ' ' order by job_type) from millrace.unhandled_types()");
  }
  static std::string all_of_them() {
    auto types = kMaintenance;
    std::ranges::sort(types);
    std::string joined;
    for (const auto& type : types) joined += (joined.empty() ? "" : " ") + type;
    return joined;
  }
  void expect_untouched() {
    for (const auto& [type, id] : jobs_) {
      EXPECT_EQ(status(id), "pending") << type;
      EXPECT_EQ(text("select count(*) from millrace.attempt where job_id = $1::uuid", id), "0")
          << type;
    }
    EXPECT_EQ(text("select count(*) from millrace.queue_counts() c where c.enqueued <> c.completed "
                   "+ c.failed + c.cancelled + c.live"),
              "0");
  }

  std::map<std::string, std::string> jobs_;
};

TEST_F(MaintenanceTypes, g13_AreRegisteredAndWhatIsNotIsRefusedWithTheList) {
  EXPECT_EQ(text("select count(*) from millrace.job_type t join millrace.queue q using (queue_id) "
                 "where q.queue = 'system' and t.job_type = any (string_to_array($1, ' '))",
                 all_of_them()),
            "6");
  const auto refused = admin.query("select millrace.enqueue_job('disk_cleanup', '{\"n\": 1}')", {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with("Invalid job_type. Allowed: {"));
  for (const auto& type : kMaintenance) {
    EXPECT_TRUE(refused.error().message.contains(type)) << refused.error().message;
  }
}

// A worker for the same queue, with other handlers, runs its own jobs and leaves these alone.
TEST_F(MaintenanceTypes, g13_WithoutAHandlerTheyWaitAndAreReported) {
  EXPECT_EQ(unhandled(), all_of_them());
  must(handlers.add("noop", std::make_unique<worker::NoopHandler>()));
  start_worker();
  start_keeper();
  const auto other = enqueue("noop", R"({"n": 1})");
  const auto beside = enqueue("noop", R"({"n": 1})", R"({"queue": "system"})");
  run_until_status(other, "completed");
  run_until_status(beside, "completed");
  expect_untouched();
  EXPECT_EQ(unhandled(), all_of_them());
}

TEST_F(MaintenanceTypes, g13_RunOnceWhenAHandlerComes) {
  must(handlers.add("noop", std::make_unique<worker::NoopHandler>()));
  start_worker();
  run_until_status(enqueue("noop", R"({"n": 1})", R"({"queue": "system"})"), "completed");
  expect_untouched();
  for (const auto& type : kMaintenance) {
    must(handlers.add(type, std::make_unique<worker::NoopHandler>()));
  }
  start_worker();
  for (const auto& [type, id] : jobs_) {
    run_until_status(id, "completed");
    EXPECT_EQ(
        text("select string_agg(outcome, ' ') from millrace.attempt where job_id = $1::uuid", id),
        text("select string_agg(outcome, ' ') from millrace.attempt a join millrace.job_fact "
             "j using (job_id) join millrace.job_type t using (type_id) where t.job_type = "
             "'noop'"))
        << type;
  }
  EXPECT_EQ(unhandled(), "");
  EXPECT_EQ(text("select count(*) from millrace.jobs where status = 'completed' and job_type = any "
                 "(string_to_array($1, ' '))",
                 all_of_them()),
            "6");
}

}  // namespace
}  // namespace millrace::test
