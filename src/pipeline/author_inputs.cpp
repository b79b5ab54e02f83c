#include "pipeline/author_inputs.h"

#include "blob/disk.h"
#include "layout/page_json.h"
#include "model/job_json.h"
#include "output/plain_text.h"
#include "pipeline/steadily.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <utility>

namespace millrace::pipeline {
namespace {

constexpr int kWindow = 64;  // Pages.

Error too_large(const StageJob& job) {
  return {.kind = ErrorKind::invalid_argument,
          .message = fmt::format("stage {} requires more than {} bytes of the stages before it",
                                 job.stage->name, kInputsMaxBytes)};
}

// One input as JSON, put together piece by piece.
class Inputs {
 public:
  explicit Inputs(StageJob& job) : job_(job) {}

  Task<void> add(const std::string& name) {
    const auto* maker = job_.pipeline->maker(job_.stage->name, name);
    if (maker == nullptr) {
      co_return fail(ErrorKind::not_found,
                     fmt::format("no stage before {} makes {}", job_.stage->name, name));
    }
    text_ += text_.empty() ? "" : ",";
    text_ += json_quote(name) + ':';
    if (maker->kind == RunKind::scan) co_return co_await add_pages(*maker);
    if (!makes_page_results(*maker)) {
      const auto& all = job_.work.page ? job_.work.whole : job_.work.results;
      co_return co_await add_result(name, *maker, all, 0);
    }
    if (job_.work.page) {
      co_return co_await add_result(name, *maker, job_.work.results, job_.page());
    }
    co_return co_await add_list(name, *maker);
  }

  std::string take() { return std::move(text_); }

 private:
  using Results = std::map<std::string, store::StageResult, std::less<>>;

  Result<void> append(std::string_view piece) {
    if (text_.size() + piece.size() > kInputsMaxBytes) return fail(too_large(job_));
    text_ += piece;
    return {};
  }

  Task<void> add_result(const std::string& name, const Stage& maker, const Results& results,
                        int page) {
    const auto found = results.find(maker.name);
    if (found == results.end()) {
      co_return fail(ErrorKind::not_found,
                     fmt::format("stage {} has left no {}", maker.name, name));
    }
    MR_CO_TRY(const auto content, co_await load(name, found->second, page));
    co_return append(content);
  }

  // Of all pages that have one.
  Task<void> add_list(const std::string& name, const Stage& maker) {
    text_ += '[';
    bool first = true;
    const auto last = job_.work.document->page_count;
    for (int after = 0; after < last; after += kWindow) {
      MR_CO_TRY(const auto window, co_await steadily(*job_.context, [&] {
                  return job_.services.store.page_results(job_.work.file.id, {maker.name}, after,
                                                          kWindow);
                }));
      for (const auto& one : window) {
        MR_CO_TRY(const auto content, co_await load(name, one.result, one.page));
        MR_CO_TRY_VOID(
            append(fmt::format(R"({}{{"page":{},"content":{}}})",
                               std::exchange(first, false) ? "" : ",", one.page, content)));
      }
    }
    co_return append("]");
  }

  // Its size and what it shows; for the document, of all pages.
  Task<void> add_pages(const Stage& scan) {
    if (job_.work.page) {
      const auto& page = *job_.work.page;
      json::Object object{{"page", page.page},
                          {"content_sha256", page.content_sha256},
                          {"width_pt", page.width_pt},
                          {"height_pt", page.height_pt},
                          {"text_chars", page.text_chars}};
      co_return append(to_json(object));
    }
    const auto found = job_.work.results.find(scan.name);
    if (found == job_.work.results.end()) {
      co_return fail(ErrorKind::not_found, fmt::format("stage {} has left nothing", scan.name));
    }
    MR_CO_TRY(const auto text, co_await read(found->second));
    MR_CO_TRY(const auto report, parse_json_object(text, {.max_bytes = kInputsMaxBytes}));
    const auto* pages = report.if_contains("pages");
    co_return append(pages == nullptr ? "[]" : to_json(*pages));
  }

  Task<std::string> read(const store::StageResult& result) {
    if (std::cmp_greater(result.content.size_bytes, kInputsMaxBytes - text_.size())) {
      co_return fail(too_large(job_));
    }
    co_return co_await steadily(*job_.context, [&] {
      return read_content(job_.services.blobs, result.content, kInputsMaxBytes);
    });
  }

  Task<std::string> load(const std::string& name, const store::StageResult& result, int number) {
    const bool text = name == "text";
    const bool is_page = text || name == "words" || name == "map";
    if (name == "markdown" || name == "normal_text") {
      MR_CO_TRY(const auto content, co_await read(result));
      co_return json_quote(content);
    }
    if (!is_page) co_return co_await read(result);
    // The text is a small part of the page that it is in.
    if (!text && std::cmp_greater(result.content.size_bytes, kInputsMaxBytes - text_.size())) {
      co_return fail(too_large(job_));
    }
    MR_CO_TRY(
        const auto share,
        co_await take_memory(job_, 4 * static_cast<std::uint64_t>(result.content.size_bytes)));
    MR_CO_TRY(const auto page, co_await steadily(*job_.context, [&] {
                return load_page(job_.services, result, static_cast<std::uint32_t>(number));
              }));
    co_return co_await blob::on_disk(job_.services.threads, [&page, text] {
      return Result<std::string>(text ? json_quote(output::page_text(page))
                                      : layout::page_json(page));
    });
  }

  StageJob& job_;
  std::string text_;
};

}  // namespace

Task<std::string> author_input(StageJob& job) {
  Inputs inputs(job);
  for (const auto& name : job.stage->required) MR_CO_TRY_VOID(co_await inputs.add(name));
  const auto& document = *job.work.document;
  const json::Object about{{"id", job.work.file.id.to_string()},
                           {"file_name", job.work.file.name},
                           {"kind", document.kind},
                           {"mime", document.mime},
                           {"page_count", document.page_count}};
  auto text = job_json(job.context->job());
  text.pop_back();  // The end of the object: more comes.
  text += ",\"document\":" + to_json(about);
  if (job.work.page) text += fmt::format(",\"page\":{}", job.page());
  text += ",\"options\":" + to_json(job.stage->options);
  text += ",\"inputs\":{" + inputs.take() + "}}";
  co_return text;
}

}  // namespace millrace::pipeline
