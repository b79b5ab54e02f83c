// BrowserProcess: one started Chromium, leader of all its processes, with our ends of its pipes.
//
// Flow: Confinement::probe finds out once which walls this machine gives; start() opens the pipes,
// clones into as many namespaces as the probe found, and executes; end() kills every process of the
// browser and collects the leader. Within a PID namespace the kernel ends all of them with the
// leader; without one the process group is killed. The leader dies with the thread that started it,
// so that thread must live as long as the process does.
// Threading: none of its own. Lifetime: the destructor ends the browser.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace millrace::render {

// Which walls stand around a browser, besides the switches it is started with.
struct Confinement {
  bool network_namespace = false;  // No interface, not even loopback.
  bool pid_namespace = false;      // Sees no other process; all its processes end with it.
  bool own_root = false;           // Sees fonts, libraries and its scratch folder only.
  bool user_namespace = false;     // How an ordinary user gets the three above.
  bool nobody = false;             // Root has become user 65534.
  bool chromium_sandbox = false;   // Chromium confines its renderers by itself.
  std::string missing;             // Why something of it is not there; empty if all is.

  // "pid_namespace, own_root, chromium_sandbox": those of the machine that do not stand.
  std::string missing_walls() const;
  std::vector<std::string> lines() const;  // "network_namespace: yes", for people.

  // Tries, in a child, what start() will do, with an empty folder to mount on. Takes some
  // milliseconds. `namespaces` false: none.
  static Result<Confinement> probe(const std::filesystem::path& stage, bool namespaces);
};

// How they get there.
inline constexpr std::string_view kWallsHint =
    "allow user namespaces (kernel.unprivileged_userns_clone, user.max_user_namespaces, the "
    "seccomp and AppArmor profiles of the container), or run as root";

struct BrowserSpec {
  std::string file;  // An absolute path.
  std::vector<std::string> switches;
  std::filesystem::path scratch;  // Made by prepare_scratch().
  std::filesystem::path stage;    // An empty folder, where the root of its own is built.
  Confinement confinement;
  std::uint64_t data_max_bytes = std::uint64_t{2} << 30U;  // Of each of its processes.
  std::uint64_t file_max_bytes = std::uint64_t{512} << 20U;
};

// Makes the folder and gives it to the user the browser will be.
Result<void> prepare_scratch(const std::filesystem::path& scratch, const Confinement& confinement);

class BrowserProcess {
 public:
  static Result<BrowserProcess> start(const BrowserSpec& spec);

  BrowserProcess(BrowserProcess&& other) noexcept;
  BrowserProcess& operator=(BrowserProcess&&) = delete;
  ~BrowserProcess();

  sandbox::UniqueFd take_input() { return std::move(input_); }    // To the browser.
  sandbox::UniqueFd take_output() { return std::move(output_); }  // From it; both non-blocking.
  sandbox::UniqueFd take_errors() { return std::move(errors_); }
  sandbox::UniqueFd take_pidfd() { return std::move(pidfd_); }  // Readable when the leader ended.
  pid_t pid() const { return pid_; }

  void kill() const;  // All of it. Not after end().
  // Kills what is left, waits for the leader and says how it ended: "exited with 0".
  std::string end();

 private:
  BrowserProcess() = default;

  pid_t pid_ = -1;  // -1 once collected.
  sandbox::UniqueFd input_;
  sandbox::UniqueFd output_;
  sandbox::UniqueFd errors_;
  sandbox::UniqueFd pidfd_;
  sandbox::UniqueFd report_;
};

// What the browser sees of its scratch folder.
std::string scratch_inside(const BrowserSpec& spec);

}  // namespace millrace::render
