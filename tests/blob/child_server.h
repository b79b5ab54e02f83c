// ChildServer: a server from a package, as a child process on a free loopback port.
//
// It is told port 0, and says on its standard output which one it got; that line is waited for. It
// ends with this object, and with this process whatever happens to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace millrace::test {

class ChildServer {
 public:
  // `announces`: the text right before the port in the line that says that it listens. Throws with
  // what the child said when that line does not come.
  ChildServer(std::vector<std::string> command, std::string announces);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void start(const std::vector<std::string>& command);
  void wait_for(const std::string& announces);
  bool read_more(int timeout_ms);  // False: nothing came, or it ended.

  pid_t pid_ = -1;
  int output_ = -1;
  std::string said_;
  std::uint16_t port_ = 0;
  std::jthread drain_;  // A child whose output nobody reads would stop at a full pipe.
};

// For servers that cannot be told port 0: one that was free a moment ago.
std::uint16_t free_port();

// A file of an npm package in build/npm; throws with what to do when it is not there.
std::filesystem::path npm_file(const std::string& relative);
// The Node that came with them.
std::filesystem::path node_program();

// A folder of one's own, gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace millrace::test
