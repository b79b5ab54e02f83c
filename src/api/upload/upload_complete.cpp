// The end of content that came piece by piece: one blob of all pieces, and the file.
#include "api/upload/upload_impl.h"
#include "base/either.h"
#include "base/fault.h"

#include <utility>
#include <variant>

namespace millrace::api {
namespace {

using namespace either;

constexpr int kPartsAtOnce = 1000;

std::unexpected<Error> do_not_join() {
  return fail(ErrorKind::internal, "the pieces of an upload do not join");
}

}  // namespace

// Pieces on their way into one blob.
struct UploadEngine::Impl::Copying {
  blob::BlobWriter& target;
  Clock::Steady renewed_at;
  TransferBuffer buffer = {};
  std::int64_t total_bytes = 0;
};

Task<void> UploadEngine::Impl::complete(UploadName name, store::UploadState& upload,
                                        std::optional<blob::BlobInfo> last) {
  std::optional<blob::BlobKey> last_key;
  if (last) last_key = last->key;
  MR_CO_TRY(auto type, co_await type_of(name, upload, last_key));
  store::StoredBlob blob;
  if (last && upload.offset_bytes == 0) {  // The one piece is all of it.
    blob = stored_blob(*last, std::move(type));
  } else {
    MR_CO_TRY(blob, co_await assemble(name, upload, last_key, std::move(type)));
  }
  MR_FAULT("upload.assembled");
  MR_CO_TRY(auto finished, co_await finish(std::move(name), std::move(blob)));
  MR_FAULT("upload.finished");
  upload.answer_json = std::move(finished.json);
  upload.replayed = finished.replayed;
  upload.state = "done";
  upload.offset_bytes = upload.size_bytes.value_or(upload.offset_bytes);
  co_return ok();
}

Task<store::StoredBlob> UploadEngine::Impl::assemble(UploadName name,
                                                     const store::UploadState& upload,
                                                     std::optional<blob::BlobKey> last,
                                                     std::string type) {
  blob::PutOptions put{.content_type = type};
  if (upload.size_bytes) put.size_bytes = static_cast<std::uint64_t>(*upload.size_bytes);
  MR_CO_TRY(auto target, co_await services.blobs.create(std::move(put)));
  Copying copying{.target = *target, .renewed_at = services.clock.now()};
  MR_CO_TRY_VOID(co_await copy_parts(name, upload, copying));
  if (last) {
    MR_CO_TRY_VOID(co_await copy_part(name, *last, copying));
  }
  // A store in the network gets the bytes only now, which takes its time.
  auto ended = co_await (target->finish() || keep_writing(std::move(name)));
  MR_CO_TRY(const auto info, std::get<0>(std::move(ended)));
  co_return stored_blob(info, std::move(type));
}

Task<void> UploadEngine::Impl::copy_parts(UploadName name, const store::UploadState& upload,
                                          Copying& copying) {
  while (copying.total_bytes < upload.offset_bytes) {
    MR_CO_TRY(const auto parts,
              co_await services.uploads.list_parts(name.caller, name.id, name.user,
                                                   copying.total_bytes, kPartsAtOnce));
    if (parts.empty()) co_return do_not_join();
    for (const auto& part : parts) {
      if (part.offset_bytes != copying.total_bytes) co_return do_not_join();
      MR_CO_TRY(const auto key, blob::BlobKey::parse(part.handle));
      MR_CO_TRY_VOID(co_await copy_part(name, key, copying));
    }
  }
  co_return ok();
}

Task<void> UploadEngine::Impl::copy_part(UploadName name, blob::BlobKey key, Copying& copying) {
  MR_CO_TRY(auto reader, co_await services.blobs.open(key, {}));
  for (;;) {
    MR_CO_TRY(const auto size, co_await reader->read(copying.buffer.space()));
    if (size == 0) co_return ok();
    MR_CO_TRY_VOID(co_await copying.target.write(copying.buffer.space().first(size)));
    copying.total_bytes += static_cast<std::int64_t>(size);
    copying.buffer.note(copying.total_bytes);
    if (services.clock.now() - copying.renewed_at < limits.writer_lease / kRenewalsInALease) {
      continue;
    }
    MR_CO_TRY_VOID(co_await keep_writer(name));
    copying.renewed_at = services.clock.now();
  }
}

// Whoever takes the upload meanwhile comes to the same content: this one need not be stopped.
awaitable<void> UploadEngine::Impl::keep_writing(UploadName name) {
  for (;;) {
    co_await services.clock.sleep_for(limits.writer_lease / kRenewalsInALease);
    (void)co_await keep_writer(name);
  }
}

Task<std::string> UploadEngine::Impl::type_of(UploadName name, const store::UploadState& upload,
                                              std::optional<blob::BlobKey> last) {
  ContentHead head;
  std::int64_t at = 0;
  while (at < upload.offset_bytes && !head.full()) {
    MR_CO_TRY(const auto parts, co_await services.uploads.list_parts(name.caller, name.id,
                                                                     name.user, at, kPartsAtOnce));
    if (parts.empty()) co_return do_not_join();
    for (const auto& part : parts) {
      if (head.full()) break;
      MR_CO_TRY(const auto key, blob::BlobKey::parse(part.handle));
      MR_CO_TRY_VOID(co_await read_head(key, head));
      at = part.offset_bytes + part.size_bytes;
    }
  }
  if (last && !head.full()) {
    MR_CO_TRY_VOID(co_await read_head(*last, head));
  }
  co_return head.type(upload.content_type);
}

Task<void> UploadEngine::Impl::read_head(blob::BlobKey key, ContentHead& head) {
  MR_CO_TRY(auto reader, co_await services.blobs.open(key, {.offset = 0, .length = kSniffBytes}));
  TransferBuffer buffer;
  for (;;) {
    MR_CO_TRY(const auto size, co_await reader->read(buffer.space()));
    if (size == 0) co_return ok();
    head.take(buffer.space().first(size));
  }
}

}  // namespace millrace::api
