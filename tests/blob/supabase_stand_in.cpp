#include "supabase_stand_in.h"

#include "base/clock.h"
#include "base/json.h"
#include "blob/digest.h"
#include "blob/url.h"
#include "blob/wire_time.h"
#include "small_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace millrace::test {
namespace {

using blob::percent_encode;
using Wall = Clock::Wall;

constexpr std::string_view kBase = "/storage/v1";
constexpr std::uint64_t kPieceBytes = 6ULL << 20;
constexpr std::size_t kRemoveMax = 1000;
constexpr std::string_view kTokenSecret = "the stand-in's own";

struct Object {
  std::string bytes;
  std::string type;
  Wall updated;
};

struct TusUpload {
  std::string name;
  std::string type;
  std::uint64_t length = 0;
  std::string bytes;
};

bool good_name(const std::string& name) {
  constexpr std::string_view kMore = "_/!.*'() &$=@;:+,?-";
  return !name.empty() && std::ranges::all_of(name, [kMore](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           kMore.contains(c);
  });
}

// Nearly everything that is wrong is 400; the body tells the truth, as text.
StandInAnswer refuse(int status, std::string_view code, std::string_view error) {
  return {.status = status == 429 || status >= 500 ? status : 400,
          .headers = {{"Content-Type", "application/json"}},
          .body = to_json(json::Object{{"statusCode", std::to_string(status)},
                                       {"error", error},
                                       {"code", code},
                                       {"message", error}})};
}

StandInAnswer json_answer(const json::Value& value) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = to_json(value)};
}

StandInAnswer tus_answer(int status, std::map<std::string, std::string> headers = {}) {
  headers["Tus-Resumable"] = "1.0.0";
  return {.status = status, .headers = std::move(headers)};
}

// "bucketName ZG9jcw==,objectName …"
std::string metadata(const std::string& header, const std::string& name) {
  for (std::size_t start = 0; start < header.size();) {
    const auto end = std::min(header.find(',', start), header.size());
    const auto pair = header.substr(start, end - start);
    if (pair.starts_with(name + " ")) {
      return blob::from_base64(pair.substr(name.size() + 1)).value_or("");
    }
    start = end + 1;
  }
  return {};
}

std::string cut_prefix(const std::string& text, std::string_view prefix) {
  return text.substr(prefix.size());
}

}  // namespace

struct SupabaseStandIn::State {
  explicit State(Options chosen) : options(std::move(chosen)) {}

  Options options;
  std::map<std::string, Object> objects;
  std::map<std::string, TusUpload> uploads;
  std::vector<std::string> requests;
  std::optional<StandInAnswer> next_failure;
  std::string lose;
  std::chrono::seconds ahead{0};
  SystemClock clock;
  int uploads_made = 0;
  int locked = 0;
  std::unique_ptr<SmallServer> server;

  Wall now() const { return clock.wall() + ahead; }

  StandInAnswer handle(const StandInRequest& request) {
    requests.push_back(request.method + " " + request.target);
    if (next_failure) return *std::exchange(next_failure, std::nullopt);
    auto answer = route(request);
    if (lose == request.method) {
      lose.clear();
      answer.lost = true;
    }
    return answer;
  }

  StandInAnswer route(const StandInRequest& request) {
    if (!request.path.starts_with(kBase)) return refuse(404, "RouteNotFound", "Route not found");
    const auto path = cut_prefix(request.path, kBase);
    const bool signed_get = request.method == "GET" && path.starts_with("/object/sign/");
    if (signed_get) return use_signed(request, cut_prefix(path, "/object/sign/"));
    const bool tus_head = request.method == "HEAD" && path.starts_with("/upload/resumable/");
    if (!tus_head && !knows(request)) return refuse(403, "InvalidJWT", "Unauthorized");
    if (path.starts_with("/bucket/")) return look_at_bucket(cut_prefix(path, "/bucket/"));
    if (path.starts_with("/upload/resumable")) return tus(request, path);
    if (path.starts_with("/object/list/")) return list(request, cut_prefix(path, "/object/list/"));
    if (path.starts_with("/object/sign/")) return sign(request, cut_prefix(path, "/object/sign/"));
    if (path.starts_with("/object/")) return object(request, cut_prefix(path, "/object/"));
    return refuse(404, "RouteNotFound", "Route not found");
  }

  // A gateway checks apikey; a bearer must be a token, which the newer keys are not.
  bool knows(const StandInRequest& request) const {
    const auto key = request.header("apikey");
    const auto bearer = request.header("authorization");
    if (key != options.api_key && key != options.jwt) return false;
    if (key == options.api_key) return bearer.empty() || bearer == "Bearer " + options.jwt;
    return bearer == "Bearer " + options.jwt;
  }

  StandInAnswer look_at_bucket(const std::string& bucket) const {
    if (bucket != options.bucket) return refuse(404, "NoSuchBucket", "Bucket not found");
    return json_answer(json::Object{{"id", bucket}, {"name", bucket}, {"public", false}});
  }

  // "bucket/name" or, without a name, "bucket".
  StandInAnswer object(const StandInRequest& request, const std::string& rest) {
    const auto slash = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, slash) != options.bucket) {
      return refuse(404, "NoSuchBucket", "Bucket not found");
    }
    const auto name = slash == rest.size() ? std::string() : rest.substr(slash + 1);
    if (request.method == "DELETE" && name.empty()) return remove(request);
    if (request.method == "POST" || request.method == "PUT") return put(request, name);
    if (request.method == "GET" || request.method == "HEAD") return get(request, name);
    return refuse(404, "RouteNotFound", "Route not found");
  }

  StandInAnswer put(const StandInRequest& request, const std::string& name) {
    if (!good_name(name)) return refuse(400, "InvalidKey", "Invalid key");
    if (request.body.size() > options.size_max_bytes) {
      return refuse(413, "EntityTooLarge", "Payload too large");
    }
    const bool upsert = request.method == "PUT" || request.header("x-upsert") == "true";
    if (objects.contains(name) && !upsert) {
      return refuse(409, "KeyAlreadyExists", "Duplicate");
    }
    objects[name] = {
        .bytes = request.body, .type = request.header("content-type"), .updated = now()};
    return json_answer(json::Object{{"Id", "00000000-0000-0000-0000-000000000001"},
                                    {"Key", options.bucket + "/" + name}});
  }

  StandInAnswer get(const StandInRequest& request, const std::string& name) const {
    const auto found = objects.find(name);
    if (found == objects.end()) return refuse(404, "NoSuchKey", "not_found");
    const auto& [bytes, type, updated] = found->second;
    StandInAnswer answer{.status = 200,
                         .headers = {{"Content-Type", type},
                                     {"Last-Modified", blob::to_http_date(updated)},
                                     {"Content-Length", std::to_string(bytes.size())}},
                         .body = bytes};
    if (const auto download = request.query.find("download"); download != request.query.end()) {
      answer.headers["Content-Disposition"] =
          fmt::format("attachment; filename={}; filename*=UTF-8''{};",
                      percent_encode(download->second), percent_encode(download->second));
    }
    const auto range = request.header("range");
    return range.starts_with("bytes=") ? cut(std::move(answer), range.substr(6)) : answer;
  }

  static StandInAnswer cut(StandInAnswer answer, const std::string& range) {
    const auto size = answer.body.size();
    const auto dash = range.find('-');
    const std::size_t first = std::stoul(range.substr(0, dash));
    const auto last_text = range.substr(dash + 1);
    if (first >= size) {
      return {.status = 416, .headers = {{"Content-Range", fmt::format("bytes */{}", size)}}};
    }
    const auto last = last_text.empty() ? size - 1 : std::min(size - 1, std::stoul(last_text));
    answer.status = 206;
    answer.body = answer.body.substr(first, last - first + 1);
    answer.headers["Content-Length"] = std::to_string(answer.body.size());
    answer.headers["Content-Range"] = fmt::format("bytes {}-{}/{}", first, last, size);
    return answer;
  }

  StandInAnswer remove(const StandInRequest& request) {
    const auto body = parse_json_object(request.body);
    const auto* prefixes = body ? body->if_contains("prefixes") : nullptr;
    if (prefixes == nullptr || !prefixes->is_array() || prefixes->get_array().empty() ||
        prefixes->get_array().size() > kRemoveMax) {
      return refuse(400, "InvalidRequest", "body/prefixes must have 1 to 1000 items");
    }
    json::Array removed;
    for (const auto& prefix : prefixes->get_array()) {
      const std::string name(prefix.as_string());
      if (objects.erase(name) > 0) removed.push_back(json::Object{{"name", name}});
    }
    return json_answer(removed);
  }

  StandInAnswer list(const StandInRequest& request, const std::string& bucket) const {
    const auto body = parse_json_object(request.body);
    const auto* prefix = body ? body->if_contains("prefix") : nullptr;
    if (prefix == nullptr || !prefix->is_string()) {
      return refuse(400, "InvalidRequest", "body must have required property 'prefix'");
    }
    std::string folder(prefix->get_string());
    if (!folder.empty() && !folder.ends_with('/')) folder += '/';
    // One level: objects, and the names of folders once each. A bucket that is not there is empty.
    std::map<std::string, const Object*> found;
    for (const auto& [name, object] : objects) {
      if (bucket != options.bucket || !name.starts_with(folder)) continue;
      const auto rest = name.substr(folder.size());
      const auto slash = rest.find('/');
      found[rest.substr(0, slash)] = slash == std::string::npos ? &object : nullptr;
    }
    const auto number = [&](std::string_view field, std::uint64_t otherwise) {
      const auto* value = body->if_contains(field);
      return value == nullptr ? otherwise : value->to_number<std::uint64_t>();
    };
    const auto offset = number("offset", 0);
    const auto limit = number("limit", 100);
    json::Array entries;
    std::uint64_t index = 0;
    for (const auto& [name, object] : found) {
      if (index++ < offset || entries.size() == limit) continue;
      entries.push_back(entry(name, object));
    }
    return json_answer(entries);
  }

  static json::Object entry(const std::string& name, const Object* object) {
    if (object == nullptr) {
      return {{"name", name},
              {"id", nullptr},
              {"updated_at", nullptr},
              {"created_at", nullptr},
              {"metadata", nullptr}};
    }
    auto time = blob::to_iso_time(object->updated);
    time.insert(time.size() - 1, ".123");
    return {{"name", name},
            {"id", "00000000-0000-0000-0000-000000000002"},
            {"updated_at", time},
            {"created_at", time},
            {"metadata", {{"size", object->bytes.size()}, {"mimetype", object->type}}}};
  }

  // ---- signed URLs

  static std::string token(const std::string& rest, std::int64_t expires) {
    const auto claims = fmt::format("{} {}", rest, expires);
    const auto signature = blob::hmac_sha256(kTokenSecret, claims).hex();
    return fmt::format("eyJ.{}.{}", expires, signature);
  }

  StandInAnswer sign(const StandInRequest& request, const std::string& rest) const {
    const auto body = parse_json_object(request.body);
    const auto* expires_in = body ? body->if_contains("expiresIn") : nullptr;
    if (request.method != "POST" || expires_in == nullptr || !expires_in->is_int64() ||
        expires_in->get_int64() < 1) {
      return refuse(400, "InvalidRequest", "body must have required property 'expiresIn'");
    }
    const auto slash = rest.find('/');
    if (rest.substr(0, slash) != options.bucket) {
      return refuse(404, "NoSuchBucket", "Bucket not found");
    }
    if (!objects.contains(rest.substr(slash + 1))) return refuse(404, "NoSuchKey", "not_found");
    const auto expires = std::chrono::duration_cast<std::chrono::seconds>(
        now().time_since_epoch() + std::chrono::seconds(expires_in->get_int64()));
    return json_answer(json::Object{
        {"signedURL", fmt::format("/object/sign/{}?token={}", percent_encode(rest, "/"),
                                  token(rest, expires.count()))}});
  }

  StandInAnswer use_signed(const StandInRequest& request, const std::string& rest) const {
    const auto given = request.query.find("token");
    if (given == request.query.end()) return refuse(400, "InvalidRequest", "token is required");
    const auto& text = given->second;
    const auto first = text.find('.');
    const auto second = text.find('.', first + 1);
    const auto expires_text = text.substr(first + 1, second - first - 1);
    const bool digits = !expires_text.empty() && expires_text.size() < 16 &&
                        expires_text.find_first_not_of("0123456789") == std::string::npos;
    const std::int64_t expires = digits ? std::stoll(expires_text) : 0;
    if (text != token(rest, expires)) return refuse(400, "InvalidJWT", "invalid signature");
    if (now() >= Wall(std::chrono::seconds(expires))) {
      return refuse(400, "ExpiredToken", "\"exp\" claim timestamp check failed");
    }
    return get(request, rest.substr(rest.find('/') + 1));
  }

  // ---- TUS

  StandInAnswer tus(const StandInRequest& request, const std::string& path) {
    if (request.header("tus-resumable") != "1.0.0") return tus_answer(412);
    if (request.method == "POST") return tus_start(request);
    const auto found = uploads.find(path);
    if (found == uploads.end()) return tus_answer(404);
    auto& upload = found->second;
    const auto offset = std::to_string(upload.bytes.size());
    if (request.method == "HEAD") {
      return tus_answer(
          200, {{"Upload-Offset", offset}, {"Upload-Length", std::to_string(upload.length)}});
    }
    if (request.method != "PATCH") return tus_answer(405);
    if (locked > 0) {
      --locked;
      return tus_answer(409);
    }
    if (request.header("content-type") != "application/offset+octet-stream") return tus_answer(415);
    if (request.header("upload-offset") != offset) return tus_answer(409);
    const auto left = upload.length - upload.bytes.size();
    if (request.body.size() > left) return tus_answer(413);
    if (request.body.size() != kPieceBytes && request.body.size() != left) return tus_answer(400);
    upload.bytes += request.body;
    const auto reached = std::to_string(upload.bytes.size());
    if (upload.bytes.size() == upload.length) {
      objects[upload.name] = {.bytes = upload.bytes, .type = upload.type, .updated = now()};
      // It stays known for a while, so that a repeated request finds where it stands.
    }
    return tus_answer(204, {{"Upload-Offset", reached}});
  }

  StandInAnswer tus_start(const StandInRequest& request) {
    const auto header = request.header("upload-metadata");
    const auto name = metadata(header, "objectName");
    if (metadata(header, "bucketName") != options.bucket) return tus_answer(404);
    if (!good_name(name)) return tus_answer(400);
    TusUpload upload{.name = name,
                     .type = metadata(header, "contentType"),
                     .length = std::stoull(request.header("upload-length"))};
    if (upload.length > options.size_max_bytes) return tus_answer(413);
    if (objects.contains(name) && request.header("x-upsert") != "true") return tus_answer(409);
    const auto path = fmt::format("/upload/resumable/dXBsb2Fk{}", ++uploads_made);
    uploads[path] = std::move(upload);
    // As behind a gateway: the server names itself by a host that nobody outside can reach.
    return tus_answer(201, {{"Location", fmt::format("http://storage.internal:5000{}", path)}});
  }
};

SupabaseStandIn::SupabaseStandIn(boost::asio::io_context& io, Options options)
    : state_(std::make_unique<State>(std::move(options))) {
  state_->server = std::make_unique<SmallServer>(
      io, [state = state_.get()](const StandInRequest& request) { return state->handle(request); });
}

SupabaseStandIn::~SupabaseStandIn() { state_->server.reset(); }

std::string SupabaseStandIn::url() const {
  return fmt::format("http://127.0.0.1:{}", state_->server->port());
}

void SupabaseStandIn::advance(std::chrono::seconds by) { state_->ahead += by; }

void SupabaseStandIn::fail_next(int status, std::string body) {
  state_->next_failure = StandInAnswer{.status = status, .headers = {}, .body = std::move(body)};
}

void SupabaseStandIn::lose_answer_to(std::string method) { state_->lose = std::move(method); }

void SupabaseStandIn::lock_uploads(int times) { state_->locked = times; }

bool SupabaseStandIn::has(const std::string& name) const { return state_->objects.contains(name); }

void SupabaseStandIn::replace(const std::string& name, std::string bytes) {
  state_->objects[name].bytes = std::move(bytes);
}

const std::vector<std::string>& SupabaseStandIn::requests() const { return state_->requests; }

}  // namespace millrace::test
