#include "render/page.h"

#include "base/both.h"
#include "render/base64.h"
#include "render/page_script.h"
#include "render/pdf_info.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::render {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{192} * 1024;  // 256 KiB in base64.
constexpr std::size_t kFrameSessionsMax = 200;
constexpr double kPixelsPerInch = 96;
constexpr std::size_t kMissingMaxBytes = 100;
constexpr std::chrono::milliseconds kFrame{16};
constexpr std::chrono::milliseconds kAtOnce{0};
// Documents without scripts have loaded long before.
constexpr std::chrono::milliseconds kWithoutFrames{250};

// However it ends: who waits for it is told.
awaitable<void> keep_result(Task<void> work, Result<void>* result, Event done) {
  struct Told {
    Event done;
    ~Told() { done.set(); }
  } const told{done};
  *result = co_await std::move(work);
}

std::string one(std::string_view name, std::string_view value) {
  return fmt::format(R"({{"{}":{}}})", name, json_quote(value));
}

std::string print_params(const RenderOptions& options) {
  const Paper paper = paper_of(options);
  const Margins margins = margins_of(options);
  std::string params = fmt::format(
      R"({{"transferMode":"ReturnAsStream","generateTaggedPDF":true,)"
      R"("generateDocumentOutline":true,"preferCSSPageSize":false,"printBackground":{},)"
      R"("paperWidth":{},"paperHeight":{},"marginTop":{},"marginBottom":{},"marginLeft":{},)"
      R"("marginRight":{})",
      options.quality != Quality::draft, json_number(paper.width), json_number(paper.height),
      json_number(margins.top), json_number(margins.bottom), json_number(margins.left),
      json_number(margins.right));
  if (options.page_numbers) {
    params += R"(,"displayHeaderFooter":true,"headerTemplate":"<span></span>","footerTemplate":)";
    params += json_quote(
        "<div style='font-size:8px;width:100%;text-align:center'><span class=pageNumber></span> / "
        "<span class=totalPages></span></div>");
  }
  return params + "}";
}

// The window is as wide as the paper between its margins, so that what is measured before printing
// is what will be printed.
std::string window_params(const RenderOptions& options) {
  const Paper paper = paper_of(options);
  const Margins margins = margins_of(options);
  const auto pixels = [](double inches) {
    return std::max(1L, std::lround(inches * kPixelsPerInch));
  };
  return fmt::format(R"({{"width":{},"height":{},"deviceScaleFactor":1,"mobile":false}})",
                     pixels(paper.width - margins.left - margins.right),
                     pixels(paper.height - margins.top - margins.bottom));
}

}  // namespace

Page::Page(DevTools& devtools, Clock& clock, RenderLimits limits, Walls walls,
           std::function<void(Error)> on_fault)
    : devtools_(devtools),
      clock_(clock),
      limits_(limits),
      walls_(walls),
      on_fault_(std::move(on_fault)) {}

void Page::fault(std::string_view code, std::string message) {
  on_fault_(
      {.kind = ErrorKind::unavailable, .message = std::move(message), .detail = std::string(code)});
}

// What every session gets before anything of a stranger runs in it.
void Page::prepare_session(std::string_view session) {
  if (walls_.interception) {
    devtools_.post(session, "Fetch.enable", R"({"patterns":[{"urlPattern":"*"}]})");
    devtools_.post(session, "Target.setAutoAttach",
                   R"({"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true})");
  }
  devtools_.post(session, "Emulation.setScriptExecutionDisabled",
                 scripts_ ? R"({"value":false})" : R"({"value":true})");
}

Task<void> Page::open() {
  MR_CO_TRY(const auto context, co_await devtools_.call("", "Target.createBrowserContext",
                                                        R"({"disposeOnDetach":true})"));
  context_ = text_member(context, "browserContextId");
  devtools_.post(
      "", "Browser.setDownloadBehavior",
      fmt::format(R"({{"behavior":"deny","browserContextId":{}}})", json_quote(context_)));
  MR_CO_TRY(
      const auto target,
      co_await devtools_.call(
          "", "Target.createTarget",
          fmt::format(R"({{"url":"about:blank","browserContextId":{}{}}})", json_quote(context_),
                      draws_when_asked_ ? R"(,"enableBeginFrameControl":true)" : "")));
  target_ = text_member(target, "targetId");
  MR_CO_TRY(const auto attached,
            co_await devtools_.call(
                "", "Target.attachToTarget",
                fmt::format(R"({{"targetId":{},"flatten":true}})", json_quote(target_))));
  session_ = text_member(attached, "sessionId");
  devtools_.post(session_, "Page.enable");
  prepare_session(session_);
  devtools_.post(session_, "Emulation.setEmulatedMedia", R"({"media":"print"})");
  MR_CO_TRY(const auto tree, co_await devtools_.call(session_, "Page.getFrameTree"));
  if (const auto* top = object_member(tree, "frameTree")) {
    if (const auto* frame = object_member(*top, "frame")) frame_ = text_member(*frame, "id");
  }
  if (context_.empty() || session_.empty() || frame_.empty()) {
    co_return fail(ErrorKind::internal, "the browser opened no page");
  }
  co_return ok();
}

Task<std::string> Page::drawn_characters() {
  MR_CO_TRY(const auto made,
            co_await devtools_.call(session_, "Page.createIsolatedWorld", one("frameId", frame_)));
  MR_CO_TRY_VOID(enter_world(made));
  co_return co_await evaluate(make_drawn_expression());
}

void Page::close() {
  if (context_.empty()) return;
  devtools_.post("", "Target.disposeBrowserContext", one("browserContextId", context_));
}

bool Page::on_event(const DevToolsEvent& event) {
  if (event.session.empty()) {
    if (text_member(event.params, "targetId") != target_ || target_.empty()) return false;
    if (event.method == "Target.targetCrashed") fault(fault::kCrashed, "the page crashed");
    return true;
  }
  const bool is_frame = frame_sessions_.contains(event.session);
  if (event.session != session_ && !is_frame) return false;
  if (event.method == "Fetch.requestPaused") {
    refuse(event.session, event.params);
  } else if (event.method == "Target.attachedToTarget") {
    on_attached(event.params);
  } else if (is_frame) {
    return true;
  } else if (event.method == "Page.loadEventFired") {
    loaded_.set();
  } else if (event.method == "Page.javascriptDialogOpening") {
    devtools_.post(session_, "Page.handleJavaScriptDialog", R"({"accept":false})");
  } else if (event.method == "Inspector.targetCrashed") {
    fault(fault::kCrashed, "the page crashed");
  } else if (event.method == "Page.frameNavigated" && has_document_) {
    const auto* frame = object_member(event.params, "frame");
    if (frame != nullptr && !frame->contains("parentId")) {
      navigated_ = true;
      loaded_.set();
    }
  }
  return true;
}

void Page::refuse(std::string_view session, const json::Object& params) {
  if (++refused_ > limits_.requests_max) {
    fault(fault::kFlooded,
          fmt::format("the document made more than {} requests", limits_.requests_max));
    return;
  }
  // Aborted, not failed: a navigation that is aborted leaves the document where it is.
  devtools_.post(session, "Fetch.failRequest",
                 fmt::format(R"({{"requestId":{},"errorReason":"Aborted"}})",
                             json_quote(text_member(params, "requestId"))));
}

void Page::on_attached(const json::Object& params) {
  const auto* info = object_member(params, "targetInfo");
  const auto session = text_member(params, "sessionId");
  // Frames go on, under the same rules. Whatever else there is (workers) waits for a debugger that
  // never comes.
  if (info == nullptr || text_member(*info, "type") != "iframe") return;
  if (frame_sessions_.size() >= kFrameSessionsMax) {
    fault(fault::kFlooded,
          fmt::format("the document has more than {} frames of other origins", kFrameSessionsMax));
    return;
  }
  frame_sessions_.emplace(session);
  prepare_session(session);
  devtools_.post(session, "Runtime.runIfWaitingForDebugger");
}

Result<void> Page::check_place() const {
  if (!navigated_) return ok();
  return fail({.kind = ErrorKind::invalid_argument,
               .message = "the document left for another page before it was printed",
               .hint = "Remove what navigates: refreshes, scripts that set the location.",
               .detail = std::string(fault::kNavigated)});
}

Task<Rendered> Page::render(std::shared_ptr<RenderJob> job) {
  Rendered rendered;
  auto loaded = co_await load(job);
  // Leaving makes other calls fail; the reason is what counts.
  MR_CO_TRY_VOID(check_place());
  MR_CO_TRY_VOID(loaded);
  auto printed = co_await print(job, &rendered);
  MR_CO_TRY_VOID(check_place());
  MR_CO_TRY_VOID(printed);
  if (job->request.preview_width_px) MR_CO_TRY_VOID(co_await preview(job, &rendered));
  rendered.requests_refused = refused_;
  rendered.missing_glyphs = missing_glyphs_;
  co_return rendered;
}

Task<void> Page::load(std::shared_ptr<RenderJob> job) {
  const RenderRequest& request = job->request;
  scripts_ = request.options.scripts;
  if (scripts_) {
    devtools_.post(session_, "Emulation.setScriptExecutionDisabled", R"({"value":false})");
  }
  devtools_.post(session_, "Emulation.setDeviceMetricsOverride", window_params(request.options));
  loaded_.reset();
  has_document_ = true;
  std::string params = R"({"frameId":)" + json_quote(frame_) + R"(,"html":)";
  params += json_quote(document_head(scripts_, walls_.policy) + request.html);
  params += '}';
  const auto content = devtools_.send(session_, "Page.setDocumentContent", params);
  params = {};
  const auto world = devtools_.send(session_, "Page.createIsolatedWorld", one("frameId", frame_));
  MR_CO_TRY_VOID(co_await devtools_.answer(content));
  MR_CO_TRY(const auto made, co_await devtools_.answer(world));
  MR_CO_TRY_VOID(enter_world(made));
  // A script may wait for them; without scripts some pictures in pictures do.
  co_return co_await with_frames(wait_until_complete(job), scripts_ ? kAtOnce : kWithoutFrames);
}

// A frame for a window that nobody looks at costs as much as a fifth of printing: where there are
// none by themselves, there are some for whatever needs them, as long as it lasts; after a while
// only where hardly anything does.
Task<void> Page::with_frames(Task<void> work, std::chrono::milliseconds after) {
  if (!draws_when_asked_) co_return co_await std::move(work);
  Event done;
  Result<void> result;
  co_await both(keep_result(std::move(work), &result, done), draw_frames(done, after));
  co_return result;
}

awaitable<void> Page::draw_frames(Event done, std::chrono::milliseconds after) {
  if (after > kAtOnce) co_await done.wait_for(after);
  while (!done.is_set() && !devtools_.closed()) {
    // One that is refused, as before there is a document, is asked for again.
    (void)co_await devtools_.call(session_, "HeadlessExperimental.beginFrame", "{}");
    co_await done.wait_for(kFrame);
  }
}

Result<void> Page::enter_world(const json::Object& made) {
  const auto* id = made.if_contains("executionContextId");
  if (id == nullptr || !id->is_int64()) {
    return fail(ErrorKind::internal, "the browser gave no world for scripts");
  }
  world_ = id->get_int64();
  return ok();
}

Task<void> Page::wait_until_complete(std::shared_ptr<RenderJob> job) {
  const std::string expression = make_ready_expression(job->request.options, drawn_);
  // The deadline of the document bounds this: each turn waits for a load event.
  for (;;) {
    co_await loaded_.wait();
    if (devtools_.closed()) co_return fail(ErrorKind::unavailable, devtools_.why());
    loaded_.reset();
    MR_CO_TRY_VOID(check_place());
    MR_CO_TRY(const std::string state, co_await evaluate(expression));
    if (state.starts_with(kComplete)) {
      note_missing_glyphs(std::string_view(state).substr(kComplete.size()));
      co_return ok();
    }
  }
}

// It comes from a browser that read a stranger's document: short, and not in the middle of a
// character.
void Page::note_missing_glyphs(std::string_view glyphs) {
  std::size_t size = std::min(glyphs.size(), kMissingMaxBytes);
  while (size > 0 && size < glyphs.size() &&
         (static_cast<unsigned char>(glyphs[size]) & 0xC0U) == 0x80U) {
    --size;
  }
  missing_glyphs_ = glyphs.substr(0, size);
}

Task<std::string> Page::evaluate(std::string expression) {
  MR_CO_TRY(
      const auto answer,
      co_await devtools_.call(
          session_, "Runtime.evaluate",
          fmt::format(
              R"({{"expression":{},"contextId":{},"awaitPromise":true,"returnByValue":true}})",
              json_quote(expression), world_)));
  if (const auto* thrown = object_member(answer, "exceptionDetails")) {
    const auto* exception = object_member(*thrown, "exception");
    const auto text = text_member(exception != nullptr ? *exception : *thrown, "description");
    co_return fail(ErrorKind::internal,
                   fmt::format("the document could not be prepared: {}", text.substr(0, 300)));
  }
  const auto* result = object_member(answer, "result");
  co_return std::string(result != nullptr ? text_member(*result, "value") : std::string_view());
}

Task<void> Page::print(std::shared_ptr<RenderJob> job, Rendered* rendered) {
  MR_CO_TRY(const auto printed, co_await devtools_.call(session_, "Page.printToPDF",
                                                        print_params(job->request.options)));
  MR_CO_TRY_VOID(check_place());
  const std::string stream(text_member(printed, "stream"));
  if (stream.empty()) co_return fail(ErrorKind::internal, "the browser printed no PDF");
  auto read = co_await read_pdf(job, stream, rendered);
  devtools_.post(session_, "IO.close", one("handle", stream));
  co_return read;
}

Task<void> Page::read_pdf(std::shared_ptr<RenderJob> job, std::string stream, Rendered* rendered) {
  PdfScan scan;
  std::uint64_t bytes = 0;
  const std::string params =
      fmt::format(R"({{"handle":{},"size":{}}})", json_quote(stream), kPieceBytes);
  auto ahead = devtools_.send(session_, "IO.read", params);
  for (bool eof = false; !eof;) {
    MR_CO_TRY(const auto answer, co_await devtools_.answer(ahead));
    eof = bool_member(answer, "eof");
    if (!eof) ahead = devtools_.send(session_, "IO.read", params);
    const auto text = text_member(answer, "data");
    auto piece = bool_member(answer, "base64Encoded") ? decode_base64(text)
                                                      : std::optional(std::string(text));
    if (!piece) co_return fail(ErrorKind::internal, "the browser sent a PDF that is not base64");
    bytes += piece->size();
    if (bytes > limits_.pdf_max_bytes) {
      co_return fail(
          {.kind = ErrorKind::invalid_argument,
           .message = fmt::format("the PDF has more than {} bytes", limits_.pdf_max_bytes),
           .hint = "Reduce the content, or the size of its pictures.",
           .detail = std::string(fault::kTooLarge)});
    }
    scan.feed(*piece);
    if (!piece->empty()) MR_CO_TRY_VOID(co_await job->sink(*std::move(piece)));
  }
  MR_CO_TRY(const PdfShape shape, scan.finish());
  std::string update = make_info_update(shape, job->request.metadata, clock_.wall());
  rendered->page_count = shape.page_count;
  rendered->bytes = shape.bytes + update.size();
  rendered->anchors = shape.anchors;
  co_return co_await job->sink(std::move(update));
}

Task<void> Page::preview(std::shared_ptr<RenderJob> job, Rendered* rendered) {
  const RenderOptions& options = job->request.options;
  const Paper paper = paper_of(options);
  const double width = std::round(paper.width * kPixelsPerInch);
  const double height = std::round(paper.height * kPixelsPerInch);
  devtools_.post(session_, "Emulation.setDeviceMetricsOverride",
                 fmt::format(R"({{"width":{},"height":{},"deviceScaleFactor":{},"mobile":false}})",
                             width, height, json_number(*job->request.preview_width_px / width)));
  MR_CO_TRY_VOID(co_await evaluate(make_sheet_expression(options)));
  co_return co_await with_frames(
      take_picture(
          fmt::format(
              R"({{"format":"png","clip":{{"x":0,"y":0,"width":{},"height":{},"scale":1}}}})",
              width, height),
          &rendered->preview_png),
      kAtOnce);
}

Task<void> Page::take_picture(std::string params, std::string* png) {
  MR_CO_TRY(const auto shot, co_await devtools_.call(session_, "Page.captureScreenshot", params));
  auto decoded = decode_base64(text_member(shot, "data"));
  if (!decoded || decoded->empty()) {
    co_return fail(ErrorKind::internal, "the browser took no picture");
  }
  *png = *std::move(decoded);
  co_return ok();
}

}  // namespace millrace::render
