// The clamd client against the real daemon with a database made by hand, and against one that only
// does what a test says.
#include "provider/clamd.h"

#include "base/clock.h"
#include "base/run.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::provider {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = CallFailure::Kind;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

// In two pieces, so that no scanner takes this file for it.
const std::string& eicar() {
  static const std::string text =
      std::string(R"(X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-STANDARD-)") + "ANTIVIRUS-TEST-FILE!$H+H*";
  return text;
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "clamd-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
    ::chmod(path_.c_str(), 0755);  // The daemon may run as somebody else.
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The daemon with signatures of our own: a hash, a pattern. No network, no database of others.
class RealClamd {
 public:
  RealClamd() {
    write_file(folder_.file("test.hdb"),
               "44d88612fea8a8f36de82e1278abb02f:68:Eicar-Test-Signature\n");
    // "MILLRACE-HARMFUL" anywhere in a file of any type.
    write_file(folder_.file("test.ndb"), "Millrace.Harmful:0:*:4d494c4c524143452d4841524d46554c\n");
    fs::create_directory(folder_.file("db"));
    fs::rename(folder_.file("test.hdb"), folder_.file("db/test.hdb"));
    fs::rename(folder_.file("test.ndb"), folder_.file("db/test.ndb"));
    write_file(folder_.file("clamd.conf"),
               "DatabaseDirectory " + folder_.file("db") + "\nLocalSocket " + socket() +
                   "\nForeground yes\nLogFile " + folder_.file("clamd.log") + "\nPidFile " +
                   folder_.file("clamd.pid") + "\nTemporaryDirectory " + folder_.file("") +
                   "\nStreamMaxLength 1M\nMaxThreads 4\n"
                   "SelfCheck 0\nUser " +
                   user() + "\n");
    start();
  }
  ~RealClamd() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  RealClamd(const RealClamd&) = delete;
  RealClamd& operator=(const RealClamd&) = delete;

  std::string socket() const { return folder_.file("clamd.sock"); }

  // It listens once its database is loaded.
  bool wait_until_listening() {
    asio::io_context io(1);
    const Clamd clamd({.socket_path = socket()});
    SystemClock clock;
    for (int i = 0; i < 400; ++i) {
      if (run_blocking(io, clamd.version({}))) return true;
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        pid_ = -1;
        return false;
      }
      run_blocking(io, clock.sleep_for(50ms));
    }
    return false;
  }
  std::string log() const {
    std::ifstream in(folder_.file("clamd.log"));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  static std::string user() { return ::getuid() == 0 ? "root" : std::to_string(::getuid()); }

  void start() {
    const auto config = "--config-file=" + folder_.file("clamd.conf");
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
    ::execl("/usr/sbin/clamd", "clamd", config.c_str(), nullptr);
    ::_exit(127);
  }

  Folder folder_;
  pid_t pid_ = -1;
};

// Bytes from memory, in pieces of any size.
ByteSource bytes_of(std::string text, std::size_t piece = 1u << 20) {
  return [text = std::move(text), piece,
          at = std::size_t{0}](std::span<std::byte> buffer) mutable -> Task<std::size_t> {
    const auto size = std::min({buffer.size(), piece, text.size() - at});
    std::copy_n(text.data() + at, size, reinterpret_cast<char*>(buffer.data()));
    at += size;
    co_return size;
  };
}

class ClamdReal : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    daemon = std::make_unique<RealClamd>();
    ASSERT_TRUE(daemon->wait_until_listening()) << daemon->log();
  }
  static void TearDownTestSuite() { daemon.reset(); }

  Answer<ScanVerdict> scan(ByteSource source, ClamdOptions options = {}) {
    options.socket_path = daemon->socket();
    const Clamd clamd(options);
    return run_blocking(io, clamd.scan(std::move(source), {}));
  }

  static inline std::unique_ptr<RealClamd> daemon;
  asio::io_context io{1};
};

TEST_F(ClamdReal, FindsTheTestVirus) {
  const auto verdict = scan(bytes_of(eicar()));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->found);
  EXPECT_EQ(verdict->signature, "Eicar-Test-Signature.UNOFFICIAL");
  EXPECT_EQ(verdict->scanned_bytes, 68u);
}

TEST_F(ClamdReal, FindsWhatIsSplitBetweenChunks) {
  const std::string text =
      std::string(100'000, 'a') + "MILLRACE-HARMFUL" + std::string(50'000, 'b');
  for (const std::size_t piece : {7u, 1'000u, 100'008u}) {
    const auto verdict = scan(bytes_of(text, piece), {.chunk_bytes = 4'096});
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->found) << piece;
    EXPECT_EQ(verdict->signature, "Millrace.Harmful.UNOFFICIAL");
  }
}

TEST_F(ClamdReal, SaysCleanOfWhatIsHarmless) {
  for (const auto& text : {std::string(), std::string("hello"), std::string(900'000, 'x')}) {
    const auto verdict = scan(bytes_of(text));
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_FALSE(verdict->found);
    EXPECT_EQ(verdict->scanned_bytes, text.size());
  }
}

TEST_F(ClamdReal, MoreThanTheDaemonTakesIsAnErrorNeverClean) {
  const auto verdict = scan(bytes_of(std::string(8u << 20, 'x')));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::permanent) << verdict.error().message;
  EXPECT_EQ(verdict.error().error_type, "too_large");
  EXPECT_THAT(verdict.error().message, HasSubstr("StreamMaxLength"));
}

TEST_F(ClamdReal, ASourceThatFailsIsNoVerdict) {
  const auto verdict = scan([](std::span<std::byte>) -> Task<std::size_t> {
    co_return fail(ErrorKind::unavailable, "the store is away");
  });
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().error_type, "source");
  EXPECT_TRUE(scan(bytes_of("fine"))) << "the daemon is not harmed";
}

TEST_F(ClamdReal, ManyScansAtOnceGetTheirOwnVerdicts) {
  const Clamd clamd({.socket_path = daemon->socket()});
  int found = 0;
  int clean = 0;
  for (int i = 0; i < 16; ++i) {
    asio::co_spawn(io, clamd.scan(bytes_of(i % 2 == 0 ? eicar() : "fine"), {}),
                   [&](std::exception_ptr, Answer<ScanVerdict> verdict) {
                     if (verdict) ++(verdict->found ? found : clean);
                   });
  }
  io.run();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(clean, 8);
}

TEST_F(ClamdReal, TellsItsVersion) {
  const auto version = run_blocking(io, Clamd({.socket_path = daemon->socket()}).version({}));
  ASSERT_TRUE(version) << version.error().message;
  EXPECT_THAT(*version, StartsWith("ClamAV "));
}

// A daemon that takes a connection and then does one thing.
class FakeClamd {
 public:
  enum class Does { answer_at_end, answer_at_once, stall, close_at_once, never_read };

  FakeClamd(asio::io_context& io, Does does, std::string reply = "")
      : acceptor_(io, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    asio::co_spawn(io, serve(does, std::move(reply)), [](std::exception_ptr) {});
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  const std::string& got() const { return got_; }
  bool has_connection() const { return socket_ != nullptr; }

 private:
  awaitable<void> serve(Does does, std::string reply) {
    auto [error, accepted] = co_await acceptor_.async_accept(kAsTuple);
    if (error) co_return;
    socket_ = std::make_unique<asio::ip::tcp::socket>(std::move(accepted));
    if (does == Does::close_at_once) {
      socket_->close();
      co_return;
    }
    if (does == Does::never_read) co_return;
    if (does == Does::answer_at_once) {
      co_await asio::async_write(*socket_, asio::buffer(reply), kAsTuple);
    }
    std::array<char, 65536> piece;
    for (;;) {
      const auto [failed, size] = co_await socket_->async_read_some(asio::buffer(piece), kAsTuple);
      if (failed) co_return;
      got_.append(piece.data(), size);
      const bool whole = got_.ends_with(std::string(4, '\0'));
      if (does == Does::answer_at_end && whole) {
        co_await asio::async_write(*socket_, asio::buffer(reply), kAsTuple);
      }
    }
  }

  asio::ip::tcp::acceptor acceptor_;
  std::unique_ptr<asio::ip::tcp::socket> socket_;
  std::string got_;
};

class ClamdTrouble : public testing::Test {
 protected:
  using Does = FakeClamd::Does;

  Answer<ScanVerdict> scan(std::uint16_t port, std::string text = "harmless",
                           CancelToken cancel = {}) {
    const Clamd clamd({.socket_path = "",
                       .port = port,
                       .connect_timeout = 2s,
                       .idle_timeout = 150ms,
                       .total_timeout = total});
    return run_blocking(io, clamd.scan(bytes_of(std::move(text)), std::move(cancel)));
  }

  asio::io_context io{1};
  std::chrono::milliseconds total{20'000};
};

TEST_F(ClamdTrouble, SpeaksTheProtocol) {
  FakeClamd fake(io, Does::answer_at_end, std::string("stream: OK\0", 11));
  const auto verdict = scan(fake.port(), "abc");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_FALSE(verdict->found);
  EXPECT_EQ(fake.got(), std::string("zINSTREAM\0\0\0\0\3abc\0\0\0\0", 21));
}

TEST_F(ClamdTrouble, NobodyThereIsTriedAgain) {
  const Clamd clamd({.socket_path = "/nonexistent/clamd.sock"});
  auto verdict = run_blocking(io, clamd.scan(bytes_of("x"), {}));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::retry);
  EXPECT_EQ(verdict.error().error_type, "connection");
  std::uint16_t port = 0;
  {
    const FakeClamd gone(io, Does::stall);
    port = gone.port();
  }
  verdict = scan(port);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::retry);
}

// A host that does not answer at all: its queue of connections is full, and nobody takes them.
TEST_F(ClamdTrouble, AHostThatDoesNotAnswerIsNotReached) {
  asio::ip::tcp::acceptor full(io, {asio::ip::address_v4::loopback(), 0});
  full.listen(0);
  std::vector<asio::ip::tcp::socket> waiting;
  for (int i = 0; i < 4; ++i) {
    auto& socket = waiting.emplace_back(io);
    socket.open(asio::ip::tcp::v4());
    socket.native_non_blocking(true);
    const auto there = full.local_endpoint();
    // Not asio's: that waits for the answer, which never comes.
    ASSERT_TRUE(::connect(socket.native_handle(), there.data(),
                          static_cast<socklen_t>(there.size())) == 0 ||
                errno == EINPROGRESS);
  }
  const Clamd clamd(
      {.socket_path = "", .port = full.local_endpoint().port(), .connect_timeout = 100ms});
  const auto verdict = run_blocking(io, clamd.scan(bytes_of("x"), {}));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::retry);
  EXPECT_EQ(verdict.error().error_type, "connect_timeout");
}

TEST_F(ClamdTrouble, SilenceIsNoVerdict) {
  FakeClamd fake(io, Does::stall);
  const auto verdict = scan(fake.port());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::retry);
  EXPECT_EQ(verdict.error().error_type, "scan_timeout");
}

TEST_F(ClamdTrouble, ADaemonThatTakesNothingIsGivenUp) {
  FakeClamd fake(io, Does::never_read);
  const auto verdict = scan(fake.port(), std::string(64u << 20, 'x'));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().error_type, "scan_timeout");
}

TEST_F(ClamdTrouble, TheWholeScanHasATime) {
  FakeClamd fake(io, Does::stall);
  total = 100ms;
  const Clamd clamd(
      {.socket_path = "", .port = fake.port(), .idle_timeout = 20s, .total_timeout = total});
  const auto verdict = run_blocking(io, clamd.scan(bytes_of("x"), {}));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().error_type, "scan_timeout");
}

TEST_F(ClamdTrouble, AConnectionThatEndsIsNoVerdict) {
  FakeClamd fake(io, Does::close_at_once);
  const auto verdict = scan(fake.port(), std::string(1u << 20, 'x'));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::retry);
  EXPECT_EQ(verdict.error().error_type, "connection_lost");
}

TEST_F(ClamdTrouble, ARefusalInTheMiddleIsHeard) {
  FakeClamd fake(io, Does::answer_at_once,
                 std::string("INSTREAM size limit exceeded. ERROR\0", 36));
  const auto verdict = scan(fake.port(), std::string(4u << 20, 'x'));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().error_type, "too_large") << verdict.error().message;
}

TEST_F(ClamdTrouble, AnEndlessReplyIsGivenUp) {
  FakeClamd fake(io, Does::answer_at_end, std::string(100'000, 'x'));
  const auto verdict = scan(fake.port());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().error_type, "bad_answer");
}

TEST_F(ClamdTrouble, CancellingEndsIt) {
  FakeClamd fake(io, Does::stall);
  CancelSource source;
  SystemClock clock;
  const Clamd clamd({.socket_path = "", .port = fake.port()});
  const auto cancel_when_connected = [&]() -> awaitable<void> {
    while (!fake.has_connection()) co_await clock.sleep_for(1ms);
    source.cancel("lease lost");
  };
  const auto both = [&]() -> awaitable<Answer<ScanVerdict>> {
    co_return co_await (clamd.scan(bytes_of("x"), source.token()) && cancel_when_connected());
  };
  const auto verdict = run_blocking(io, both());
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().kind, Kind::cancelled);
  EXPECT_THAT(verdict.error().message, HasSubstr("lease lost"));
}

TEST(ClamdOptionsTest, AreRefusedByName) {
  EXPECT_TRUE(check_options(ClamdOptions{}).has_value());
  EXPECT_THAT(check_options({.socket_path = std::string(200, 'a')}).error().message,
              HasSubstr("clamd.socket"));
  EXPECT_THAT(check_options({.socket_path = "", .host = ""}).error().message,
              HasSubstr("clamd.host"));
  EXPECT_THAT(check_options({.idle_timeout = 0ms}).error().message, HasSubstr("clamd.timeouts"));
  EXPECT_THAT(check_options({.chunk_bytes = 0}).error().message, HasSubstr("clamd.chunk_bytes"));
}

}  // namespace
}  // namespace millrace::provider
