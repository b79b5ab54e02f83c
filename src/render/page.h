// Page: one document in one browser, from an empty target to a PDF.
//
// Flow: open() makes a browser context and a target in it, empty, before there is a document;
// render() puts the document in, waits until it is complete, prints, and sends the PDF piece by
// piece through the scan to the sink, with our metadata behind it; close() throws the context away.
// Every request of the document is refused, dialogs are dismissed, workers never start.
// Threading: the browser's strand. Lifetime: `devtools` outlives it; one document only.
#pragma once

#include "base/cancel.h"
#include "base/clock.h"
#include "render/devtools.h"
#include "render/pdf_scan.h"
#include "render/request.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace millrace::render {

// Takes the PDF, piece by piece and in order. When it fails, so does the document, with its error.
using PdfSink = std::function<Task<void>(std::string piece)>;

// A document on its way through the renderer.
struct RenderJob {
  RenderRequest request;
  PdfSink sink;
  CancelToken cancel;
  Clock::Steady queued_at;
  std::optional<Result<Rendered>> result = {};
  Event done = {};
};

class Page {
 public:
  // `on_fault` is told what ends the document though no call fails: a crash, a flood.
  Page(DevTools& devtools, Clock& clock, RenderLimits limits, Walls walls,
       std::function<void(Error)> on_fault);

  // Before open(): nothing is drawn but the frames that this class asks for.
  void draw_when_asked() { draws_when_asked_ = true; }
  Task<void> open();
  // Of the empty page: what make_drawn_expression() tells. Every document may take it for granted.
  Task<std::string> drawn_characters();
  void take_for_granted(std::string drawn) { drawn_ = std::move(drawn); }
  // Shared, because whoever asked may be gone before the browser notices.
  Task<Rendered> render(std::shared_ptr<RenderJob> job);
  void close();

  void wake() { loaded_.set(); }  // The conversation is over: nobody waits any longer.

  // False: not of this page.
  bool on_event(const DevToolsEvent& event);

 private:
  Task<void> load(std::shared_ptr<RenderJob> job);
  Task<void> with_frames(Task<void> work, std::chrono::milliseconds after);
  awaitable<void> draw_frames(Event done, std::chrono::milliseconds after);
  Result<void> enter_world(const json::Object& made);
  Task<void> wait_until_complete(std::shared_ptr<RenderJob> job);
  void note_missing_glyphs(std::string_view glyphs);
  Task<std::string> evaluate(std::string expression);
  Task<void> print(std::shared_ptr<RenderJob> job, Rendered* rendered);
  Task<void> read_pdf(std::shared_ptr<RenderJob> job, std::string stream, Rendered* rendered);
  Task<void> preview(std::shared_ptr<RenderJob> job, Rendered* rendered);
  Task<void> take_picture(std::string params, std::string* png);
  Result<void> check_place() const;
  void refuse(std::string_view session, const json::Object& params);
  void on_attached(const json::Object& params);
  void prepare_session(std::string_view session);
  void fault(std::string_view code, std::string message);

  DevTools& devtools_;
  Clock& clock_;
  RenderLimits limits_;
  Walls walls_;
  std::function<void(Error)> on_fault_;
  std::string context_;
  std::string target_;
  std::string session_;
  std::string frame_;
  std::set<std::string, std::less<>> frame_sessions_;  // Of frames in processes of their own.
  std::int64_t world_ = 0;
  bool draws_when_asked_ = false;
  bool has_document_ = false;
  bool navigated_ = false;
  bool scripts_ = false;
  Event loaded_;
  std::uint64_t refused_ = 0;
  std::string drawn_;
  std::string missing_glyphs_;
};

}  // namespace millrace::render
