#include "blob/s3_store.h"

#include "blob/wire_time.h"
#include "blob/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

constexpr std::uint64_t kPartMin = 5ULL << 20;
constexpr std::uint64_t kPartMax = 1ULL << 30;

bool is_name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

Result<void> check_s3_options(const S3Options& options) {
  const auto refuse = [](std::string message) {
    return fail(ErrorKind::invalid_argument, std::move(message));
  };
  const auto& bucket = options.bucket;
  if (bucket.size() < 3 || bucket.size() > 63 || !std::ranges::all_of(bucket, is_name_char)) {
    return refuse("bucket must be 3 to 63 of A-Z a-z 0-9 . _ -");
  }
  if (options.region.empty() || !std::ranges::all_of(options.region, is_name_char)) {
    return refuse("region must be a name like eu-central-1");
  }
  if (options.credentials.access_key_id.empty()) return refuse("access_key_id is not set");
  if (options.credentials.secret_access_key.reveal().empty()) {
    return refuse("secret_access_key is not set");
  }
  if (options.part_bytes < kPartMin || options.part_bytes > kPartMax) {
    return refuse("part_bytes must be 5 MiB to 1 GiB");
  }
  return ok();
}

Result<Endpoint> endpoint_of(const S3Options& options, const std::string& url,
                             std::string_view field) {
  const bool amazon = url.empty();
  MR_TRY(auto endpoint,
         Endpoint::parse(amazon ? fmt::format("https://s3.{}.amazonaws.com", options.region) : url,
                         field));
  if (options.path_style.value_or(!amazon)) {
    endpoint.path += "/" + options.bucket;
  } else {
    endpoint.host = fmt::format("{}.{}", options.bucket, endpoint.host);
  }
  return endpoint;
}

Result<BlobInfo> listed_blob(const XmlElement& contents, const BlobKey& key) {
  const auto size_text = contents.value("Size");
  const auto modified = parse_iso_time(contents.value("LastModified"));
  std::uint64_t size = 0;
  const auto [end, error] =
      std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
  if (error != std::errc() || end != size_text.data() + size_text.size() || !modified) {
    return fail(ErrorKind::internal, "s3: a listed object has no readable size and time");
  }
  return BlobInfo{.key = key, .size_bytes = size, .modified = *modified};
}

}  // namespace

S3Store::S3Store(S3Options options, Endpoint endpoint, Endpoint public_endpoint,
                 RemoteServices services)
    : options_(std::move(options)),
      public_endpoint_(std::move(public_endpoint)),
      space_(options_.limits.spool_folder, options_.limits.spool_max_bytes),
      dialect_(std::move(endpoint), options_.credentials, {.region = options_.region}),
      remote_("s3", std::move(services), options_.limits, dialect_) {}

Result<std::unique_ptr<S3Store>> S3Store::make(S3Options options, RemoteServices services) {
  MR_TRY_VOID(check_s3_options(options));
  MR_TRY(options.prefix, checked_prefix(options.prefix, "prefix"));
  MR_TRY(auto endpoint, endpoint_of(options, options.endpoint, "endpoint"));
  auto public_endpoint = endpoint;
  if (!options.public_endpoint.empty()) {
    MR_TRY(public_endpoint, endpoint_of(options, options.public_endpoint, "public_endpoint"));
  }
  MR_TRY_VOID(make_spool_folder(options.limits));
  return std::unique_ptr<S3Store>(new S3Store(std::move(options), std::move(endpoint),
                                              std::move(public_endpoint), std::move(services)));
}

std::string S3Store::path_of(const BlobKey& key) const {
  return fmt::format("/{}{}", options_.prefix, key.text());
}

Call S3Store::get(const BlobKey& key) const {
  return {.what = fmt::format("get {}", key.text()), .path = path_of(key)};
}

Task<std::unique_ptr<BlobWriter>> S3Store::create(PutOptions options) {
  return spooled_writer(*this, space_, std::move(options), remote_.disk());
}

Task<std::unique_ptr<BlobReader>> S3Store::open(BlobKey key, ByteRange range) {
  return open_remote(remote_, *this, key, range);
}

Task<BlobInfo> S3Store::stat(BlobKey key) {
  Call call{.what = fmt::format("head {}", key.text()), .method = "HEAD", .path = path_of(key)};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  co_return info_of(answer, key, remote_.wall());
}

Task<void> S3Store::check_old(BlobKey key, Clock::Wall before) {
  co_return check_older(co_await stat(key), before);
}

Task<bool> S3Store::remove(BlobKey key, RemoveOptions options) {
  Call call{.what = fmt::format("delete {}", key.text()),
            .method = "DELETE",
            .path = path_of(key),
            .answers = {404}};
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

Task<BlobPage> S3Store::list(ListOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  Call call{.what = "list",
            .query = {{"list-type", "2"},
                      {"max-keys", fmt::format("{}", options.limit)},
                      {"prefix", fmt::format("{}{}", options_.prefix, kKeyRoot)}}};
  if (!options.cursor.empty()) call.query.emplace_back("continuation-token", options.cursor);
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  MR_CO_TRY(const auto root, parse_xml(answer.body));
  BlobPage page;
  for (const auto& contents : root.children) {
    if (contents.name != "Contents") continue;
    auto name = contents.value("Key");
    if (!name.starts_with(options_.prefix)) continue;
    name.remove_prefix(options_.prefix.size());
    const auto key = BlobKey::parse(name);
    if (!key) continue;  // Not ours.
    MR_CO_TRY(auto blob, listed_blob(contents, *key));
    page.blobs.push_back(std::move(blob));
  }
  if (root.value("IsTruncated") == "true") page.cursor = root.value("NextContinuationToken");
  co_return page;
}

Task<std::optional<SignedUrl>> S3Store::signed_url(BlobKey key, SignOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  Query query;
  if (!options.content_type.empty()) {
    query.emplace_back("response-content-type", options.content_type);
  }
  if (!options.file_name.empty()) {
    query.emplace_back("response-content-disposition", content_disposition(options.file_name));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(remote_.wall());
  co_return SignedUrl{.url = Secret(dialect_.presigned(public_endpoint_, path_of(key),
                                                       std::move(query), now, options.ttl)),
                      .expires_at = now + options.ttl};
}

// Multipart uploads that nobody completed, page by page: aborting one does not move where the next
// page begins.
Task<std::size_t> S3Store::sweep_staging(Clock::Duration older_than) {
  const auto before =
      remote_.wall() - std::chrono::duration_cast<Clock::Wall::duration>(older_than);
  std::size_t aborted = 0;
  std::string key_marker;
  std::string id_marker;
  for (;;) {
    Call call{.what = "list uploads",
              .query = {{"uploads", ""},
                        {"max-uploads", "1000"},
                        {"prefix", fmt::format("{}{}", options_.prefix, kKeyRoot)}}};
    if (!key_marker.empty()) {
      call.query.emplace_back("key-marker", key_marker);
      call.query.emplace_back("upload-id-marker", id_marker);
    }
    MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
    MR_CO_TRY(const auto root, parse_xml(answer.body));
    for (const auto& upload : root.children) {
      const auto name = upload.value("Key");
      if (upload.name != "Upload" || !name.starts_with(options_.prefix)) continue;
      const auto started = parse_iso_time(upload.value("Initiated"));
      const bool ours = BlobKey::parse(name.substr(options_.prefix.size())).has_value();
      if (!ours || !started || *started >= before) continue;
      MR_CO_TRY_VOID(
          co_await abort_parts(fmt::format("/{}", name), std::string(upload.value("UploadId"))));
      ++aborted;
    }
    if (root.value("IsTruncated") != "true") co_return aborted;
    key_marker = root.value("NextKeyMarker");
    id_marker = root.value("NextUploadIdMarker");
    if (key_marker.empty()) co_return aborted;  // A server that does not say where to go on.
  }
}

Task<void> S3Store::check() {
  MR_CO_TRY_VOID(co_await list({.limit = 1}));
  co_return ok();
}

}  // namespace millrace::blob
