// Renderer: HTML in, PDF out, by a pool of browsers that are warm before they are needed.
//
// Flow: start() sweeps the scratch folder, finds out how far browsers can be confined, and starts
// `size` of them; render() waits in line, gives the document to a browser of its own for as long as
// it takes, and streams the PDF to the sink. A browser serves one document at a time: what a page
// does to its browser it does to itself. The browser is ended, with every process of it, when a
// document fails for whatever reason, after `documents_max` documents, or when it has grown; its
// slot starts the next one.
//
// Memory: all browsers together keep within `memory_pool_bytes`. When they exceed it the largest
// that waits is ended, and where none waits the largest of all, with its document; a slot starts
// the next one when there is room for it, and always when there is no other.
//
// Errors: invalid_argument (the request, a PDF too large, a document that left for another page),
// throttled (the line is full), cancelled, unavailable (timed out, crashed, out of memory, stopped,
// no browser starts: try again), internal. Error::detail is one of render::fault, where the
// document is what failed; Error::hint says what to do about it. After an error, what the sink got
// is to be thrown away.
//
// Threading: callable from any thread; the sink is called on a strand of `executor`. Browsers die
// with the thread that started them, so those that run `executor` must live as long as the process.
// Lifetime: await stop() before it goes away; the destructor kills what is left.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/task.h"
#include "render/browser_process.h"
#include "render/page.h"
#include "render/request.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace millrace::render {

struct RendererSpec {
  std::string program;                 // Empty: find_browser().
  std::filesystem::path scratch_root;  // Made if need be; shared by the renderers of a machine.
  std::size_t size = 2;                // Browsers, and so documents at once.
  std::size_t waiting_max = 256;       // Documents in line.
  std::uint64_t documents_max = 100;   // Of one browser.
  std::uint64_t memory_recycle_bytes = std::uint64_t{300} << 20U;  // Between documents.
  std::uint64_t memory_max_bytes = std::uint64_t{800} << 20U;      // At any time.
  std::uint64_t memory_pool_bytes = std::uint64_t{1024} << 20U;    // Of all together.
  // Told what all of them use, as often as one was measured: on the strand of the renderer.
  std::function<void(std::uint64_t bytes)> on_memory;
  std::chrono::milliseconds warm_up_timeout = std::chrono::seconds(15);
  bool namespaces = true;            // False: as where the kernel gives none.
  bool require_confinement = false;  // Rather no browser than one without namespaces.
  RenderLimits limits;
  Walls walls;
  Logger log = Logger::silent();
};

// Debian's chromium-headless-shell, which starts and prints several times faster, or chromium.
Result<std::string> find_browser();

class Renderer {
 public:
  // An error: the spec is wrong, there is no browser, no process can be had, or a wall is missing
  // that is required.
  static Result<std::unique_ptr<Renderer>> start(Executor executor, Clock& clock,
                                                 RendererSpec spec);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Ends when a browser has become warm, or with what keeps all of them from it.
  Task<void> ready();
  Task<Rendered> render(RenderRequest request, PdfSink sink, CancelToken cancel);
  awaitable<void> drain();  // Refuses new documents; ends when those it has are done.
  awaitable<void> stop();   // Cancels those under way, ends all browsers. Safe twice.

  struct State {
    std::size_t warm = 0;  // Browsers that wait for a document.
    std::size_t running = 0;
    std::size_t waiting = 0;
    std::uint64_t starts = 0;     // Of browsers.
    std::uint64_t documents = 0;  // Done, well or not.
    std::uint64_t failures = 0;
    std::uint64_t recycled_for_count = 0;
    std::uint64_t recycled_for_memory = 0;
    std::uint64_t memory_bytes = 0;  // Of all browsers, as measured last.
    std::uint64_t swept = 0;         // Folders that dead renderers left.
    std::vector<pid_t> browsers;
    std::string last_error;
    Confinement confinement;
  };
  State state() const;  // From any thread.

 private:
  class Impl;
  explicit Renderer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // Shared with the coroutines of its slots.
};

}  // namespace millrace::render
