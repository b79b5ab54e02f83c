#include "cluster/data_dir.h"

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"
#include "cluster/postmaster.h"
#include "cluster/process.h"
#include "cluster/settings.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace millrace::cluster {

namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr std::string_view kMarkerName = "millrace.json";
constexpr std::string_view kLockName = "owner.lock";
// How long a lock may outlive its owner: the kernel closes a killed process's files a little later.
constexpr std::chrono::seconds kDeadOwnerPatience{5};

std::string system_error(int code) { return std::strerror(code); }

std::string field(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::int64_t number(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value && value->is_int64()) return value->as_int64();
  if (value && value->is_uint64()) return static_cast<std::int64_t>(value->as_uint64());
  return 0;
}

std::string read_all(int fd) {
  std::array<char, 4096> buffer;
  const auto got = ::pread(fd, buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

Result<void> write_lock(int fd, const std::string& text, const fs::path& shown) {
  const bool written = ::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) ==
                                                      static_cast<ssize_t>(text.size());
  if (written) return {};
  return fail(
      ErrorKind::unavailable,
      fmt::format("cannot write {}: {}", (shown / kLockName).string(), system_error(errno)));
}

}  // namespace

std::string format_time(Clock::Wall time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

Result<DataDir> DataDir::open_or_create(Options options, const Clock& clock) {
  DataDir dir;
  dir.options_ = std::move(options);
  std::error_code error;
  dir.absolute_ = fs::weakly_canonical(fs::absolute(dir.options_.path), error);
  if (error) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: {}", dir.shown().string(), error.message()));
  }
  if (!dir.absolute_.has_filename()) dir.absolute_ = dir.absolute_.parent_path();
  MR_TRY_VOID(dir.prepare_directory());
  MR_TRY_VOID(dir.find_way());

  const AsUser as_user(dir.user_);
  MR_TRY(const bool ours, dir.is_ours());
  if (!ours) {
    return fail(ErrorKind::conflict,
                fmt::format("{} is not empty and was not made by millrace (it has no {}); nothing "
                            "was changed. Choose another directory with --data-dir",
                            dir.shown().string(), kMarkerName));
  }
  MR_TRY_VOID(dir.lock(clock));
  MR_TRY_VOID(dir.load_marker(clock));
  return dir;
}

// Makes the directory if there is none, and settles whose it is.
Result<void> DataDir::prepare_directory() {
  const bool root = ::geteuid() == 0;
  std::error_code error;
  fs::create_directories(absolute_.parent_path(), error);
  if (::mkdir(absolute_.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot create {}: {}", shown().string(), system_error(errno)));
  }
  // Whose it is can be seen even where it cannot be opened.
  struct stat status{};
  if (::lstat(absolute_.c_str(), &status) != 0) status.st_uid = ::geteuid();
  if (!root && status.st_uid != ::geteuid()) {
    const auto owner = find_user(status.st_uid);
    const auto name = owner ? owner->name : std::to_string(status.st_uid);
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} belongs to user {}; run as {} or as root, or choose another "
                            "directory with --data-dir",
                            shown().string(), name, name));
  }
  directory_ = UniqueFd(::open(absolute_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory_ || ::fstat(directory_.get(), &status) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot open {}: {}", shown().string(), system_error(errno)));
  }
  if (!root) {
    MR_TRY(user_, current_user());
    return {};
  }
  if (status.st_uid != 0) {
    // Whoever owns it goes on running it, also when root starts it this time.
    MR_TRY(user_, find_user(status.st_uid));
    return {};
  }
  MR_TRY(user_, choose_unprivileged_user(options_.sudo_uid));
  if (!fs::is_empty(absolute_, error) || error) {
    // Somebody who starts at the same moment may have taken it for this user meanwhile.
    if (::fstat(directory_.get(), &status) == 0 && status.st_uid == user_.uid) return {};
    return fail(ErrorKind::conflict,
                fmt::format("{} belongs to root and is not empty; PostgreSQL cannot run as root. "
                            "Nothing was changed. Choose another directory with --data-dir",
                            shown().string()));
  }
  if (::fchown(directory_.get(), user_.uid, user_.gid) != 0 ||
      ::fchmod(directory_.get(), 0700) != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot give {} to user {}: {}", shown().string(), user_.name,
                            system_error(errno)));
  }
  return {};
}

// By path if user_ can get there, else through the descriptor we opened as root.
Result<void> DataDir::find_way() {
  root_ = absolute_;
  const auto blocked = first_blocked_directory(absolute_, user_);
  if (!blocked) return {};
  root_ = fmt::format("/proc/self/fd/{}", directory_.get());
  if (!first_blocked_directory(root_, user_)) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("PostgreSQL must run as user {0}, who may not enter {1}; allow it "
                          "(chmod o+x {1}) or choose another directory with --data-dir",
                          user_.name, blocked->string()));
}

// Has our marker, or nothing but what a first start leaves when it is killed before writing it.
Result<bool> DataDir::is_ours() const {
  std::error_code error;
  bool foreign = false;
  for (fs::directory_iterator entry(root_, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = entry->path().filename().string();
    if (name == kMarkerName) return true;
    // write_file_atomically's temporary file is named after its target.
    const bool beginning = name == kLockName || name.starts_with(kMarkerName);
    foreign = foreign || !beginning;
  }
  if (error) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot read {}: {}", shown().string(), error.message()));
  }
  return !foreign;
}

Result<void> DataDir::lock(const Clock& clock) {
  lock_ = UniqueFd(
      ::open((root_ / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) {
    return fail(
        ErrorKind::unavailable,
        fmt::format("cannot open {}: {}", (shown() / kLockName).string(), system_error(errno)));
  }
  const auto deadline = clock.now() + kDeadOwnerPatience;
  while (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return fail(
          ErrorKind::unavailable,
          fmt::format("cannot lock {}: {}", (shown() / kLockName).string(), system_error(errno)));
    }
    const auto text = read_all(lock_.get());
    const auto holder = parse_json_object(text);
    if (holder) {
      const auto ticks = process_start_ticks(static_cast<pid_t>(number(*holder, "pid")));
      const bool alive =
          ticks && *ticks == static_cast<std::uint64_t>(number(*holder, "start_ticks"));
      // An owner that has not said its address yet will do so once its database runs.
      if (alive) return fail(already_run(text));
    }
    if (clock.now() >= deadline) return fail(already_run(text));
    ::poll(nullptr, 0, 20);
  }
  locked_since_ = format_time(clock.wall());
  return announce({});
}

Error DataDir::already_run(const std::string& holder) const {
  const auto object = parse_json_object(holder);
  const auto url = object ? field(*object, "database_url") : std::string();
  const auto who =
      object ? fmt::format("process {} (since {})", number(*object, "pid"), field(*object, "since"))
             : std::string("another process");
  return {.kind = ErrorKind::conflict,
          .message = fmt::format("{} is already run by {}{}", shown().string(), who,
                                 url.empty() ? std::string()
                                             : fmt::format("; use DATABASE_URL='{}' to connect "
                                                           "to it",
                                                           url)),
          .sqlstate = {},
          .hint = {},
          .detail = {},
          .constraint = {}};
}

Result<void> DataDir::announce(const std::string& database_url) {
  const json::Object object = {{"pid", ::getpid()},
                               {"start_ticks", process_start_ticks(::getpid()).value_or(0)},
                               {"since", locked_since_},
                               {"database_url", database_url}};
  return write_lock(lock_.get(), to_json(object) + "\n", shown());
}

void DataDir::unlock() {
  if (!lock_) return;
  if (!marker_.socket_directory.empty()) {  // Outside, so nobody else would clear it away.
    const AsUser as_user(user_);
    ::rmdir(marker_.socket_directory.c_str());
  }
  [[maybe_unused]] const bool emptied = ::ftruncate(lock_.get(), 0) == 0;
  lock_.reset();
}

Result<void> DataDir::load_marker(const Clock& clock) {
  const auto text = read_file(root_ / kMarkerName, 1024 * 1024);
  if (!text) {
    if (text.error().kind != ErrorKind::not_found) return fail(text.error());
    Marker fresh;
    fresh.created_at = format_time(clock.wall());
    return save(std::move(fresh));
  }
  const auto object = parse_json_object(*text);
  const auto format = object ? number(*object, "format") : 0;
  if (format < 1) {
    return fail(ErrorKind::conflict,
                fmt::format("{} is damaged: {}", (shown() / kMarkerName).string(),
                            object ? "it has no format number" : object.error().message));
  }
  if (format > kFormat) {
    return fail(ErrorKind::conflict,
                fmt::format("{} was made by a newer millrace (format {}, this one knows {})",
                            shown().string(), format, kFormat));
  }
  marker_.created_at = field(*object, "created_at");
  marker_.system_identifier = field(*object, "system_identifier");
  marker_.socket_directory = field(*object, "socket_directory");
  return {};
}

Result<void> DataDir::save(Marker marker) {
  const json::Object object = {{"format", kFormat},
                               {"created_at", marker.created_at},
                               {"created_by", fmt::format("millrace {}", kVersion)},
                               {"system_identifier", marker.system_identifier},
                               {"socket_directory", marker.socket_directory}};
  const AsUser as_user(user_);
  MR_TRY_VOID(write_file_atomically(root_ / kMarkerName, to_pretty_json(object), 0600));
  marker_ = std::move(marker);
  return {};
}

Result<DataDir::ServerPath> DataDir::server_path(const std::string& name) const {
  if (root_ == absolute_) return ServerPath{.path = absolute_ / name, .directory = {}};
  UniqueFd fd(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    return fail(ErrorKind::unavailable,
                fmt::format("cannot open {}: {}", (shown() / name).string(), system_error(errno)));
  }
  return ServerPath{.path = fmt::format("/proc/self/fd/{}", kInheritedDirectoryFd),
                    .directory = std::move(fd)};
}

Result<fs::path> DataDir::socket_directory() {
  const AsUser as_user(user_);
  const auto is_private = [&](const fs::path& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == user_.uid && (status.st_mode & 077) == 0;
  };
  const auto inside = absolute_ / "run";
  if (root_ == absolute_ && fits_socket(inside)) {
    if (::mkdir(inside.c_str(), 0700) == 0 || is_private(inside)) return inside;
    return fail(ErrorKind::unavailable, fmt::format("{} is not a private directory of user {}",
                                                    (shown() / "run").string(), user_.name));
  }
  // The same as last time if that can be had: people keep URLs.
  if (const auto& known = marker_.socket_directory;
      !known.empty() && (::mkdir(known.c_str(), 0700) == 0 || is_private(known))) {
    return fs::path(known);
  }
  for (const auto& parent : {options_.runtime_directory, fs::path("/tmp")}) {
    auto pattern = (parent / "millrace-XXXXXX").string();
    if (!fits_socket(pattern) || !::mkdtemp(pattern.data())) continue;
    auto changed = marker_;
    changed.socket_directory = pattern;
    MR_TRY_VOID(save(std::move(changed)));
    return fs::path(pattern);
  }
  return fail(
      ErrorKind::unavailable,
      fmt::format("cannot make a directory for the socket below /tmp: {}", system_error(errno)));
}

}  // namespace millrace::cluster
