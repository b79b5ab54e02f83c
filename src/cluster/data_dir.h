// DataDir: the directory of a private cluster, ours alone while this object lives.
//
//   .millrace/millrace.json        marker: we made this directory, and which cluster is in it
//   .millrace/owner.lock           held (flock) by the process that runs the cluster, and names it
//   .millrace/pg                   PostgreSQL's data; pg.new while it is being made
//   .millrace/run                  the socket, if the path is short enough and reachable
//   .millrace/log/postgres.log     what the server says
//
// A directory without the marker is not ours and is left alone unless it is empty. Everything in it
// belongs to user(), and is read and written with that user's rights (os_user.h). root() is where
// to do so: the directory's path, or, when that user may not enter one of its parents (a clone
// below /root), the same directory through an open descriptor.
// Blocking; one thread at a time.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "cluster/os_user.h"
#include "cluster/unique_fd.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cluster {

struct Marker {
  std::string created_at;
  std::string system_identifier;  // Empty until the cluster has been made.
  std::string socket_directory;   // Where the socket lies if not in run.
};

class DataDir {
 public:
  struct Options {
    std::filesystem::path path;
    std::optional<uid_t> sudo_uid;
    std::filesystem::path runtime_directory;  // Preferred over /tmp for a socket outside.
  };

  // Takes the lock. Fails with conflict, and leaves everything as it was, when another process runs
  // the cluster or the directory is not ours.
  static Result<DataDir> open_or_create(Options options, const Clock& clock);

  const std::filesystem::path& shown() const { return options_.path; }  // As the caller wrote it.
  const OsUser& user() const { return user_; }
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path pg() const { return root_ / "pg"; }
  std::filesystem::path log() const { return root_ / "log" / "postgres.log"; }
  // For people, whatever root() is.
  std::filesystem::path shown_log() const { return options_.path / "log" / "postgres.log"; }

  // How PostgreSQL's programs name the data folder `name` ("pg", "pg.new"): its path, or through
  // the descriptor, which they then inherit.
  struct ServerPath {
    std::string path;
    UniqueFd directory;  // Empty when they need none.
  };
  Result<ServerPath> server_path(const std::string& name) const;

  const Marker& marker() const { return marker_; }
  Result<void> save(Marker marker);

  // The directory for the socket: run, or a private one outside, remembered in the marker.
  Result<std::filesystem::path> socket_directory();

  // Tells a second owner where to connect. Before this the lock file only names the process.
  Result<void> announce(const std::string& database_url);
  // Gives the directory up to the next owner.
  void unlock();

 private:
  Result<void> prepare_directory();
  Result<void> find_way();
  Result<bool> is_ours() const;
  Result<void> lock(const Clock& clock);
  Result<void> load_marker(const Clock& clock);
  Result<void> make_private_directory(const std::string& name) const;
  Error already_run(const std::string& holder) const;

  Options options_;
  std::filesystem::path absolute_;
  std::filesystem::path root_;
  OsUser user_;
  UniqueFd directory_;
  UniqueFd lock_;
  std::string locked_since_;
  Marker marker_;
};

// "2026-03-01T12:00:00Z"
std::string format_time(Clock::Wall time);

}  // namespace millrace::cluster
