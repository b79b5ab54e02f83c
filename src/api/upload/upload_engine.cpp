#include "api/upload/upload_engine.h"

#include "api/upload/upload_impl.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {
namespace {

// Its size is known and all bytes of it are noted: the server died when its size was said.
bool waits_for_its_end(const store::UploadState& upload) {
  return upload.state == "open" && upload.size_bytes && *upload.size_bytes == upload.offset_bytes;
}

}  // namespace

std::unexpected<Error> too_large(std::int64_t size_max_bytes) {
  return fail(Error{.kind = ErrorKind::invalid_argument,
                    .message = fmt::format("the upload may have {} bytes at most", size_max_bytes),
                    .sqlstate = "MR038"});
}

std::unexpected<Error> other_content() {
  return fail(Error{.kind = ErrorKind::conflict,
                    .message = "the idempotency key was used before with other content",
                    .sqlstate = "MR011"});
}

store::StoredBlob stored_blob(const blob::BlobInfo& info, std::string content_type) {
  return {.sha256 = info.key.sha256.hex(),
          .size_bytes = static_cast<std::int64_t>(info.size_bytes),
          .content_type = std::move(content_type),
          .store_key = info.key.text(),
          .stored_at = info.modified};
}

UploadEngine::Impl::Impl(Services parts, Limits chosen)
    : services(parts), limits(chosen), own_writer(parts.random.uuid()) {}

Task<std::string> UploadEngine::Impl::finish(UploadName name, store::StoredBlob blob) {
  const auto call = [this, name = std::move(name), blob = std::move(blob)] {
    return services.uploads.finish_upload(name.caller, name.id, name.user, blob);
  };
  co_return co_await until_known<std::string>(call);
}

UploadEngine::UploadEngine(Services services, Limits limits)
    : impl_(std::make_unique<Impl>(services, limits)) {}
UploadEngine::~UploadEngine() = default;

Task<UploadAnswer> UploadEngine::receive(store::CallContext caller, store::NewUpload upload,
                                         ContentSource& content, Expected expected) {
  return impl_->receive(std::move(caller), std::move(upload), content, expected);
}

Task<store::UploadBegun> UploadEngine::begin(store::CallContext caller, store::NewUpload upload) {
  if (!upload.ttl) upload.ttl = impl_->limits.resumable_for;
  const auto user = upload.user;
  MR_CO_TRY(auto begun, co_await impl_->services.uploads.begin_upload(caller, std::move(upload)));
  if (begun.upload && waits_for_its_end(*begun.upload)) {
    MR_CO_TRY_VOID(
        co_await impl_->complete({std::move(caller), begun.upload->id, user}, *begun.upload, {}));
  }
  co_return begun;
}

Task<store::UploadState> UploadEngine::look(store::CallContext caller, store::UploadId id,
                                            std::optional<Uuid> user) {
  MR_CO_TRY(auto upload, co_await impl_->services.uploads.get_upload(caller, id, user));
  if (waits_for_its_end(upload)) {
    MR_CO_TRY_VOID(co_await impl_->complete({std::move(caller), id, user}, upload, {}));
  }
  if (upload.state == "done" && upload.size_bytes) upload.offset_bytes = *upload.size_bytes;
  co_return upload;
}

Task<Appended> UploadEngine::append(store::CallContext caller, store::UploadId id,
                                    std::optional<Uuid> user, AppendRequest request,
                                    ContentSource& content) {
  return impl_->append({std::move(caller), id, user}, std::move(request), content);
}

Task<bool> UploadEngine::abandon(store::CallContext caller, store::UploadId id,
                                 std::optional<Uuid> user) {
  return impl_->services.uploads.abort_upload(std::move(caller), id, user);
}

}  // namespace millrace::api
