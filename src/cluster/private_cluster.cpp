#include "cluster/private_cluster.h"

#include "base/file.h"
#include "cluster/binaries.h"
#include "cluster/data_dir.h"
#include "cluster/server.h"
#include "cluster/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <thread>

namespace millrace::cluster {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBackoffMin{200};
constexpr milliseconds kBackoffMax{10'000};
constexpr seconds kHealthyAfter{60};  // A server that lived this long starts the backoff anew.
constexpr seconds kTrimInterval{60};

// The version an existing cluster needs; nothing when there is none.
std::optional<int> major_of(const DataDir& data) {
  const AsUser as_user(data.user());
  const auto text = read_file(data.pg() / "PG_VERSION", 64);
  if (!text) return std::nullopt;
  int major = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), major);
  return parsed.ec == std::errc{} ? std::optional(major) : std::nullopt;
}

}  // namespace

std::string_view to_string(ClusterStage stage) {
  switch (stage) {
    case ClusterStage::creating:
      return "creating";
    case ClusterStage::starting:
      return "starting";
    case ClusterStage::adopted:
      return "adopted";
    case ClusterStage::ready:
      return "ready";
    case ClusterStage::restarting:
      return "restarting";
    case ClusterStage::stopping:
      return "stopping";
    case ClusterStage::stopped:
      return "stopped";
  }
  return "unknown";
}

class PrivateCluster::Impl {
 public:
  Impl(ClusterOptions options, DataDir data, Binaries binaries, const Clock& clock,
       const Logger& log, Clock::Steady opened_at)
      : options_(std::move(options)),
        data_(std::move(data)),
        version_(binaries.version),
        clock_(clock),
        log_(log),
        server_(data_, {.binaries = std::move(binaries), .app_logins = options_.app_logins}, clock_,
                log_),
        since_(opened_at),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~Impl() { static_cast<void>(stop()); }

  Result<void> create() {
    MR_TRY(created_, server_.create_if_missing(
                         [&](std::string text) { tell(ClusterStage::creating, std::move(text)); }));
    return {};
  }

  Result<Started> start() {
    if (thread_.joinable() || stopped_) {
      return fail(ErrorKind::conflict, "the cluster was started before");
    }
    thread_ = std::thread([this] { supervise(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return outcome_.has_value(); });
    return *outcome_;
  }

  Result<void> stop() {
    stopped_ = true;
    if (thread_.joinable()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
      thread_.join();
    }
    data_.unlock();
    return {};
  }

  std::filesystem::path socket_directory() const {
    const std::scoped_lock lock(mutex_);
    return socket_directory_;
  }

  pid_t postmaster_pid() const {
    const std::scoped_lock lock(mutex_);
    return pid_;
  }

  const DataDir& data() const { return data_; }
  const std::string& version() const { return version_; }

 private:
  // The life of the server, from the first start to the shutdown.
  void supervise() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // Signals are for the threads of the program.

    auto running = bring_up();
    if (!running) {
      publish_outcome(fail(running.error()));
      return;
    }
    publish_outcome(Started{.created = created_,
                            .adopted = running->adopted,
                            .elapsed = duration_cast<milliseconds>(clock_.now() - since_)});
    auto started_at = clock_.now();
    auto backoff = kBackoffMin;
    while (!watch(running->postmaster)) {
      if (clock_.now() - started_at > kHealthyAfter) backoff = kBackoffMin;
      if (!bring_back(*running, backoff)) {  // Asked to stop while there was no server.
        set_running(0, {});
        tell(ClusterStage::stopped, "stopped");
        return;
      }
      started_at = clock_.now();
    }
    since_ = clock_.now();
    tell(ClusterStage::stopping, "stopping PostgreSQL");
    server_.shut_down(running->postmaster, options_.stop_timeout);
    set_running(0, {});
    tell(ClusterStage::stopped, "stopped");
  }

  Result<Server::Running> bring_up() {
    MR_TRY(auto running,
           server_.start_or_adopt(options_.start_timeout, wake_.get(), [&](std::string text) {
             tell(ClusterStage::starting, std::move(text));
           }));
    set_running(running.postmaster.pid(), running.socket_directory);
    if (auto told = data_.announce(connection_url(running.socket_directory, kSuperuser)); !told) {
      log_.warn("cluster_not_announced", {{"error", told.error().message}});
    }
    if (running.adopted) {
      tell(ClusterStage::adopted,
           fmt::format("adopted the running PostgreSQL, process {}", running.postmaster.pid()));
    }
    tell(ClusterStage::ready,
         fmt::format("PostgreSQL {} answers, process {}", version_, running.postmaster.pid()));
    return running;
  }

  // True when we were asked to stop, false when the server has ended.
  bool watch(Process& postmaster) {
    for (;;) {
      std::array<pollfd, 2> items{pollfd{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = postmaster.pidfd(), .events = POLLIN, .revents = 0}};
      ::poll(items.data(), items.size(), static_cast<int>(milliseconds(kTrimInterval).count()));
      if (items[0].revents != 0) return true;
      if (items[1].revents != 0 && postmaster.wait({})) return false;
      server_.trim_log();
    }
  }

  // Starts the server again, however often it takes. False when asked to stop meanwhile.
  bool bring_back(Server::Running& running, milliseconds& backoff) {
    since_ = clock_.now();
    const auto how = running.postmaster.exit_text();
    set_running(0, {});
    log_.error("cluster_died", {{"pid", running.postmaster.pid()}, {"how", how}});
    tell(ClusterStage::restarting, fmt::format("PostgreSQL died ({}), starting it again", how));
    for (;;) {
      if (wait_for_give_up(wake_.get(), backoff)) return false;
      backoff = std::min(backoff * 2, kBackoffMax);
      auto again = bring_up();
      if (again) {
        running = std::move(*again);
        return true;
      }
      if (again.error().kind == ErrorKind::cancelled) return false;
      log_.error("cluster_restart_failed", {{"error", again.error().message}});
      tell(ClusterStage::restarting, again.error().message);
    }
  }

  void publish_outcome(Result<Started> outcome) {
    {
      const std::scoped_lock lock(mutex_);
      outcome_ = std::move(outcome);
    }
    changed_.notify_all();
  }

  void set_running(pid_t pid, const std::filesystem::path& socket_directory) {
    const std::scoped_lock lock(mutex_);
    pid_ = pid;
    if (!socket_directory.empty()) socket_directory_ = socket_directory;
  }

  void tell(ClusterStage stage, std::string message) {
    const auto elapsed = duration_cast<milliseconds>(clock_.now() - since_);
    log_.info("cluster", {{"stage", to_string(stage)}, {"message", message}, {"ms", elapsed}});
    if (options_.progress) {
      options_.progress({.stage = stage, .message = std::move(message), .elapsed = elapsed});
    }
  }

  ClusterOptions options_;
  DataDir data_;
  std::string version_;
  const Clock& clock_;
  const Logger& log_;
  Server server_;
  Clock::Steady since_;
  bool created_ = false;
  bool stopped_ = false;
  UniqueFd wake_;  // An eventfd: readable once stop() was called.
  std::thread thread_;

  mutable std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  std::optional<Result<Started>> outcome_;
  std::filesystem::path socket_directory_;
  pid_t pid_ = 0;
};

Result<PrivateCluster> PrivateCluster::open_or_create(ClusterOptions options, const Clock& clock,
                                                      const Logger& log) {
  const auto opened_at = clock.now();
  // Before anything is written: without PostgreSQL there is no use for a directory.
  MR_TRY(auto binaries, find_binaries({.directories = options.bin_dirs, .major = {}}));
  MR_TRY(auto data, DataDir::open_or_create({.path = options.data_dir,
                                             .sudo_uid = options.sudo_uid,
                                             .runtime_directory = options.runtime_directory},
                                            clock));
  if (const auto major = major_of(data); major && *major != binaries.major) {
    MR_TRY(binaries, find_binaries({.directories = options.bin_dirs, .major = major}));
  }
  auto impl = std::make_unique<Impl>(std::move(options), std::move(data), std::move(binaries),
                                     clock, log, opened_at);
  MR_TRY_VOID(impl->create());
  return PrivateCluster(std::move(impl));
}

PrivateCluster::PrivateCluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateCluster::PrivateCluster(PrivateCluster&&) noexcept = default;
PrivateCluster& PrivateCluster::operator=(PrivateCluster&&) noexcept = default;
PrivateCluster::~PrivateCluster() = default;

Result<PrivateCluster::Started> PrivateCluster::start() { return impl_->start(); }
Result<void> PrivateCluster::stop() { return impl_->stop(); }

std::string PrivateCluster::url(std::string_view user) const {
  return connection_url(impl_->socket_directory(), user);
}

std::filesystem::path PrivateCluster::socket_directory() const { return impl_->socket_directory(); }

pid_t PrivateCluster::postmaster_pid() const { return impl_->postmaster_pid(); }
std::filesystem::path PrivateCluster::data_dir() const { return impl_->data().shown(); }
std::filesystem::path PrivateCluster::log_path() const { return impl_->data().shown_log(); }
std::string PrivateCluster::version() const { return impl_->version(); }

}  // namespace millrace::cluster
