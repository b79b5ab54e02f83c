#include "store/document_store.h"

#include "base/json_members.h"
#include "pg/pool.h"
#include "store/sqlstate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>

namespace millrace::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAcquire{10'000};
constexpr milliseconds kCall{30'000};
// What stages keep of themselves is bounded by the database; this is far above it.
constexpr JsonLimits kAnswerLimits{.max_bytes = std::size_t{16} * 1024 * 1024, .max_depth = 64};

ContentRef content_of(const json::Object& object) {
  ContentRef content{.sha256 = text_member(object, "sha256"),
                     .size_bytes = int_member(object, "size_bytes"),
                     .store_key = text_member(object, "store_key")};
  const auto* offset = object.if_contains("offset");
  if (offset != nullptr && offset->is_int64()) content.offset = offset->get_int64();
  return content;
}

DocumentWork::Page page_of(const json::Object& page) {
  return {.page = static_cast<int>(int_member(page, "page")),
          .content_sha256 = text_member(page, "content_sha256"),
          .width_pt = number_member(page, "width_pt"),
          .height_pt = number_member(page, "height_pt"),
          .text_chars = static_cast<int>(int_member(page, "text_chars")),
          .state = text_member(page, "state")};
}

std::map<std::string, StageResult, std::less<>> results_of(const json::Object& work,
                                                           std::string_view name) {
  std::map<std::string, StageResult, std::less<>> results;
  const auto* all = object_member(work, name);
  if (all == nullptr) return results;
  for (const auto& [stage, value] : *all) {
    if (!value.is_object()) continue;
    const auto& one = value.get_object();
    const auto* meta = object_member(one, "meta");
    results[std::string(stage)] = {.content = content_of(one),
                                   .reuse_key = text_member(one, "reuse_key"),
                                   .meta = meta == nullptr ? json::Object() : *meta};
  }
  return results;
}

std::optional<DocumentWork::State> state_of(const json::Object& work) {
  const auto* document = object_member(work, "document");
  if (document == nullptr) return std::nullopt;
  DocumentWork::State state{.run = static_cast<int>(int_member(*document, "run")),
                            .state = text_member(*document, "state"),
                            .stage = text_member(*document, "stage"),
                            .kind = text_member(*document, "kind"),
                            .mime = text_member(*document, "mime"),
                            .page_count = static_cast<int>(int_member(*document, "page_count")),
                            .pipeline_hash = text_member(*document, "pipeline_hash")};
  if (const auto* found = document->if_contains("findings"); found != nullptr && found->is_array())
    state.findings = found->get_array();
  if (const auto* summary = object_member(*document, "summary")) state.summary = *summary;
  return state;
}

std::vector<DocumentWork::GroupPage> group_of(const json::Object& work) {
  std::vector<DocumentWork::GroupPage> group;
  const auto* all = work.if_contains("group");
  if (all == nullptr || !all->is_array()) return group;
  for (const auto& one : all->get_array()) {
    if (!one.is_object()) continue;
    const auto* page = object_member(one.get_object(), "page");
    if (page == nullptr) continue;  // The document has fewer pages now.
    group.push_back({.page = page_of(*page),
                     .results = results_of(one.get_object(), "results"),
                     .previous = results_of(one.get_object(), "previous"),
                     .quarantined = bool_member(one.get_object(), "quarantined")});
  }
  return group;
}

Result<DocumentWork> read_work(std::string_view text) {
  MR_TRY(const auto work, parse_json_object(text, kAnswerLimits));
  const auto* file = object_member(work, "file");
  if (file == nullptr) return fail(ErrorKind::internal, "document_work answered without a file");
  DocumentWork out;
  MR_TRY(out.file.id, Uuid::parse(text_member(*file, "id")));
  MR_TRY(out.file.tenant, TenantId::parse(text_member(*file, "tenant_id")));
  MR_TRY(out.file.patient, Uuid::parse(text_member(*file, "patient_id")));
  out.file.name = text_member(*file, "file_name");
  out.file.pipeline = text_member(*file, "pipeline");
  out.file.charset = text_member(*file, "charset");
  out.file.created_at = text_member(*file, "created_at");
  out.file.content = content_of(*file);
  out.document = state_of(work);
  if (const auto* page = object_member(work, "page")) out.page = page_of(*page);
  out.results = results_of(work, "results");
  out.previous = results_of(work, "previous");
  out.whole = results_of(work, "whole");
  out.group = group_of(work);
  out.quarantined = bool_member(work, "quarantined");
  out.limited_by = text_member(work, "limited_by");
  return out;
}

DocumentTimes::Span span_of(const json::Object& object) {
  const auto at = [&object](std::string_view name) {
    return DocumentTimes::Instant(milliseconds(int_member(object, name)));
  };
  return {.started = at("started_ms"), .ended = at("ended_ms")};
}

class PgDocumentStore final : public DocumentStore {
 public:
  explicit PgDocumentStore(pg::Pool& pool) : pool_(pool) {}

  Task<DocumentWork> begin_document(JobId job, json::Object pipeline) override {
    pg::Params params;
    params.add(job);
    if (pipeline.empty()) {
      params.add_null();
    } else {
      params.add_json(pipeline);
    }
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("begin_document"), "select millrace.begin_document($1, $2)",
                           std::move(params)));
    co_return read_work(text);
  }

  Task<DocumentWork> document_work(JobId job) override {
    MR_CO_TRY(const auto text, co_await ask(MR_POINT("document_work"),
                                            "select millrace.document_work($1)", pg::params(job)));
    co_return read_work(text);
  }

  Task<std::vector<PageResult>> page_results(Uuid file, std::vector<std::string> stages, int after,
                                             int pages_max) override {
    pg::Params params;
    params.add(file).add_array(stages).add(after).add(pages_max);
    MR_CO_TRY(
        auto rows,
        co_await call(MR_POINT("page_results"),
                      "select page, stage, sha256, size_bytes, store_key, meta, reuse_key, reused, "
                      "part_offset "
                      "from millrace.page_results($1, $2, $3, $4)",
                      std::move(params)));
    std::vector<PageResult> results;
    results.reserve(rows.rows());
    for (const auto row : rows) {
      MR_CO_TRY(auto meta, parse_json_object(row.text(5), kAnswerLimits));
      results.push_back(
          {.page = static_cast<int>(row.i64(0)),
           .stage = std::string(row.text(1)),
           .result = {.content = {.sha256 = std::string(row.text(2)),
                                  .size_bytes = row.i64(3),
                                  .store_key = std::string(row.text(4)),
                                  .offset =
                                      row.is_null(8) ? std::nullopt : std::optional(row.i64(8))},
                      .reuse_key = std::string(row.text(6)),
                      .meta = std::move(meta)},
           .reused = row.boolean(7)});
    }
    co_return results;
  }

  Task<std::vector<PageState>> pages_of(Uuid file) override {
    MR_CO_TRY(auto rows,
              co_await call(MR_POINT("pages_of"),
                            "select page, content_sha256, state, coalesce(failed_stage, ''), "
                            "coalesce(failed_reason, '') from millrace.pages_of($1)",
                            pg::params(file)));
    std::vector<PageState> pages;
    pages.reserve(rows.rows());
    for (const auto row : rows) {
      pages.push_back({.page = static_cast<int>(row.i64(0)),
                       .content_sha256 = std::string(row.text(1)),
                       .state = std::string(row.text(2)),
                       .failed_stage = std::string(row.text(3)),
                       .failed_reason = std::string(row.text(4))});
    }
    co_return pages;
  }

  Task<DocumentTimes> document_times(Uuid file, JobId job) override {
    pg::Params params;
    params.add(file).add(job);
    MR_CO_TRY(const auto text,
              co_await ask(MR_POINT("document_times"), "select millrace.document_times($1, $2)",
                           std::move(params)));
    MR_CO_TRY(const auto times, parse_json_object(text));
    DocumentTimes out{.run = static_cast<int>(int_member(times, "run")), .whole = span_of(times)};
    if (const auto* stages = object_member(times, "stages")) {
      for (const auto& [stage, span] : *stages) {
        if (span.is_object()) out.stages.emplace(stage, span_of(span.get_object()));
      }
    }
    co_return out;
  }

  Task<std::string> pipeline_definition(std::string hash) override {
    co_return co_await ask(MR_POINT("pipeline_definition"),
                           "select millrace.pipeline_definition(decode($1, 'hex'))",
                           pg::params(hash));
  }

  Task<CallPermit> begin_call(json::Object request) override {
    pg::Params params;
    params.add_json(request);
    MR_CO_TRY(const auto text, co_await ask(MR_POINT("begin_call"),
                                            "select millrace.begin_call($1)", std::move(params)));
    MR_CO_TRY(const auto answer, parse_json_object(text));
    CallPermit permit;
    permit.allowed = bool_member(answer, "allowed");
    permit.budget_micros = int_member(answer, "budget_micros");
    permit.retry = milliseconds(int_member(answer, "retry_ms"));
    if (answer.contains("tokens_room")) permit.tokens_room = int_member(answer, "tokens_room");
    if (const auto* capacity = object_member(answer, "capacity")) permit.capacity = *capacity;
    if (permit.allowed) {
      MR_CO_TRY(permit.call, Uuid::parse(text_member(answer, "call_id")));
    }
    co_return permit;
  }

  Task<void> end_call(Uuid id, json::Object end) override {
    pg::Params params;
    params.add(id).add_json(end);
    MR_CO_TRY_VOID(
        co_await call(MR_POINT("end_call"), "select millrace.end_call($1, $2)", std::move(params)));
    co_return ok();
  }

  Task<void> keep_answer(Held held, Uuid id, json::Object end, PaidAnswer answer) override {
    json::Object kept;
    kept["question_sha256"] = answer.question_sha256;
    kept["model"] = storable_text(answer.model, 200);
    kept["response_id"] = storable_text(answer.response_id, 200);
    kept["answer"] = storable_text(answer.text, kAnswerLimits.max_bytes);
    if (!answer.refused.empty()) {
      kept["refused"] = answer.refused;
      kept["reason"] = storable_text(answer.reason, 1'000);
    }
    pg::Params params;
    params.add(held.job).add(held.token).add(id).add_json(end).add_json(kept);
    MR_CO_TRY_VOID(co_await call(MR_POINT("keep_answer"),
                                 "select millrace.keep_answer($1, $2, $3, $4, $5)",
                                 std::move(params)));
    co_return ok();
  }

  Task<std::vector<PaidAnswer>> kept_answers(JobId job, int generation) override {
    MR_CO_TRY(auto rows,
              co_await call(MR_POINT("kept_answers"),
                            "select question_sha256, call_id, model, response_id, answer, "
                            "input_tokens, output_tokens, cost_micros, coalesce(refused, ''), "
                            "coalesce(reason, '') from millrace.kept_answers($1, $2)",
                            pg::params(job, generation)));
    std::vector<PaidAnswer> answers;
    for (const auto row : rows) {
      MR_CO_TRY(const auto id, Uuid::parse(row.text(1)));
      answers.push_back({.question_sha256 = std::string(row.text(0)),
                         .model = std::string(row.text(2)),
                         .response_id = std::string(row.text(3)),
                         .text = std::string(row.text(4)),
                         .refused = std::string(row.text(8)),
                         .reason = std::string(row.text(9)),
                         .call = id,
                         .tokens_in = row.i64(5),
                         .tokens_out = row.i64(6),
                         .cost_micros = row.i64(7)});
    }
    co_return answers;
  }

 private:
  Task<pg::ResultSet> call(fault::Point point, std::string sql, pg::Params params) {
    auto name = "mr_doc_" + std::string(point.name);
    MR_CO_TRY(auto connection, co_await pool_.acquire(kAcquire, name));
    co_return translate(co_await connection->prepared(std::move(name), std::move(sql),
                                                      std::move(params), {kCall, point}));
  }

  // The first column of the first row; null gives an empty text.
  Task<std::string> ask(fault::Point point, std::string sql, pg::Params params) {
    MR_CO_TRY(auto rows, co_await call(point, std::move(sql), std::move(params)));
    co_return rows.rows() == 0 || rows[0].is_null(0) ? std::string() : std::string(rows[0].text(0));
  }

  pg::Pool& pool_;
};

std::optional<std::string> json_or_null(const json::Value& value) {
  if (value.is_null()) return std::nullopt;
  return to_json(value);
}

}  // namespace

std::unique_ptr<DocumentStore> make_document_store(pg::Pool& pool) {
  return std::make_unique<PgDocumentStore>(pool);
}

SqlStatement settle_scan_statement(JobId job, const json::Object& scan, const json::Value& plan) {
  return {.sql = "select millrace.settle_scan($1, $2, $3)",
          .params = {job.to_string(), to_json(scan), json_or_null(plan)}};
}

SqlStatement settle_pages_statement(JobId job, const json::Array& items,
                                    const std::vector<int>& left, const json::Value& next) {
  return {.sql = "select millrace.settle_pages($1, $2, $3, $4)",
          .params = {job.to_string(), to_json(items), fmt::format("{{{}}}", fmt::join(left, ",")),
                     json_or_null(next)}};
}

SqlStatement settle_stage_statement(JobId job, const json::Object& item, const json::Value& plan) {
  return {.sql = "select millrace.settle_stage($1, $2, $3)",
          .params = {job.to_string(), to_json(item), json_or_null(plan)}};
}

SqlStatement settle_image_statement(JobId job, const json::Object& output) {
  return {.sql = "select millrace.settle_image($1, $2)",
          .params = {job.to_string(), to_json(output)}};
}

}  // namespace millrace::store
