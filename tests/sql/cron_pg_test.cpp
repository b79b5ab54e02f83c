// Cron: when an expression is due (a table of cases, checked against an independent calendar), and
// entries that the keeper turns into jobs exactly once.
#include "sql/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::test {
namespace {

class CronNext : public ::testing::Test {
 protected:
  // "2026-03-29 01:00:00" in UTC, or the SQLSTATE and the message.
  std::string next(std::string_view schedule, std::string_view after,
                   std::string_view zone = "UTC") {
    const auto result = db_.connection().query(
        "select to_char(millrace.cron_next($1, $2::timestamptz, $3) at time zone 'UTC',"
        "               'YYYY-MM-DD HH24:MI:SS')",
        pg::params(schedule, std::string(after) + "Z", zone));
    if (!result) return fmt::format("{} {}", result.error().sqlstate, result.error().message);
    return std::string((*result)[0].text(0));
  }
  // The runs of one stretch of time, as times of day in UTC.
  std::string runs(std::string_view schedule, std::string_view after, int count,
                   std::string_view zone) {
    return db_.value(
        "with recursive r(due, n) as ("
        "  select millrace.cron_next($1, $2::timestamptz, $4), 1"
        "  union all select millrace.cron_next($1, r.due, $4), r.n + 1 from r where r.n < "
        "$3::integer)"
        " select string_agg(to_char(r.due at time zone 'UTC', 'HH24:MI'), ' ' order by r.n) from r",
        pg::params(schedule, std::string(after) + "Z", count, zone));
  }

  TestDatabase database_;
  Session db_{database_};
};

TEST_F(CronNext, DueTimesByTheTable) {
  struct Case {
    const char* schedule;
    const char* after;
    const char* zone;
    const char* due;
  };
  const std::vector<Case> cases{
      // Steps, lists, ranges.
      {"* * * * *", "2026-01-01 00:00:00", "UTC", "2026-01-01 00:01:00"},
      {"* * * * *", "2026-01-01 00:00:59.999999", "UTC", "2026-01-01 00:01:00"},
      {"*/15 * * * *", "2026-01-01 00:44:59", "UTC", "2026-01-01 00:45:00"},
      {"*/15 * * * *", "2026-01-01 00:45:00", "UTC", "2026-01-01 01:00:00"},
      {"7/20 * * * *", "2026-01-01 00:28:00", "UTC", "2026-01-01 00:47:00"},
      {"10-40/10 * * * *", "2026-01-01 00:40:00", "UTC", "2026-01-01 01:10:00"},
      {"5,35,5 9-17 * * *", "2026-01-01 17:35:00", "UTC", "2026-01-02 09:05:00"},
      {"1,2-4,*/30 * * * *", "2026-01-01 00:04:00", "UTC", "2026-01-01 00:30:00"},
      {"0 0 * * *", "2026-12-31 12:00:00", "UTC", "2027-01-01 00:00:00"},
      {"59 23 31 12 *", "2026-12-31 23:59:00", "UTC", "2027-12-31 23:59:00"},
      {"  0   4\t* *   * ", "2026-01-01 00:00:00", "UTC", "2026-01-01 04:00:00"},
      // Seconds first.
      {"*/10 * * * * *", "2026-01-01 00:00:50", "UTC", "2026-01-01 00:01:00"},
      {"30 15 3 * * *", "2026-01-01 03:15:29.5", "UTC", "2026-01-01 03:15:30"},
      {"30 15 3 * * *", "2026-01-01 03:15:30", "UTC", "2026-01-02 03:15:30"},
      {"59 59 23 * * *", "2026-01-01 23:59:59", "UTC", "2026-01-02 23:59:59"},
      {"0-5 0 0 1 1 *", "2026-01-01 00:00:05", "UTC", "2027-01-01 00:00:00"},
      // Names and the two Sundays.
      {"0 9 * jan mon", "2026-01-01 00:00:00", "UTC", "2026-01-05 09:00:00"},
      {"0 9 * JAN,Jul MON-FRI", "2026-01-31 10:00:00", "UTC", "2026-07-01 09:00:00"},
      {"0 9 * * 0", "2026-01-01 00:00:00", "UTC", "2026-01-04 09:00:00"},
      {"0 9 * * 7", "2026-01-01 00:00:00", "UTC", "2026-01-04 09:00:00"},
      {"0 9 * * sun", "2026-01-01 00:00:00", "UTC", "2026-01-04 09:00:00"},
      {"0 9 * * 6-7", "2026-01-03 09:00:00", "UTC", "2026-01-04 09:00:00"},
      {"0 9 * * fri-sun", "2026-01-03 09:00:00", "UTC", "2026-01-04 09:00:00"},
      {"0 9 * * */2", "2026-01-04 10:00:00", "UTC", "2026-01-06 09:00:00"},
      // Macros.
      {"@hourly", "2026-01-01 00:00:00", "UTC", "2026-01-01 01:00:00"},
      {"@daily", "2026-01-01 00:00:00", "UTC", "2026-01-02 00:00:00"},
      {"@midnight", "2026-01-01 00:00:00", "UTC", "2026-01-02 00:00:00"},
      {"@weekly", "2026-01-01 00:00:00", "UTC", "2026-01-04 00:00:00"},
      {"@monthly", "2026-01-01 00:00:00", "UTC", "2026-02-01 00:00:00"},
      {"@Yearly", "2026-01-01 00:00:00", "UTC", "2027-01-01 00:00:00"},
      {"@annually", "2026-06-01 00:00:00", "UTC", "2027-01-01 00:00:00"},
      // Day of month or day of week when both are restricted, and when one begins with *.
      {"0 0 13 * fri", "2026-01-01 00:00:00", "UTC", "2026-01-02 00:00:00"},
      {"0 0 13 * fri", "2026-01-09 00:00:00", "UTC", "2026-01-13 00:00:00"},
      {"0 0 13 * *", "2026-01-13 00:00:00", "UTC", "2026-02-13 00:00:00"},
      {"0 0 */2 * mon", "2026-01-01 00:00:00", "UTC", "2026-01-05 00:00:00"},
      {"0 0 */2 * mon", "2026-01-05 00:00:00", "UTC", "2026-01-19 00:00:00"},
      // Months without the day, leap years.
      {"0 0 31 * *", "2026-01-31 00:00:00", "UTC", "2026-03-31 00:00:00"},
      {"0 0 30 * *", "2026-01-30 00:00:00", "UTC", "2026-03-30 00:00:00"},
      {"0 0 29 2 *", "2026-01-01 00:00:00", "UTC", "2028-02-29 00:00:00"},
      {"0 0 29 2 *", "2028-02-29 00:00:00", "UTC", "2032-02-29 00:00:00"},
      {"0 0 29 2 *", "2096-02-29 00:00:00", "UTC", "2104-02-29 00:00:00"},
      {"0 0 28,29 2 *", "2100-02-28 00:00:00", "UTC", "2101-02-28 00:00:00"},
      // Other zones, no change of the clocks near.
      {"0 9 * * *", "2026-01-15 00:00:00", "Europe/Berlin", "2026-01-15 08:00:00"},
      {"0 9 * * *", "2026-07-15 00:00:00", "Europe/Berlin", "2026-07-15 07:00:00"},
      {"30 5 * * *", "2026-01-15 00:00:00", "Asia/Kolkata", "2026-01-16 00:00:00"},
      {"0 0 1 1 *", "2026-03-01 00:00:00", "Pacific/Auckland", "2026-12-31 11:00:00"},
      {"0 12 * * mon", "2026-01-04 23:00:00", "Pacific/Kiritimati", "2026-01-11 22:00:00"},
      // Berlin, 29 March 2026: 02:00 to 03:00 does not exist; the first instant after it is 01:00
      // UTC.
      {"30 2 * * *", "2026-03-28 12:00:00", "Europe/Berlin", "2026-03-29 01:00:00"},
      {"30 2 * * *", "2026-03-29 01:00:00", "Europe/Berlin", "2026-03-30 00:30:00"},
      {"0 2 * * *", "2026-03-28 12:00:00", "Europe/Berlin", "2026-03-29 01:00:00"},
      {"59 1 * * *", "2026-03-28 12:00:00", "Europe/Berlin", "2026-03-29 00:59:00"},
      {"0 3 * * *", "2026-03-28 12:00:00", "Europe/Berlin", "2026-03-29 01:00:00"},
      // Berlin, 25 October 2026: 02:00 to 03:00 comes twice, from 00:00 and from 01:00 UTC.
      {"30 2 * * *", "2026-10-24 12:00:00", "Europe/Berlin", "2026-10-25 00:30:00"},
      {"30 2 * * *", "2026-10-25 00:30:00", "Europe/Berlin", "2026-10-26 01:30:00"},
      {"30 2 * * *", "2026-10-25 01:10:00", "Europe/Berlin", "2026-10-26 01:30:00"},
      {"0 3 * * *", "2026-10-25 00:30:00", "Europe/Berlin", "2026-10-25 02:00:00"},
      {"@daily", "2026-10-24 22:00:00", "Europe/Berlin", "2026-10-25 23:00:00"},
      // Lord Howe changes by half an hour: 4 October 2026 at 15:30 UTC and 4 April 2026 at 15:00
      // UTC.
      {"15 2 * * *", "2026-10-03 12:00:00", "Australia/Lord_Howe", "2026-10-03 15:30:00"},
      {"15 2 * * *", "2026-10-03 15:30:00", "Australia/Lord_Howe", "2026-10-04 15:15:00"},
      {"45 1 * * *", "2026-04-04 10:00:00", "Australia/Lord_Howe", "2026-04-04 14:45:00"},
      {"45 1 * * *", "2026-04-04 14:45:00", "Australia/Lord_Howe", "2026-04-05 15:15:00"},
      // Samoa had no 30 December 2011.
      {"0 12 30 12 *", "2011-12-29 00:00:00", "Pacific/Apia", "2011-12-30 10:00:00"},
      {"0 12 31 12 *", "2011-12-29 00:00:00", "Pacific/Apia", "2011-12-30 22:00:00"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(next(c.schedule, c.after, c.zone), c.due)
        << "'" << c.schedule << "' after " << c.after << " in " << c.zone;
  }
}

TEST_F(CronNext, WhatIsMissingInAGapRunsOnceRightAfterIt) {
  EXPECT_EQ(runs("0,15,30,45 2 * * *", "2026-03-29 00:00", 3, "Europe/Berlin"), "01:00 00:00 00:15")
      << "four times that do not exist are one run";
  EXPECT_EQ(runs("*/30 * * * *", "2026-03-29 00:00", 4, "Europe/Berlin"),
            "00:30 01:00 01:30 02:00");
}

TEST_F(CronNext, ARepeatedHourRunsOnceUnlessTheScheduleIsOneOfIntervals) {
  EXPECT_EQ(runs("0,30 2,3 * * *", "2026-10-24 23:00", 4, "Europe/Berlin"),
            "00:00 00:30 02:00 02:30");
  EXPECT_EQ(runs("*/30 2 * * *", "2026-10-24 23:00", 4, "Europe/Berlin"),
            "00:00 00:30 01:00 01:30");
  EXPECT_EQ(runs("@hourly", "2026-10-24 23:00", 4, "Europe/Berlin"), "00:00 01:00 02:00 03:00");
  EXPECT_EQ(runs("0 */2 * * *", "2026-10-24 22:00", 3, "Europe/Berlin"), "00:00 03:00 05:00");
  EXPECT_EQ(runs("*/15 * * * *", "2026-04-04 14:20", 5, "Australia/Lord_Howe"),
            "14:30 14:45 15:00 15:15 15:30");
}

TEST_F(CronNext, MR012_ABadExpressionIsToldByFieldAndRule) {
  struct Case {
    const char* schedule;
    const char* zone;
    const char* message;
  };
  const std::vector<Case> cases{
      {"", "UTC", "cron schedule must have 1 to 500 characters"},
      {"   ", "UTC", "cron schedule must have 1 to 500 characters"},
      {"* * * *", "UTC", "cron schedule must have 5 fields, or 6 with seconds first, not 4"},
      {"* * * * * * *", "UTC", "cron schedule must have 5 fields, or 6 with seconds first, not 7"},
      {"@reboot", "UTC", "cron schedule \"@reboot\" is not known"},
      {"60 * * * *", "UTC", "cron field minute: 60 is not between 0 and 59"},
      {"60 * * * * *", "UTC", "cron field second: 60 is not between 0 and 59"},
      {"* 24 * * *", "UTC", "cron field hour: 24 is not between 0 and 23"},
      {"* * 0 * *", "UTC", "cron field day of month: 0 is not between 1 and 31"},
      {"* * 32 * *", "UTC", "cron field day of month: 32 is not between 1 and 31"},
      {"* * * 13 *", "UTC", "cron field month: 13 is not between 1 and 12"},
      {"* * * * 8", "UTC", "cron field day of week: 8 is not between 0 and 7"},
      {"* * * foo *", "UTC", "cron field month: \"foo\" is not a number or one of jan to dec"},
      {"* * * * mo", "UTC", "cron field day of week: \"mo\" is not a number or one of sun to sat"},
      {"jan * * * *", "UTC", "cron field minute: \"jan\" is not a number"},
      {"*/0 * * * *", "UTC", "cron field minute: step \"0\" is not between 1 and 59"},
      {"*/60 * * * *", "UTC", "cron field minute: step \"60\" is not between 1 and 59"},
      {"*/x * * * *", "UTC", "cron field minute: step \"x\" is not between 1 and 59"},
      {"30-10 * * * *", "UTC", "cron field minute: range \"30-10\" ends before it begins"},
      {"-5 * * * *", "UTC", "cron field minute: \"-5\" is not a value, a range or a step"},
      {"1,,2 * * * *", "UTC", "cron field minute: \"\" is not a value, a range or a step"},
      {"1- * * * *", "UTC", "cron field minute: \"1-\" is not a value, a range or a step"},
      {"*-5 * * * *", "UTC", "cron field minute: \"*-5\" is not a value, a range or a step"},
      {"1/2/3 * * * *", "UTC", "cron field minute: \"1/2/3\" is not a value, a range or a step"},
      {"99999999999999999999 * * * *", "UTC",
       "cron field minute: \"99999999999999999999\" is not a number"},
      {"1.5 * * * *", "UTC", "cron field minute: \"1.5\" is not a number"},
      {"0 0 L * *", "UTC", "cron field day of month: \"l\" is not a number"},
      {"0 0 30 2 *", "UTC", "cron schedule \"0 0 30 2 *\" is not due within 8 years"},
      {"0 0 31 2,4,6,9,11 *", "UTC",
       "cron schedule \"0 0 31 2,4,6,9,11 *\" is not due within 8 years"},
      {"* * * * *", "Mars/Olympus", "time zone \"Mars/Olympus\" is not known"},
      {"* * * * *", "UTC+2", "time zone \"UTC+2\" is not known"},
      {"* * * * *", "", "time zone \"\" is not known"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(next(c.schedule, "2026-01-01", c.zone), fmt::format("MR012 {}", c.message));
  }
  EXPECT_EQ(db_.refused("select millrace.cron_next('* * * * *', 'infinity')").sqlstate, "MR012");
  EXPECT_EQ(db_.refused("select millrace.cron_next('* * * * *', null)").sqlstate, "MR012");
  EXPECT_EQ(db_.refused("select millrace.cron_next(null, millrace.now())").sqlstate, "MR012");
  EXPECT_EQ(
      db_.refused("select millrace.cron_next(repeat('1,', 300) || '1 * * * *', millrace.now())")
          .sqlstate,
      "MR012");
}

constexpr auto kTenantA = "aaaaaaaa-0000-4000-8000-000000000001";
constexpr auto kTenantB = "bbbbbbbb-0000-4000-8000-000000000002";

class Cron : public ::testing::Test {
 protected:
  Cron() { clock("2026-05-01 12:00:30"); }

  void clock(std::string_view at) {
    db_.run("update millrace.test_clock set frozen_at = $1::timestamptz, shift = '0'",
            pg::params(std::string(at) + "Z"));
  }
  std::string set(std::string_view name, std::string_view schedule, std::string_view options = "{}",
                  std::string_view job = R"({"job_type": "noop", "payload": {"a": 1}})") {
    return db_.value("select millrace.set_cron($1, $2, $3::jsonb, $4::jsonb)",
                     pg::params(name, schedule, job, options));
  }
  std::int64_t tick() { return db_.number("select millrace.run_cron(100)"); }
  std::int64_t jobs() { return db_.number("select count(*) from millrace.job_fact"); }
  std::string entry(std::string_view column, std::string_view name = "c") {
    return db_.value(fmt::format("select c.{} from millrace.cron c where c.name = $1", column),
                     pg::params(name));
  }
  std::string next_due(std::string_view name = "c") {
    return db_.value(
        "select to_char(c.next_due_at at time zone 'UTC', 'DD HH24:MI:SS')"
        " from millrace.cron c where c.name = $1",
        pg::params(name));
  }

  TestDatabase database_;
  Session db_{database_};
};

TEST_F(Cron, EnqueuesADueRunOnceAndMovesOn) {
  set("c", "*/5 * * * *");
  EXPECT_EQ(tick(), 0);
  EXPECT_EQ(next_due(), "01 12:05:00");
  clock("2026-05-01 12:05:00");
  EXPECT_EQ(tick(), 1);
  EXPECT_EQ(tick(), 0);
  EXPECT_EQ(jobs(), 1);
  EXPECT_EQ(next_due(), "01 12:10:00");
  EXPECT_EQ(entry("last_due_at = '2026-05-01 12:05Z'"), "t");
  EXPECT_EQ(db_.value("select f.job_name || ' ' || f.payload from millrace.job_fact f"),
            "c {\"a\": 1}");
  EXPECT_EQ(entry("last_job_id"), db_.value("select f.job_id from millrace.job_fact f"));
}

TEST_F(Cron, TwoKeepersAtOnceEnqueueOnce) {
  set("c", "*/5 * * * *");
  clock("2026-05-01 12:05:10");
  Session other(database_);
  other.run("begin");
  EXPECT_EQ(other.number("select millrace.run_cron(100)"), 1);
  EXPECT_EQ(tick(), 0) << "the second must skip the locked row, not wait and repeat it";
  other.run("commit");
  EXPECT_EQ(tick(), 0);
  EXPECT_EQ(jobs(), 1);
}

TEST_F(Cron, AKeeperKilledBeforeItsCommitLosesNoRun) {
  set("c", "*/5 * * * *");
  clock("2026-05-01 12:05:10");
  Session other(database_);
  other.run("begin");
  EXPECT_EQ(other.number("select millrace.run_cron(100)"), 1);
  db_.run("select pg_terminate_backend($1::integer, 10000)",
          pg::params(other.connection().backend_pid()));
  EXPECT_EQ(tick(), 1);
  EXPECT_EQ(jobs(), 1);
}

TEST_F(Cron, EveryRunOfAQuickScheduleIsMadeAlthoughTheKeeperIsSlower) {
  set("c", "*/10 * * * * *");
  clock("2026-05-01 12:01:05");
  EXPECT_EQ(tick(), 1);
  EXPECT_EQ(jobs(), 3);  // At 40, 50 and 0 seconds.
  EXPECT_EQ(next_due(), "01 12:01:10");
}

TEST_F(Cron, MissedRunsBecomeOneOrNone) {
  set("one", "0 * * * *");
  set("skip", "0 * * * *", R"({"missed": "skip"})");
  clock("2026-05-01 18:30:00");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(db_.value("select string_agg(f.job_name, ' ') from millrace.job_fact f"), "one");
  EXPECT_EQ(next_due("one"), "01 19:00:00");
  EXPECT_EQ(next_due("skip"), "01 19:00:00");
  clock("2026-05-01 19:00:20");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(jobs(), 3) << "twenty seconds late is not missed";
}

TEST_F(Cron, AFailingEnqueueIsRecordedAndStopsNobody) {
  db_.run("select millrace.set_job_type('fragile', '{\"queue\": \"default\"}')");
  set("a_bad", "*/5 * * * *", "{}", R"({"job_type": "fragile", "payload": {"a": 1}})");
  set("b_good", "*/5 * * * *");
  db_.run("update millrace.job_type set enabled = false where job_type = 'fragile'");
  clock("2026-05-01 12:05:00");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(db_.value("select string_agg(f.job_name, ' ') from millrace.job_fact f"), "b_good");
  EXPECT_EQ(entry("last_error", "a_bad").substr(0, 24), "MR002: Invalid job_type.");
  EXPECT_EQ(next_due("a_bad"), "01 12:10:00");
  EXPECT_EQ(entry("enabled", "a_bad"), "t");
  db_.run("update millrace.job_type set enabled = true where job_type = 'fragile'");
  clock("2026-05-01 12:10:00");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(entry("last_error", "a_bad"), "(null)");
}

TEST_F(Cron, AnEntryThatCannotBeReadIsSwitchedOffAndStopsNobody) {
  set("bad", "*/5 * * * *");
  set("good", "*/5 * * * *");
  db_.run("update millrace.cron set schedule = 'rubbish' where name = 'bad'");
  clock("2026-05-01 12:05:00");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(db_.value("select string_agg(f.job_name, ' ') from millrace.job_fact f"), "good");
  EXPECT_EQ(entry("enabled", "bad"), "f");
  EXPECT_EQ(entry("last_error", "bad").substr(0, 26), "switched off: MR012: cron ");
  EXPECT_EQ(tick(), 0);
}

TEST_F(Cron, ALimitedTickTakesTheMostOverdueFirst) {
  set("late", "1 * * * *");
  set("later", "2 * * * *");
  clock("2026-05-01 13:02:30");
  EXPECT_EQ(db_.number("select millrace.run_cron(1)"), 1);
  EXPECT_EQ(db_.value("select f.job_name from millrace.job_fact f"), "late");
  EXPECT_EQ(db_.refused("select millrace.run_cron(0)").sqlstate, "MR024");
  EXPECT_EQ(db_.refused("select millrace.run_cron(null)").sqlstate, "MR024");
}

TEST_F(Cron, ARunBelongsToTheTenantOfItsEntry) {
  db_.run("set millrace.tenant_id = '" + std::string(kTenantA) + "'");
  set("c", "*/5 * * * *");
  db_.run("set millrace.tenant_id = '" + std::string(kTenantB) + "'");
  set("c", "*/5 * * * *");
  EXPECT_EQ(db_.number("select count(*) from millrace.cron_overview()"), 1);
  db_.run("set millrace.tenant_id = ''");
  EXPECT_EQ(db_.number("select count(*) from millrace.cron_overview()"), 2);
  EXPECT_EQ(db_.refused("select millrace.cron_now('c')").sqlstate, "MR024")
      << "no entry of the default tenant";
  clock("2026-05-01 12:05:00");
  db_.run("begin");
  EXPECT_EQ(tick(), 2);
  EXPECT_EQ(db_.value("select current_setting('millrace.tenant_id')"), "")
      << "the caller's own tenant must come back";
  db_.run("commit");
  EXPECT_EQ(db_.value("select string_agg(f.tenant_id::text, ' ' order by f.tenant_id) from "
                      "millrace.job_fact f"),
            fmt::format("{} {}", kTenantA, kTenantB));
}

TEST_F(Cron, ADedupeKeyKeepsRunsFromPilingUp) {
  set("c", "*/5 * * * *", "{}",
      R"({"job_type": "noop", "payload": {"a": 1}, "dedupe_key": "only one"})");
  clock("2026-05-01 12:05:00");
  EXPECT_EQ(tick(), 1);
  clock("2026-05-01 12:10:00");
  EXPECT_EQ(tick(), 1);
  EXPECT_EQ(jobs(), 1);
  EXPECT_EQ(entry("last_error"), "(null)");
}

TEST_F(Cron, SettingTheSameAgainDoesNotMoveTheNextRun) {
  const auto id = set("c", "*/5 * * * *", R"({"time_zone": "Europe/Berlin", "missed": "skip"})");
  clock("2026-05-01 12:07:00");  // A deploy while a run is overdue.
  EXPECT_EQ(set("c", "*/5 * * * *"), id);
  EXPECT_EQ(next_due(), "01 12:05:00");
  EXPECT_EQ(entry("time_zone"), "Europe/Berlin") << "options not named keep their values";
  EXPECT_EQ(entry("missed"), "skip");
  EXPECT_EQ(set("c", "0 9 * * *"), id);
  EXPECT_EQ(next_due(), "02 07:00:00");
  EXPECT_EQ(db_.number("select count(*) from millrace.cron"), 1);
}

TEST_F(Cron, ASwitchedOffEntryRestsAndStartsAfresh) {
  set("c", "*/5 * * * *", R"({"enabled": false})");
  clock("2026-05-01 15:00:10");
  EXPECT_EQ(tick(), 0);
  set("c", "*/5 * * * *", R"({"enabled": true})");
  EXPECT_EQ(next_due(), "01 15:05:00") << "what passed while it was off is not made good";
}

TEST_F(Cron, RunsNowWithoutMovingTheSchedule) {
  set("c", "0 3 * * *", R"({"enabled": false})");
  const auto job = db_.value("select millrace.cron_now('c')");
  EXPECT_EQ(db_.value("select f.job_id from millrace.job_fact f"), job);
  EXPECT_EQ(entry("last_job_id"), job);
  EXPECT_EQ(next_due(), "02 03:00:00");
}

TEST_F(Cron, TheRolesOfTheEngineCanDoTheirPart) {
  Session api(database_, "millrace_api");
  api.run(
      "select millrace.set_cron('c', '*/5 * * * *', '{\"job_type\": \"noop\", \"payload\": {\"a\": "
      "1}}')");
  EXPECT_TRUE(
      api.yes("select millrace.cron_next('*/5 * * * *', millrace.now(), 'UTC') = c.next_due_at"
              " from millrace.cron_overview() c"));
  clock("2026-05-01 12:05:00");
  Session keeper(database_, "millrace_keeper");
  EXPECT_EQ(keeper.number("select millrace.run_cron(10)"), 1);
  EXPECT_EQ(jobs(), 1);
  api.run("select millrace.cron_now('c')");
  api.run("select millrace.delete_cron('c')");
  for (const auto* role : {"anon", "authenticated", "service_role"}) {
    Session client(database_, role);
    EXPECT_EQ(client.refused("select millrace.run_cron(10)").sqlstate, "42501") << role;
  }
}

TEST_F(Cron, DeletesByName) {
  set("c", "0 3 * * *");
  db_.run("select millrace.delete_cron('c')");
  EXPECT_EQ(db_.number("select count(*) from millrace.cron"), 0);
  const auto error = db_.refused("select millrace.delete_cron('c')");
  EXPECT_EQ(error.sqlstate, "MR024");
  EXPECT_EQ(error.message, "cron entry \"c\" does not exist");
  EXPECT_EQ(
      db_.value("select string_agg(a.operation, ' ' order by a.audit_id) from millrace.audit a"
                " where a.table_name = 'cron'"),
      "INSERT DELETE");
}

TEST_F(Cron, ABadEntryIsRefusedWhenItIsSetAndNotAtThreeInTheMorning) {
  struct Case {
    const char* name;
    const char* schedule;
    const char* job;
    const char* options;
    const char* error;
  };
  const auto* noop = R"({"job_type": "noop", "payload": {"a": 1}})";
  const std::vector<Case> cases{
      {"c", "61 * * * *", noop, "{}", "MR012 cron field minute: 61 is not between 0 and 59"},
      {"c", "0 3 * * *", noop, R"({"time_zone": "Nowhere"})",
       "MR012 time zone \"Nowhere\" is not known"},
      {"c", "0 3 * * *", noop, R"({"time_zone": 5})", "MR024 time_zone must be a string"},
      {"c", "0 3 * * *", noop, R"({"enabled": "yes"})", "MR024 enabled must be true or false"},
      {"c", "0 3 * * *", noop, R"({"missed": "all"})", "MR024 missed must be one or skip"},
      {"c", "0 3 * * *", noop, R"({"zone": "UTC"})", "MR024 zone is not a field of p_options"},
      {"c", "0 3 * * *", noop, "[]", "MR024 p_options must be a JSON object"},
      {"", "0 3 * * *", noop, "{}",
       "MR024 p_name must have 1 to 200 characters and not begin or end with a space"},
      {"c", "0 3 * * *", "[]", "{}", "MR024 p_job must be one JSON object"},
      {"c", "0 3 * * *", R"({"job_type": "noop", "payload": {}})", "{}",
       "MR003 job_payload cannot be empty"},
      {"c", "0 3 * * *", R"({"job_type": "noop", "payload": {"a": 1}, "prioritty": 1})", "{}",
       "MR024 job 1: unknown field prioritty"},
      {"c", "0 3 * * *", R"({"job_type": "noop", "payload": {"a": 1}, "queue": "nowhere"})", "{}",
       "MR007 queue 'nowhere' does not exist"},
      {"c", "0 3 * * *", R"({"job_type": "noop", "payload": {"a": 1}, "idempotency_key": "x"})",
       "{}", "MR024 p_job: idempotency_key cannot be used in cron, every run is a new job"},
  };
  for (const auto& c : cases) {
    const auto error = db_.refused("select millrace.set_cron($1, $2, $3::jsonb, $4::jsonb)",
                                   pg::params(c.name, c.schedule, c.job, c.options));
    EXPECT_EQ(fmt::format("{} {}", error.sqlstate, error.message), c.error);
  }
  EXPECT_EQ(db_.refused("select millrace.set_cron('c', '0 3 * * *', '{\"job_type\": \"typo\", "
                        "\"payload\": {\"a\": 1}}')")
                .sqlstate,
            "MR002");
  EXPECT_EQ(db_.number("select count(*) from millrace.cron"), 0);
}

}  // namespace
}  // namespace millrace::test
