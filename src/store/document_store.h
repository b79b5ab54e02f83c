// DocumentStore: what a worker asks of the database while it processes documents, and the
// statements that write what it made of them.
//
// Reading happens on connections of the worker's own, between claim and settlement. Everything that
// changes a document is a statement for the settlement of its job
// (worker::JobContext::in_settlement), so that it commits with the fence or not at all. Exceptions,
// each safe to repeat: begin_document binds a document to its pipeline; begin_call, end_call and
// keep_answer keep the account of paid calls, and what was paid for, which must not vanish when the
// job does. Threading: any. Lifetime: the pool outlives it.
#pragma once

#include "base/json.h"
#include "base/task.h"
#include "base/uuid.h"
#include "model/outcome.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pg {
class Pool;
}

namespace millrace::store {

// Content that is there: where, and what it must hash to.
struct ContentRef {
  std::string sha256;  // Hexadecimal.
  std::int64_t size_bytes = 0;
  std::string store_key;
  // Where it begins in what lies under store_key; nothing: it is all of it.
  std::optional<std::int64_t> offset = {};
};

struct StageResult {
  ContentRef content;
  std::string reuse_key;
  json::Object meta = {};
};

struct DocumentWork {
  struct File {
    Uuid id;
    TenantId tenant;
    Uuid patient;
    std::string name;
    std::string pipeline;  // That it was sent into.
    std::string charset;   // That its sender declared; empty: none.
    std::string created_at;
    ContentRef content;
  } file;
  // Nothing before the first job of the file has begun.
  struct State {
    int run = 1;
    std::string state;
    std::string stage;
    std::string kind;
    std::string mime;
    int page_count = 0;
    std::string pipeline_hash;
    json::Array findings = {};
    json::Object summary = {};
  };
  std::optional<State> document = {};
  struct Page {
    int page = 0;
    std::string content_sha256;
    double width_pt = 0;
    double height_pt = 0;
    int text_chars = 0;
    std::string state = {};  // pending, completed, failed
  };
  std::optional<Page> page = {};  // Of a job that is about one.
  std::map<std::string, StageResult, std::less<>> results =
      {};  // By stage: of the page, or of all.
  std::map<std::string, StageResult, std::less<>> previous = {};  // Of the page before.
  std::map<std::string, StageResult, std::less<>> whole = {};  // Of the document, for a page's job.
  // Of a job for several pages, each with what the members of the same name say of one.
  struct GroupPage {
    Page page;
    std::map<std::string, StageResult, std::less<>> results = {};
    std::map<std::string, StageResult, std::less<>> previous = {};
    bool quarantined = false;  // The file, or this page.
  };
  std::vector<GroupPage> group = {};
  bool quarantined = false;  // The file, or the page of the job.
  // Whose limits jobs of its type count against ("openai:gpt-4o-mini"); empty: nobody's.
  std::string limited_by = {};
};

struct PageResult {
  int page = 0;
  std::string stage;
  StageResult result;
  bool reused = false;  // Taken over from an equal page.
};

struct PageState {
  int page = 0;
  std::string content_sha256;
  std::string state;  // pending, completed, failed
  std::string failed_stage;
  std::string failed_reason;
};

// When a document came to be what it is, by the database alone: the same job hears the same again.
struct DocumentTimes {
  using Instant = std::chrono::sys_time<std::chrono::milliseconds>;
  struct Span {
    Instant started = {};
    Instant ended = {};
  };
  int run = 1;
  Span whole = {};  // From when its file was taken in to the last result of a stage.
  std::map<std::string, Span, std::less<>> stages = {};
};

// A delivery: which job, and the token of its lease.
struct Held {
  JobId job;
  LeaseToken token;
};

// What a model answered to one question, for money.
struct PaidAnswer {
  std::string question_sha256;  // Hexadecimal, of all that the answer depends on.
  std::string model;            // That answered.
  std::string response_id;
  std::string text;
  std::string refused = {};  // What is wrong with it, as a word, and why; empty: it can be used.
  std::string reason = {};
  // As the end of its call says them; they are not sent.
  Uuid call = {};
  std::int64_t tokens_in = 0;
  std::int64_t tokens_out = 0;
  std::int64_t cost_micros = 0;
};

class DocumentStore {
 public:
  virtual ~DocumentStore() = default;

  // `pipeline`: name, version, hash, first_job, definition; empty: this worker does not have it.
  // Without a document where nobody told of the pipeline. MR039 where the file is gone.
  virtual Task<DocumentWork> begin_document(JobId job, json::Object pipeline) = 0;
  virtual Task<DocumentWork> document_work(JobId job) = 0;
  // In the order of pages, behind `after`; of at most `pages_max` pages.
  virtual Task<std::vector<PageResult>> page_results(Uuid file, std::vector<std::string> stages,
                                                     int after, int pages_max) = 0;
  virtual Task<std::vector<PageState>> pages_of(Uuid file) = 0;
  // `job`: that asks, the last one of its run.
  virtual Task<DocumentTimes> document_times(Uuid file, JobId job) = 0;
  // Empty: nobody knows it.
  virtual Task<std::string> pipeline_definition(std::string hash) = 0;

  struct CallPermit {
    bool allowed = false;
    Uuid call;
    std::int64_t budget_micros = 0;  // Of the day, when it is not allowed.
    // The provider has asked everybody to wait so long, or there is no room at its limits before:
    // then that is why it is not allowed.
    std::chrono::milliseconds retry{0};
    std::optional<std::int64_t> tokens_room = {};  // Where there is no room: so many are left.
    json::Object capacity = {};                    // For the end of the call; empty: it took none.
  };
  virtual Task<CallPermit> begin_call(json::Object call) = 0;
  virtual Task<void> end_call(Uuid call, json::Object end) = 0;
  // With the end of its call; lease_lost: neither is on record.
  virtual Task<void> keep_answer(Held held, Uuid call, json::Object end, PaidAnswer answer) = 0;
  // About the page of the job, or the whole document, in its stage. What could not be used is told
  // to the job and generation that asked only.
  virtual Task<std::vector<PaidAnswer>> kept_answers(JobId job, int generation) = 0;
};

std::unique_ptr<DocumentStore> make_document_store(pg::Pool& pool);

// For the settlement of a job; see sql/functions/document.
SqlStatement settle_scan_statement(JobId job, const json::Object& scan, const json::Value& plan);
// `left`: pages that get jobs of their own.
SqlStatement settle_pages_statement(JobId job, const json::Array& items,
                                    const std::vector<int>& left, const json::Value& next);
SqlStatement settle_stage_statement(JobId job, const json::Object& item, const json::Value& plan);
SqlStatement settle_image_statement(JobId job, const json::Object& output);

}  // namespace millrace::store
