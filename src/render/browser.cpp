#include "render/browser.h"

#include "base/both.h"
#include "render/process_memory.h"
#include "render/scratch.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace millrace::render {
namespace {

namespace asio = boost::asio;
constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kLastWordsMax = 600;

// The whole browser has no such frames, and does not know the switches for them.
bool draws_when_asked(const std::string& file) {
  return file.find("headless-shell") != std::string::npos ||
         file.find("headless_shell") != std::string::npos;
}

}  // namespace

std::vector<std::string> browser_switches(const BrowserSpec& spec, Walls walls) {
  std::vector<std::string> switches = {
      "--headless",
      "--remote-debugging-pipe",
      "--user-data-dir=" + scratch_inside(spec),
      // Nothing of its own that would want it.
      "--disable-background-networking",
      "--disable-client-side-phishing-detection",
      "--disable-component-update",
      "--disable-default-apps",
      "--disable-domain-reliability",
      "--disable-sync",
      "--disable-extensions",
      "--disable-breakpad",
      "--disable-crash-reporter",
      "--disable-crashpad-for-testing",  // Its helper would leave the process group.
      "--metrics-recording-only",
      "--no-first-run",
      "--no-default-browser-check",
      // Nothing a printed page needs.
      "--disable-3d-apis",
      "--disable-file-system",
      "--disable-gpu",
      "--disable-notifications",
      "--disable-speech-api",
      "--mute-audio",
      "--js-flags=--max-old-space-size=256",
      // A frame needs no process of its own here, and pages are printed as soon as they are ready.
      "--disable-site-isolation-trials",
      "--disable-background-timer-throttling",
      "--disable-backgrounding-occluded-windows",
      "--disable-renderer-backgrounding",
      "--font-render-hinting=none",
      "--force-color-profile=srgb",
      "--hide-scrollbars",
      // Only frames that are asked for: most documents are printed without one (Page::draw_frames).
      "--enable-begin-frame-control",
      "--run-all-compositor-stages-before-draw",
      "--lang=en",
  };
  std::string absent =
      "--disable-features=AudioServiceOutOfProcess,IsolateOrigins,IsolateSandboxedIframes,"
      "MediaRouter,OptimizationHints,site-per-process,Translate,WebUSB";
  if (walls.switches) {
    switches.insert(
        switches.end(),
        {// No network: a proxy that is not there, for loopback as well, and no name that resolves.
         "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-quic",
         "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
         "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--no-pings",
         // Nobody would watch what a pop-up asks for.
         "--block-new-web-contents"});
    absent += ",SharedWorker";
  } else {
    absent += ",LocalNetworkAccessChecks";  // A test's listener is on loopback.
  }
  switches.push_back(std::move(absent));
  // In a root of its own it has a /dev/shm of its own; elsewhere that is often far too small.
  if (!spec.confinement.own_root) switches.emplace_back("--disable-dev-shm-usage");
  return switches;
}

Result<std::shared_ptr<Browser>> Browser::start(Executor strand, Clock& clock, BrowserSpec spec,
                                                RenderLimits limits, Walls walls) {
  MR_TRY_VOID(prepare_scratch(spec.scratch, spec.confinement));
  spec.switches = browser_switches(spec, walls);
  auto process = BrowserProcess::start(spec);
  if (!process.has_value()) {
    remove_scratch(spec.scratch);
    return fail(std::move(process).error());
  }
  return std::shared_ptr<Browser>(
      new Browser(std::move(strand), clock, std::move(spec), limits, walls, *std::move(process)));
}

Browser::Browser(Executor strand, Clock& clock, BrowserSpec spec, RenderLimits limits, Walls walls,
                 BrowserProcess process)
    : clock_(clock),
      spec_(std::move(spec)),
      limits_(limits),
      walls_(walls),
      process_(std::move(process)),
      pid_(process_.pid()),
      devtools_(strand, process_.take_input(), process_.take_output()),
      errors_(strand, process_.take_errors().release()),
      pidfd_(strand, process_.take_pidfd().release()) {}

awaitable<void> Browser::serve() {
  co_await both(converse(), read_errors());
  std::ranges::replace_if(last_words_, [](char c) { return c < ' ' || c > '~'; }, ' ');
  ending_ = fmt::format("{}: {}", devtools_.why(), process_.end());
  if (!last_words_.empty()) ending_ += "; its last words: " + last_words_;
  remove_scratch(spec_.scratch);
}

awaitable<void> Browser::converse() {
  co_await devtools_.serve([this](const DevToolsEvent& event) { on_event(event); });
  gone_.set();
  if (page_) page_->wake();
  process_.kill();
  co_await pidfd_.async_wait(asio::posix::stream_descriptor::wait_read, kUse);
  ended_ = true;
  boost::system::error_code ignored;
  errors_.close(ignored);
}

awaitable<void> Browser::read_errors() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto [error, size] = co_await errors_.async_read_some(asio::buffer(buffer), kUse);
    if (error) co_return;
    last_words_.append(buffer.data(), size);
    if (last_words_.size() > kLastWordsMax) {
      last_words_.erase(0, last_words_.size() - kLastWordsMax);
    }
  }
}

void Browser::on_event(const DevToolsEvent& event) {
  if (page_ && page_->on_event(event)) return;
  // A page that nobody here opened: a pop-up that got through.
  if (event.session.empty() && event.method == "Target.targetCreated") {
    const auto* info = object_member(event.params, "targetInfo");
    if (info != nullptr && info->contains("openerId")) {
      devtools_.post(
          "", "Target.closeTarget",
          fmt::format(R"({{"targetId":{}}})", json_quote(text_member(*info, "targetId"))));
    }
  }
}

Task<void> Browser::open_page() {
  if (!greeted_) {
    // Shared and service workers wait, as those of pages do, for a debugger that never comes.
    if (walls_.interception) {
      devtools_.post(
          "", "Target.setAutoAttach",
          R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true,)"
          R"("filter":[{"type":"browser","exclude":true},{"type":"page","exclude":true},)"
          R"({"type":"tab","exclude":true},{}]})");
      devtools_.post("", "Target.setDiscoverTargets", R"({"discover":true})");
    }
    greeted_ = true;
  }
  if (page_) page_->close();
  page_ = std::make_shared<Page>(devtools_, clock_, limits_, walls_,
                                 [this](Error why) { kill(std::move(why)); });
  if (draws_when_asked(spec_.file)) page_->draw_when_asked();
  MR_CO_TRY_VOID(co_await page_->open());
  if (drawn_.empty()) {
    MR_CO_TRY(drawn_, co_await page_->drawn_characters());
  }
  page_->take_for_granted(drawn_);
  co_return ok();
}

Task<Rendered> Browser::render(std::shared_ptr<RenderJob> job) {
  ++documents_;
  co_return co_await page_->render(std::move(job));
}

void Browser::kill(Error why) {
  if (devtools_.closed()) return;
  devtools_.close(why.message);
  killed_for_ = std::move(why);
  if (!ended_) process_.kill();
}

void Browser::measure() {
  measured_bytes_ = memory_of_tree(pid_);
  measured_at_ = clock_.now();
}

}  // namespace millrace::render
