#include "api/routes/tus.h"

#include "api/call.h"
#include "api/problem.h"
#include "api/routes/path.h"
#include "api/upload/request_content.h"
#include "api/wire_time.h"
#include "blob/digest.h"
#include "blob/wire_time.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using store::UploadId;
using store::UploadState;

constexpr std::string_view kPieceType = "application/offset+octet-stream";
constexpr std::string_view kExtensions =
    "creation,creation-with-upload,creation-defer-length,expiration,checksum,termination";
constexpr int kChecksumMismatch = 460;

using Verb = Task<Reply> (*)(Call& call, UploadEngine& engine);

Reply problem(const Call& call, int status, std::string_view code, std::string detail) {
  return problem_reply({.fault = {.status = status, .code = code, .detail = std::move(detail)}},
                       call.operation().form, call.request.correlation_id);
}

// Gone, and not just unknown: the client need not look for it any more.
bool is_gone(const Error& error) { return error.sqlstate == "MR028" && !error.detail.empty(); }

Reply gone(const Call& call) {
  return problem(call, 410, "upload_gone", "the upload was given up or has expired");
}

Task<Reply> run_verb(Call& call, UploadEngine& engine, Verb verb) {
  call.response.header("Tus-Resumable", kTusVersion);
  if (call.parameters.text("Tus-Resumable") != std::string(kTusVersion)) {
    call.response.header("Tus-Version", kTusVersion);
    co_return problem(call, 412, "tus_version", "the header Tus-Resumable must be 1.0.0");
  }
  auto reply = co_await verb(call, engine);
  if (!reply && is_gone(reply.error())) co_return gone(call);
  co_return reply;
}

std::string location_of(const std::string& id) { return fmt::format("{}/{}", kTusPath, id); }

UploadId id_of(const Call& call) { return call.parameters.id<UploadId>("id"); }

// Where an upload stands. The file, once there is one, is named as what the request was about.
Reply&& with_state(Reply&& reply, const UploadState& upload) {
  auto& headers = reply.headers;
  headers.emplace_back("Upload-Offset", std::to_string(upload.offset_bytes));
  if (upload.state != "done")
    headers.emplace_back("Upload-Expires", blob::to_http_date(upload.expires_at));
  if (const auto file = text_member(upload.answer_json, "id"); !file.empty()) {
    headers.emplace_back("Content-Location", "/api/v1/files/" + file);
  }
  if (upload.replayed) headers.emplace_back("Idempotent-Replayed", "true");
  return std::move(reply);
}

Result<std::optional<std::int64_t>> announced_size(const Call& call) {
  const auto size = call.parameters.integer("Upload-Length");
  const auto deferred = call.parameters.text("Upload-Defer-Length");
  if (size.has_value() == deferred.has_value()) {
    return fail(ErrorKind::invalid_argument,
                "one of Upload-Length and Upload-Defer-Length: 1 must be given");
  }
  return size;
}

std::optional<std::string> first_of(const std::map<std::string, std::string>& metadata,
                                    std::initializer_list<const char*> names) {
  for (const auto* name : names) {
    const auto found = metadata.find(name);
    if (found != metadata.end() && !found->second.empty()) return found->second;
  }
  return std::nullopt;
}

Result<store::NewUpload> read_announcement(const Call& call) {
  const auto header = call.parameters.text("Upload-Metadata").value_or(std::string());
  MR_TRY(const auto metadata, parse_tus_metadata(header));
  FileFields fields{
      .patient_id = first_of(metadata, {"patient_id"}),
      .owner_id = first_of(metadata, {"owner_id"}),
      .idempotency_key = first_of(metadata, {"idempotency_key"}),
      .pipeline = first_of(metadata, {"pipeline"}),
      .file_name = first_of(metadata, {"filename", "file_name", "name"}).value_or(std::string()),
      .content_type = first_of(metadata, {"filetype", "content_type", "contentType", "type"})
                          .value_or(std::string())};
  if (const auto key = call.parameters.text("Idempotency-Key"); key && !fields.idempotency_key) {
    MR_TRY(fields.idempotency_key, parse_idempotency_key(*key));
  }
  MR_TRY(auto upload, new_file(call, fields));
  MR_TRY(upload.size_bytes, announced_size(call));
  // HEAD repeats it as it came.
  if (!header.empty()) upload.metadata_json = to_json(json::Object{{"upload_metadata", header}});
  return upload;
}

Result<AppendRequest> read_append(const Call& call, std::int64_t offset) {
  AppendRequest request{.offset_bytes = offset};
  request.size_bytes = call.parameters.integer("Upload-Length");
  if (const auto checksum = call.parameters.text("Upload-Checksum")) {
    MR_TRY(request.checksum, parse_upload_checksum(*checksum));
  }
  return request;
}

// One piece, answered by the state that the upload is in behind it.
Task<Reply> append(Call& call, UploadEngine& engine, UploadId id, AppendRequest request,
                   Reply success) {
  const auto length = call.request.body_length();
  BodyContent content(call);
  MR_CO_TRY(auto appended, co_await engine.append(call.context(), id, uploads_of(call),
                                                  std::move(request), content));
  call.note("upload_id", id);
  call.note("upload_offset", appended.upload.offset_bytes);
  // Nobody is there to read an answer; what came is kept.
  if (appended.broken) co_return fail(*std::move(appended.broken));
  if (appended.checksum_failed) {
    co_return problem(call, kChecksumMismatch, "checksum_mismatch",
                      fmt::format("the {} bytes do not have the checksum that was sent with them",
                                  length ? std::to_string(*length) : std::string("received")));
  }
  co_return with_state(std::move(success), appended.upload);
}

Task<Reply> create(Call& call, UploadEngine& engine) {
  MR_CO_TRY(auto upload, read_announcement(call));
  const auto type = call.request.header("content-type").value_or(std::string_view());
  const bool with_upload = http::same_name(type, kPieceType);
  if (!with_upload && call.request.body_length().value_or(1) > 0) {
    co_return problem(call, 415, "unsupported_media_type",
                      fmt::format("the Content-Type of the first bytes must be {}", kPieceType));
  }
  MR_CO_TRY(auto request, read_append(call, 0));
  request.size_bytes.reset();
  MR_CO_TRY(const auto state, co_await engine.begin(call.context(), std::move(upload)));
  auto created = Reply::empty(201).with("Location", location_of(state.id.to_string()));
  if (!with_upload || state.state == "done") co_return with_state(std::move(created), state);
  co_return co_await append(call, engine, state.id, std::move(request), std::move(created));
}

Task<Reply> patch(Call& call, UploadEngine& engine) {
  const auto type = call.request.header("content-type").value_or(std::string_view());
  if (!http::same_name(type, kPieceType)) {
    co_return problem(call, 415, "unsupported_media_type",
                      fmt::format("the Content-Type must be {}", kPieceType));
  }
  MR_CO_TRY(auto request, read_append(call, call.parameters.integer("Upload-Offset").value_or(0)));
  co_return co_await append(call, engine, id_of(call), std::move(request), Reply::empty(204));
}

bool has_ended(const UploadState& upload) {
  return upload.state != "open" && upload.state != "done";
}

Task<Reply> head(Call& call, UploadEngine& engine) {
  MR_CO_TRY(const auto upload, co_await engine.look(call.context(), id_of(call), uploads_of(call)));
  if (has_ended(upload)) co_return gone(call);
  auto reply = Reply::empty(200).with("Cache-Control", "no-store");
  if (upload.size_bytes) {
    reply.headers.emplace_back("Upload-Length", std::to_string(*upload.size_bytes));
  } else {
    reply.headers.emplace_back("Upload-Defer-Length", "1");
  }
  if (auto metadata = text_member(upload.metadata_json, "upload_metadata"); !metadata.empty()) {
    reply.headers.emplace_back("Upload-Metadata", std::move(metadata));
  }
  co_return with_state(std::move(reply), upload);
}

Task<Reply> show(Call& call, UploadEngine& engine) {
  MR_CO_TRY(const auto upload, co_await engine.look(call.context(), id_of(call), uploads_of(call)));
  if (has_ended(upload)) co_return gone(call);
  json::Object out{{"upload_id", upload.id.to_string()},
                   {"state", upload.state},
                   {"offset_bytes", upload.offset_bytes},
                   {"size_bytes", nullptr},
                   {"expires_at", nullptr},
                   {"file", nullptr}};
  if (upload.size_bytes) out["size_bytes"] = *upload.size_bytes;
  if (upload.state != "done") out["expires_at"] = wire_time(upload.expires_at);
  if (!upload.answer_json.empty()) {
    MR_CO_TRY(out["file"], parse_json(upload.answer_json));
  }
  co_return Reply::json(out).with("Cache-Control", "no-store");
}

Task<Reply> terminate(Call& call, UploadEngine& engine) {
  MR_CO_TRY(const bool given_up,
            co_await engine.abandon(call.context(), id_of(call), uploads_of(call)));
  if (given_up) co_return Reply::empty();
  co_return fail(ErrorKind::conflict, "the upload has become a file; delete the file instead");
}

Task<Reply> discover(Call& call) {
  call.response.header("Tus-Resumable", kTusVersion);
  co_return Reply::empty()
      .with("Tus-Version", std::string(kTusVersion))
      .with("Tus-Extension", std::string(kExtensions))
      .with("Tus-Checksum-Algorithm", std::string(kChecksumKinds));
}

Parameter header(std::string name, std::string description, std::string schema,
                 bool required = false) {
  return {.in = In::header,
          .name = std::move(name),
          .description = std::move(description),
          .schema = std::move(schema),
          .required = required};
}

Parameter version_header() {
  return header("Tus-Resumable", "1.0.0, always; anything else is 412.",
                R"({"type":"string","maxLength":100})");
}

constexpr const char* kBytesSchema = R"({"type":"integer","minimum":0,"maximum":1099511627776})";

Parameter checksum_header() {
  return header("Upload-Checksum", "sha1, sha256 or md5, a blank and the base64 of the digest.",
                R"({"type":"string","minLength":1,"maxLength":200})");
}

OperationHandler verb_of(Verb verb, UploadEngine& engine) {
  return [verb, &engine](Call& call) { return run_verb(call, engine, verb); };
}

RequestBody piece_body(bool required) {
  return {.kind = RequestBody::Kind::stream,
          .schema = {},
          .content_types = {std::string(kPieceType)},
          .required = required};
}

Operation create_operation(UploadEngine& engine, UploadRouteOptions options) {
  return {
      .id = "tus.create",
      .method = "POST",
      .path = std::string(kTusPath),
      .tag = "Files",
      .summary = "Begin a resumable upload",
      .description =
          "tus 1.0. Upload-Metadata may hold filename, filetype, patient_id, owner_id, "
          "idempotency_key and pipeline. First bytes may come along.",
      .access = Access::people(Capability::write),
      .parameters = {version_header(), header("Upload-Length", "Of the whole file.", kBytesSchema),
                     header("Upload-Defer-Length", "1: the length is said later.",
                            R"({"enum":["1"]})"),
                     header("Upload-Metadata", "Names and base64 values, by tus.",
                            R"({"type":"string","maxLength":12000})"),
                     header("Idempotency-Key", "As for other uploads.",
                            R"({"type":"string","minLength":1,"maxLength":257})"),
                     checksum_header()},
      .body = piece_body(false),
      .answers = {{.status = 201, .description = "Location says where it goes on."}},
      .errors = {404, 408, 412, 413, 422, 460, 507},
      .body_max_bytes = blob::kBlobMaxBytes,
      .time_max = options.time_max,
      .handler = verb_of(create, engine)};
}

Operation patch_operation(UploadEngine& engine, UploadRouteOptions options) {
  return {.id = "tus.append",
          .method = "PATCH",
          .path = std::string(kTusPath) + "/{id}",
          .tag = "Files",
          .summary = "More bytes of a resumable upload",
          .access = Access::people(Capability::write),
          .parameters = {id_parameter("The upload."), version_header(),
                         header("Upload-Offset", "Where these bytes begin.", kBytesSchema, true),
                         header("Upload-Length", "Of an upload whose length was left open.",
                                kBytesSchema),
                         checksum_header()},
          .body = piece_body(false),
          .answers = {{.status = 204, .description = "Upload-Offset says where it stands."}},
          .errors = {404, 408, 409, 410, 412, 413, 422, 460, 507},
          .body_max_bytes = blob::kBlobMaxBytes,
          .time_max = options.time_max,
          .handler = verb_of(patch, engine)};
}

}  // namespace

Result<std::map<std::string, std::string>> parse_tus_metadata(std::string_view header) {
  std::map<std::string, std::string> out;
  const auto wrong = [](std::string_view rule) {
    return fail(ErrorKind::invalid_argument, fmt::format("Upload-Metadata: {}", rule));
  };
  while (!header.empty()) {
    const auto comma = std::min(header.find(','), header.size());
    auto pair = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    while (pair.ends_with(' ')) pair.remove_suffix(1);
    const auto blank = std::min(pair.find(' '), pair.size());
    const auto name = pair.substr(0, blank);
    const bool visible = std::ranges::all_of(name, [](char c) { return c > 0x20 && c < 0x7f; });
    if (name.empty() || !visible) return wrong("a name must be visible ASCII");
    auto value = blob::from_base64(pair.substr(std::min(blank + 1, pair.size())));
    if (!value) return wrong("a value must be base64");
    if (value->contains('\0')) return wrong("a value must not hold U+0000");
    if (!out.emplace(name, *std::move(value)).second) return wrong("a name is there twice");
  }
  return out;
}

std::vector<Operation> tus_operations(UploadEngine& engine, UploadRouteOptions options) {
  const auto path = std::string(kTusPath) + "/{id}";
  std::vector<Operation> out;
  out.push_back({.id = "tus.discover",
                 .method = "OPTIONS",
                 .path = std::string(kTusPath),
                 .tag = "Files",
                 .summary = "What of tus this server can do",
                 .access = Access::people(Capability::read),
                 .answers = {{.status = 204, .description = "In headers Tus-*."}},
                 .handler = discover});
  out.push_back(create_operation(engine, options));
  out.push_back(patch_operation(engine, options));
  out.push_back({.id = "tus.offset",
                 .method = "HEAD",
                 .path = path,
                 .tag = "Files",
                 .summary = "Where a resumable upload stands",
                 .access = Access::people(Capability::write),
                 .parameters = {id_parameter("The upload."), version_header()},
                 .answers = {{.status = 200, .description = "Upload-Offset says it."}},
                 .errors = {404, 410, 412},
                 .handler = verb_of(head, engine)});
  out.push_back({.id = "tus.get",
                 .method = "GET",
                 .path = path,
                 .tag = "Files",
                 .summary = "A resumable upload as JSON, with the file once it is there",
                 .access = Access::people(Capability::write),
                 .parameters = {id_parameter("The upload.")},
                 .answers = {{.status = 200, .description = "The upload.", .schema = "Upload"}},
                 .errors = {404, 410},
                 .handler = [&engine](Call& call) { return show(call, engine); }});
  out.push_back({.id = "tus.terminate",
                 .method = "DELETE",
                 .path = path,
                 .tag = "Files",
                 .summary = "Give a resumable upload up",
                 .access = Access::people(Capability::write),
                 .parameters = {id_parameter("The upload."), version_header()},
                 .answers = {{.status = 204, .description = "Its room is free."}},
                 .errors = {404, 409, 410, 412},
                 .handler = verb_of(terminate, engine)});
  return out;
}

}  // namespace millrace::api
