#include "app/demo/export_demo.h"

#include "app/commands/documents.h"
#include "app/commands/watch.h"
#include "app/demo/first_page.h"
#include "app/exit_code.h"
#include "base/file.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kBarWidth = 24;
constexpr auto kLookEvery = 150ms;

struct Sheet {
  std::string slug;
  std::string title;
  std::string document = {};
  std::string job = {};
  json::Object state = {};  // Of its job, in the batch.
  std::int64_t pages = 0;
  std::int64_t size_bytes = 0;
  std::int64_t render_ms = 0;

  std::string status() const { return text_member(state, "status"); }
};

class ExportPart {
 public:
  explicit ExportPart(const DemoHost& host)
      : host_(host), folder_(host.options.folder / "exports") {}

  Result<DemoEnd> run() {
    host_.say(host_.paint(Style::bold, "\nExports: every template, as one batch of PDFs"));
    std::error_code error;
    fs::remove_all(folder_, error);
    fs::create_directories(folder_, error);
    if (error) {
      return fail(ErrorKind::unavailable,
                  fmt::format("cannot create {}: {}", folder_.string(), error.message()));
    }
    MR_TRY_VOID(add_documents());
    MR_TRY_VOID(order());
    MR_TRY(const bool finished, watch());
    host_.view.finish();
    if (!finished) return host_.late() ? DemoEnd::wrong : DemoEnd::interrupted;
    MR_TRY_VOID(fetch());
    report();
    const bool good = std::ranges::all_of(sheets_, [](const Sheet& one) {
      return one.status() == "completed" && one.size_bytes > 0 && one.pages > 0;
    });
    return good ? DemoEnd::good : DemoEnd::wrong;
  }

 private:
  // In the envelope of the exports.
  static Result<json::Object> data_of(Result<json::Value> answer) {
    if (!answer) return fail(answer.error());
    const auto* object = answer->if_object();
    const auto* data = object == nullptr ? nullptr : object->if_contains("data");
    if (data == nullptr || !data->is_object()) {
      return fail(ErrorKind::internal, "the server answered without data");
    }
    return data->get_object();
  }
  Result<json::Object> get(const std::string& path) { return data_of(host_.served.get(path)); }
  Result<json::Object> post(const std::string& path, const json::Value& body) {
    return data_of(host_.served.post(path, to_json(body), "application/json"));
  }

  Result<void> add_documents() {
    MR_TRY(const auto list, get("/api/v1/export/templates"));
    for (const auto& value : list.at("items").as_array()) {
      const auto& entry = value.as_object();
      Sheet sheet{.slug = text_member(entry, "slug"), .title = text_member(entry, "title")};
      MR_TRY(const auto kept,
             post("/api/v1/export/documents", json::Object{{"title", sheet.title},
                                                           {"templateSlug", sheet.slug},
                                                           {"data", entry.at("sample")}}));
      sheet.document = text_member(kept, "id");
      sheets_.push_back(std::move(sheet));
    }
    return {};
  }

  Result<void> order() {
    json::Array ids;
    for (const auto& one : sheets_) ids.emplace_back(one.document);
    MR_TRY(const auto made,
           post("/api/v1/export/batch",
                json::Object{{"documentIds", std::move(ids)},
                             {"options", json::Object{{"pageSize", "A4"}, {"quality", "high"}}}}));
    batch_ = "/api/v1/export/batch/" + text_member(made, "batchId");
    for (const auto& value : made.at("jobs").as_array()) {
      const auto& job = value.as_object();
      const auto found =
          std::ranges::find(sheets_, text_member(job, "documentId"), &Sheet::document);
      if (found != sheets_.end()) found->job = text_member(job, "jobId");
    }
    ordered_ = host_.context.clock.now();
    host_.say(
        fmt::format("  {:5.1f} s  {} documents kept and ordered", host_.elapsed(), sheets_.size()));
    return {};
  }

  // False when time was up, or somebody had enough.
  Result<bool> watch() {
    auto next_line = host_.context.clock.now();
    for (;;) {
      MR_TRY(const auto state, get(batch_));
      for (const auto& value : state.at("jobs").as_array()) {
        const auto& job = value.as_object();
        const auto found = std::ranges::find(sheets_, text_member(job, "jobId"), &Sheet::job);
        if (found != sheets_.end()) found->state = job;
      }
      if (host_.view.active()) {
        host_.view.draw(render());
      } else if (host_.context.clock.now() >= next_line) {
        next_line = host_.context.clock.now() + 1s;
        host_.say(fmt::format("  {:5.1f} s  {} of {} finished, {} % of all", host_.elapsed(),
                              int_member(state, "completedCount"), int_member(state, "totalCount"),
                              int_member(state, "meanProgress")));
      }
      if (bool_member(state, "finished")) {
        took_ = std::chrono::duration<double>(host_.context.clock.now() - ordered_).count();
        return true;
      }
      if (!host_.served.running()) return fail(ErrorKind::unavailable, "millrace up has ended");
      if (host_.late() || host_.signals.wait(kLookEvery)) return false;
    }
  }

  std::string render() const {
    const auto& terminal = host_.context.terminal;
    std::string out = "\n";
    for (const auto& one : sheets_) {
      const auto status = one.status();
      const auto percent = int_member(one.state, "progress");
      const auto style = status == "completed" ? Style::green
                         : status == "failed"  ? Style::red
                                               : Style::cyan;
      out += fmt::format("  {:<10} {} {:>3} %  {}\n", one.slug,
                         terminal.paint(style, bar(static_cast<double>(percent) / 100, kBarWidth,
                                                   terminal.unicode)),
                         percent, terminal.paint(Style::dim, status));
    }
    return out;
  }

  Result<void> fetch() {
    std::vector<std::pair<fs::path, fs::path>> pictures;
    for (auto& one : sheets_) {
      if (one.status() != "completed") continue;
      MR_TRY(const auto job, host_.served.get("/api/v1/jobs/" + one.job));
      if (const auto* result = member(job.as_object(), "result");
          result != nullptr && result->is_object()) {
        one.pages = int_member(result->get_object(), "page_count");
        one.render_ms = int_member(result->get_object(), "render_ms");
      }
      MR_TRY(const auto state, get("/api/v1/export/job/" + one.job));
      const auto url = text_member(state, "resultUrl");
      MR_TRY(const auto pdf, host_.served.download(url.substr(url.find("/api/"))));
      if (!pdf.starts_with("%PDF-")) {
        return fail(ErrorKind::internal, fmt::format("the export of {} is no PDF", one.slug));
      }
      one.size_bytes = static_cast<std::int64_t>(pdf.size());
      MR_TRY_VOID(write_file_atomically(pdf_of(one), pdf, 0644));
      pictures.emplace_back(pdf_of(one), picture_of(one));
    }
    MR_TRY_VOID(draw_first_pages(host_.context, pictures));
    MR_TRY(const auto zip, host_.served.download(batch_ + "/download"));
    zip_bytes_ = static_cast<std::int64_t>(zip.size());
    return write_file_atomically(folder_ / "exports.zip", zip, 0644);
  }

  fs::path pdf_of(const Sheet& one) const { return folder_ / (one.slug + ".pdf"); }
  fs::path picture_of(const Sheet& one) const { return folder_ / (one.slug + ".png"); }

  void report() {
    if (host_.context.json()) return print_json();
    Table table({left("TEMPLATE"), left("STATE"), right("PAGES"), right("SIZE"),
                 right("PRINTED IN"), left("PDF"), left("PICTURE")});
    for (const auto& one : sheets_) {
      const bool done = one.status() == "completed";
      table.add({Cell(one.slug), Cell(one.status(), done ? Style::green : Style::red),
                 Cell(one.pages), Cell(format_size(one.size_bytes)),
                 Cell(fmt::format("{} ms", one.render_ms)), Cell(pdf_of(one).string()),
                 Cell(picture_of(one).string())});
    }
    host_.context.print(table.render(host_.context.terminal));
    for (const auto& one : sheets_) {
      const auto error = text_member(one.state, "error");
      if (!error.empty()) host_.say(fmt::format("  {}: {}", one.slug, printable(error)));
    }
    host_.say(fmt::format("  {:.1f} s for the batch; all of it in {} ({})", took_,
                          (folder_ / "exports.zip").string(), format_size(zip_bytes_)));
  }

  void print_json() {
    json::Array exports;
    for (const auto& one : sheets_) {
      exports.push_back(json::Object{{"template", one.slug},
                                     {"status", one.status()},
                                     {"pages", one.pages},
                                     {"size_bytes", one.size_bytes},
                                     {"render_ms", one.render_ms},
                                     {"pdf", pdf_of(one).string()},
                                     {"picture", picture_of(one).string()}});
    }
    host_.context.print_json(json::Object{{"exports", std::move(exports)},
                                          {"zip", (folder_ / "exports.zip").string()},
                                          {"zip_bytes", zip_bytes_},
                                          {"seconds", took_}});
  }

  const DemoHost& host_;
  fs::path folder_;
  std::vector<Sheet> sheets_;
  std::string batch_;  // Its path.
  Clock::Steady ordered_;
  double took_ = 0;
  std::int64_t zip_bytes_ = 0;
};

}  // namespace

Result<DemoEnd> run_export_part(const DemoHost& host) { return ExportPart(host).run(); }

Result<int> run_export_demo(Context& context, const DemoOptions& options) {
  SignalWaiter signals;  // Before anything that starts threads.
  LiveView view(context);
  const auto begun = context.clock.now();
  MR_TRY(auto served, start_demo_server(context, options));
  const DemoHost host{.context = context,
                      .options = options,
                      .signals = signals,
                      .view = view,
                      .served = *served,
                      .begun = begun};
  MR_TRY(const auto end, run_export_part(host));
  served->stop();
  if (end == DemoEnd::interrupted) return kExitInterrupted;
  return end == DemoEnd::good ? kExitOk : kExitInternal;
}

}  // namespace millrace::app
