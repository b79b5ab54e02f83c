#include "api/storage/storage_api.h"
#include "api/upload/request_content.h"
#include "base/json.h"
#include "identity/base64url.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::size_t kMetadataMaxBytes = 16 * 1024;

std::unexpected<Error> denied(std::string message) {
  return fail(Error{
      .kind = ErrorKind::invalid_argument, .message = std::move(message), .sqlstate = "42501"});
}

// Whose object it will be. People write for themselves; a service writes for the user whose folder
// it names, so that the user finds what was made for them (T-04).
Result<std::optional<Uuid>> owner_of(const Call& call, std::string_view name) {
  if (call.caller.role == identity::Role::authenticated) {
    if (!call.caller.user) return denied("the token names no user that the object could be of");
    return call.caller.user->value;
  }
  const auto folder = Uuid::parse(name.substr(0, name.find('/')));
  if (!folder || !name.contains('/')) return std::nullopt;
  return *folder;
}

Result<std::string> checked_metadata(std::string_view text) {
  if (text.size() > kMetadataMaxBytes) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("metadata must have {} bytes at most", kMetadataMaxBytes));
  }
  auto object = parse_json_object(text);
  if (!object) return fail(ErrorKind::invalid_argument, "metadata must be a JSON object");
  return to_json(*object);
}

// Of the header x-metadata: JSON in base64.
Result<std::string> decoded_metadata(std::string_view header) {
  std::string text(header);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  const auto decoded = identity::base64url_decode(text);
  if (!decoded) return fail(ErrorKind::invalid_argument, "x-metadata must be JSON in base64");
  return checked_metadata(*decoded);
}

Result<store::NewUpload> new_object(const Call& call, bool replace) {
  store::NewUpload upload;
  upload.kind = store::UploadKind::object;
  upload.bucket = call.parameters.required("bucket");
  upload.object_name = call.parameters.required("path");
  upload.replace = replace;
  MR_TRY(upload.user, owner_of(call, upload.object_name));
  const auto slash = upload.object_name.rfind('/');
  upload.file_name = upload.object_name.substr(slash == std::string::npos ? 0 : slash + 1);
  upload.correlation_id = call.request.correlation_id;
  upload.traceparent = call.request.trace.traceparent();
  return upload;
}

bool is_form(const Call& call) {
  const auto type = call.request.header("content-type").value_or(std::string_view());
  return http::same_name(type.substr(0, type.find(';')), "multipart/form-data");
}

// As supabase-js sends a Blob: cacheControl, metadata, and the file in a part without a name.
Task<UploadAnswer> receive_form(Call& call, UploadEngine& engine, store::NewUpload upload) {
  MR_CO_TRY(const auto form, FormContent::make(call));
  MR_CO_TRY_VOID(co_await form->read_fields());
  const auto& fields = form->fields();
  if (const auto field = fields.find("cacheControl"); field != fields.end()) {
    upload.cache_control = cache_seconds(field->second);
  }
  if (fields.contains("contentEncoding")) {
    co_return fail(ErrorKind::invalid_argument,
                   "contentEncoding is not offered: store it as it is");
  }
  if (const auto field = fields.find("metadata"); field != fields.end()) {
    MR_CO_TRY(upload.metadata_json, checked_metadata(field->second));
  }
  upload.content_type = form->content_type();
  upload.reserve_bytes = static_cast<std::int64_t>(form->size_at_most().value_or(0));
  co_return co_await engine.receive(call.context(), std::move(upload), *form, Expected{});
}

// As it sends anything else: the body is the content.
Task<UploadAnswer> receive_body(Call& call, UploadEngine& engine, store::NewUpload upload) {
  if (const auto header = call.request.header("cache-control")) {
    upload.cache_control = cache_seconds(*header);
  }
  if (const auto header = call.request.header("x-metadata")) {
    MR_CO_TRY(upload.metadata_json, decoded_metadata(*header));
  }
  upload.content_type = call.request.header("content-type").value_or(std::string_view());
  if (const auto length = call.request.body_length()) {
    upload.size_bytes = static_cast<std::int64_t>(*length);
  }
  BodyContent content(call);
  co_return co_await engine.receive(call.context(), std::move(upload), content, Expected{});
}

Task<UploadAnswer> receive(Call& call, UploadEngine& engine, store::NewUpload upload) {
  if (is_form(call)) return receive_form(call, engine, std::move(upload));
  return receive_body(call, engine, std::move(upload));
}

Task<Reply> put_object(Call& call, StorageServices services, bool replace) {
  MR_CO_TRY(auto upload, new_object(call, replace));
  const auto key = fmt::format("{}/{}", upload.bucket, upload.object_name);
  MR_CO_TRY(const auto answer, co_await receive(call, services.uploads, std::move(upload)));
  MR_CO_TRY(const auto object, parse_json_object(answer.json));
  const auto* id = object.if_contains("id");
  if (id == nullptr || !id->is_string()) {
    co_return fail(ErrorKind::internal, "an object from the database has no id");
  }
  call.note("object_id", std::string(id->get_string()));
  co_return Reply::json(json::Object{{"Id", *id}, {"Key", key}});
}

}  // namespace

std::string cache_seconds(std::string_view text) {
  constexpr std::string_view kMaxAge = "max-age=";
  if (text.starts_with(kMaxAge)) text.remove_prefix(kMaxAge.size());
  const bool number = !text.empty() && text.size() <= 9 &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::string(text) : std::string();
}

std::string cache_control_of(const store::StoredObject& object) {
  const auto said = cache_seconds(object.cache_control);
  if (said.empty()) return {};
  std::int64_t seconds = std::stoll(said);  // Nine digits at most.
  if (object.expires_in) seconds = std::min<std::int64_t>(seconds, object.expires_in->count());
  return fmt::format("private, max-age={}", seconds);
}

Task<Reply> storage_upload(Call& call, StorageServices services) {
  const bool replace = call.parameters.text("x-upsert") == "true";
  return put_object(call, services, replace);
}

Task<Reply> storage_replace(Call& call, StorageServices services) {
  return put_object(call, services, true);
}

}  // namespace millrace::api
