// Queues of messages in the words of pgmq, over the job table.
#include "engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::test {
namespace {

class Pgmq : public testing::Test {
 protected:
  TestDatabase database_;
  pg::SyncConnection sql_ = database_.connect();

  void SetUp() override { must(sql_.query("select millrace.pgmq_create('mail')")); }
  std::int64_t send(const std::string& message, int delay = 0) {
    return must(sql_.query("select millrace.pgmq_send('mail', $1::jsonb, $2)",
                           pg::params(message, delay)))[0]
        .i64(0);
  }
  struct Message {
    std::int64_t id;
    std::int64_t read_ct;
    std::string text;
  };
  std::vector<Message> read(int vt = 30, int qty = 1) {
    std::vector<Message> out;
    for (const auto row : must(sql_.query(
             "select msg_id, read_ct, message::text from millrace.pgmq_read('mail', $1, $2)",
             pg::params(vt, qty)))) {
      out.push_back({row.i64(0), row.i64(1), std::string(row.text(2))});
    }
    return out;
  }
  bool ends(const char* verb, std::int64_t id) {
    return must(sql_.query(fmt::format("select millrace.{}('mail', $1)", verb), pg::params(id)))[0]
        .boolean(0);
  }
  std::string status_of(const std::string& text) {
    return std::string(
        must(sql_.query("select j.status::text from millrace.jobs j join millrace.job_fact f using "
                        "(job_id) where f.payload = jsonb_build_object('message', $1::jsonb)",
                        pg::params(text)))[0]
            .text(0));
  }
};

TEST_F(Pgmq, AMessageThatWasReadIsHiddenAndComesBackUnlessItIsDeleted) {
  const auto id = send("\"hello\"");
  const auto first = read();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].id, id);
  EXPECT_EQ(first[0].read_ct, 1);
  EXPECT_EQ(first[0].text, "\"hello\"");
  EXPECT_TRUE(read().empty()) << "hidden while its time runs";
  must(sql_.query("update millrace.lease set lease_until = millrace.now() - interval '1 second'"));
  const auto again = read();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].id, id);
  EXPECT_EQ(again[0].read_ct, 2);
  EXPECT_TRUE(ends("pgmq_delete", id));
  EXPECT_FALSE(ends("pgmq_delete", id)) << "it is gone";
  EXPECT_EQ(status_of("\"hello\""), "completed") << "its job stays in the history (D11)";
}

TEST_F(Pgmq, MessagesAreReadInOrderAndUpToTheNumberAskedFor) {
  std::vector<std::int64_t> sent;
  for (int i = 0; i < 5; ++i) sent.push_back(send(std::to_string(i)));
  const auto three = read(30, 3);
  ASSERT_EQ(three.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(three[i].id, sent[i]);
  EXPECT_EQ(read(30, 10).size(), 2U);
}

TEST_F(Pgmq, ADelayedMessageCannotBeReadBefore) {
  send("1", 3600);
  EXPECT_TRUE(read().empty());
}

TEST_F(Pgmq, AnArchivedMessageIsPutAsideAndOneThatNobodyHoldsIsCancelled) {
  const auto held = send("1");
  ASSERT_EQ(read().size(), 1U);
  EXPECT_TRUE(ends("pgmq_archive", held));
  EXPECT_EQ(status_of("1"), "completed");
  const auto waiting = send("2");
  EXPECT_TRUE(ends("pgmq_delete", waiting));
  EXPECT_EQ(status_of("2"), "cancelled");
  EXPECT_TRUE(read().empty());
}

TEST_F(Pgmq, AQueueThatNobodyMadeAndNumbersThatMakeNoSenseAreRefused) {
  const auto refused = [&](const char* query) {
    const auto answer = sql_.query(query);
    return answer ? std::string("accepted") : answer.error().sqlstate;
  };
  EXPECT_EQ(refused("select millrace.pgmq_send('other', '1')"), "MR007");
  EXPECT_EQ(refused("select millrace.pgmq_read('other')"), "MR007");
  EXPECT_EQ(refused("select millrace.pgmq_read('mail', 0)"), "MR024");
  EXPECT_EQ(refused("select millrace.pgmq_read('mail', 30, 0)"), "MR024");
  EXPECT_EQ(refused("select millrace.pgmq_send('mail', '1', -1)"), "MR006");
  EXPECT_EQ(refused("select millrace.pgmq_create('no spaces')"), "MR017");
  must(sql_.query("select millrace.pgmq_create('mail')"));  // Twice is once.
}

}  // namespace
}  // namespace millrace::test
