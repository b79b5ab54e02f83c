#include "store/api/files.h"

#include "base/json_members.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

std::unexpected<Error> malformed(std::string_view member) {
  return fail(ErrorKind::internal,
              "an object from the database has no valid " + std::string(member));
}

Result<StoredObject> read_object(std::string text) {
  MR_TRY(const auto object, parse_json_object(text));
  StoredObject stored;
  const auto id = Uuid::parse(text_member(object, "id"));
  const auto tenant = TenantId::parse(text_member(object, "tenant_id"));
  const auto* size = object.if_contains("size_bytes");
  if (!id) return malformed("id");
  if (!tenant) return malformed("tenant_id");
  if (size == nullptr || !size->is_int64()) return malformed("size_bytes");
  stored.id = *id;
  stored.tenant = *tenant;
  stored.bucket = text_member(object, "bucket");
  stored.name = text_member(object, "name");
  if (const auto owner = Uuid::parse(text_member(object, "owner_id"))) stored.owner = *owner;
  stored.sha256 = text_member(object, "sha256");
  stored.store_key = text_member(object, "store_key");
  stored.size_bytes = size->get_int64();
  stored.content_type = text_member(object, "content_type");
  stored.cache_control = text_member(object, "cache_control");
  if (const auto* left = object.if_contains("expires_in"); left != nullptr && left->is_int64()) {
    stored.expires_in = std::chrono::seconds(left->get_int64());
  }
  stored.json = std::move(text);
  return stored;
}

Result<Download> read_download(std::string text) {
  MR_TRY(const auto object, parse_json_object(text));
  const auto* expired = object.if_contains("expired");
  return Download{.file_path = text_member(object, "file_path"),
                  .file_name = text_member(object, "file_name"),
                  .expired = expired != nullptr && *expired == true,
                  .json = std::move(text)};
}

class PgFileStore final : public FileStore {
 public:
  explicit PgFileStore(ApiSession& session) : session_(session) {}

  Task<Versioned> get_file(CallContext caller, Uuid file) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(std::move(caller), MR_POINT("api_file_read"), Access::read,
                                   {.sql = "select millrace.get_file($1)::text,"
                                           " millrace.version_of('file', $1::uuid::text)",
                                    .params = pg::params(file),
                                    .name = "mr_api_get_file"}));
    co_return Versioned{.json = std::string(rows[0].text(0)),
                        .version = rows[0].opt_text(1).value_or("")};
  }

  Task<std::string> list_files(CallContext caller, FileList list) override {
    co_return co_await read(
        std::move(caller),
        {.sql = "select coalesce(jsonb_agg(f), '[]')::text from millrace.list_files($1, $2, $3) f",
         .params = pg::params(list.before, list.limit, list.patient),
         .name = "mr_api_list_files"});
  }

  Task<std::string> delete_shell_file(CallContext caller, Uuid file,
                                      WantedVersions wanted) override {
    pg::Params params;
    params.add_uuid_array(std::vector{file});
    MR_CO_TRY(const auto rows,
              co_await session_.as(
                  std::move(caller), MR_POINT("api_file_write"), Access::write,
                  guarded_change("file", file.to_string(), wanted,
                                 rows_as_json("mr_api_delete_files",
                                              "select * from millrace.delete_shell_files($1)",
                                              std::move(params)))));
    co_return std::string(rows[0].text(0));
  }

  Task<std::string> list_buckets(CallContext caller, std::optional<std::string> name) override {
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_list_buckets", "select * from millrace.list_buckets($1)",
                     pg::params(name)));
  }

  Task<StoredObject> get_object(CallContext caller, std::string bucket, std::string name) override {
    MR_CO_TRY(auto text,
              co_await read(std::move(caller), {.sql = "select millrace.get_object($1, $2)::text",
                                                .params = pg::params(bucket, name),
                                                .name = "mr_api_get_object"}));
    co_return read_object(std::move(text));
  }

  Task<std::string> list_objects(CallContext caller, ObjectList list) override {
    pg::Params params;
    params.add(list.bucket).add(list.prefix).add(list.limit).add(list.offset);
    params.add(list.sort).add(list.descending).add(list.search);
    co_return co_await read(
        std::move(caller),
        rows_as_json("mr_api_list_objects",
                     "select name, id, created_at, updated_at, size_bytes, content_type,"
                     " cache_control, encode(sha256, 'hex') as sha256"
                     " from millrace.list_objects($1, $2, $3, $4, $5, $6, $7)",
                     std::move(params)));
  }

  Task<std::string> remove_objects(CallContext caller, std::string bucket,
                                   std::vector<std::string> names) override {
    pg::Params params;
    params.add(bucket).add_array(names);
    co_return co_await write(
        std::move(caller),
        {.sql = "select coalesce(jsonb_agg(o), '[]')::text from millrace.remove_objects($1, $2) o",
         .params = std::move(params),
         .name = "mr_api_remove_objects"});
  }

  Task<Download> count_download(CallContext caller, Uuid history) override {
    MR_CO_TRY(auto text,
              co_await write(std::move(caller), {.sql = "select millrace.count_download($1)::text",
                                                 .params = pg::params(history),
                                                 .name = "mr_api_count_download"}));
    co_return read_download(std::move(text));
  }

  Task<Download> find_download(CallContext caller, Uuid history) override {
    MR_CO_TRY(auto text,
              co_await read(std::move(caller), {.sql = "select millrace.find_download($1)::text",
                                                .params = pg::params(history),
                                                .name = "mr_api_find_download"}));
    co_return read_download(std::move(text));
  }

  // Under row security: a user's own.
  Task<std::string> list_export_history(CallContext caller, std::optional<Uuid> before,
                                        int limit) override {
    co_return co_await read(
        std::move(caller), rows_as_json("mr_api_list_exports",
                                        "select h.* from millrace.export_history h"
                                        " where ($1::uuid is null or h.id < $1)"
                                        "   and ((select millrace.tenant_scope()) is null"
                                        "        or h.tenant_id = (select millrace.tenant_scope()))"
                                        " order by h.id desc limit $2",
                                        pg::params(before, limit)));
  }

  Task<std::string> delete_export_history(CallContext caller, std::vector<Uuid> ids) override {
    pg::Params params;
    params.add_uuid_array(ids);
    co_return co_await write(
        std::move(caller),
        rows_as_json("mr_api_delete_exports", "select * from millrace.delete_export_history($1)",
                     std::move(params)));
  }

 private:
  Task<std::string> read(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_file_read"), Access::read,
                                        std::move(statement));
  }
  Task<std::string> write(CallContext caller, pg::Statement statement) {
    co_return co_await session_.text_as(std::move(caller), MR_POINT("api_file_write"),
                                        Access::write, std::move(statement));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<FileStore> make_file_store(ApiSession& session) {
  return std::make_unique<PgFileStore>(session);
}

}  // namespace millrace::store
