// How a spool becomes an object of a bucket.
#include "blob/s3_store.h"
#include "blob/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace millrace::blob {
namespace {

constexpr std::uint64_t kPartsMax = 10'000;
constexpr std::uint64_t kMebibyte = 1ULL << 20;

std::string base64_of_hex(const std::string& hex) {
  const auto digest = Digest::parse(hex);
  return digest ? digest->base64() : std::string();
}

// So that 10 000 of them suffice, in whole mebibytes.
std::uint64_t part_bytes_for(std::uint64_t size, std::uint64_t wanted) {
  const auto needed = (size + kPartsMax - 1) / kPartsMax;
  return std::max(wanted, (needed + kMebibyte - 1) / kMebibyte * kMebibyte);
}

}  // namespace

struct S3Store::Uploading {
  struct Sent {
    std::string etag;
    std::string sha256_base64;
  };
  std::string path;
  std::string what;
  std::string upload_id;
  std::vector<Sent> parts;
};

Task<BlobInfo> S3Store::upload(Upload upload) {
  return upload.size_bytes() <= options_.part_bytes ? put_whole(std::move(upload))
                                                    : put_parts(std::move(upload));
}

Task<BlobInfo> S3Store::put_whole(Upload upload) {
  Call call{.what = fmt::format("put {}", upload.key.text()),
            .method = "PUT",
            .path = path_of(upload.key),
            .headers = {{"Content-Type", upload.content_type}},
            .part = Part{.spool = upload.spool,
                         .size_bytes = upload.size_bytes(),
                         .sha256_hex = upload.key.sha256.hex()}};
  if (options_.checksums) {
    call.headers.emplace_back("x-amz-checksum-sha256", upload.key.sha256.base64());
  }
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return BlobInfo{
      .key = upload.key, .size_bytes = upload.size_bytes(), .modified = remote_.wall()};
}

Task<BlobInfo> S3Store::put_parts(Upload upload) {
  Uploading uploading{.path = path_of(upload.key), .what = upload.key.text()};
  MR_CO_TRY(uploading.upload_id, co_await start_parts(&upload));
  auto sent = co_await send_parts(&upload, &uploading);
  if (!sent) {
    // The upload is of no use any more; if this fails too, a sweep will find it.
    static_cast<void>(co_await abort_parts(uploading.path, uploading.upload_id));
    co_return fail(std::move(sent).error());
  }
  auto completed = co_await complete_parts(&uploading);
  // An answer was lost and the repeat found no such upload: then it had been completed, or a sweep
  // took it. The object tells.
  const bool gone = !completed && completed.error().kind == ErrorKind::not_found;
  if (!completed && !gone) co_return fail(std::move(completed).error());
  auto stored = co_await stat(upload.key);
  if (!stored && gone && stored.error().kind == ErrorKind::not_found) {
    co_return fail(ErrorKind::unavailable,
                   fmt::format("s3: put {}: the upload was aborted by somebody", uploading.what));
  }
  if (stored && stored->size_bytes != upload.size_bytes()) {
    co_return fail(ErrorKind::internal,
                   fmt::format("s3: put {}: {} bytes were stored, not {}", uploading.what,
                               stored->size_bytes, upload.size_bytes()));
  }
  co_return stored;
}

Task<std::string> S3Store::start_parts(const Upload* upload) {
  Call call{.what = fmt::format("start upload of {}", upload->key.text()),
            .method = "POST",
            .path = path_of(upload->key),
            .query = {{"uploads", ""}},
            .headers = {{"Content-Type", upload->content_type}}};
  if (options_.checksums) call.headers.emplace_back("x-amz-checksum-algorithm", "SHA256");
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  MR_CO_TRY(const auto root, parse_xml(answer.body));
  std::string id(root.value("UploadId"));
  if (id.empty()) co_return fail(ErrorKind::internal, "s3: an upload was started without an id");
  co_return id;
}

Task<void> S3Store::send_parts(const Upload* upload, Uploading* uploading) {
  const auto size = upload->size_bytes();
  const auto part_bytes = part_bytes_for(size, options_.part_bytes);
  for (std::uint64_t offset = 0; offset < size; offset += part_bytes) {
    MR_CO_TRY(auto part,
              co_await digested_part(upload->spool, offset, std::min(part_bytes, size - offset),
                                     PartDigest::sha256, remote_.disk()));
    Uploading::Sent sent{.etag = {}, .sha256_base64 = base64_of_hex(part.sha256_hex)};
    MR_CO_TRY(sent.etag,
              co_await send_part(uploading, std::move(part), uploading->parts.size() + 1));
    uploading->parts.push_back(std::move(sent));
  }
  co_return ok();
}

Task<std::string> S3Store::send_part(const Uploading* uploading, Part part, std::uint64_t number) {
  Call call{
      .what = fmt::format("put part {} of {}", number, uploading->what),
      .method = "PUT",
      .path = uploading->path,
      .query = {{"partNumber", fmt::format("{}", number)}, {"uploadId", uploading->upload_id}}};
  if (options_.checksums) {
    call.headers.emplace_back("x-amz-checksum-sha256", base64_of_hex(part.sha256_hex));
  }
  call.part = std::move(part);
  MR_CO_TRY(const auto answer, co_await remote_.send(std::move(call)));
  std::string etag(answer.header("ETag").value_or(""));
  if (etag.empty()) co_return fail(ErrorKind::internal, "s3: a part was stored without an ETag");
  co_return etag;
}

Task<void> S3Store::complete_parts(const Uploading* uploading) {
  std::string body = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < uploading->parts.size(); ++i) {
    const auto& part = uploading->parts[i];
    body += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag>", i + 1,
                        xml_escape(part.etag));
    if (options_.checksums) {
      body += fmt::format("<ChecksumSHA256>{}</ChecksumSHA256>", part.sha256_base64);
    }
    body += "</Part>";
  }
  body += "</CompleteMultipartUpload>";
  Call call{.what = fmt::format("complete upload of {}", uploading->what),
            .method = "POST",
            .path = uploading->path,
            .query = {{"uploadId", uploading->upload_id}},
            .headers = {{"Content-Type", "application/xml"}},
            .body = std::move(body)};
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return ok();
}

Task<void> S3Store::abort_parts(std::string path, std::string upload_id) {
  Call call{.what = "abort an upload",
            .method = "DELETE",
            .path = std::move(path),
            .query = {{"uploadId", std::move(upload_id)}},
            .answers = {404}};
  MR_CO_TRY_VOID(co_await remote_.send(std::move(call)));
  co_return ok();
}

}  // namespace millrace::blob
