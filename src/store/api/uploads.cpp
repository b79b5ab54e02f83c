#include "store/api/uploads.h"

#include "base/json_members.h"
#include "store/api/values.h"

#include <boost/json/object.hpp>

#include <utility>

namespace millrace::store {
namespace {

constexpr JsonLimits kAnswerLimits{.max_bytes = 1024 * 1024, .max_depth = 128};

std::unexpected<Error> malformed(std::string_view member) {
  return fail(ErrorKind::internal,
              "an upload from the database has no valid " + std::string(member));
}

void set_text(json::Object& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

Result<std::string> upload_spec(const NewUpload& upload) {
  json::Object object;
  object["kind"] = to_string(upload.kind);
  if (upload.user) object["user_id"] = upload.user->to_string();
  if (upload.size_bytes) object["size_bytes"] = *upload.size_bytes;
  object["reserve_bytes"] = upload.reserve_bytes;
  set_text(object, "file_name", upload.file_name);
  set_text(object, "content_type", upload.content_type);
  set_text(object, "cache_control", upload.cache_control);
  if (!upload.metadata_json.empty()) {
    MR_TRY(object["metadata"], parse_json(upload.metadata_json));
  }
  if (upload.ttl) object["ttl_seconds"] = upload.ttl->count();
  set_text(object, "correlation_id", upload.correlation_id);
  set_text(object, "traceparent", upload.traceparent);
  if (upload.patient) object["patient_id"] = upload.patient->to_string();
  set_text(object, "idempotency_key", upload.idempotency_key);
  set_text(object, "pipeline", upload.pipeline);
  if (upload.resumable) object["resumable"] = true;
  if (upload.kind == UploadKind::object) {
    object["bucket"] = upload.bucket;
    object["object_name"] = upload.object_name;
    object["replace"] = upload.replace;
  }
  return to_json(object);
}

std::string json_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return {};
  return to_json(*value);
}

std::optional<std::int64_t> number_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return value->get_int64();
}

// What an upload has become; that it was there before is no member of it.
FinishedUpload read_answer(json::Object answer) {
  FinishedUpload finished;
  const auto* replayed = answer.if_contains("replayed");
  finished.replayed = replayed != nullptr && replayed->is_bool() && replayed->get_bool();
  answer.stable_erase("replayed");  // The others stay where they are.
  finished.json = to_json(answer);
  return finished;
}

Result<UploadState> read_upload(const json::Object& object) {
  UploadState upload;
  const auto id = UploadId::parse(text_member(object, "upload_id"));
  const auto tenant = TenantId::parse(text_member(object, "tenant_id"));
  const auto expires = number_of(object, "expires_us");
  if (!id) return malformed("upload_id");
  if (!tenant) return malformed("tenant_id");
  if (!expires) return malformed("expires_us");
  upload.id = *id;
  upload.tenant = *tenant;
  if (const auto user = Uuid::parse(text_member(object, "user_id"))) upload.user = *user;
  upload.kind = text_member(object, "kind") == "object" ? UploadKind::object : UploadKind::file;
  upload.state = text_member(object, "state");
  upload.bucket = text_member(object, "bucket");
  upload.object_name = text_member(object, "object_name");
  upload.file_name = text_member(object, "file_name");
  upload.content_type = text_member(object, "content_type");
  upload.metadata_json = json_of(object, "metadata");
  upload.size_bytes = number_of(object, "size_bytes");
  upload.offset_bytes = number_of(object, "offset_bytes").value_or(0);
  upload.reserved_bytes = number_of(object, "reserved_bytes").value_or(0);
  upload.size_max_bytes = number_of(object, "size_max_bytes").value_or(0);
  upload.expires_at = wall_from_micros(*expires);
  const auto parts_left = number_of(object, "parts_left");
  if (!parts_left) return malformed("parts_left");
  upload.parts_left = *parts_left;
  if (const auto* answer = object.if_contains("answer"); answer != nullptr && answer->is_object()) {
    auto finished = read_answer(answer->get_object());
    upload.answer_json = std::move(finished.json);
    upload.replayed = finished.replayed;
  }
  return upload;
}

Result<UploadState> read_upload(const std::string& text) {
  MR_TRY(const auto object, parse_json_object(text, kAnswerLimits));
  return read_upload(object);
}

Result<UploadBegun> read_begun(const std::string& text) {
  MR_TRY(const auto object, parse_json_object(text, kAnswerLimits));
  UploadBegun begun;
  if (text_member(object, "state") != "exists") {
    MR_TRY(begun.upload, read_upload(object));
    return begun;
  }
  const auto* existing = object.if_contains("existing");
  if (existing == nullptr || !existing->is_object()) return malformed("existing");
  begun.existing_json = to_json(*existing);
  begun.existing_sha256 = text_member(existing->get_object(), "sha256");
  return begun;
}

pg::Params names_of(const std::vector<DeadPart>& parts) {
  std::vector<Uuid> ids;
  std::vector<std::string> handles;
  for (const auto& part : parts) {
    ids.push_back(part.upload.value);
    handles.push_back(part.handle);
  }
  pg::Params params;
  params.add_uuid_array(ids).add_array(handles);
  return params;
}

class PgUploadStore final : public UploadStore {
 public:
  explicit PgUploadStore(ApiSession& session) : session_(session) {}

  Task<UploadBegun> begin_upload(CallContext caller, NewUpload upload) override {
    MR_CO_TRY(const auto spec, upload_spec(upload));
    MR_CO_TRY(const auto text, co_await write(std::move(caller), MR_POINT("api_upload_begin"),
                                              {.sql = "select millrace.begin_upload($1)::text",
                                               .params = pg::params(spec),
                                               .name = "mr_api_begin_upload"}));
    co_return read_begun(text);
  }

  Task<UploadState> get_upload(CallContext caller, UploadId id, std::optional<Uuid> user) override {
    MR_CO_TRY(const auto text, co_await session_.text_as(
                                   caller.by_server(), MR_POINT("api_upload_read"), Access::read,
                                   {.sql = "select millrace.get_upload($1, $2)::text",
                                    .params = pg::params(id, user),
                                    .name = "mr_api_get_upload"}));
    co_return read_upload(text);
  }

  Task<std::vector<UploadPart>> list_parts(CallContext caller, UploadId id,
                                           std::optional<Uuid> user, std::int64_t from_bytes,
                                           int limit) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(caller.by_server(), MR_POINT("api_upload_parts"), Access::read,
                                   {.sql = "select offset_bytes, size_bytes, handle"
                                           " from millrace.list_parts($1, $2, $3, $4)",
                                    .params = pg::params(id, user, from_bytes, limit),
                                    .name = "mr_api_list_parts"}));
    std::vector<UploadPart> parts;
    for (const auto row : rows) {
      parts.push_back({.offset_bytes = row.i64(0),
                       .size_bytes = row.i64(1),
                       .handle = std::string(row.text(2))});
    }
    co_return parts;
  }

  Task<UploadState> take_upload(CallContext caller, UploadId id, std::optional<Uuid> user,
                                Uuid writer, std::chrono::seconds lease) override {
    pg::Params params;
    params.add(id).add(user).add(writer).add(std::chrono::microseconds(lease));
    MR_CO_TRY(const auto text,
              co_await write(std::move(caller), MR_POINT("api_upload_take"),
                             {.sql = "select millrace.take_upload($1, $2, $3, $4)::text",
                              .params = std::move(params),
                              .name = "mr_api_take_upload"}));
    co_return read_upload(text);
  }

  Task<std::int64_t> advance_upload(CallContext caller, UploadId id, Uuid writer,
                                    UploadPart part) override {
    pg::Params params;
    params.add(id).add(writer).add(part.offset_bytes).add(part.size_bytes).add(part.handle);
    MR_CO_TRY(
        const auto rows,
        co_await session_.as(caller.by_server(), MR_POINT("api_upload_advance"), Access::write,
                             {.sql = "select millrace.advance_upload($1, $2, $3, $4, $5)",
                              .params = std::move(params),
                              .name = "mr_api_advance_upload"}));
    co_return rows[0].i64(0);
  }

  Task<void> grow_upload(CallContext caller, UploadId id, std::optional<Uuid> user,
                         std::int64_t reserved_bytes,
                         std::optional<std::int64_t> size_bytes) override {
    MR_CO_TRY_VOID(co_await write(std::move(caller), MR_POINT("api_upload_grow"),
                                  {.sql = "select millrace.grow_upload($1, $2, $3, $4)",
                                   .params = pg::params(id, user, reserved_bytes, size_bytes),
                                   .name = "mr_api_grow_upload"}));
    co_return ok();
  }

  Task<FinishedUpload> finish_upload(CallContext caller, UploadId id, std::optional<Uuid> user,
                                     StoredBlob blob) override {
    MR_CO_TRY(const auto text,
              co_await write(std::move(caller), MR_POINT("api_upload_finish"),
                             {.sql = "select millrace.finish_upload($1, $2, $3)::text",
                              .params = pg::params(id, stored_blob_json(blob), user),
                              .name = "mr_api_finish_upload"}));
    MR_CO_TRY(auto answer, parse_json_object(text, kAnswerLimits));
    co_return read_answer(std::move(answer));
  }

  Task<bool> clear_removal(std::string store_key, Uuid removal) override {
    MR_CO_TRY(const auto rows,
              co_await session_.own(MR_POINT("api_upload_clear"), Access::write,
                                    {.sql = "select millrace.clear_removal($1, $2)",
                                     .params = pg::params(store_key, removal),
                                     .name = "mr_api_clear_removal"}));
    co_return rows[0].boolean(0);
  }

  Task<bool> abort_upload(CallContext caller, UploadId id, std::optional<Uuid> user) override {
    MR_CO_TRY(const auto rows,
              co_await session_.as(caller.by_server(), MR_POINT("api_upload_abort"), Access::write,
                                   {.sql = "select millrace.abort_upload($1, $2)",
                                    .params = pg::params(id, user),
                                    .name = "mr_api_abort_upload"}));
    co_return rows[0].boolean(0);
  }

  Task<std::vector<DeadPart>> expire_uploads(int limit) override {
    MR_CO_TRY(
        const auto rows,
        co_await session_.own(MR_POINT("api_upload_expire"), Access::write,
                              {.sql = "select upload_id, handle,"
                                      " (extract(epoch from if_stored_before) * 1000000)::bigint"
                                      " from millrace.expire_uploads($1)",
                               .params = pg::params(limit),
                               .name = "mr_api_expire_uploads"}));
    std::vector<DeadPart> parts;
    for (const auto row : rows) {
      parts.push_back({.upload = row.id<UploadId>(0),
                       .handle = std::string(row.text(1)),
                       .if_stored_before = wall_from_micros(row.i64(2))});
    }
    co_return parts;
  }

  Task<void> forget_parts(std::vector<DeadPart> parts) override {
    MR_CO_TRY_VOID(co_await session_.own(MR_POINT("api_upload_forget"), Access::write,
                                         {.sql = "select millrace.forget_parts($1, $2)",
                                          .params = names_of(parts),
                                          .name = "mr_api_forget_parts"}));
    co_return ok();
  }

  Task<void> delay_parts(std::vector<DeadPart> parts) override {
    MR_CO_TRY_VOID(co_await session_.own(MR_POINT("api_upload_delay"), Access::write,
                                         {.sql = "select millrace.delay_parts($1, $2)",
                                          .params = names_of(parts),
                                          .name = "mr_api_delay_parts"}));
    co_return ok();
  }

 private:
  Task<std::string> write(CallContext caller, fault::Point point, pg::Statement statement) {
    co_return co_await session_.text_as(caller.by_server(), point, Access::write,
                                        std::move(statement));
  }

  ApiSession& session_;
};

}  // namespace

std::unique_ptr<UploadStore> make_upload_store(ApiSession& session) {
  return std::make_unique<PgUploadStore>(session);
}

std::string_view to_string(UploadKind kind) { return kind == UploadKind::file ? "file" : "object"; }

std::string stored_blob_json(const StoredBlob& blob) {
  json::Object object;
  object["sha256"] = blob.sha256;
  object["size_bytes"] = blob.size_bytes;
  object["content_type"] = blob.content_type;
  object["store_key"] = blob.store_key;
  object["stored_at"] = iso_time(blob.stored_at);
  return to_json(object);
}

}  // namespace millrace::store
