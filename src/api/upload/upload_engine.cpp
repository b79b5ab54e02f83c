#include "api/upload/upload_engine.h"

#include "api/upload/upload_impl.h"

#include <fmt/format.h>

#include <utility>

namespace millrace::api {

bool may_pass(const Error& error) {
  return error.kind == ErrorKind::unavailable || error.kind == ErrorKind::in_doubt ||
         error.kind == ErrorKind::throttled;
}

bool is_stale(const Error& error) { return error.sqlstate == "MR037"; }

bool has_ended_well(const Error& error) {
  return error.sqlstate == "MR028" && error.detail == "done";
}

std::unexpected<Error> must_be_sent_again() {
  return fail(ErrorKind::unavailable, "the content must be sent again");
}

std::int64_t size_limit(const store::UploadState& upload) {
  return upload.size_bytes.value_or(upload.size_max_bytes > 0
                                        ? upload.size_max_bytes
                                        : static_cast<std::int64_t>(blob::kBlobMaxBytes));
}

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

Task<store::FinishedUpload> UploadEngine::Impl::finish(UploadName name, store::StoredBlob blob) {
  const auto call = [this, name = std::move(name), blob = std::move(blob)] {
    return services.uploads.finish_upload(name.caller, name.id, name.user, blob);
  };
  co_return co_await until_known<store::FinishedUpload>(call);
}

Task<void> UploadEngine::Impl::look_for(Error stale) {
  if (stale.detail == "removing") co_return ok();
  const std::string_view detail = stale.detail;
  const auto blank = std::min(detail.find(' '), detail.size());
  const auto removal = Uuid::parse(detail.substr(0, blank));
  const auto key = blob::BlobKey::parse(detail.substr(std::min(blank + 1, detail.size())));
  if (!removal || !key) co_return must_be_sent_again();  // It was stored too long ago.
  const auto found = co_await services.blobs.stat(*key);
  if (!found) co_return must_be_sent_again();
  const auto cleared = co_await services.uploads.clear_removal(key->text(), *removal);
  if (cleared || may_pass(cleared.error())) co_return ok();  // The next call tells.
  co_return fail(cleared.error());
}

UploadEngine::UploadEngine(Services services, Limits limits)
    : impl_(std::make_unique<Impl>(services, limits)) {}
UploadEngine::~UploadEngine() = default;

Task<UploadAnswer> UploadEngine::receive(store::CallContext caller, store::NewUpload upload,
                                         ContentSource& content, Expected expected) {
  return impl_->receive(std::move(caller), std::move(upload), content, expected);
}

Task<store::UploadState> UploadEngine::begin(store::CallContext caller, store::NewUpload upload) {
  if (!upload.ttl) upload.ttl = impl_->limits.resumable_for;
  upload.resumable = true;
  const auto user = upload.user;
  MR_CO_TRY(auto begun, co_await impl_->services.uploads.begin_upload(caller, std::move(upload)));
  if (!begun.upload) co_return fail(ErrorKind::internal, "a resumable upload was not opened");
  auto state = *std::move(begun.upload);
  if (state.size_bytes == 0) {  // There is no piece to wait for.
    MR_CO_TRY_VOID(co_await impl_->complete({std::move(caller), state.id, user}, state, {}));
  }
  co_return state;
}

Task<store::UploadState> UploadEngine::look(store::CallContext caller, store::UploadId id,
                                            std::optional<Uuid> user) {
  MR_CO_TRY(auto upload, co_await impl_->services.uploads.get_upload(std::move(caller), id, user));
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
