#include "support/server.h"

#include "base/file.h"
#include "pg/sync_connection.h"
#include "support/process.h"
#include "support/template.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <optional>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

class LockFile {
 public:
  LockFile() = default;
  LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LockFile& operator=(LockFile&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~LockFile() { release(); }

  // `operation` is LOCK_SH or LOCK_EX, with LOCK_NB for no waiting. Descriptors are not inherited,
  // so a server that we start does not hold our locks.
  static std::optional<LockFile> take(const fs::path& path, int operation) {
    for (;;) {
      LockFile lock;
      lock.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (lock.fd_ < 0 || ::flock(lock.fd_, operation) != 0) return std::nullopt;
      // Whoever held it before us may have removed the file: then the lock means nothing.
      struct stat held{};
      struct stat present{};
      if (::fstat(lock.fd_, &held) == 0 && ::stat(path.c_str(), &present) == 0 &&
          held.st_ino == present.st_ino) {
        return lock;
      }
    }
  }
  void release() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// One place per user and build folder, short enough for a unix socket, reachable for the user
// postgres.
struct Place {
  fs::path root;

  fs::path lock() const { return root / "lock"; }
  fs::path users() const { return root / "users"; }
  fs::path data() const { return root / "data"; }
  fs::path socket() const { return root / "run"; }
  fs::path log() const { return root / "postgres.log"; }
  fs::path ready() const { return root / "ready"; }
};

Result<Place> open_place() {
  const char* tmp = std::getenv("TMPDIR");
  const auto hash = std::hash<std::string_view>{}(MILLRACE_BUILD_DIR) & 0xffffffffU;
  Place place{
      fs::path(tmp != nullptr && *tmp != '\0' && std::string_view(tmp).size() < 40 ? tmp : "/tmp") /
      fmt::format("millrace-testpg-{}-{:08x}", ::geteuid(), hash)};
  ::mkdir(place.root.c_str(), 0755);
  struct stat info{};
  if (::lstat(place.root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
      info.st_uid != ::geteuid()) {
    return fail(ErrorKind::internal,
                fmt::format("{} is not a folder of ours", place.root.string()));
  }
  ::chmod(place.root.c_str(), 0755);  // Whatever the umask: postgres must get through.
  return place;
}

// When a process started, from /proc: tells it from a later one with the same number.
std::string start_time(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::size_t at = name_end + 1;
  for (int field = 3; field <= 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  const auto begin = text.rfind(' ', at == std::string::npos ? at : at - 1) + 1;
  return text.substr(begin, at - begin);
}

fs::path keep_file(const Place& place, pid_t pid) {
  return place.root / fmt::format("keep.{}", pid);
}

// True while a process that asked for the server lives; forgets the dead ones.
bool is_kept(const Place& place) {
  bool kept = false;
  for (const auto& entry : fs::directory_iterator(place.root)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with("keep.")) continue;
    const pid_t pid = std::atoi(name.c_str() + 5);
    const auto since = read_file(entry.path());
    if (since && !since->empty() && *since == start_time(pid)) {
      kept = true;
    } else {
      fs::remove(entry.path());
    }
  }
  return kept;
}

std::string make_url(const Place& place, std::string_view database, std::string_view user) {
  std::string folder;
  for (const char c : place.socket().string())
    folder += c == '/' ? std::string("%2F") : std::string(1, c);
  return fmt::format("postgresql://{}@/{}?host={}", user, database, folder);
}

// The postmaster of this place, if it lives: its working folder is its data folder.
std::optional<pid_t> find_postmaster(const Place& place) {
  std::ifstream file(place.data() / "postmaster.pid");
  pid_t pid = 0;
  if (!(file >> pid) || pid <= 1) return std::nullopt;
  std::error_code code;
  const auto folder = fs::read_symlink(fmt::format("/proc/{}/cwd", pid), code);
  if (code || folder != fs::canonical(place.data(), code)) return std::nullopt;
  return pid;
}

// Stops what runs and removes what it left. The caller holds the lock.
void wipe(const Place& place) {
  fs::remove(place.ready());
  if (const auto bindir = postgres_bindir(); bindir && find_postmaster(place)) {
    const auto stopped = run_as_postgres({(*bindir / "pg_ctl").string(), "-D",
                                          place.data().string(), "-m", "immediate", "-w", "stop"});
    if (const auto pid = find_postmaster(place); !stopped && pid) ::kill(*pid, SIGKILL);
  }
  std::error_code ignored;
  fs::remove_all(place.data(), ignored);
  fs::remove_all(place.socket(), ignored);
  fs::remove(place.log(), ignored);
}

Result<void> configure(const Place& place) {
  std::ofstream conf(place.data() / "postgresql.conf", std::ios::app);
  conf << fmt::format(
      "listen_addresses = ''\nunix_socket_directories = '{}'\nunix_socket_permissions = 0700\n"
      "max_connections = 300\nfsync = off\nfull_page_writes = off\nmax_wal_size = 4GB\n"
      "shared_buffers = 256MB\nlog_line_prefix = '%m [%p] %q%u@%d '\nlog_lock_waits = on\n"
      "deadlock_timeout = 200ms\ntimezone = 'UTC'\nlog_timezone = 'UTC'\n",
      place.socket().string());
  conf.close();
  if (!conf) return fail(ErrorKind::internal, "cannot write postgresql.conf");
  return {};
}

Result<void> start(const Place& place) {
  MR_TRY(auto bindir, postgres_bindir());
  for (const auto& folder : {place.data(), place.socket()}) {
    if (::mkdir(folder.c_str(), 0700) != 0) {
      return fail(ErrorKind::internal, fmt::format("cannot create {}", folder.string()));
    }
    MR_TRY_VOID(give_to_postgres(folder));
  }
  MR_TRY_VOID(write_file_atomically(place.log(), "", 0600));
  MR_TRY_VOID(give_to_postgres(place.log()));
  MR_TRY_VOID(run_as_postgres({(bindir / "initdb").string(), "-D", place.data().string(), "-U",
                               "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                               "--no-sync", "--no-instructions"}));
  MR_TRY_VOID(configure(place));
  auto started = run_as_postgres({(bindir / "pg_ctl").string(), "-D", place.data().string(), "-l",
                                  place.log().string(), "-t", "60", "-w", "start"});
  if (!started) {
    const auto log = read_file(place.log());
    return fail(ErrorKind::internal, fmt::format("PostgreSQL did not start: {}", log ? *log : ""));
  }
  return write_file_atomically(place.ready(), "", 0600);
}

bool runs(const Place& place) {
  if (!fs::exists(place.ready()) || !find_postmaster(place)) return false;
  return pg::SyncConnection::connect(make_url(place, "postgres", "postgres")).has_value();
}

// The caller holds the lock.
Result<std::string> ensure_running(const Place& place) {
  if (!runs(place)) {
    wipe(place);
    MR_TRY_VOID(start(place));
  }
  return ensure_template(
      [&place](std::string_view database) { return make_url(place, database, "postgres"); });
}

// Stops the server if nobody needs it. The caller holds the lock, which goes with the folder.
void stop_if_unused(const Place& place) {
  if (is_kept(place)) return;
  const auto alone = LockFile::take(place.users(), LOCK_EX | LOCK_NB);
  if (!alone) return;
  wipe(place);
  std::error_code ignored;
  fs::remove_all(place.root, ignored);
}

// The folder may be removed by the last user between our finding it and locking it: then again.
Result<std::pair<Place, LockFile>> lock_place() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    MR_TRY(auto place, open_place());
    if (auto lock = LockFile::take(place.lock(), LOCK_EX))
      return std::pair(place, std::move(*lock));
  }
  return fail(ErrorKind::internal, "cannot lock the folder of the test server");
}

std::optional<Server>& present_server() {
  static std::optional<Server> server;
  return server;
}

}  // namespace

struct Server::Impl {
  Place place;
  LockFile user;
  std::string template_name;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::Server(Server&&) noexcept = default;

Result<Server> Server::use() {
  MR_TRY(auto locked, lock_place());
  auto impl = std::make_unique<Impl>();
  impl->place = locked.first;
  auto user = LockFile::take(impl->place.users(), LOCK_SH);
  if (!user) return fail(ErrorKind::internal, "cannot lock the list of the test server's users");
  impl->user = std::move(*user);
  MR_TRY(impl->template_name, ensure_running(impl->place));
  return Server(std::move(impl));
}

Server::~Server() {
  if (!impl_) return;
  auto locked = lock_place();
  impl_->user.release();
  if (locked) stop_if_unused(impl_->place);
}

Server& Server::get() {
  auto& server = present_server();
  if (!server) {
    auto used = use();
    if (!used) throw std::runtime_error("no test server: " + used.error().describe());
    server.emplace(std::move(*used));
  }
  return *server;
}

void Server::leave() { present_server().reset(); }

Result<void> Server::start_for_parent() {
  MR_TRY(auto locked, lock_place());
  const auto& place = locked.first;
  // Left by a run that was killed: begin afresh, unless somebody uses it just now.
  if (!is_kept(place) && LockFile::take(place.users(), LOCK_EX | LOCK_NB)) wipe(place);
  MR_TRY_VOID(write_file_atomically(keep_file(place, ::getppid()), start_time(::getppid()), 0600));
  MR_TRY_VOID(ensure_running(place));
  return {};
}

Result<void> Server::stop_for_parent() {
  MR_TRY(auto locked, lock_place());
  fs::remove(keep_file(locked.first, ::getppid()));
  stop_if_unused(locked.first);
  return {};
}

std::string Server::url(std::string_view database, std::string_view user) const {
  return make_url(impl_->place, database, user);
}

fs::path Server::socket_dir() const { return impl_->place.socket(); }
fs::path Server::log_file() const { return impl_->place.log(); }
const std::string& Server::template_name() const { return impl_->template_name; }

}  // namespace millrace::test
