#include "blob/azure_store.h"

#include "blob/wire_time.h"
#include "blob/xml.h"
#include "http/retry_after.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::blob {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMebibyte = 1ULL << 20;
constexpr std::uint64_t kBlockMax = 1ULL << 30;
constexpr std::uint64_t kBlocksMax = 50'000;
constexpr auto kClockSkew = 5min;  // A SAS begins that much earlier, for servers that are behind.

std::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

bool is_name(std::string_view name, std::string_view extra) {
  return name.size() >= 3 && name.size() <= 63 && std::ranges::all_of(name, [extra](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || extra.contains(c);
         });
}

Result<BlobInfo> listed_blob(const XmlElement& blob, const BlobKey& key, Clock::Wall now) {
  const auto* properties = blob.child("Properties");
  if (properties == nullptr) return fail(ErrorKind::internal, "azure: a listed blob has no size");
  const auto size_text = properties->value("Content-Length");
  const auto modified = http::parse_http_date(properties->value("Last-Modified"), now);
  std::uint64_t size = 0;
  const auto [end, error] =
      std::from_chars(size_text.data(), size_text.data() + size_text.size(), size);
  if (error != std::errc() || end != size_text.data() + size_text.size() || !modified) {
    return fail(ErrorKind::internal, "azure: a listed blob has no readable size and time");
  }
  return BlobInfo{.key = key, .size_bytes = size, .modified = *modified};
}

// Ids of one blob must be equally long.
std::string block_id(std::uint64_t number, std::uint64_t block_bytes) {
  return to_base64(fmt::format("{:08}-{:016}", number, block_bytes));
}

}  // namespace

AzureStore::AzureStore(AzureOptions options, Endpoint endpoint, Endpoint public_endpoint,
                       AzureAccount account, RemoteServices services)
    : options_(std::move(options)),
      public_endpoint_(std::move(public_endpoint)),
      space_(options_.limits.spool_folder, options_.limits.spool_max_bytes),
      dialect_(std::move(endpoint), std::move(account)),
      remote_("azure", std::move(services), options_.limits, dialect_) {}

Result<std::unique_ptr<AzureStore>> AzureStore::make(AzureOptions options,
                                                     RemoteServices services) {
  if (!is_name(options.account, "")) return refuse("account must be 3 to 63 of a-z 0-9");
  if (!is_name(options.container, "-$")) return refuse("container must be 3 to 63 of a-z 0-9 -");
  if (options.block_bytes < kMebibyte || options.block_bytes > kBlockMax) {
    return refuse("block_bytes must be 1 MiB to 1 GiB");
  }
  auto key = from_base64(options.key.reveal());
  if (!key || key->empty()) return refuse("key must be the account's key in base64");
  MR_TRY(options.prefix, checked_prefix(options.prefix, "prefix"));
  if (options.endpoint.empty()) {
    options.endpoint = fmt::format("https://{}.blob.core.windows.net", options.account);
  }
  MR_TRY(auto endpoint, Endpoint::parse(options.endpoint, "endpoint"));
  auto public_endpoint = endpoint;
  if (!options.public_endpoint.empty()) {
    MR_TRY(public_endpoint, Endpoint::parse(options.public_endpoint, "public_endpoint"));
  }
  MR_TRY_VOID(make_spool_folder(options.limits));
  AzureAccount account{.name = options.account, .key = Secret(*std::move(key))};
  return std::unique_ptr<AzureStore>(new AzureStore(std::move(options), std::move(endpoint),
                                                    std::move(public_endpoint), std::move(account),
                                                    std::move(services)));
}

std::string AzureStore::path_of(const BlobKey& key) const {
  return fmt::format("/{}/{}", options_.container, name_of(key));
}

Call AzureStore::get(const BlobKey& key) const {
  return {.what = fmt::format("get {}", key.text()), .path = path_of(key)};
}

Task<std::unique_ptr<BlobWriter>> AzureStore::create(PutOptions options) {
  return spooled_writer(*this, space_, std::move(options), remote_.disk());
}

Task<std::unique_ptr<BlobReader>> AzureStore::open(BlobKey key, ByteRange range) {
  return open_remote(remote_, *this, key, range);
}

Task<BlobInfo> AzureStore::stat(BlobKey key) {
  Call call{.what = fmt::format("head {}", key.text()), .method = "HEAD", .path = path_of(key)};
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  co_return info_of(answer, key, remote_.wall());
}

Task<bool> AzureStore::remove(BlobKey key, RemoveOptions options) {
  Call call{.what = fmt::format("delete {}", key.text()),
            .method = "DELETE",
            .path = path_of(key),
            .headers = {{"x-ms-delete-snapshots", "include"}},
            .answers = {412}};
  if (options.if_modified_before) {
    // Azure knows seconds only: what may have been written in that very second stays.
    call.headers.emplace_back("If-Unmodified-Since",
                              to_http_date(*options.if_modified_before - 1s));
  }
  const auto answer = co_await remote_.send(std::move(call));
  if (!answer && answer.error().kind == ErrorKind::not_found) co_return true;
  if (!answer) co_return fail(answer.error());
  co_return answer->status != 412;
}

Task<BlobPage> AzureStore::list(ListOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  Call call{.what = "list",
            .path = fmt::format("/{}", options_.container),
            .query = {{"restype", "container"},
                      {"comp", "list"},
                      {"maxresults", fmt::format("{}", options.limit)},
                      {"prefix", fmt::format("{}{}", options_.prefix, kKeyRoot)}}};
  if (!options.cursor.empty()) call.query.emplace_back("marker", options.cursor);
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  MR_CO_TRY(const auto root, parse_xml(answer.body));
  BlobPage page{.blobs = {}, .cursor = std::string(root.value("NextMarker"))};
  const auto* blobs = root.child("Blobs");
  if (blobs == nullptr) co_return page;
  for (const auto& blob : blobs->children) {
    auto name = blob.value("Name");
    if (blob.name != "Blob" || !name.starts_with(options_.prefix)) continue;
    name.remove_prefix(options_.prefix.size());
    const auto key = BlobKey::parse(name);
    if (!key) continue;  // Not ours.
    MR_CO_TRY(auto listed, listed_blob(blob, *key, remote_.wall()));
    page.blobs.push_back(std::move(listed));
  }
  co_return page;
}

Task<std::optional<SignedUrl>> AzureStore::signed_url(BlobKey key, SignOptions options) {
  MR_CO_TRY_VOID(check_options(options));
  const auto now = std::chrono::floor<std::chrono::seconds>(remote_.wall());
  AzureSas sas{.container = options_.container,
               .blob = name_of(key),
               .starts = now - kClockSkew,
               .expires = now + options.ttl,
               .https_only = public_endpoint_.secure(),
               .content_type = options.content_type};
  if (!options.file_name.empty()) {
    sas.content_disposition = content_disposition(options.file_name);
  }
  auto url = fmt::format("{}{}?{}", public_endpoint_.url(), path_of(key),
                         to_query(azure_sas(sas, dialect_.account())));
  co_return SignedUrl{.url = Secret(std::move(url)), .expires_at = sas.expires};
}

Task<std::size_t> AzureStore::sweep_staging(Clock::Duration) { co_return 0; }

Task<void> AzureStore::check() {
  MR_CO_TRY_VOID(co_await list({.limit = 1}));
  co_return ok();
}

Task<BlobInfo> AzureStore::upload(Upload upload) {
  return upload.size_bytes() <= options_.block_bytes ? put_whole(std::move(upload))
                                                     : put_blocks(std::move(upload));
}

Task<BlobInfo> AzureStore::put_whole(Upload upload) {
  MR_CO_TRY(auto part, co_await digested_part(upload.spool, 0, upload.size_bytes(), PartDigest::md5,
                                              remote_.disk()));
  Call call{.what = fmt::format("put {}", upload.key.text()),
            .method = "PUT",
            .path = path_of(upload.key),
            .headers = {{"x-ms-blob-type", "BlockBlob"},
                        {"Content-Type", upload.content_type},
                        {"Content-MD5", part.md5_base64}}};
  call.part = std::move(part);
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return BlobInfo{
      .key = upload.key, .size_bytes = upload.size_bytes(), .modified = remote_.wall()};
}

Task<BlobInfo> AzureStore::put_blocks(Upload upload) {
  MR_CO_TRY(auto ids, co_await send_blocks(&upload));
  const auto committed = co_await commit_blocks(&upload, std::move(ids));
  // Another writer of the same content, with blocks of another size, was quicker: its list dropped
  // our blocks. Then the blob is there, and new.
  const bool dropped = !committed && committed.error().kind == ErrorKind::conflict;
  if (!committed && !dropped) co_return fail(committed.error());
  auto stored = co_await stat(upload.key);
  if (stored && stored->size_bytes != upload.size_bytes()) {
    co_return fail(ErrorKind::internal,
                   fmt::format("azure: put {}: {} bytes were stored, not {}", upload.key.text(),
                               stored->size_bytes, upload.size_bytes()));
  }
  if (!stored && dropped) {
    co_return fail(ErrorKind::unavailable,
                   fmt::format("azure: put {}: its blocks were dropped", upload.key.text()));
  }
  co_return stored;
}

Task<std::vector<std::string>> AzureStore::send_blocks(const Upload* upload) {
  const auto size = upload->size_bytes();
  const auto needed = (size + kBlocksMax - 1) / kBlocksMax;
  const auto block_bytes =
      std::max(options_.block_bytes, (needed + kMebibyte - 1) / kMebibyte * kMebibyte);
  std::vector<std::string> ids;
  for (std::uint64_t offset = 0; offset < size; offset += block_bytes) {
    MR_CO_TRY(auto part,
              co_await digested_part(upload->spool, offset, std::min(block_bytes, size - offset),
                                     PartDigest::md5, remote_.disk()));
    ids.push_back(block_id(ids.size(), block_bytes));
    Call call{.what = fmt::format("put block {} of {}", ids.size(), upload->key.text()),
              .method = "PUT",
              .path = path_of(upload->key),
              .query = {{"comp", "block"}, {"blockid", ids.back()}},
              .headers = {{"Content-MD5", part.md5_base64}}};
    call.part = std::move(part);
    MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  }
  co_return ids;
}

Task<void> AzureStore::commit_blocks(const Upload* upload, std::vector<std::string> ids) {
  std::string body = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>";
  for (const auto& id : ids) body += fmt::format("<Latest>{}</Latest>", id);
  body += "</BlockList>";
  Call call{.what = fmt::format("commit {}", upload->key.text()),
            .method = "PUT",
            .path = path_of(upload->key),
            .query = {{"comp", "blocklist"}},
            .headers = {{"x-ms-blob-content-type", upload->content_type},
                        {"Content-Type", "application/xml"}},
            .body = std::move(body)};
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return ok();
}

}  // namespace millrace::blob
