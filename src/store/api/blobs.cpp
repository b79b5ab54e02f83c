#include "store/api/blobs.h"

#include "store/api/values.h"

#include <utility>

namespace millrace::store {
namespace {

pg::Params names_of(const std::vector<CondemnedBlob>& blobs) {
  std::vector<Uuid> tenants;
  std::vector<std::vector<std::uint8_t>> digests;
  for (const auto& blob : blobs) {
    tenants.push_back(blob.tenant.value);
    digests.push_back(blob.sha256);
  }
  pg::Params params;
  params.add_uuid_array(tenants).add(bytea_array(digests));
  return params;
}

std::vector<UnknownBlob> read_unknown(const pg::ResultSet& rows) {
  std::vector<UnknownBlob> unknown;
  for (const auto row : rows) {
    unknown.push_back({.store_key = std::string(row.text("store_key")),
                       .if_stored_before = wall_from_micros(row.i64("before_us"))});
  }
  return unknown;
}

class PgBlobLedger final : public BlobLedger {
 public:
  explicit PgBlobLedger(ApiSession& session) : session_(session) {}

  Task<std::vector<CondemnedBlob>> condemn_blobs(int limit) override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_blob_condemn"), Access::write,
                  {.sql = "select tenant_id, sha256, store_key, removable,"
                          " (extract(epoch from if_stored_before) * 1000000)::bigint as before_us"
                          " from millrace.condemn_blobs($1)",
                   .params = pg::params(limit),
                   .name = "mr_api_condemn_blobs"}));
    std::vector<CondemnedBlob> blobs;
    for (const auto row : rows) {
      CondemnedBlob blob{.tenant = row.id<TenantId>("tenant_id"),
                         .store_key = std::string(row.text("store_key")),
                         .removable = row.boolean("removable"),
                         .if_stored_before = wall_from_micros(row.i64("before_us"))};
      MR_CO_TRY(blob.sha256, read_bytea(row.text("sha256")));
      blobs.push_back(std::move(blob));
    }
    co_return blobs;
  }

  Task<int> forget_blobs(std::vector<CondemnedBlob> blobs) override {
    co_return co_await count(MR_POINT("api_blob_forget"),
                             {.sql = "select millrace.forget_blobs($1, $2)",
                              .params = names_of(blobs),
                              .name = "mr_api_forget_blobs"});
  }

  Task<void> delay_blobs(std::vector<CondemnedBlob> blobs) override {
    MR_CO_TRY_VOID(co_await session_.own(MR_POINT("api_blob_delay"), Access::write,
                                         {.sql = "select millrace.delay_blobs($1, $2)",
                                          .params = names_of(blobs),
                                          .name = "mr_api_delay_blobs"}));
    co_return ok();
  }

  Task<std::vector<UnknownBlob>> unknown_blobs(std::vector<ListedBlob> listed) override {
    std::vector<std::string> keys;
    std::vector<std::vector<std::uint8_t>> digests;
    for (auto& blob : listed) {
      keys.push_back(std::move(blob.store_key));
      digests.push_back(std::move(blob.sha256));
    }
    pg::Params params;
    params.add_array(keys).add(bytea_array(digests));
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_blob_unknown"), Access::read,
                  {.sql = "select store_key,"
                          " (extract(epoch from if_stored_before) * 1000000)::bigint as before_us"
                          " from millrace.unknown_blobs($1, $2)",
                   .params = std::move(params),
                   .name = "mr_api_unknown_blobs"}));
    co_return read_unknown(rows);
  }

  Task<std::vector<MarkedBlob>> mark_blobs(std::vector<std::string> store_keys) override {
    pg::Params params;
    params.add_array(store_keys);
    MR_CO_TRY(
        const auto rows,
        co_await session_.own(MR_POINT("api_blob_mark"), Access::write,
                              {.sql = "select store_key, removal_id from millrace.mark_blobs($1)",
                               .params = std::move(params),
                               .name = "mr_api_mark_blobs"}));
    std::vector<MarkedBlob> marked;
    for (const auto row : rows) {
      marked.push_back(
          {.store_key = std::string(row.text("store_key")), .removal = row.uuid("removal_id")});
    }
    co_return marked;
  }

  Task<void> end_removals(std::vector<Uuid> removals) override {
    pg::Params params;
    params.add_uuid_array(removals);
    MR_CO_TRY_VOID(co_await session_.own(MR_POINT("api_blob_removed"), Access::write,
                                         {.sql = "select millrace.end_removals($1)",
                                          .params = std::move(params),
                                          .name = "mr_api_end_removals"}));
    co_return ok();
  }

  Task<std::vector<UnknownBlob>> lapsed_removals(int limit) override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(
                  MR_POINT("api_blob_lapsed"), Access::read,
                  {.sql = "select store_key,"
                          " (extract(epoch from if_stored_before) * 1000000)::bigint as before_us"
                          " from millrace.lapsed_removals($1)",
                   .params = pg::params(limit),
                   .name = "mr_api_lapsed_removals"}));
    co_return read_unknown(rows);
  }

  Task<int> sweep_objects(int limit) override {
    co_return co_await count(MR_POINT("api_blob_sweep"),
                             {.sql = "select millrace.sweep_objects($1)",
                              .params = pg::params(limit),
                              .name = "mr_api_sweep_objects"});
  }

 private:
  Task<int> count(fault::Point point, pg::Statement statement) {
    MR_CO_TRY(const auto rows, co_await session_.own(point, Access::write, std::move(statement)));
    co_return static_cast<int>(rows[0].opt_i64(0).value_or(0));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<BlobLedger> make_blob_ledger(ApiSession& session) {
  return std::make_unique<PgBlobLedger>(session);
}

}  // namespace millrace::store
