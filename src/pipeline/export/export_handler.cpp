#include "pipeline/export/export_handler.h"

#include "base/fault.h"
#include "pipeline/content_files.h"
#include "pipeline/export/export_outcome.h"
#include "pipeline/steadily.h"
#include "pipeline/task_outcome.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

namespace millrace::pipeline {
namespace {

constexpr std::string_view kPdfType = "application/pdf";
constexpr std::string_view kPngType = "image/png";

// One export on its way.
class Export {
 public:
  Export(ExportServices& services, std::shared_ptr<worker::JobContext> context)
      : services_(services), context_(std::move(context)) {}

  // An error is one of our own services; how the export itself failed is an Outcome.
  Task<Outcome> run() {
    context_->step(0, "Fetching the document");
    MR_CO_TRY(work_, co_await steadily(*context_, [&] {
                return services_.store.export_work(context_->job().id);
              }));
    if (!work_.document) co_return Outcome::permanent("document_not_found", "Document not found");
    context_->step(25, "Filling in the template");
    MR_CO_TRY(auto refused, co_await fill_template());
    if (refused) co_return *std::move(refused);
    context_->step(50, "Printing");
    MR_CO_TRY(refused, co_await print());
    if (refused) co_return *std::move(refused);
    context_->step(75, "Storing the file");
    MR_CO_TRY(refused, co_await keep());
    if (refused) co_return *std::move(refused);
    context_->step(90, "Stored");
    co_return settle();
  }

 private:
  using Refusal = std::optional<Outcome>;

  Task<Refusal> fill_template() {
    template_name_ = template_of(work_);
    auto found = services_.templates.find(template_name_);
    if (!found) {
      // Not there, or broken there: the document waits for a worker that has it.
      co_return Outcome::throttled(
          fmt::format("template {}: {}", template_name_, found.error().message), kElsewhere);
    }
    template_.emplace(*std::move(found));
    auto choice = page_choice(work_.options);
    if (!choice) {
      co_return Outcome::permanent("invalid_options", "options" + choice.error().message);
    }
    choice_ = *std::move(choice);
    co_return co_await make_page();
  }

  Task<Refusal> make_page() {
    // Takes up to some tenths of a second: not on the thread that keeps leases.
    auto html = co_await boost::asio::co_spawn(
        services_.threads,
        [](const templates::Template& page, const json::Object& data,
           const templates::RenderOptions& options) -> Task<templates::Html> {
          co_return templates::render(page, data, options);
        }(*template_, work_.document->data, choice_),
        boost::asio::use_awaitable);
    if (!html) {
      if (html.error().kind != ErrorKind::invalid_argument) co_return fail(html.error());
      co_return Outcome::permanent("invalid_document", html.error().message);
    }
    for (const auto& warning : html->warnings) context_->log(LogLevel::warn, warning);
    request_ = render_request(work_, *std::move(html), choice_, services_.limits);
    co_return Refusal();
  }

  Task<Refusal> print() {
    const auto browsers = services_.browsers();
    if (!browsers) {
      co_return Outcome::throttled("no browser: " + browsers.error().message, kElsewhere);
    }
    if (const auto ready = co_await (*browsers)->ready(); !ready) {
      co_return Outcome::throttled(ready.error().message, kElsewhere);
    }
    const bool has_links = request_.html.contains("href=\"#");
    const auto first = has_links ? request_.html : std::string();
    MR_CO_TRY(auto refused, co_await print_once(**browsers));
    if (refused || !has_links || rendered_.anchors.empty()) co_return refused;
    // Now it is known on which page everything is. A template that shows it is printed again.
    choice_.anchor_pages = rendered_.anchors;
    MR_CO_TRY(refused, co_await make_page());
    if (refused || request_.html == first) co_return refused;
    static_cast<void>(co_await writer_->abort());
    co_return co_await print_once(**browsers);
  }

  Task<Refusal> print_once(render::Renderer& browsers) {
    MR_CO_TRY(writer_, co_await steadily(*context_, [&] {
                return services_.blobs.create({.content_type = std::string(kPdfType)});
              }));
    MR_FAULT("export.render");
    auto rendered = co_await browsers.render(
        std::move(request_),
        [this](std::string piece) -> Task<void> {
          co_return co_await writer_->write(std::as_bytes(std::span(piece)));
        },
        context_->token());
    if (!rendered) {
      static_cast<void>(co_await writer_->abort());  // What stays is invisible, and swept.
      co_return failed_render(rendered.error());
    }
    rendered_ = *std::move(rendered);
    if (rendered_.requests_refused > 0) {
      context_->log(LogLevel::warn,
                    fmt::format("the page asked {} times for something that is not in it",
                                rendered_.requests_refused));
    }
    if (!rendered_.missing_glyphs.empty()) {
      context_->log(LogLevel::warn,
                    fmt::format("no font here has these characters, which are printed as boxes: {}",
                                rendered_.missing_glyphs));
    }
    co_return Refusal();
  }

  // Room first: what the quota does not hold is never stored (X-24).
  Task<Refusal> keep() {
    const auto size = static_cast<std::int64_t>(rendered_.bytes);
    MR_CO_TRY(room_, co_await steadily(*context_, [&] {
                return services_.store.reserve_export(context_->job().id, size);
              }));
    if (!room_.allowed) {
      static_cast<void>(co_await writer_->abort());
      co_return over_quota(room_, rendered_.bytes);
    }
    MR_FAULT("export.store");
    MR_CO_TRY(const auto info, co_await writer_->finish());
    pdf_ = describe_content(info, kPdfType);
    MR_FAULT("export.stored");
    if (!rendered_.preview_png.empty()) {
      MR_CO_TRY(preview_, co_await keep_content(services_.blobs, std::move(rendered_.preview_png),
                                                std::string(kPngType)));
    }
    co_return Refusal();
  }

  Outcome settle() {
    const auto& document = *work_.document;
    const auto file_name = file_name_of(document.title);
    json::Object item{{"blob", pdf_},
                      {"file_path", room_.file_path},
                      {"file_name", file_name},
                      {"template_slug", template_name_},
                      {"document_version", document.version}};
    if (!preview_.empty()) item["preview"] = preview_;
    context_->in_settlement({store::settle_export_statement(context_->job().id, item)});
    json::Object result{{"file_path", room_.file_path},
                        {"file_name", file_name},
                        {"file_size", rendered_.bytes},
                        {"page_count", rendered_.page_count},
                        {"document_version", document.version},
                        {"template", template_name_},
                        {"template_hash", template_->info().content_hash},
                        {"sha256", pdf_.at("sha256")},
                        {"render_ms", rendered_.took.count()}};
    if (!rendered_.missing_glyphs.empty()) result["missing_glyphs"] = rendered_.missing_glyphs;
    return Outcome::ok_value(std::move(result));
  }

  ExportServices& services_;
  std::shared_ptr<worker::JobContext> context_;
  store::ExportWork work_;
  std::string template_name_;
  std::optional<templates::Template> template_;
  templates::RenderOptions choice_;
  render::RenderRequest request_;
  std::unique_ptr<blob::BlobWriter> writer_;
  render::Rendered rendered_;
  store::ExportRoom room_;
  json::Object pdf_;
  json::Object preview_;
};

}  // namespace

awaitable<Outcome> ExportHandler::run(std::shared_ptr<worker::JobContext> context) {
  Export one(services_, std::move(context));
  auto outcome = co_await one.run();
  if (outcome) co_return *std::move(outcome);
  co_return outcome_of(outcome.error(), "export");
}

}  // namespace millrace::pipeline
