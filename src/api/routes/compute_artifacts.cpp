#include "api/routes/compute_artifacts.h"

#include "api/raw_json.h"
#include "api/routes/path.h"
#include "api/wire_time.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using PartsPtr = std::shared_ptr<const ComputeParts>;

constexpr JsonLimits kAnswerLimits{.max_bytes = 64 * 1024 * 1024, .max_depth = 128};
constexpr std::string_view kComputeType = "compute_solve";
constexpr std::chrono::seconds kUrlTtl{300};  // I11
constexpr std::size_t kPieceBytes = 64 * 1024;

std::string text_of(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

std::optional<std::string> raw_of(std::string_view text, std::string_view name) {
  const auto raw = raw_member(text, name);
  if (!raw || *raw == "null") return std::nullopt;
  return std::string(*raw);
}

// Where this server is, as the client sees it.
std::string origin_of(const Call& call, const ComputeParts& parts) {
  if (!parts.public_url.empty()) {
    const std::string_view url(parts.public_url);
    return std::string(url.substr(0, url.find_last_not_of('/') + 1));
  }
  if (call.request.host.empty()) return {};
  return fmt::format("{}://{}", call.request.secure ? "https" : "http", call.request.host);
}

struct Link {
  std::string url;
  std::string expires_at;
};

// A link to this server: a ticket that opens this one path, with the caller's own view.
Result<Link> own_link(const Call& call, const ComputeParts& parts, const std::string& path) {
  auto expires_at = identity::instant_of(parts.clock.wall()) + kUrlTtl;
  if (call.caller.expires_at) expires_at = std::min(expires_at, *call.caller.expires_at);
  MR_TRY(
      const auto ticket,
      parts.tickets.make_ticket(identity::StreamTicket{
          .resource = path, .holder = identity::holder_of(call.caller), .expires_at = expires_at}));
  return Link{.url = fmt::format("{}{}?{}={}", origin_of(call, parts), path, kTicketParameter,
                                 ticket.reveal()),
              .expires_at = wire_time(expires_at)};
}

Task<Link> link_of(Call& call, PartsPtr parts, JobId job, json::Object artifact) {
  MR_CO_TRY(const auto key, blob::BlobKey::parse(text_of(artifact, "store_key")));
  MR_CO_TRY(const auto signed_url,
            co_await parts->blobs->signed_url(
                key, blob::SignOptions{.ttl = kUrlTtl,
                                       .content_type = text_of(artifact, "content_type"),
                                       .file_name = text_of(artifact, "file_name")}));
  if (signed_url) {
    co_return Link{.url = signed_url->url.reveal(),
                   .expires_at = wire_time(signed_url->expires_at)};
  }
  co_return own_link(call, *parts, artifact_path(job, text_of(artifact, "id")));
}

Task<Reply> list(Call& call, PartsPtr parts) {
  MR_CO_TRY(auto job, co_await find_compute(call, parts->store));
  json::Array items;
  for (auto& value : job.artifacts) {
    auto& artifact = value.as_object();
    if (parts->blobs != nullptr) {
      MR_CO_TRY(auto link, co_await link_of(call, parts, job.id, artifact));
      artifact["url"] = std::move(link.url);
      artifact["url_expires_at"] = std::move(link.expires_at);
    }
    artifact.erase("store_key");  // For us alone.
    items.push_back(std::move(artifact));
  }
  co_return Reply::json(json::Object{{"items", std::move(items)}})
      .with("Cache-Control", "no-store");
}

Task<void> send(Call& call, blob::BlobReader& reader, std::string content_type,
                std::string file_name) {
  call.response.header("Content-Disposition", blob::content_disposition(file_name));
  call.response.header("Cache-Control", "private, no-store");
  MR_CO_TRY_VOID(co_await call.response.start(200, content_type, reader.left_bytes()));
  std::vector<std::byte> buffer(kPieceBytes);
  for (;;) {
    MR_CO_TRY(const auto size, co_await reader.read(buffer));
    if (size == 0) break;
    MR_CO_TRY_VOID(co_await call.response.write(
        std::string_view(reinterpret_cast<const char*>(buffer.data()), size)));
  }
  co_return co_await call.response.finish();
}

Task<Reply> fetch(Call& call, PartsPtr parts) {
  MR_CO_TRY(const auto job, co_await find_compute(call, parts->store));
  const auto& wanted = call.parameters.required("artifact");
  const auto found = std::ranges::find_if(job.artifacts, [&](const json::Value& value) {
    return text_of(value.as_object(), "id") == wanted;
  });
  if (found == job.artifacts.end() || parts->blobs == nullptr) {
    co_return fail(ErrorKind::not_found, fmt::format("job {} has no such artifact", job.id));
  }
  const auto& artifact = found->as_object();
  MR_CO_TRY(const auto key, blob::BlobKey::parse(text_of(artifact, "store_key")));
  MR_CO_TRY(const auto reader, co_await parts->blobs->open(key, blob::ByteRange{}));
  auto name = text_of(artifact, "file_name");
  if (name.empty()) name = text_of(artifact, "kind");
  auto type = text_of(artifact, "content_type");
  if (type.empty()) type = "application/octet-stream";
  MR_CO_TRY_VOID(co_await send(call, *reader, std::move(type), std::move(name)));
  co_return Reply::done();
}

}  // namespace

std::string artifact_path(const JobId& job, std::string_view artifact) {
  return fmt::format("/jobs/artifacts/{}/{}", job, artifact);
}

Task<ComputeJob> find_compute(Call& call, store::ComputeStore& store) {
  const auto id = call.parameters.id<JobId>("id");
  call.note("job_id", id);
  MR_CO_TRY(const auto text, co_await store.get_result(call.context(), id));
  MR_CO_TRY(const auto object, parse_json_object(text, kAnswerLimits));
  if (text_of(object, "job_type") != kComputeType) {
    co_return fail(ErrorKind::not_found, fmt::format("job {} does not exist", id));
  }
  ComputeJob job{.id = id,
                 .status = text_of(object, "status"),
                 .last_error = raw_of(text, "last_error"),
                 .outputs = raw_of(text, "outputs_json")};
  if (const auto* attempts = object.if_contains("attempts"); attempts && attempts->is_int64()) {
    job.attempts = attempts->get_int64();
  }
  // One that another handler completed has a result, and no outputs.
  if (!job.outputs) job.outputs = raw_of(text, "result");
  if (const auto* list_of = object.if_contains("artifacts"); list_of && list_of->is_array()) {
    job.artifacts = list_of->get_array();
  }
  co_return job;
}

std::vector<Operation> artifact_operations(const PartsPtr& parts) {
  std::vector<Operation> out;
  out.push_back({.id = "compute.artifacts",
                 .method = "GET",
                 .path = "/jobs/artifacts/{id}",
                 .tag = "Compute",
                 .summary = "The files that a computation made, with signed URLs",
                 .access = Access::people(Capability::read),
                 .parameters = {id_parameter("The job.")},
                 .answers = {{.status = 200, .description = "All.", .schema = "Artifacts"}},
                 .handler = [parts](Call& call) { return list(call, parts); }});
  out.push_back({.id = "compute.artifact",
                 .method = "GET",
                 .path = "/jobs/artifacts/{id}/{artifact}",
                 .tag = "Compute",
                 .summary = "One of these files",
                 .access = Access::stream(Capability::read),
                 .parameters = {id_parameter("The job."),
                                Parameter{.in = In::path,
                                          .name = "artifact",
                                          .description = "Its id.",
                                          .schema = R"({"type":"string","format":"uuid"})",
                                          .required = true}},
                 .answers = {{.status = 200,
                              .description = "Its content, in the type it was given.",
                              .content_type = "*/*"}},
                 .errors = {404},
                 .time_max = std::chrono::hours(1),
                 .handler = [parts](Call& call) { return fetch(call, parts); }});
  return out;
}

}  // namespace millrace::api
