#include "blob/supabase_store.h"

#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::blob {
namespace {

bool is_name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

Result<Endpoint> endpoint_of(const std::string& url, std::string_view field) {
  MR_TRY(auto endpoint, Endpoint::parse(url, field));
  endpoint.path += "/storage/v1";
  return endpoint;
}

}  // namespace

SupabaseStore::SupabaseStore(SupabaseOptions options, Endpoint endpoint, Endpoint public_endpoint,
                             RemoteServices services)
    : options_(std::move(options)),
      public_endpoint_(std::move(public_endpoint)),
      space_(options_.limits.spool_folder, options_.limits.spool_max_bytes),
      dialect_(std::move(endpoint), options_.api_key, options_.bearer),
      remote_("supabase", std::move(services), options_.limits, dialect_) {}

Result<std::unique_ptr<SupabaseStore>> SupabaseStore::make(SupabaseOptions options,
                                                           RemoteServices services) {
  const auto& bucket = options.bucket;
  if (bucket.empty() || bucket.size() > 100 || !std::ranges::all_of(bucket, is_name_char)) {
    return refuse("bucket must be 1 to 100 of A-Z a-z 0-9 . _ -");
  }
  if (options.api_key.reveal().empty()) return refuse("api_key is not set");
  if (options.bearer.reveal().empty() && !options.api_key.reveal().starts_with("sb_")) {
    options.bearer = options.api_key;
  }
  MR_TRY(options.prefix, checked_prefix(options.prefix, "prefix"));
  MR_TRY(auto endpoint, endpoint_of(options.url, "url"));
  auto public_endpoint = endpoint;
  if (!options.public_url.empty()) {
    MR_TRY(public_endpoint, endpoint_of(options.public_url, "public_url"));
  }
  MR_TRY_VOID(make_spool_folder(options.limits));
  return std::unique_ptr<SupabaseStore>(new SupabaseStore(
      std::move(options), std::move(endpoint), std::move(public_endpoint), std::move(services)));
}

std::string SupabaseStore::object_path(const BlobKey& key, std::string_view verb) const {
  return fmt::format("/object{}/{}/{}{}", verb, options_.bucket, options_.prefix, key.text());
}

Call SupabaseStore::get(const BlobKey& key) const {
  return {.what = fmt::format("get {}", key.text()), .path = object_path(key)};
}

Task<std::unique_ptr<BlobWriter>> SupabaseStore::create(PutOptions options) {
  return spooled_writer(*this, space_, std::move(options), remote_.disk());
}

Task<std::unique_ptr<BlobReader>> SupabaseStore::open(BlobKey key, ByteRange range) {
  return open_remote(remote_, *this, key, range);
}

Task<BlobInfo> SupabaseStore::stat(BlobKey key) {
  Call call{.what = fmt::format("head {}", key.text()),
            .method = "HEAD",
            .path = object_path(key),
            .answers = {400, 404}};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  if (answer.status < 300) co_return info_of(answer, key, remote_.wall());
  // Whatever is wrong is 400, and this answer has no body that says what.
  MR_CO_TRY(const auto stream, co_await remote_.open(get(key)));
  co_return info_of(stream.head(), key, remote_.wall());
}

Task<void> SupabaseStore::check_old(BlobKey key, Clock::Wall before) {
  co_return check_older(co_await stat(key), before);
}

Task<bool> SupabaseStore::remove(BlobKey key, RemoveOptions options) {
  const json::Object body = {{"prefixes", json::Array{options_.prefix + key.text()}}};
  Call call{.what = fmt::format("delete {}", key.text()),
            .method = "DELETE",
            .path = fmt::format("/object/{}", options_.bucket),
            .headers = {{"Content-Type", "application/json"}},
            .body = to_json(body)};
  if (options.if_modified_before) {
    const auto before = *options.if_modified_before;
    const auto old = co_await check_old(key, before);
    if (!old) co_return removal_of(old.error());
    call.before_repeat = [this, key, before] { return check_old(key, before); };
  }
  const auto sent = co_await remote_.send(std::move(call));
  if (!sent) co_return removal_of(sent.error());
  co_return true;
}

Task<std::optional<SignedUrl>> SupabaseStore::signed_url(BlobKey key, SignOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  const json::Object body = {{"expiresIn", options.ttl.count()}};
  Call call{.what = fmt::format("sign {}", key.text()),
            .method = "POST",
            .path = object_path(key, "/sign"),
            .headers = {{"Content-Type", "application/json"}},
            .body = to_json(body)};
  const auto now = std::chrono::floor<std::chrono::seconds>(remote_.wall());
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  MR_CO_TRY(const auto signed_object, parse_json_object(answer.body));
  const auto* path = signed_object.if_contains("signedURL");
  if (path == nullptr || !path->is_string() ||
      !path->get_string().starts_with(object_path(key, "/sign") + "?token=")) {
    co_return fail(ErrorKind::internal, "supabase: the signed URL is not one of the blob");
  }
  auto url = public_endpoint_.url() + std::string(path->get_string());
  if (!options.file_name.empty()) url += "&download=" + percent_encode(options.file_name);
  co_return SignedUrl{.url = Secret(std::move(url)), .expires_at = now + options.ttl};
}

Task<std::size_t> SupabaseStore::sweep_staging(Clock::Duration) { co_return 0; }

Task<void> SupabaseStore::check() {
  Call call{.what = fmt::format("look at bucket {}", options_.bucket),
            .path = fmt::format("/bucket/{}", options_.bucket)};
  const auto answer = co_await remote_.send(std::move(call));
  if (answer) co_return ok();
  auto error = answer.error();
  // Here it is the bucket that is missing.
  if (error.kind == ErrorKind::not_found) error.kind = ErrorKind::internal;
  co_return fail(std::move(error));
}

}  // namespace millrace::blob
