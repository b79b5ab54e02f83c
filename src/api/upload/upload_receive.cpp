// Content that comes in one request.
#include "api/upload/upload_impl.h"
#include "base/either.h"
#include "base/fault.h"
#include "base/json.h"
#include "blob/digest.h"

#include <boost/json/object.hpp>

#include <utility>
#include <variant>

namespace millrace::api {
namespace {

using namespace either;

constexpr std::int64_t kFirstReserveBytes = 1024 * 1024;
constexpr std::int64_t kSpareLeastBytes = 64 * 1024;
constexpr int kRenewalsInALife = 4;

// The upload was given up because nobody could renew it: nothing that the client did or that an id
// of it could tell, and sending the content again helps.
Error as_told(Error error) {
  return error.sqlstate == "MR028" ? must_be_sent_again().error() : std::move(error);
}

std::optional<std::int64_t> size_of(const std::string& json) {
  const auto object = parse_json_object(json);
  const auto* size = object ? object->if_contains("size_bytes") : nullptr;
  if (size == nullptr || !size->is_int64()) return std::nullopt;
  return size->get_int64();
}

}  // namespace

Task<UploadAnswer> UploadEngine::Impl::receive(store::CallContext caller, store::NewUpload upload,
                                               ContentSource& content, Expected expected) {
  upload.ttl = limits.alive_for;
  if (!upload.size_bytes && upload.reserve_bytes == 0) upload.reserve_bytes = kFirstReserveBytes;
  const auto size_bytes = upload.size_bytes;
  UploadName name{.caller = std::move(caller), .id = {}, .user = upload.user};
  MR_CO_TRY(auto begun, co_await services.uploads.begin_upload(name.caller, std::move(upload)));
  MR_FAULT("upload.begun");
  if (!begun.upload) {
    co_return co_await compare(std::move(begun), size_bytes, content, expected);
  }
  name.id = begun.upload->id;
  auto stored = co_await store_content(name, *std::move(begun.upload), content, expected);
  if (!stored) {
    co_await give_up(std::move(name));
    co_return fail(as_told(std::move(stored).error()));
  }
  MR_FAULT("upload.stored");
  auto answer = co_await finish(name, *std::move(stored));
  if (!answer) {
    // In doubt it may be a file by now; then nothing is to be given up.
    if (answer.error().kind != ErrorKind::in_doubt) co_await give_up(std::move(name));
    co_return fail(as_told(std::move(answer).error()));
  }
  MR_FAULT("upload.finished");
  co_return UploadAnswer{.json = std::move(answer->json), .replayed = answer->replayed};
}

Task<store::StoredBlob> UploadEngine::Impl::store_content(UploadName name,
                                                          store::UploadState upload,
                                                          ContentSource& content,
                                                          Expected expected) {
  TransferBuffer buffer;
  std::size_t filled = 0;
  while (filled < kSniffBytes) {
    MR_CO_TRY(const auto size, co_await content.read(buffer.space().subspan(filled)));
    if (size == 0) break;
    filled += size;
  }
  auto type = content_type_of(buffer.space().first(filled), upload.content_type);
  blob::PutOptions put{.content_type = type, .sha256 = expected.sha256};
  if (upload.size_bytes) put.size_bytes = static_cast<std::uint64_t>(*upload.size_bytes);
  MR_CO_TRY(auto writer, co_await services.blobs.create(std::move(put)));
  const auto size = co_await pump(name, std::move(upload), content, *writer, buffer, filled);
  if (!size) {
    (void)co_await writer->abort();
    co_return fail(size.error());
  }
  MR_CO_TRY(const auto info, co_await finish_blob(std::move(name), *writer));
  co_return stored_blob(info, std::move(type));
}

// `filled` bytes wait in the buffer. How many there were in all.
Task<std::int64_t> UploadEngine::Impl::pump(UploadName name, store::UploadState upload,
                                            ContentSource& content, blob::BlobWriter& writer,
                                            TransferBuffer& buffer, std::size_t filled) {
  const auto size_max = size_limit(upload);
  const auto renew_after = limits.alive_for / kRenewalsInALife;
  auto renewed_at = services.clock.now();
  std::int64_t total = 0;
  while (filled > 0) {
    total += static_cast<std::int64_t>(filled);
    if (total > size_max) co_return too_large(size_max);
    if (total > upload.reserved_bytes) {
      MR_CO_TRY(upload.reserved_bytes, co_await grow(name, upload.reserved_bytes, total, size_max));
      renewed_at = services.clock.now();
    }
    MR_CO_TRY_VOID(co_await writer.write(buffer.space().first(filled)));
    MR_FAULT("upload.writing");
    if (services.clock.now() - renewed_at > renew_after) {
      MR_CO_TRY_VOID(co_await renew(name));
      renewed_at = services.clock.now();
    }
    buffer.note(total);
    MR_CO_TRY(filled, co_await content.read(buffer.space()));
  }
  co_return total;
}

// Room for `needed` bytes, and for some more where there is: asking for every piece would cost a
// call each. How much there is now.
Task<std::int64_t> UploadEngine::Impl::grow(UploadName name, std::int64_t reserved,
                                            std::int64_t needed, std::int64_t size_max) {
  auto wanted = reserved + std::clamp(reserved, kFirstReserveBytes, limits.reserve_step_bytes);
  wanted = std::min(size_max, std::max(needed, wanted));
  for (;;) {
    const auto grown = co_await services.uploads.grow_upload(name.caller, name.id, name.user,
                                                             wanted, std::nullopt);
    if (grown) co_return wanted;
    if (grown.error().sqlstate != "MR027" || wanted == needed) co_return fail(grown.error());
    const auto spare = (wanted - needed) / 4;
    wanted = spare < kSpareLeastBytes ? needed : needed + spare;
  }
}

// A store in the network gets the bytes only now, which takes its time.
Task<blob::BlobInfo> UploadEngine::Impl::finish_blob(UploadName name, blob::BlobWriter& writer) {
  auto ended = co_await (writer.finish() || keep_open(std::move(name)));
  co_return std::get<0>(std::move(ended));
}

awaitable<void> UploadEngine::Impl::keep_open(UploadName name) {
  for (;;) {
    co_await services.clock.sleep_for(limits.alive_for / kRenewalsInALife);
    (void)co_await renew(name);
  }
}

Task<void> UploadEngine::Impl::renew(UploadName name) {
  const auto renewed =
      co_await services.uploads.grow_upload(name.caller, name.id, name.user, 0, std::nullopt);
  if (renewed || may_pass(renewed.error())) co_return ok();
  co_return fail(renewed.error());
}

// The room is free at once. Where that cannot be said it is when the upload has expired.
awaitable<void> UploadEngine::Impl::give_up(UploadName name) {
  const auto given =
      co_await services.uploads.abort_upload(std::move(name.caller), name.id, name.user);
  if (!given) {
    services.log.debug("upload_not_given_up",
                       {{"upload_id", name.id}, {"error", given.error().message}});
  }
}

Task<UploadAnswer> UploadEngine::Impl::compare(store::UploadBegun begun,
                                               std::optional<std::int64_t> size_bytes,
                                               ContentSource& content, Expected expected) {
  if (size_bytes && size_bytes != size_of(begun.existing_json)) co_return other_content();
  blob::Sha256Stream sha256;
  TransferBuffer buffer;
  for (;;) {
    MR_CO_TRY(const auto size, co_await content.read(buffer.space()));
    if (size == 0) break;
    sha256.update(buffer.space().first(size));
  }
  const auto digest = sha256.finish();
  if (expected.sha256 && *expected.sha256 != digest) {
    co_return fail(ErrorKind::invalid_argument,
                   "the content does not have the digest that was sent with it");
  }
  if (digest.hex() != begun.existing_sha256) co_return other_content();
  co_return UploadAnswer{.json = std::move(begun.existing_json), .replayed = true};
}

}  // namespace millrace::api
