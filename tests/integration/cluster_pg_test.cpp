// The private cluster with real servers: made, started, killed and found again.
//
// Kills need an owner in a process of its own: this program, started again with --own.
#include "base/file.h"
#include "base/json.h"
#include "cluster/os_user.h"
#include "cluster/postmaster.h"
#include "cluster/private_cluster.h"
#include "cluster/process.h"
#include "cluster/unique_fd.h"
#include "pg/sync_connection.h"
#include "support/must.h"
#include "support/process.h"
#include "support/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <iostream>
#include <mutex>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace millrace::cluster {
namespace {

namespace fs = std::filesystem;
using test::must;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::seconds kPatience{60};

SystemClock clock_now;
const Logger quiet = Logger::silent();

bool is_root() { return ::geteuid() == 0; }

// A directory that everybody may enter, removed at the end.
class Place {
 public:
  Place() {
    std::string pattern = "/tmp/millrace-test-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    fs::permissions(path_, fs::perms::all);
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  fs::path operator/(const fs::path& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Collects progress and lets a test wait for it.
class Stages {
 public:
  std::function<void(const ClusterProgress&)> sink() {
    return [this](const ClusterProgress& progress) {
      const std::scoped_lock lock(mutex_);
      seen_.push_back(progress);
      changed_.notify_all();
    };
  }
  // False if `stage` is not reported `count` times in all.
  bool wait_for(ClusterStage stage, int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      return std::ranges::count(seen_, stage, &ClusterProgress::stage) >= count;
    });
  }
  std::vector<ClusterStage> all() {
    const std::scoped_lock lock(mutex_);
    std::vector<ClusterStage> stages;
    for (const auto& progress : seen_) stages.push_back(progress.stage);
    return stages;
  }

 private:
  std::mutex mutex_;  // Guards seen_.
  std::condition_variable changed_;
  std::vector<ClusterProgress> seen_;
};

PrivateCluster open(const fs::path& data_dir) {
  return must(PrivateCluster::open_or_create({.data_dir = data_dir}, clock_now, quiet));
}

PrivateCluster started(const fs::path& data_dir) {
  auto cluster = open(data_dir);
  must(cluster.start());
  return cluster;
}

std::string open_error(ClusterOptions options) {
  auto cluster = PrivateCluster::open_or_create(std::move(options), clock_now, quiet);
  if (!cluster) return cluster.error().message;
  auto result = cluster->start();
  return result ? "" : result.error().message;
}

std::string ask(const std::string& url, const std::string& sql) {
  auto connection = must(pg::SyncConnection::connect(url));
  const auto rows = must(connection.query(sql));
  return rows.empty() ? "" : std::string(rows[0].text(0));
}

std::optional<uid_t> uid_of(pid_t pid) {
  struct stat status{};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

json::Object marker(const fs::path& data_dir) {
  return must(parse_json_object(must(read_file(data_dir / "millrace.json"))));
}

// Waits until a process that is not our child has ended.
bool ended(pid_t pid) {
  auto process = Process::attach(pid);
  return !process || process->wait(kPatience);
}

// This program as owner of a cluster: prints a line per event, stops when its input ends.
class Owner {
 public:
  explicit Owner(std::vector<std::string> arguments) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), {"/proc/self/exe", "--own"});
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = UniqueFd(in[1]);
    output_.reset(::fdopen(out[0], "r"));
  }
  ~Owner() {
    if (pid_ > 0) kill_hard();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  // The rest of the next line that begins with `word`; what came instead if it ends without one.
  std::string wait_for(const std::string& word) {
    std::string seen;
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), output_.get())) {
      std::string text(line.data());
      if (text.ends_with('\n')) text.pop_back();
      if (text.starts_with(word + " ")) return text.substr(word.size() + 1);
      seen += text + "; ";
    }
    return "no " + word + ": " + seen;
  }
  void kill_hard() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  int end() {
    input_.reset();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  pid_t pid() const { return pid_; }

 private:
  struct Close {
    void operator()(FILE* file) const { std::fclose(file); }
  };
  pid_t pid_ = -1;
  UniqueFd input_;
  std::unique_ptr<FILE, Close> output_;
};

// --own DATA_DIR [--user NAME] [--bin DIR]
int own(const std::vector<std::string>& arguments) {
  ClusterOptions options{.data_dir = arguments.at(0)};
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    if (arguments[i] == "--bin") options.bin_dirs = {arguments[i + 1]};
    if (arguments[i] == "--user") {
      const auto user = must(find_user(arguments[i + 1]));
      if (::setgroups(0, nullptr) != 0 || ::setgid(user.gid) != 0 || ::setuid(user.uid) != 0) {
        return 3;
      }
    }
  }
  const auto say = [](const std::string& line) { std::cout << line << std::endl; };
  auto cluster = PrivateCluster::open_or_create(std::move(options), clock_now, quiet);
  if (!cluster) {
    say("error " + cluster.error().message);
    return 1;
  }
  const auto result = cluster->start();
  if (!result) {
    say("error " + result.error().message);
    return 1;
  }
  say(fmt::format("postmaster {}", cluster->postmaster_pid()));
  say("url " + cluster->url());
  std::string ignored;
  while (std::getline(std::cin, ignored)) {
  }
  return cluster->stop() ? 0 : 2;
}

TEST(PrivateCluster, FromNothingToAnAnswer) {
  const Place place;
  const auto data = place / "data";
  Stages stages;
  auto cluster = must(PrivateCluster::open_or_create({.data_dir = data, .progress = stages.sink()},
                                                     clock_now, quiet));
  const auto result = must(cluster.start());
  EXPECT_TRUE(result.created);
  EXPECT_FALSE(result.adopted);
  EXPECT_GT(result.elapsed.count(), 0);
  EXPECT_EQ(stages.all(),
            (std::vector{ClusterStage::creating, ClusterStage::starting, ClusterStage::ready}));

  const auto url = cluster.url();
  EXPECT_EQ(ask(url, "select current_database() || ' ' || current_user"), "millrace millrace");
  EXPECT_EQ(ask(url, "show listen_addresses"), "");
  EXPECT_EQ(ask(url, "show fsync"), "on");
  EXPECT_EQ(ask(url, "show data_checksums"), "on");
  EXPECT_EQ(ask(url, "show server_encoding"), "UTF8");
  EXPECT_EQ(ask(url, "show max_connections"), "200");
  EXPECT_EQ(marker(data).at("system_identifier").as_string(),
            ask(url, "select system_identifier::text from pg_control_system()"));
  EXPECT_EQ(::getsid(cluster.postmaster_pid()), cluster.postmaster_pid());

  const auto pid = cluster.postmaster_pid();
  must(cluster.stop());
  EXPECT_TRUE(ended(pid));
  EXPECT_EQ(cluster.postmaster_pid(), 0);
  EXPECT_FALSE(fs::exists(data / "run" / ".s.PGSQL.5432"));
  EXPECT_FALSE(fs::exists(data / "pg" / "postmaster.pid"));
}

TEST(PrivateCluster, StopsBeforeStartAndTwice) {
  const Place place;
  auto cluster = open(place / "data");
  must(cluster.stop());
  must(cluster.stop());
  auto again = started(place / "data");  // The directory was given up.
  must(again.stop());
  must(again.stop());
}

TEST(PrivateCluster, KeepsWhatWasCommittedOverAStopAndAStart) {
  const Place place;
  auto cluster = started(place / "data");
  ask(cluster.url(), "create table kept as select 42 as answer");
  must(cluster.stop());

  auto next = open(place / "data");
  const auto result = must(next.start());
  EXPECT_FALSE(result.created);
  EXPECT_FALSE(result.adopted);
  EXPECT_EQ(ask(next.url(), "select answer::text from kept"), "42");
}

TEST(PrivateCluster, OurRolesConnectWithoutAPasswordAndOthersNotAtAll) {
  const Place place;
  auto cluster = must(PrivateCluster::open_or_create(
      {.data_dir = place / "data", .app_logins = {"shop"}}, clock_now, quiet));
  must(cluster.start());
  for (const std::string role : {"millrace_worker", "shop", "stranger"}) {
    ask(cluster.url(), fmt::format("create role {} login", role));
  }
  EXPECT_EQ(ask(cluster.url("millrace_worker"), "select current_user::text"), "millrace_worker");
  EXPECT_EQ(ask(cluster.url("shop"), "select current_user::text"), "shop");
  const auto refused = pg::SyncConnection::connect(cluster.url("stranger"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("stranger"));
}

TEST(PrivateCluster, RefusesASecondOwnerAndTellsHimWhereToConnect) {
  const Place place;
  const auto data = place / "data";
  auto cluster = started(data);
  const auto error = open_error({.data_dir = data});
  EXPECT_THAT(error, StartsWith(fmt::format("{} is already run by process {} (since ",
                                            data.string(), ::getpid())));
  EXPECT_THAT(error, HasSubstr(fmt::format("use DATABASE_URL='{}'", cluster.url())));
  EXPECT_EQ(ask(cluster.url(), "select 'undisturbed'"), "undisturbed");
}

TEST(PrivateCluster, TheServerDoesNotInheritTheOwnersLock) {
  const Place place;
  auto cluster = started(place / "data");
  const AsUser as_user(must(find_user(uid_of(cluster.postmaster_pid()).value())));
  const auto descriptors = fmt::format("/proc/{}/fd", cluster.postmaster_pid());
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(descriptors)) {
    std::error_code error;
    EXPECT_NE(fs::read_symlink(entry.path(), error).filename(), "owner.lock");
    ++seen;
  }
  EXPECT_GT(seen, 3);
}

TEST(PrivateCluster, GoesOnAfterItsOwnerWasKilled) {
  const Place place;
  const auto data = (place / "data").string();
  Owner owner({data});
  const auto postmaster = static_cast<pid_t>(std::stol(owner.wait_for("postmaster")));
  ask(owner.wait_for("url"), "create table kept as select 42 as answer");
  owner.kill_hard();

  auto next = open(data);  // At once: the old server is still shutting down.
  must(next.start());
  EXPECT_EQ(ask(next.url(), "select answer::text from kept"), "42");
  must(next.stop());
  EXPECT_TRUE(ended(postmaster));
}

TEST(PrivateCluster, LeavesNoServerBehindWhenItsOwnerIsKilled) {
  const Place place;
  Owner owner({(place / "data").string()});
  const auto postmaster = static_cast<pid_t>(std::stol(owner.wait_for("postmaster")));
  auto process = must(Process::attach(postmaster));
  owner.kill_hard();
  EXPECT_TRUE(process.wait(kPatience));
}

TEST(PrivateCluster, AdoptsAServerThatRunsAlready) {
  const Place place;
  const auto data = place / "data";
  must(started(data).stop());
  const auto pg_ctl = must(test::postgres_bindir()) / "pg_ctl";
  must(test::run_as_postgres({pg_ctl.string(), "-w", "-D", (data / "pg").string(), "-l",
                              (data / "log" / "by_hand.log").string(), "start"}));
  const auto by_hand = read_postmaster_pid(data / "pg");
  ASSERT_TRUE(by_hand);

  Stages stages;
  auto cluster = must(PrivateCluster::open_or_create({.data_dir = data, .progress = stages.sink()},
                                                     clock_now, quiet));
  const auto result = must(cluster.start());
  EXPECT_TRUE(result.adopted);
  EXPECT_EQ(cluster.postmaster_pid(), by_hand->pid);
  EXPECT_EQ(ask(cluster.url(), "select 'here'"), "here");

  // It is supervised like one of our own.
  ASSERT_EQ(::kill(by_hand->pid, SIGKILL), 0);
  ASSERT_TRUE(stages.wait_for(ClusterStage::ready, 2));
  EXPECT_NE(cluster.postmaster_pid(), by_hand->pid);
  EXPECT_EQ(ask(cluster.url(), "select 'again'"), "again");
  must(cluster.stop());
}

TEST(PrivateCluster, StartsAKilledPostmasterAgainAndKeepsWhatWasCommitted) {
  const Place place;
  Stages stages;
  auto cluster = must(PrivateCluster::open_or_create(
      {.data_dir = place / "data", .progress = stages.sink()}, clock_now, quiet));
  must(cluster.start());
  ask(cluster.url(), "create table kept as select 42 as answer");
  for (int round = 1; round <= 3; ++round) {
    const auto pid = cluster.postmaster_pid();
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    ASSERT_TRUE(stages.wait_for(ClusterStage::ready, round + 1));
    EXPECT_NE(cluster.postmaster_pid(), pid);
    EXPECT_EQ(ask(cluster.url(), "select answer::text from kept"), "42");
  }
  EXPECT_TRUE(stages.wait_for(ClusterStage::restarting, 3));
}

TEST(PrivateCluster, MakesTheDatabaseAnewWhenDroppingItWasCutShort) {
  const Place place;
  const cluster::ClusterOptions options{.data_dir = place / "data"};
  {
    auto cluster = must(PrivateCluster::open_or_create(options, clock_now, quiet));
    must(cluster.start());
    // What DROP DATABASE leaves when its server or its client dies in the middle.
    ask(cluster.url(), "update pg_database set datconnlimit = -2 where datname = 'millrace'");
    must(cluster.stop());
  }
  auto cluster = must(PrivateCluster::open_or_create(options, clock_now, quiet));
  must(cluster.start());
  EXPECT_EQ(ask(cluster.url(), "select 'here'"), "here");
  must(cluster.stop());
}

TEST(PrivateCluster, EndsABusyBackendOfTheKilledPostmasterBeforeItStartsAnother) {
  const Place place;
  const auto data = place / "data";
  Stages stages;
  auto cluster = must(PrivateCluster::open_or_create({.data_dir = data, .progress = stages.sink()},
                                                     clock_now, quiet));
  must(cluster.start());
  auto busy = must(pg::SyncConnection::connect(cluster.url()));
  auto backend = must(Process::attach(busy.backend_pid()));
  // Computes without ever waiting, so that it does not notice its postmaster's end. The lock shows
  // that it has begun.
  std::thread work([&] {
    EXPECT_FALSE(
        busy.query("with begun as materialized (select pg_advisory_lock(7)) select "
                   "count(*) from begun, generate_series(1, 1000000000000)",
                   {}, std::chrono::milliseconds(kPatience)));
  });
  while (ask(cluster.url(), "select count(*) from pg_locks where locktype = 'advisory'") != "1") {
  }
  ASSERT_EQ(::kill(cluster.postmaster_pid(), SIGKILL), 0);
  EXPECT_TRUE(stages.wait_for(ClusterStage::ready, 2));
  EXPECT_FALSE(backend.running());
  work.join();
  EXPECT_EQ(ask(cluster.url(), "select 'recovered'"), "recovered");
}

TEST(PrivateCluster, IsNotFooledByAPidFileThatNamesAnotherProcess) {
  const Place place;
  const auto data = place / "data";
  must(started(data).stop());
  const auto text = fmt::format("{}\n{}\n1\n5432\n{}\n\n1 1\nready\n", ::getpid(),
                                (data / "pg").string(), (data / "run").string());
  {
    struct stat status{};
    ASSERT_EQ(::stat((data / "pg").c_str(), &status), 0);
    const AsUser as_user(must(find_user(status.st_uid)));
    must(write_file_atomically(data / "pg" / "postmaster.pid", text, 0600));
  }
  auto cluster = started(data);
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
}

TEST(PrivateCluster, LeavesADirectoryAloneThatItDidNotMake) {
  const Place place;
  const auto data = place / "photos";
  fs::create_directory(data);
  must(write_file_atomically(data / "cat.txt", "meow"));
  struct stat before{};
  ASSERT_EQ(::stat(data.c_str(), &before), 0);

  const auto error = open_error({.data_dir = data});
  EXPECT_THAT(error, AllOf(StartsWith(data.string()), HasSubstr("--data-dir")));

  struct stat after{};
  ASSERT_EQ(::stat(data.c_str(), &after), 0);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  EXPECT_EQ(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
  EXPECT_EQ(before.st_uid, after.st_uid);
  EXPECT_EQ(std::distance(fs::directory_iterator(data), {}), 1);
}

TEST(PrivateCluster, UsesAnEmptyDirectory) {
  const Place place;
  fs::create_directory(place / "data");
  auto cluster = started(place / "data");
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
}

TEST(PrivateCluster, AFileIsNotADirectory) {
  const Place place;
  must(write_file_atomically(place / "data", "text"));
  EXPECT_THAT(open_error({.data_dir = place / "data"}), HasSubstr("Not a directory"));
}

TEST(PrivateCluster, RefusesAMarkerFromTheFutureAndADamagedOne) {
  const Place place;
  for (const std::string text : {R"({"format": 99})", "{", "{}"}) {
    const auto data = place / fmt::format("data{}", text.size());
    fs::create_directory(data);
    must(write_file_atomically(data / "millrace.json", text));
    if (is_root()) must(test::give_to_postgres(data));
    EXPECT_THAT(open_error({.data_dir = data}),
                HasSubstr(text.size() > 2 ? "newer millrace" : "damaged"));
    EXPECT_FALSE(fs::exists(data / "pg"));
  }
}

TEST(PrivateCluster, DoesNotReplaceALostDatabaseByAnEmptyOne) {
  const Place place;
  const auto data = place / "data";
  must(started(data).stop());
  fs::rename(data / "pg", data / "pg.lost");
  EXPECT_THAT(open_error({.data_dir = data}), HasSubstr("pg is missing"));
  EXPECT_FALSE(fs::exists(data / "pg"));
  EXPECT_FALSE(fs::exists(data / "pg.new"));
}

TEST(PrivateCluster, DoesNotRunAClusterThatWasPutInThePlaceOfItsOwn) {
  const Place place;
  must(started(place / "mine").stop());
  must(started(place / "other").stop());
  fs::rename(place / "mine" / "pg", place / "mine" / "pg.before");
  fs::rename(place / "other" / "pg", place / "mine" / "pg");
  EXPECT_THAT(open_error({.data_dir = place / "mine"}), HasSubstr("not the one millrace made"));
}

// An initdb that stops half-way and says so through a named pipe.
TEST(PrivateCluster, BeginsAnewAfterBeingKilledWhileMakingTheCluster) {
  const Place place;
  const auto data = place / "data";
  const auto bin = place / "bin";
  const auto pipe = place / "pipe";
  fs::create_directory(bin);
  fs::create_symlink(must(test::postgres_bindir()) / "postgres", bin / "postgres");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  fs::permissions(pipe, fs::perms::all);
  must(write_file_atomically(bin / "initdb",
                             fmt::format("#!/bin/sh\n"
                                         "dir=${{1#--pgdata=}}\n"
                                         "echo 15 > \"$dir/PG_VERSION\"\n"
                                         "mkdir \"$dir/base\"\n"
                                         "echo $$ > {0}\n"
                                         "exec cat {0}\n",
                                         pipe.string()),
                             0755));
  Owner owner({data.string(), "--bin", bin.string()});
  const auto initdb = static_cast<pid_t>(std::stol(must(read_file(pipe))));
  ASSERT_TRUE(fs::exists(data / "pg.new" / "PG_VERSION"));
  owner.kill_hard();
  EXPECT_TRUE(ended(initdb));  // It dies with its owner.

  auto cluster = open(data);
  EXPECT_TRUE(must(cluster.start()).created);
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
  EXPECT_FALSE(fs::exists(data / "pg.new"));
}

TEST(PrivateCluster, GoesOnAfterBeingKilledBeforeTheMarkerKnewTheCluster) {
  const Place place;
  const auto data = place / "data";
  must(started(data).stop());
  auto object = marker(data);
  const std::string identifier(object.at("system_identifier").as_string());
  object["system_identifier"] = "";
  {
    struct stat status{};
    ASSERT_EQ(::stat(data.c_str(), &status), 0);
    const AsUser as_user(must(find_user(status.st_uid)));
    must(write_file_atomically(data / "millrace.json", to_json(object), 0600));
  }
  auto cluster = open(data);
  EXPECT_FALSE(must(cluster.start()).created);
  EXPECT_EQ(std::string(marker(data).at("system_identifier").as_string()), identifier);
}

TEST(PrivateCluster, PutsTheSocketElsewhereWhenThePathIsTooLong) {
  const Place place;
  const auto data = place / std::string(60, 'x') / std::string(60, 'y') / "data";
  std::string url;
  fs::path socket;
  {
    auto cluster = started(data);
    url = cluster.url();
    socket = cluster.socket_directory();
    EXPECT_THAT(socket.string(), Not(HasSubstr("xxx")));
    EXPECT_EQ(fs::status(socket).permissions(), fs::perms::owner_all);
    EXPECT_EQ(ask(url, "select 'up'"), "up");
    EXPECT_EQ(std::string(marker(data).at("socket_directory").as_string()), socket.string());
  }
  EXPECT_FALSE(fs::exists(socket));  // Nothing is left outside.
  {
    auto again = started(data);
    EXPECT_EQ(again.url(), url);
  }
  // Somebody else took the name meanwhile.
  must(write_file_atomically(socket, "mine"));
  auto moved = started(data);
  EXPECT_NE(moved.socket_directory(), socket);
  EXPECT_EQ(ask(moved.url(), "select 'up'"), "up");
  fs::remove(socket);
}

TEST(PrivateCluster, WorksInADirectoryWithAwkwardCharacters) {
  const Place place;
  auto cluster = started(place / "it's, \"odd\" & 100%");
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
  EXPECT_THAT(cluster.socket_directory().string(), StartsWith("/tmp/millrace-"));
}

TEST(PrivateCluster, SaysWhatToDoWhenPostgresqlIsNotInstalled) {
  const Place place;
  fs::create_directory(place / "bin");
  const auto error = open_error({.data_dir = place / "data", .bin_dirs = {place / "bin"}});
  EXPECT_THAT(error, AllOf(HasSubstr("is not installed"), HasSubstr("run tools/setup")));
  EXPECT_FALSE(fs::exists(place / "data"));
}

TEST(PrivateCluster, AStartThatFailsShowsTheServersOwnWords) {
  const Place place;
  const auto data = place / "data";
  must(started(data).stop());
  must(write_file_atomically(data / "pg" / "local.conf", "shared_buffers = '1 potato'\n", 0644));
  EXPECT_THAT(open_error({.data_dir = data}),
              AllOf(HasSubstr("shared_buffers"), HasSubstr("log/postgres.log")));
}

TEST(PrivateCluster, AsRootTheServerRunsAsSomebodyElse) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  const Place place;
  auto cluster = started(place / "data");
  const auto uid = uid_of(cluster.postmaster_pid());
  EXPECT_EQ(uid, must(choose_unprivileged_user({})).uid);
  struct stat status{};
  ASSERT_EQ(::stat((place / "data").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, uid);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
}

TEST(PrivateCluster, BehindSudoTheServerRunsAsThePersonWhoCalledIt) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  const Place place;
  const auto nobody = must(find_user(std::string("nobody")));
  auto cluster = must(PrivateCluster::open_or_create(
      {.data_dir = place / "data", .sudo_uid = nobody.uid}, clock_now, quiet));
  must(cluster.start());
  EXPECT_EQ(uid_of(cluster.postmaster_pid()), nobody.uid);
  must(cluster.stop());
  auto later = started(place / "data");  // Without sudo it stays that person's.
  EXPECT_EQ(uid_of(later.postmaster_pid()), nobody.uid);
}

TEST(PrivateCluster, AsRootItWorksBelowADirectoryThatOnlyRootMayEnter) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  const Place place;
  fs::create_directory(place / "closed");
  fs::permissions(place / "closed", fs::perms::owner_all);
  const auto data = place / "closed" / "data";
  {
    auto cluster = started(data);
    EXPECT_NE(uid_of(cluster.postmaster_pid()), 0U);
    ask(cluster.url(), "create table kept as select 42 as answer");
  }
  EXPECT_TRUE(fs::exists(data / "pg" / "PG_VERSION"));
  auto again = started(data);
  EXPECT_EQ(ask(again.url(), "select answer::text from kept"), "42");
}

TEST(PrivateCluster, RunsForAnOrdinaryUserAndAfterwardsForRoot) {
  if (!is_root()) GTEST_SKIP() << "needs root to become somebody";
  const Place place;
  const auto data = (place / "data").string();
  Owner owner({data, "--user", "nobody"});
  const auto postmaster = static_cast<pid_t>(std::stol(owner.wait_for("postmaster")));
  EXPECT_EQ(uid_of(postmaster), must(find_user(std::string("nobody"))).uid);
  ask(owner.wait_for("url"), "create table kept as select 42 as answer");
  EXPECT_EQ(owner.end(), 0);
  EXPECT_TRUE(ended(postmaster));

  auto cluster = started(data);
  EXPECT_EQ(uid_of(cluster.postmaster_pid()), must(find_user(std::string("nobody"))).uid);
  EXPECT_EQ(ask(cluster.url(), "select answer::text from kept"), "42");
}

TEST(PrivateCluster, AnotherUsersDirectoryIsRefusedByName) {
  if (!is_root()) GTEST_SKIP() << "needs root to become somebody";
  const Place place;
  must(started(place / "data").stop());
  Owner owner({(place / "data").string(), "--user", "nobody"});
  EXPECT_THAT(owner.wait_for("error"), HasSubstr("belongs to user postgres"));
}

// A small file system of its own.
class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(place_ / "disk");
    if (::mount("none", (place_ / "disk").c_str(), "tmpfs", 0, "size=16m,mode=777") != 0) {
      GTEST_SKIP() << "may not mount a file system";
    }
  }
  void TearDown() override { ::umount2((place_ / "disk").c_str(), MNT_DETACH); }
  void resize(const std::string& size) {
    ASSERT_EQ(
        ::mount("none", (place_ / "disk").c_str(), "tmpfs", MS_REMOUNT, ("size=" + size).c_str()),
        0);
  }

  Place place_;
  fs::path data_ = place_ / "disk" / "data";
};

TEST_F(FullDisk, IsNamedWhenTheClusterCannotBeMade) {
  EXPECT_THAT(open_error({.data_dir = data_}), HasSubstr("No space left on device"));
  resize("512m");
  auto cluster = started(data_);
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
}

TEST_F(FullDisk, IsNamedWhenTheServerCannotStart) {
  resize("512m");
  must(started(data_).stop());
  {
    const UniqueFd file(::open((place_ / "disk" / "fill").c_str(), O_WRONLY | O_CREAT, 0600));
    const std::string block(1024 * 1024, 'x');
    while (::write(file.get(), block.data(), block.size()) > 0) {
    }
  }
  EXPECT_THAT(open_error({.data_dir = data_}), HasSubstr("No space left on device"));
  fs::remove(place_ / "disk" / "fill");
  auto cluster = started(data_);
  EXPECT_EQ(ask(cluster.url(), "select 'up'"), "up");
}

}  // namespace
}  // namespace millrace::cluster

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--own") {
    return millrace::cluster::own({argv + 2, argv + argc});
  }
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  millrace::test::Server::leave();
  return result;
}
