#include "cluster/postmaster.h"

#include "cluster/binaries.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace millrace::cluster {
namespace {

TEST(PostmasterPid, ReadsACompleteFile) {
  const auto file = parse_postmaster_pid(
      "4711\n/srv/data/pg\n1794736091\n5432\n/srv/data/run\n\n 10035207         4\nready   \n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->pid, 4711);
  EXPECT_EQ(file->socket_directory, "/srv/data/run");
  EXPECT_TRUE(file->ready());
}

TEST(PostmasterPid, AServerThatStopsIsNotReady) {
  const auto file = parse_postmaster_pid("7\n/d\n1\n5432\n/r\n\n1 2\nstopping\n");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->ready());
}

TEST(PostmasterPid, AFileThatIsBeingWrittenHasNoStatusYet) {
  const auto file = parse_postmaster_pid("4711\n/srv/data/pg\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->status, "");
  EXPECT_FALSE(parse_postmaster_pid(""));
  EXPECT_FALSE(parse_postmaster_pid("\n"));
  EXPECT_FALSE(parse_postmaster_pid("-3\n"));
  EXPECT_FALSE(parse_postmaster_pid("rubbish\n"));
}

TEST(PostmasterPid, HalfALineIsNoLine) {
  EXPECT_FALSE(parse_postmaster_pid("47"));  // Of 4711.
  const auto file = parse_postmaster_pid("4711\n/d\n1\n5432\n/ru");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->socket_directory, "");
}

TEST(TellingLine, IsTheLastErrorWithoutItsTimeStamp) {
  EXPECT_EQ(telling_line("2026-01-01 10:00:00.000 UTC [7] LOG:  starting\n"
                         "2026-01-01 10:00:00.000 UTC [7] FATAL:  could not write: No space left\n"
                         "2026-01-01 10:00:00.000 UTC [7] LOG:  database system is shut down\n"),
            "FATAL:  could not write: No space left");
}

TEST(TellingLine, KeepsInitdbsWordsButNotItsProgress) {
  EXPECT_EQ(telling_line("creating subdirectories ... initdb: error: could not create directory\n"
                         "initdb: removing contents of data directory\n"),
            "initdb: error: could not create directory");
}

TEST(TellingLine, NamesTheSettingThatIsWrong) {
  EXPECT_EQ(
      telling_line("2026-01-01 10:00:00.000 GMT [7] LOG:  invalid value for parameter \"x\"\n"
                   "2026-01-01 10:00:00.000 GMT [7] HINT:  Valid units are ...\n"
                   "2026-01-01 10:00:00.000 GMT [7] FATAL:  configuration file \"/d/local.conf\""
                   " contains errors\n"),
      "LOG:  invalid value for parameter \"x\"");
}

TEST(TellingLine, IsTheLastLineWhenNothingIsMarked) {
  EXPECT_EQ(telling_line("one\ntwo\n\n"), "two");
  EXPECT_EQ(telling_line(""), "");
}

TEST(ProcessIdentity, IsStableForALivingProcessAndAbsentForNone) {
  const auto first = process_start_ticks(::getpid());
  ASSERT_TRUE(first);
  EXPECT_EQ(first, process_start_ticks(::getpid()));
  EXPECT_FALSE(process_start_ticks(0x7ffffff0));
}

TEST(Version, IsReadFromWhatPostgresPrints) {
  EXPECT_EQ(parse_version("postgres (PostgreSQL) 15.6 (Debian 15.6-0+deb12u1)\n"), "15.6");
  EXPECT_EQ(parse_version("postgres (PostgreSQL) 17beta1\n"), "17beta1");
  EXPECT_FALSE(parse_version("something else 15\n"));
}

}  // namespace
}  // namespace millrace::cluster
