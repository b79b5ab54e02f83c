// Many clients at once, on one real server: what they take of its memory and of the database. The
// large ones are `millrace bench uploads` and `millrace bench streams`.
#include "api/stream/stream_client.h"
#include "upload_world.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace millrace::test {
namespace {

using api::StreamClient;
using identity::Role;

constexpr std::int64_t kMegabyte = 1'000'000;

// A sanitizer's own memory says nothing about the program's.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kMemoryCounts = false;
#else
constexpr bool kMemoryCounts = true;
#endif

std::int64_t resident_bytes(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The most that a process has had since the object was made.
class Memory {
 public:
  explicit Memory(pid_t pid) : pid_(pid) {}
  void look() { most_ = std::max(most_, resident_bytes(pid_)); }
  std::int64_t above_idle() const { return most_ - idle_; }

 private:
  pid_t pid_;
  std::int64_t idle_ = resident_bytes(pid_);
  std::int64_t most_ = idle_;
};

void allow_many_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string content_of(int number, std::int64_t size_bytes) {
  auto content = fmt::format("%PDF-1.7\n{}\n", number);
  content.append(static_cast<std::size_t>(size_bytes) - content.size(), 'p');
  return content;
}

// P-04, V-10: 200 MB are under way at once; held as they come they would all be in memory.
TEST(Load, TwoHundredUploadsAtOnceAreAllThereAndFlowThrough) {
  constexpr int kUploads = 200;
  UploadWorld world;
  const auto who = world.person();
  // Whoever is first pays for what all of them use.
  ASSERT_EQ(world.api().ask(UploadWorld::raw(who, content_of(-1, kMegabyte))).status, 201);
  Memory memory(world.api().program().pid());
  std::vector<http::RawClient> clients;
  std::vector<std::string> requests;
  for (int i = 0; i < kUploads; ++i) {
    requests.push_back(ApiWorld::bytes_of(UploadWorld::raw(who, content_of(i, kMegabyte))));
    clients.emplace_back(world.api().address());
    ASSERT_TRUE(clients.back().send(
        std::string_view(requests.back()).substr(0, requests.back().size() / 2)));
    memory.look();
  }
  EXPECT_TRUE(eventually([&] {
    memory.look();
    return world.count("select count(*) from millrace.upload where user_id = $1 and state = 'open'",
                       pg::params(who.user)) == kUploads;
  }));
  for (std::size_t i = 0; i < clients.size(); ++i) {
    ASSERT_TRUE(clients[i].send(std::string_view(requests[i]).substr(requests[i].size() / 2)));
    memory.look();
  }
  int refused = 0;
  std::vector<std::string> files;
  for (auto& client : clients) {
    const auto reply = client.read_reply();
    memory.look();
    if (reply.status != 201) ++refused;
    if (reply.status == 201) files.emplace_back(must(parse_json(reply.body)).at("id").as_string());
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(world.files_of(who), kUploads + 1);
  EXPECT_EQ(world.jobs_of(who), kUploads + 1);
  for (const int i : {0, 57, kUploads - 1}) {
    EXPECT_EQ(world.content_of(who, files.at(static_cast<std::size_t>(i))),
              content_of(i, kMegabyte));
  }
  if (kMemoryCounts) {
    EXPECT_LT(memory.above_idle(), 64 * kMegabyte);
  }
}

TEST(Load, ALargeUploadTakesNoMoreMemoryThanASmallOne) {  // P-08
  constexpr std::int64_t kPiece = 4 * kMegabyte;
  constexpr std::int64_t kPieces = 50;
  UploadWorld world;
  const auto who = world.person();
  ASSERT_EQ(world.api().ask(UploadWorld::raw(who, content_of(-1, kMegabyte))).status, 201);
  Memory memory(world.api().program().pid());
  const std::string piece(kPiece, 'p');
  auto head = ApiWorld::bytes_of(UploadWorld::raw(who, ""));
  const std::string none = "Content-Length: 0";
  head.replace(head.find(none), none.size(), fmt::format("Content-Length: {}", kPieces * kPiece));
  http::RawClient client(world.api().address());
  ASSERT_TRUE(client.send(head));
  for (std::int64_t i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(client.send(piece));
    memory.look();
  }
  const auto reply = client.read_reply();
  memory.look();
  ASSERT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(must(parse_json(reply.body)).at("size_bytes"), json::Value(kPieces * kPiece));
  if (kMemoryCounts) {
    EXPECT_LT(memory.above_idle(), 64 * kMegabyte);
  }
}

// Transactions are counted when the server is gone: a session keeps its counts to itself for
// seconds, and hands them over when it ends.
TEST(Load, AThousandStreamsHearOfEverythingAndAskForNothing) {  // K01, V-10
  constexpr int kStreams = 1000;
  constexpr int kEvents = 20;
  allow_many_files();
  ApiWorld world;
  const auto tenant = world.new_tenant();
  const auto headers =
      fmt::format("Authorization: Bearer {}\r\n", world.jwt(Role::service_role, tenant));
  Memory memory(world.program().pid());
  std::vector<std::unique_ptr<StreamClient>> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<StreamClient>(world.address(), "/api/v1/events", headers));
    ASSERT_EQ(clients.back()->status(), 200) << i;
  }
  auto sql = world.sql();
  for (int event = 0; event < kEvents; ++event) {
    must(
        sql.query("insert into millrace.event (tenant_id, kind, data)"
                  " values ($1, 'test.number', jsonb_build_object('n', $2::integer))",
                  pg::params(tenant, event)));
    // The next one comes when all have heard of this one: nobody reads two at a time.
    for (const auto& client : clients) {
      const auto got = client->next();
      ASSERT_TRUE(got);
      EXPECT_EQ(must(parse_json_object(got->data)).at("data").at("n"), json::Value(event));
    }
    memory.look();
  }
  if (kMemoryCounts) {
    EXPECT_LT(memory.above_idle(), kStreams * std::int64_t{40'000});
  }
  clients.clear();
  world.program().signal(SIGTERM);
  EXPECT_EQ(world.program().wait(), 0) << world.program().err();
  std::int64_t transactions = 0;
  EXPECT_TRUE(eventually([&] {
    const auto row = must(
        sql.query("select (select count(*) from pg_stat_activity where datname = "
                  "current_database() and pid <> pg_backend_pid()) as others, xact_commit + "
                  "xact_rollback as n from pg_stat_database where datname = current_database()"));
    transactions = row[0].i64("n");
    return row[0].i64("others") == 0;
  }));
  EXPECT_GT(transactions, 0);
  // One each for opening is allowed for; one for every event and stream would be twenty times that.
  EXPECT_LT(transactions, kStreams * kEvents / 4);
}

}  // namespace
}  // namespace millrace::test
