#include "cluster/server.h"

#include "base/duration.h"
#include "base/file.h"
#include "cluster/postmaster.h"
#include "cluster/settings.h"
#include "pg/sync_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace millrace::cluster {

namespace {

namespace fs = std::filesystem;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPollInterval{10};
constexpr seconds kInitdbTimeout{600};
constexpr seconds kReportInterval{2};
constexpr seconds kSilentServerPatience{10};  // Says "ready" but does not answer.
constexpr seconds kOrphanPatience{2};
constexpr int kInterlockAttempts = 5;
constexpr std::uintmax_t kLogMaxBytes = 32 * 1024 * 1024;
// Kept free at the end of the log, so that a server that finds the disk full can still say so.
constexpr off_t kLogReserveBytes = 64 * 1024;
constexpr std::size_t kLogTailBytes = 64 * 1024;  // Enough to find out why a start failed.
constexpr std::string_view kIncludeLine = "include 'millrace.conf'";

// What was written to a log after it had `offset` bytes; the last part if it is much.
std::string read_from(const fs::path& path, std::size_t offset) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<std::size_t>(file.tellg());
  if (size <= offset) return {};
  const auto begin = std::max(offset, size - std::min(size, kLogTailBytes));
  std::string text(size - begin, '\0');
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

// Leaves a file alone that says the right thing already. True if it was written.
Result<bool> write_if_different(const fs::path& path, const std::string& text) {
  if (const auto present = read_file(path); present && *present == text) return false;
  MR_TRY_VOID(write_file_atomically(path, text, 0600));
  return true;
}

// A killed initdb may leave a child that still writes for a moment.
Result<void> remove_tree(const fs::path& path) {
  std::error_code error;
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::remove_all(path, error);
    if (!error && !fs::exists(path, error)) return {};
    ::poll(nullptr, 0, 50);
  }
  return fail(ErrorKind::unavailable,
              fmt::format("cannot remove {}: {}", path.string(), error.message()));
}

Result<void> sync_directory(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::fsync(fd.get()) == 0) return {};
  return fail(ErrorKind::unavailable,
              fmt::format("cannot sync {}: {}", path.string(), std::strerror(errno)));
}

bool disk_is_full(const fs::path& path) {
  struct statvfs status{};
  return ::statvfs(path.c_str(), &status) == 0 && status.f_bavail == 0;
}

}  // namespace

bool wait_for_give_up(int give_up, milliseconds timeout) {
  pollfd item{.fd = give_up, .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, static_cast<int>(timeout.count())) > 0;
}

Server::Server(DataDir& data, Options options, const Clock& clock, const Logger& log)
    : data_(data), options_(std::move(options)), clock_(clock), log_(log) {}

Result<bool> Server::create_if_missing(const Report& report) {
  const auto& known = data_.marker().system_identifier;
  std::error_code error;
  bool exists = false;
  {
    const AsUser as_user(data_.user());
    exists = fs::exists(data_.pg(), error);
  }
  if (!exists) {
    if (!known.empty()) {
      return fail(ErrorKind::conflict,
                  fmt::format("{0}/pg is missing, though cluster {1} was made there; restore it, "
                              "or remove {0} to begin with an empty database",
                              data_.shown().string(), known));
    }
    report(fmt::format("creating a PostgreSQL {} cluster in {}", options_.binaries.version,
                       data_.shown().string()));
    MR_TRY_VOID(run_initdb());
  }
  const AsUser as_user(data_.user());
  MR_TRY(const auto identifier, read_system_identifier(data_.pg()));
  if (known.empty()) {
    auto marker = data_.marker();
    marker.system_identifier = identifier;
    MR_TRY_VOID(data_.save(std::move(marker)));
  } else if (known != identifier) {
    return fail(ErrorKind::conflict,
                fmt::format("{}/pg holds cluster {}, not the one millrace made there ({}); nothing "
                            "was changed",
                            data_.shown().string(), identifier, known));
  }
  return !exists;
}

Result<void> Server::run_initdb() {
  const auto fresh = data_.root() / "pg.new";
  {
    const AsUser as_user(data_.user());
    MR_TRY_VOID(remove_tree(fresh));
    if (::mkdir(fresh.c_str(), 0700) != 0) {
      return fail(
          ErrorKind::unavailable,
          fmt::format("cannot create {}/pg.new: {}", data_.shown().string(), std::strerror(errno)));
    }
  }
  MR_TRY(const auto where, data_.server_path("pg.new"));
  MR_TRY(const auto run,
         run_command({.argv = {options_.binaries.initdb(), "--pgdata=" + where.path,
                               fmt::format("--username={}", kSuperuser), "--auth-local=peer",
                               "--auth-host=reject", "--encoding=UTF8", "--locale=C.UTF-8",
                               "--data-checksums", "--no-instructions"},
                      .user = data_.user(),
                      .directory_fd = where.directory.get()},
                     kInitdbTimeout));
  if (!run.succeeded) {
    const auto line = telling_line(run.output);
    return fail(ErrorKind::unavailable,
                fmt::format("cannot create a PostgreSQL cluster in {}: {}", data_.shown().string(),
                            line.empty() ? "initdb ended with " + run.exit_text : line));
  }
  // initdb has synced what it wrote; the new name is the last step.
  const AsUser as_user(data_.user());
  if (::rename(fresh.c_str(), data_.pg().c_str()) != 0) {
    return fail(ErrorKind::unavailable, fmt::format("cannot rename {}/pg.new: {}",
                                                    data_.shown().string(), std::strerror(errno)));
  }
  return sync_directory(data_.root());
}

Result<void> Server::configure(const fs::path& socket_directory) {
  const AsUser as_user(data_.user());
  const auto pg = data_.pg();
  MR_TRY(auto main, read_file(pg / "postgresql.conf"));
  if (!main.contains(kIncludeLine)) {
    main += fmt::format("\n{}\n", kIncludeLine);
    MR_TRY_VOID(write_file_atomically(pg / "postgresql.conf", main, 0600));
  }
  MR_TRY(const auto me, current_user());
  const Settings settings{.machine = this_machine(), .socket_directory = socket_directory};
  MR_TRY(const bool changed, write_if_different(pg / "millrace.conf", server_conf(settings)));
  MR_TRY_VOID(write_if_different(pg / "pg_hba.conf", hba_conf()));
  MR_TRY_VOID(write_if_different(
      pg / "pg_ident.conf", ident_conf({me.name, "root", data_.user().name}, options_.app_logins)));
  if (changed) log_.debug("cluster_settings_written", {{"socket_dir", socket_directory.string()}});
  return {};
}

Result<Server::Running> Server::start_or_adopt(milliseconds timeout, int give_up,
                                               const Report& report) {
  for (int attempt = 1;; ++attempt) {
    MR_TRY(auto adopted, adopt(timeout, give_up, report));
    if (adopted) return std::move(*adopted);
    auto running = launch(timeout, give_up, report);
    if (running || attempt == kInterlockAttempts) return running;
    // What the last owner left and we could not see yet: a backend, whose end is awaited in
    // launch(), or a postmaster that was only just started, which adopt() finds.
    const auto& message = running.error().message;
    const bool interlocked = message.contains("pre-existing shared memory block") ||
                             message.contains("lock file \"postmaster.pid\" already exists");
    if (!interlocked || wait_for_give_up(give_up, seconds(1))) return running;
    log_.warn("cluster_interlocked", {{"attempt", attempt}});
  }
}

// Nothing if no server runs in the directory, or if one did and has ended.
Result<std::optional<Server::Running>> Server::adopt(milliseconds timeout, int give_up,
                                                     const Report& report) {
  std::optional<PostmasterPid> file;
  Process process;
  {
    const AsUser as_user(data_.user());
    file = read_postmaster_pid(data_.pg());
    if (!file) return std::nullopt;
    auto attached = Process::attach(file->pid);
    // Looked at after it was opened: this descriptor cannot mean another process.
    if (!attached || !works_in(file->pid, data_.pg())) return std::nullopt;
    process = std::move(*attached);
  }
  log_.info("cluster_found_running", {{"pid", file->pid}, {"status", file->status}});
  report(fmt::format("process {} still runs in {}", file->pid, data_.shown().string()));
  const auto deadline = clock_.now() + timeout;
  std::optional<Clock::Steady> silent_since;
  while (!process.wait(kPollInterval)) {
    if (wait_for_give_up(give_up, {})) return fail(ErrorKind::cancelled, "stopped");
    {
      const AsUser as_user(data_.user());
      file = read_postmaster_pid(data_.pg());
    }
    if (file && file->pid == process.pid() && file->ready()) {
      const auto answer = first_query(file->socket_directory);
      if (answer) {
        return Running{.postmaster = std::move(process),
                       .socket_directory = file->socket_directory,
                       .adopted = true};
      }
      if (answer.error().kind == ErrorKind::conflict) return fail(answer.error());
      if (!silent_since) silent_since = clock_.now();
    }
    const bool silent = silent_since && clock_.now() - *silent_since > kSilentServerPatience;
    if (silent || clock_.now() > deadline) {
      log_.warn("cluster_not_adoptable", {{"pid", process.pid()}});
      shut_down(process, kSilentServerPatience);
      return std::nullopt;
    }
  }
  return std::nullopt;
}

Result<Server::Running> Server::launch(milliseconds timeout, int give_up, const Report& report) {
  end_orphans();
  MR_TRY(const auto socket_directory, data_.socket_directory());
  remove_stale_files(socket_directory);
  MR_TRY_VOID(configure(socket_directory));

  trim_log();
  const auto log_from = log_size();
  UniqueFd log;
  {
    const AsUser as_user(data_.user());
    ::mkdir((data_.root() / "log").c_str(), 0700);
    log = UniqueFd(
        ::open(data_.log().c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!log) {
      return fail(
          ErrorKind::unavailable,
          fmt::format("cannot open {}: {}", data_.shown_log().string(), std::strerror(errno)));
    }
    ::fallocate(log.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(log_from), kLogReserveBytes);
  }
  MR_TRY(const auto where, data_.server_path("pg"));
  report(fmt::format("starting PostgreSQL {}", options_.binaries.version));
  MR_TRY(auto process, Process::spawn({.argv = {options_.binaries.postgres(), "-D", where.path},
                                       .user = data_.user(),
                                       .output_fd = log.get(),
                                       .directory_fd = where.directory.get(),
                                       .death_signal = SIGINT}));
  Running running{
      .postmaster = std::move(process), .socket_directory = socket_directory, .adopted = false};
  auto ready = wait_until_ready(running, log_from, timeout, give_up, report);
  if (!ready) {
    shut_down(running.postmaster, kSilentServerPatience);
    return fail(std::move(ready).error());
  }
  return running;
}

Result<void> Server::wait_until_ready(Running& running, std::size_t log_from, milliseconds timeout,
                                      int give_up, const Report& report) {
  const auto started = clock_.now();
  auto next_report = started + kReportInterval;
  for (;;) {
    if (running.postmaster.wait(kPollInterval)) {
      return fail(start_error(
          fmt::format("PostgreSQL did not start ({})", running.postmaster.exit_text()), log_from));
    }
    if (wait_for_give_up(give_up, {})) return fail(ErrorKind::cancelled, "stopped");
    std::optional<PostmasterPid> file;
    {
      const AsUser as_user(data_.user());
      file = read_postmaster_pid(data_.pg());
    }
    if (file && file->pid == running.postmaster.pid() && file->ready()) {
      auto answer = first_query(running.socket_directory);
      if (answer || answer.error().kind != ErrorKind::unavailable) return answer;
    }
    const auto now = clock_.now();
    if (now - started > timeout) {
      return fail(start_error(
          fmt::format("PostgreSQL was not ready after {}", format_duration(timeout)), log_from));
    }
    if (now >= next_report) {
      next_report = now + kReportInterval;
      const AsUser as_user(data_.user());
      report(fmt::format("PostgreSQL is still starting: {}",
                         telling_line(read_from(data_.log(), log_from))));
    }
  }
}

// Proves that this is the cluster of the directory and that it works, and makes our database.
Result<void> Server::first_query(const fs::path& socket_directory) {
  auto connection = pg::SyncConnection::connect(
      {.url = Secret<std::string>(connection_url(socket_directory, kSuperuser, "postgres")),
       .application_name = "millrace-supervisor",
       .connect_timeout = seconds(5),
       .overrides = {},
       .on_notice = {}});
  if (!connection) return fail(std::move(connection).error());
  MR_TRY(const auto answer,
         connection->query("select s.system_identifier::text as identifier, "
                           "d.datname is not null as present, coalesce(d.datconnlimit = -2, false) "
                           "as invalid from pg_control_system() s "
                           "left join pg_database d on d.datname = $1",
                           pg::params(kDatabase), MR_POINT("cluster_identify")));
  const auto identifier = answer[0].text("identifier");
  if (identifier != data_.marker().system_identifier) {
    return fail(
        ErrorKind::conflict,
        fmt::format("the server on {} runs cluster {}, not {} of {}", socket_directory.string(),
                    identifier, data_.marker().system_identifier, data_.shown().string()));
  }
  std::vector<std::string> missing;
  // Somebody who dropped it was killed half-way: PostgreSQL lets nobody in any more.
  const bool invalid = answer[0].boolean("invalid");
  if (invalid) missing.push_back(fmt::format("drop database {}", kDatabase));
  if (invalid || !answer[0].boolean("present")) {
    missing.push_back(fmt::format("create database {}", kDatabase));
  }
  for (const auto& statement : missing) {
    MR_TRY_VOID(connection->query(statement, {}, MR_POINT("cluster_create")));
  }
  return {};
}

// Backends whose postmaster was killed end by themselves when they next wait; a busy one does not.
void Server::end_orphans() {
  std::vector<Process> orphans;
  {
    const AsUser as_user(data_.user());
    for (const auto pid : processes_in(data_.pg())) {
      auto process = Process::attach(pid);
      if (process && works_in(pid, data_.pg())) orphans.push_back(std::move(*process));
    }
  }
  if (orphans.empty()) return;
  log_.warn("cluster_orphans", {{"count", orphans.size()}});
  for (const int number : {0, SIGQUIT, SIGKILL}) {
    if (number != 0) {
      for (const auto& orphan : orphans) orphan.signal(number);
    }
    const auto deadline = clock_.now() + kOrphanPatience;
    std::erase_if(orphans, [&](Process& orphan) {
      return orphan.wait(
          std::max(duration_cast<milliseconds>(deadline - clock_.now()), milliseconds(0)));
    });
    if (orphans.empty()) return;
  }
}

// Nothing of ours runs any more. PostgreSQL clears its own leftovers unless their process number is
// in use again, by something else.
void Server::remove_stale_files(const fs::path& socket_directory) {
  const AsUser as_user(data_.user());
  const auto socket = fmt::format(".s.PGSQL.{}", kPort);
  ::unlink((socket_directory / socket).c_str());
  ::unlink((socket_directory / (socket + ".lock")).c_str());
  const auto file = read_postmaster_pid(data_.pg());
  if (file && process_start_ticks(file->pid)) {
    log_.warn("cluster_stale_pid_file", {{"pid", file->pid}});
    ::unlink((data_.pg() / "postmaster.pid").c_str());
  }
}

void Server::shut_down(Process& postmaster, milliseconds patience) {
  postmaster.signal(SIGINT);
  if (!postmaster.wait(patience)) {
    log_.warn("cluster_stop_immediate", {{"after", patience}});
    postmaster.signal(SIGQUIT);
    if (!postmaster.wait(seconds(10))) {
      postmaster.signal(SIGKILL);
      postmaster.wait(seconds(10));
    }
  }
  end_orphans();
}

void Server::trim_log() {
  const AsUser as_user(data_.user());
  std::error_code error;
  if (fs::file_size(data_.log(), error) <= kLogMaxBytes || error) return;
  // The server keeps the file open for appending, so it is copied and emptied, not renamed.
  auto old = data_.log();
  old += ".1";
  fs::copy_file(data_.log(), old, fs::copy_options::overwrite_existing, error);
  if (::truncate(data_.log().c_str(), 0) != 0) {
    log_.warn("cluster_log_not_trimmed", {{"error", std::strerror(errno)}});
  }
}

Error Server::start_error(std::string_view what, std::size_t log_from) const {
  const AsUser as_user(data_.user());
  auto line = telling_line(read_from(data_.log(), log_from));
  if (line.empty()) line = disk_is_full(data_.root()) ? "no space left on the disk" : "no message";
  return {.kind = ErrorKind::unavailable,
          .message = fmt::format("{}: {} (see {})", what, line, data_.shown_log().string()),
          .sqlstate = {},
          .hint = {},
          .detail = {},
          .constraint = {}};
}

std::size_t Server::log_size() const {
  const AsUser as_user(data_.user());
  std::error_code error;
  const auto size = fs::file_size(data_.log(), error);
  return error ? 0 : static_cast<std::size_t>(size);
}

}  // namespace millrace::cluster
