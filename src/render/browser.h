// Browser: one running Chromium and the page that is open in it.
//
// Flow: start() begins its process; serve() carries the conversation, keeps the last words of its
// error output, and ends when every process of it is gone and its scratch folder removed. Meanwhile
// open_page() and render() serve documents, one at a time. kill() ends all of it at once; the first
// reason stays, and is what calls under way fail for.
// Threading: one strand. Lifetime: shared by its slot and by serve().
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "render/browser_process.h"
#include "render/devtools.h"
#include "render/page.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::render {

// The switches of every browser: no window, no network, nothing that calls home.
std::vector<std::string> browser_switches(const BrowserSpec& spec, Walls walls);

class Browser {
 public:
  static Result<std::shared_ptr<Browser>> start(Executor strand, Clock& clock, BrowserSpec spec,
                                                RenderLimits limits, Walls walls);

  awaitable<void> serve();

  // A new, empty page; the old one is thrown away. The first call also says hello.
  Task<void> open_page();
  Task<Rendered> render(std::shared_ptr<RenderJob> job);

  void kill(Error why);
  const std::optional<Error>& killed_for() const { return killed_for_; }
  const Event& gone() const { return gone_; }  // Its conversation is over.
  // Nothing can be asked of it any more; that it is gone may be known a moment later.
  bool unreachable() const { return devtools_.closed() || gone_.is_set(); }
  // What it died of, with the last words of its error output: for logs.
  const std::string& ending() const { return ending_; }

  void measure();  // Reads all of /proc: some milliseconds on a busy machine.
  std::uint64_t measured_bytes() const { return measured_bytes_; }  // 0: not yet.
  Clock::Steady measured_at() const { return measured_at_; }
  std::uint64_t documents() const { return documents_; }
  pid_t pid() const { return pid_; }

 private:
  Browser(Executor strand, Clock& clock, BrowserSpec spec, RenderLimits limits, Walls walls,
          BrowserProcess process);
  awaitable<void> read_errors();
  awaitable<void> converse();
  void on_event(const DevToolsEvent& event);

  Clock& clock_;
  BrowserSpec spec_;
  RenderLimits limits_;
  Walls walls_;
  BrowserProcess process_;
  pid_t pid_;
  DevTools devtools_;
  boost::asio::posix::stream_descriptor errors_;
  boost::asio::posix::stream_descriptor pidfd_;
  std::shared_ptr<Page> page_;
  std::optional<Error> killed_for_;
  Event gone_;
  std::string drawn_;  // Characters that its fonts have: asked before any document came.
  std::string last_words_;
  std::string ending_;
  std::uint64_t measured_bytes_ = 0;
  Clock::Steady measured_at_{};
  bool greeted_ = false;
  bool ended_ = false;
  std::uint64_t documents_ = 0;
};

}  // namespace millrace::render
