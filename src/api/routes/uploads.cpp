#include "api/routes/uploads.h"

#include "api/routes/path.h"
#include "api/upload/checksum.h"
#include "api/upload/request_content.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;

constexpr std::size_t kKeyMaxBytes = 1024;

Result<std::optional<Uuid>> uuid_field(const std::optional<std::string>& text,
                                       std::string_view name) {
  if (!text || text->empty()) return std::nullopt;
  const auto id = Uuid::parse(*text);
  if (!id) return fail(ErrorKind::invalid_argument, fmt::format("{} must be a uuid", name));
  return *id;
}

Result<std::optional<Uuid>> user_of(const Call& call, std::optional<Uuid> owner) {
  if (call.caller.role != identity::Role::authenticated) return owner;
  if (!call.caller.user) {
    return fail(ErrorKind::invalid_argument, "the token names no user that the file could be of");
  }
  const auto user = call.caller.user->value;
  if (owner && *owner != user) {
    return fail(ErrorKind::invalid_argument, "owner_id must be the id of the caller");
  }
  return user;
}

bool is_form(const Call& call) {
  auto type = call.request.header("content-type").value_or(std::string_view());
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return http::same_name(type, "multipart/form-data");
}

// What the URL and the headers say; a form may say the rest.
Result<FileFields> outer_fields(const Call& call) {
  FileFields fields{.patient_id = call.parameters.text("patient_id"),
                    .owner_id = call.parameters.text("owner_id"),
                    .pipeline = call.parameters.text("pipeline"),
                    .file_name = call.parameters.text("file_name").value_or(std::string())};
  if (const auto header = call.parameters.text("Idempotency-Key")) {
    MR_TRY(fields.idempotency_key, parse_idempotency_key(*header));
  }
  return fields;
}

Result<void> take_field(std::optional<std::string>& field, std::string_view name,
                        const std::string& value) {
  if (field && *field != value) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} is given twice, and not the same", name));
  }
  field = value;
  return ok();
}

Result<void> add_form_fields(FileFields& fields, const std::map<std::string, std::string>& form) {
  const std::map<std::string_view, std::optional<std::string>*> known{
      {"patient_id", &fields.patient_id},
      {"owner_id", &fields.owner_id},
      {"idempotency_key", &fields.idempotency_key},
      {"pipeline", &fields.pipeline}};
  for (const auto& [name, value] : form) {
    const auto field = known.find(name);
    if (field == known.end()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("field {} is not one of patient_id, owner_id, idempotency_key, "
                              "pipeline",
                              json_quote(name)));
    }
    MR_TRY_VOID(take_field(*field->second, name, value));
  }
  return ok();
}

// The digest that a client says the body has.
Result<Expected> expected_of(const Call& call) {
  Expected expected;
  for (const auto* name : {"Content-Digest", "Repr-Digest"}) {
    const auto header = call.parameters.text(name);
    if (!header) continue;
    MR_TRY(const auto digest, parse_content_digest(*header));
    if (digest && expected.sha256.value_or(*digest) != *digest) {
      return fail(ErrorKind::invalid_argument,
                  "Content-Digest and Repr-Digest must not contradict each other");
    }
    if (digest) expected.sha256 = digest;
  }
  return expected;
}

Task<Reply> receive_form(Call& call, UploadEngine& engine, FileFields fields) {
  MR_CO_TRY(const auto form, FormContent::make(call));
  MR_CO_TRY(const auto expected, expected_of(call));
  if (expected.sha256) form->expect(*expected.sha256);
  MR_CO_TRY_VOID(co_await form->read_fields());
  MR_CO_TRY_VOID(add_form_fields(fields, form->fields()));
  if (fields.file_name.empty()) fields.file_name = form->file_name();
  fields.content_type = form->content_type();
  MR_CO_TRY(auto upload, new_file(call, fields));
  upload.reserve_bytes = static_cast<std::int64_t>(form->size_at_most().value_or(0));
  MR_CO_TRY(auto answer,
            co_await engine.receive(call.context(), std::move(upload), *form, Expected{}));
  co_return file_created(call, std::move(answer));
}

// The name in Content-Disposition, where the URL has none.
std::string name_in_header(const Call& call) {
  const auto header = call.request.header("content-disposition");
  if (!header) return {};
  const auto disposition = http::parse_content_disposition(*header);
  return disposition ? disposition->file_name.value_or(std::string()) : std::string();
}

Task<Reply> receive_body(Call& call, UploadEngine& engine, FileFields fields) {
  if (fields.file_name.empty()) fields.file_name = name_in_header(call);
  fields.content_type = call.request.header("content-type").value_or(std::string_view());
  MR_CO_TRY(auto upload, new_file(call, fields));
  if (const auto length = call.request.body_length()) {
    upload.size_bytes = static_cast<std::int64_t>(*length);
  }
  MR_CO_TRY(const auto expected, expected_of(call));
  BodyContent content(call);
  MR_CO_TRY(auto answer,
            co_await engine.receive(call.context(), std::move(upload), content, expected));
  co_return file_created(call, std::move(answer));
}

Task<Reply> post_upload(Call& call, UploadEngine& engine) {
  MR_CO_TRY(auto fields, outer_fields(call));
  if (is_form(call)) co_return co_await receive_form(call, engine, std::move(fields));
  co_return co_await receive_body(call, engine, std::move(fields));
}

Task<Reply> put_upload(Call& call, UploadEngine& engine) {
  MR_CO_TRY(auto fields, outer_fields(call));
  MR_CO_TRY_VOID(
      take_field(fields.idempotency_key, "idempotency_key", call.parameters.required("key")));
  co_return co_await receive_body(call, engine, std::move(fields));
}

// Whether there is one of that name, the database says.
bool is_pipeline_name(std::string_view text) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() <= 63 && lower(text.front()) && std::ranges::all_of(text, [&](char c) {
           return lower(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

std::vector<Parameter> upload_parameters() {
  constexpr auto kUuid = R"({"type":"string","format":"uuid"})";
  constexpr auto kDigest = R"({"type":"string","minLength":1,"maxLength":1000})";
  return {{.name = "patient_id",
           .description = "The profile that the file is about; default: the user's own.",
           .schema = kUuid},
          {.name = "owner_id",
           .description = "Of a service: the user whose file it is, where patient_id does not say.",
           .schema = kUuid},
          {.name = "pipeline",
           .description = "What happens to it: guardian (the default), ingest, or a pipeline of "
                          "your own that a worker has.",
           .schema = R"({"type":"string","pattern":"^[a-z][a-z0-9_-]{0,62}$"})"},
          {.name = "file_name",
           .description = "As people call it.",
           .schema = R"({"type":"string","minLength":1,"maxLength":1000})"},
          {.in = In::header,
           .name = "Idempotency-Key",
           .description = "The same key and content give the same file, for as long as it exists.",
           .schema = R"({"type":"string","minLength":1,"maxLength":257})"},
          {.in = In::header,
           .name = "Content-Digest",
           .description = "sha-256=:…: of the body; anything else is refused (RFC 9530).",
           .schema = kDigest},
          {.in = In::header, .name = "Repr-Digest", .description = "The same.", .schema = kDigest}};
}

std::vector<Answer> created_answer() {
  return {{.status = 201, .description = "The file, stored and enqueued.", .schema = "File"}};
}

}  // namespace

Result<store::NewUpload> new_file(const Call& call, const FileFields& fields) {
  store::NewUpload upload;
  upload.kind = store::UploadKind::file;
  MR_TRY(const auto owner, uuid_field(fields.owner_id, "owner_id"));
  MR_TRY(upload.patient, uuid_field(fields.patient_id, "patient_id"));
  MR_TRY(upload.user, user_of(call, owner));
  upload.idempotency_key = fields.idempotency_key.value_or(std::string());
  if (upload.idempotency_key.size() > kKeyMaxBytes) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("idempotency_key must have {} bytes at most", kKeyMaxBytes));
  }
  upload.pipeline = fields.pipeline.value_or(std::string());
  if (!upload.pipeline.empty() && !is_pipeline_name(upload.pipeline)) {
    return fail(ErrorKind::invalid_argument,
                "pipeline must be a name: a letter, then a-z 0-9 _ -, 63 at most");
  }
  upload.file_name = clean_file_name(fields.file_name);
  upload.content_type = fields.content_type;
  upload.correlation_id = call.request.correlation_id;
  upload.traceparent = call.request.trace.traceparent();
  return upload;
}

std::optional<Uuid> uploads_of(const Call& call) {
  if (call.caller.role != identity::Role::authenticated) return std::nullopt;
  // Somebody without a name has no uploads; the nil uuid is nobody's.
  return call.caller.user ? call.caller.user->value : Uuid();
}

Reply file_created(const Call& call, UploadAnswer answer) {
  const auto id = text_member(answer.json, "id");
  call.note("file_id", id);
  if (auto job = text_member(answer.json, "job_id"); !job.empty()) call.note("job_id", job);
  auto reply =
      Reply::json_text(std::move(answer.json), 201).with("Location", "/api/v1/files/" + id);
  if (answer.replayed) reply.headers.emplace_back("Idempotent-Replayed", "true");
  return reply;
}

std::string text_member(const std::string& json, std::string_view name) {
  const auto object = parse_json_object(json);
  const auto* value = object ? object->if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::vector<Operation> upload_operations(UploadEngine& engine, UploadRouteOptions options) {
  const auto access = Access::people(Capability::write);
  auto with_key = upload_parameters();
  with_key.push_back(name_parameter("key", "The idempotency key of the file.", 255));
  with_key.back().private_text = true;  // Clients make it of the file's name (U-03).
  std::vector<Operation> out;
  out.push_back(
      {.id = "uploads.create",
       .method = "POST",
       .path = "/api/v1/uploads",
       .tag = "Files",
       .summary = "Upload a file: a form, or its bytes",
       .description =
           "A form has the fields patient_id, owner_id, idempotency_key and pipeline, and behind "
           "them one file. Any other body is the file itself. The type of the file is what its "
           "content says. Room is reserved before the first byte is read; the answer comes when "
           "content, "
           "file and first job are durable.",
       .access = access,
       .parameters = upload_parameters(),
       .body = RequestBody{.kind = RequestBody::Kind::stream,
                           .schema = {},
                           .content_types = {"multipart/form-data", "*/*"},
                           .required = false},
       .answers = created_answer(),
       .errors = {404, 408, 413, 422, 507},
       .body_max_bytes = blob::kBlobMaxBytes,
       .time_max = options.time_max,
       .handler = [&engine](Call& call) { return post_upload(call, engine); }});
  out.push_back({.id = "uploads.put",
                 .method = "PUT",
                 .path = "/api/v1/uploads/{key}",
                 .tag = "Files",
                 .summary = "Upload a file under an idempotency key",
                 .description = "The body is the file. Doing it again changes nothing.",
                 .access = access,
                 .parameters = std::move(with_key),
                 .body = RequestBody{.kind = RequestBody::Kind::stream,
                                     .schema = {},
                                     .content_types = {"*/*"},
                                     .required = false},
                 .answers = created_answer(),
                 .errors = {404, 408, 413, 422, 507},
                 .body_max_bytes = blob::kBlobMaxBytes,
                 .time_max = options.time_max,
                 .handler = [&engine](Call& call) { return put_upload(call, engine); }});
  return out;
}

}  // namespace millrace::api
