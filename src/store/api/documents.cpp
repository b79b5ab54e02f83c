#include "store/api/documents.h"

#include "base/json_members.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

Result<DocumentOutput> read_output(const std::string& text) {
  MR_TRY(const auto object, parse_json_object(text));
  const auto* size = object.if_contains("size_bytes");
  if (size == nullptr || !size->is_int64()) {
    return fail(ErrorKind::internal, "an output from the database has no valid size_bytes");
  }
  return DocumentOutput{.file_name = text_member(object, "file_name"),
                        .content_type = text_member(object, "content_type"),
                        .size_bytes = size->get_int64(),
                        .sha256 = text_member(object, "sha256"),
                        .store_key = text_member(object, "store_key")};
}

class PgDocumentCatalog final : public DocumentCatalog {
 public:
  explicit PgDocumentCatalog(ApiSession& session) : session_(session) {}

  Task<std::string> get_document(CallContext caller, Uuid document) override {
    co_return co_await read(std::move(caller), {.sql = "select millrace.get_document($1)::text",
                                                .params = pg::params(document),
                                                .name = "mr_api_get_document"});
  }

  Task<std::string> list_documents(CallContext caller, DocumentList list) override {
    co_return co_await read(
        std::move(caller), {.sql = "select coalesce(jsonb_agg(d), '[]')::text"
                                   " from millrace.list_documents($1, $2, $3, $4) d",
                            .params = pg::params(list.before, list.limit, list.state, list.patient),
                            .name = "mr_api_list_documents"});
  }

  Task<std::string> list_pages(CallContext caller, Uuid document, int after, int limit) override {
    co_return co_await read(std::move(caller), {.sql = "select coalesce(jsonb_agg(p), '[]')::text"
                                                       " from millrace.list_pages($1, $2, $3) p",
                                                .params = pg::params(document, after, limit),
                                                .name = "mr_api_list_pages"});
  }

  Task<std::string> list_facts(CallContext caller, Uuid document, std::optional<Uuid> after,
                               int limit) override {
    co_return co_await read(std::move(caller), {.sql = "select coalesce(jsonb_agg(c), '[]')::text"
                                                       " from millrace.list_facts($1, $2, $3) c",
                                                .params = pg::params(document, after, limit),
                                                .name = "mr_api_list_facts"});
  }

  Task<std::optional<DocumentOutput>> get_output(CallContext caller, Uuid document,
                                                 std::string kind, int page) override {
    MR_CO_TRY(const auto text, co_await read(caller.by_server(),
                                             {.sql = "select millrace.get_output($1, $2, $3)::text",
                                              .params = pg::params(document, kind, page),
                                              .name = "mr_api_get_output"}));
    if (text.empty()) co_return std::nullopt;
    MR_CO_TRY(auto output, read_output(text));
    co_return std::optional(std::move(output));
  }

  Task<JobId> ask_image(CallContext caller, Uuid document, int page) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_document_write"), Access::write,
                                   {.sql = "select millrace.ask_image($1, $2)",
                                    .params = pg::params(document, page),
                                    .name = "mr_api_ask_image"}));
    co_return rows[0].id<JobId>(0);
  }

  Task<std::string> retry_document(CallContext caller, Uuid document) override {
    co_return co_await write(std::move(caller), {.sql = "select millrace.retry_document($1)::text",
                                                 .params = pg::params(document),
                                                 .name = "mr_api_retry_document"});
  }

  Task<std::string> list_quarantine(CallContext caller, int limit) override {
    co_return co_await read(caller.by_server(), {.sql = "select coalesce(jsonb_agg(q), '[]')::text"
                                                        " from millrace.list_quarantine($1) q",
                                                 .params = pg::params(limit),
                                                 .name = "mr_api_list_quarantine"});
  }

  Task<std::int64_t> release_quarantine(CallContext caller, std::string sha256) override {
    MR_CO_TRY(
        const auto rows,
        co_await session_.as(caller.by_server(), MR_POINT("api_document_write"), Access::write,
                             {.sql = "select millrace.release_quarantine($1)::bigint",
                              .params = pg::params(sha256),
                              .name = "mr_api_release_quarantine"}));
    co_return rows[0].i64(0);
  }

  Task<std::string> list_spend(CallContext caller, int days) override {
    co_return co_await read(caller.by_server(), {.sql = "select coalesce(jsonb_agg(s), '[]')::text"
                                                        " from millrace.list_spend($1) s",
                                                 .params = pg::params(days),
                                                 .name = "mr_api_list_spend"});
  }

  Task<void> set_budget(CallContext caller, std::string provider,
                        std::optional<std::int64_t> micros_per_day) override {
    MR_CO_TRY_VOID(
        co_await write(caller.by_server(), {.sql = "select millrace.set_budget($1, $2)",
                                            .params = pg::params(provider, micros_per_day),
                                            .name = "mr_api_set_budget"}));
    co_return ok();
  }

 private:
  Task<std::string> read(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_document_read"),
                                        Access::read, std::move(statement));
  }
  Task<std::string> write(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_document_write"),
                                        Access::write, std::move(statement));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<DocumentCatalog> make_document_catalog(ApiSession& session) {
  return std::make_unique<PgDocumentCatalog>(session);
}

}  // namespace millrace::store
