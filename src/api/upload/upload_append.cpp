// Content that comes piece by piece.
#include "api/upload/upload_impl.h"
#include "base/fault.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::chrono::seconds kRelease{1};  // As short as a lease can be.
constexpr int kRenewalsInALease = 3;

std::unexpected<Error> somebody_else(store::UploadId id) {
  return fail(Error{.kind = ErrorKind::conflict,
                    .message = fmt::format("another request continues upload {}", id),
                    .sqlstate = "MR029",
                    .hint = {},
                    .detail = "busy"});
}

std::unexpected<Error> stands_elsewhere(const store::UploadState& upload, std::int64_t asked) {
  return fail(Error{.kind = ErrorKind::conflict,
                    .message = fmt::format("upload {} stands at {}, not at {}", upload.id,
                                           upload.offset_bytes, asked),
                    .sqlstate = "MR029",
                    .hint = {},
                    .detail = std::to_string(upload.offset_bytes)});
}

bool has_ended_well(const Error& error) {
  return error.sqlstate == "MR028" && error.detail == "done";
}

}  // namespace

// One request that appends, until a later one of this process takes its place: its client has
// come back, and the connection this one waits for is dead.
struct UploadEngine::Impl::Turn {
  Turn(Impl& owner, store::UploadId upload)
      : impl(owner), id(upload), replaced(std::make_shared<std::atomic<bool>>(false)) {
    const std::lock_guard lock(impl.turns_mutex);
    auto& place = impl.turns[id];
    if (place) *place = true;
    place = replaced;
  }
  ~Turn() {
    const std::lock_guard lock(impl.turns_mutex);
    const auto found = impl.turns.find(id);
    if (found != impl.turns.end() && found->second == replaced) impl.turns.erase(found);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool over() const { return *replaced; }

  Impl& impl;
  store::UploadId id;
  std::shared_ptr<std::atomic<bool>>
      replaced;  // Shared with the table, where the next one finds it.
};

// A part of a request, written and not yet made a blob.
struct UploadEngine::Impl::Piece {
  std::unique_ptr<blob::BlobWriter> writer;  // Nothing: not a byte came.
  std::int64_t size_bytes = 0;
  bool last = false;  // Of the request.
  bool checksum_failed = false;
  std::optional<Error> broken;
};

Task<Appended> UploadEngine::Impl::append(UploadName name, AppendRequest request,
                                          ContentSource& content) {
  const Turn turn(*this, name.id);
  auto taken = co_await services.uploads.take_upload(name.caller, name.id, name.user, own_writer,
                                                     limits.writer_lease);
  if (!taken) {
    if (!has_ended_well(taken.error())) co_return fail(std::move(taken).error());
    co_return co_await already_done(std::move(name), request.offset_bytes);
  }
  auto appended =
      co_await append_pieces(name, *std::move(taken), std::move(request), content, turn);
  const bool done = appended && appended->upload.state == "done";
  if (done || turn.over()) co_return appended;
  // The next request may come to another server.
  const auto released =
      co_await services.uploads.take_upload(name.caller, name.id, name.user, own_writer, kRelease);
  if (appended && released) appended->upload.expires_at = released->expires_at;
  co_return appended;
}

Task<Appended> UploadEngine::Impl::already_done(UploadName name, std::int64_t offset_bytes) {
  MR_CO_TRY(auto upload, co_await services.uploads.get_upload(name.caller, name.id, name.user));
  upload.offset_bytes = upload.size_bytes.value_or(upload.offset_bytes);
  if (upload.offset_bytes != offset_bytes) co_return stands_elsewhere(upload, offset_bytes);
  co_return Appended{.upload = std::move(upload)};
}

Task<Appended> UploadEngine::Impl::append_pieces(UploadName name, store::UploadState upload,
                                                 AppendRequest request, ContentSource& content,
                                                 const Turn& turn) {
  if (request.offset_bytes != upload.offset_bytes) {
    co_return stands_elsewhere(upload, request.offset_bytes);
  }
  if (request.size_bytes) {
    MR_CO_TRY_VOID(co_await say_size(name, upload, *request.size_bytes));
  }
  Appended appended;
  for (;;) {
    MR_CO_TRY(auto piece, co_await read_piece(name, upload, request, content, turn));
    appended.checksum_failed = piece.checksum_failed;
    if (piece.checksum_failed) break;
    std::optional<blob::BlobInfo> info;
    if (piece.writer) {
      MR_CO_TRY(info, co_await piece.writer->finish());
      MR_FAULT("upload.piece_stored");
      if (turn.over()) co_return somebody_else(upload.id);
    }
    // The last piece of all is not noted: an upload of which everything is noted would look done.
    if (upload.size_bytes == upload.offset_bytes + piece.size_bytes) {
      MR_CO_TRY_VOID(co_await complete(name, upload, std::move(info)));
      break;
    }
    if (info) {
      MR_CO_TRY_VOID(co_await note_piece(name, upload, *std::move(info)));
    }
    appended.broken = std::move(piece.broken);
    if (piece.last || appended.broken) break;
  }
  appended.upload = std::move(upload);
  co_return appended;
}

Task<void> UploadEngine::Impl::say_size(UploadName name, store::UploadState& upload,
                                        std::int64_t size_bytes) {
  if (upload.size_bytes == size_bytes) co_return ok();
  if (upload.size_bytes) {
    co_return fail(ErrorKind::invalid_argument,
                   fmt::format("upload {} was announced with {} bytes, and a size that was said "
                               "stays",
                               upload.id, *upload.size_bytes));
  }
  MR_CO_TRY_VOID(
      co_await services.uploads.grow_upload(name.caller, name.id, name.user, 0, size_bytes));
  upload.size_bytes = size_bytes;
  co_return ok();
}

Task<UploadEngine::Impl::Piece> UploadEngine::Impl::read_piece(UploadName name,
                                                               const store::UploadState& upload,
                                                               const AppendRequest& request,
                                                               ContentSource& content,
                                                               const Turn& turn) {
  const auto size_max = upload.size_bytes.value_or(static_cast<std::int64_t>(blob::kBlobMaxBytes));
  const auto room = size_max - upload.offset_bytes;
  const auto limit = request.checksum ? room : std::min(room, limits.piece_bytes);
  std::optional<ChecksumStream> checksum;
  if (request.checksum) checksum.emplace(request.checksum->kind);
  TransferBuffer buffer;
  Piece piece;
  auto renewed_at = services.clock.now();
  while (piece.size_bytes < limit) {
    auto space = buffer.space();
    space = space.first(static_cast<std::size_t>(
        std::min<std::int64_t>(static_cast<std::int64_t>(space.size()), limit - piece.size_bytes)));
    auto got = co_await content.read(space);
    if (turn.over()) co_return somebody_else(upload.id);
    if (!got) {
      piece.broken = std::move(got).error();
      break;
    }
    if (*got == 0) {
      piece.last = true;
      break;
    }
    const auto bytes = space.first(*got);
    if (!piece.writer) {
      MR_CO_TRY(piece.writer, co_await services.blobs.create({}));
    }
    MR_CO_TRY_VOID(co_await piece.writer->write(bytes));
    if (checksum) checksum->update(bytes);
    piece.size_bytes += static_cast<std::int64_t>(*got);
    buffer.note(piece.size_bytes);
    if (services.clock.now() - renewed_at < limits.writer_lease / kRenewalsInALease) continue;
    MR_CO_TRY_VOID(co_await services.uploads.take_upload(name.caller, name.id, name.user,
                                                         own_writer, limits.writer_lease));
    renewed_at = services.clock.now();
  }
  if (piece.size_bytes == room && !piece.last && !piece.broken) {
    std::array<std::byte, 1> more;
    const auto got = co_await content.read(more);
    if (got && *got > 0) co_return too_large(size_max);
    piece.last = true;
  }
  if (!checksum) co_return piece;
  if (piece.broken) {  // Nobody can tell whether what came is what was sent.
    piece.writer.reset();
    piece.size_bytes = 0;
  } else {
    piece.checksum_failed = checksum->finish() != request.checksum->bytes;
  }
  co_return piece;
}

Task<void> UploadEngine::Impl::note_piece(UploadName name, store::UploadState& upload,
                                          blob::BlobInfo info) {
  store::UploadPart part{.offset_bytes = upload.offset_bytes,
                         .size_bytes = static_cast<std::int64_t>(info.size_bytes),
                         .handle = info.key.text()};
  const auto call = [this, name = std::move(name), part] {
    return services.uploads.advance_upload(name.caller, name.id, own_writer, part);
  };
  MR_CO_TRY(upload.offset_bytes, co_await until_known<std::int64_t>(call));
  MR_FAULT("upload.piece_noted");
  upload.parts.push_back(std::move(part));
  co_return ok();
}

Task<void> UploadEngine::Impl::complete(UploadName name, store::UploadState& upload,
                                        std::optional<blob::BlobInfo> last) {
  const bool whole = upload.parts.empty() && last.has_value();
  store::StoredBlob blob;
  if (last) {
    upload.parts.push_back({.offset_bytes = upload.offset_bytes,
                            .size_bytes = static_cast<std::int64_t>(last->size_bytes),
                            .handle = last->key.text()});
  }
  if (whole) {
    MR_CO_TRY(auto type, co_await type_of(upload));
    blob = stored_blob(*last, std::move(type));
  } else {
    MR_CO_TRY(blob, co_await assemble(name, upload));
  }
  MR_FAULT("upload.assembled");
  MR_CO_TRY(upload.answer_json, co_await finish(std::move(name), std::move(blob)));
  MR_FAULT("upload.finished");
  upload.state = "done";
  upload.offset_bytes = upload.size_bytes.value_or(upload.offset_bytes);
  upload.parts.clear();
  co_return ok();
}

Task<store::StoredBlob> UploadEngine::Impl::assemble(UploadName name,
                                                     const store::UploadState& upload) {
  MR_CO_TRY(auto type, co_await type_of(upload));
  blob::PutOptions put{.content_type = type};
  if (upload.size_bytes) put.size_bytes = static_cast<std::uint64_t>(*upload.size_bytes);
  MR_CO_TRY(auto target, co_await services.blobs.create(std::move(put)));
  MR_CO_TRY_VOID(co_await copy_parts(name, upload, *target));
  MR_CO_TRY(const auto info, co_await finish_blob(std::move(name), *target));
  co_return stored_blob(info, std::move(type));
}

Task<std::int64_t> UploadEngine::Impl::copy_parts(UploadName name, const store::UploadState& upload,
                                                  blob::BlobWriter& target) {
  TransferBuffer buffer;
  std::int64_t total = 0;
  auto renewed_at = services.clock.now();
  for (const auto& part : upload.parts) {
    if (part.offset_bytes != total) {
      co_return fail(ErrorKind::internal, "the pieces of an upload do not join");
    }
    MR_CO_TRY(const auto key, blob::BlobKey::parse(part.handle));
    MR_CO_TRY(auto reader, co_await services.blobs.open(key, {}));
    for (;;) {
      MR_CO_TRY(const auto size, co_await reader->read(buffer.space()));
      if (size == 0) break;
      MR_CO_TRY_VOID(co_await target.write(buffer.space().first(size)));
      total += static_cast<std::int64_t>(size);
      buffer.note(total);
      if (services.clock.now() - renewed_at < limits.writer_lease / kRenewalsInALease) continue;
      // Others are kept from doing the same; where they are not, both end with the same content.
      (void)co_await services.uploads.take_upload(name.caller, name.id, name.user, own_writer,
                                                  limits.writer_lease);
      renewed_at = services.clock.now();
    }
  }
  co_return total;
}

Task<std::string> UploadEngine::Impl::type_of(const store::UploadState& upload) {
  ContentHead head;
  if (!upload.parts.empty()) {
    MR_CO_TRY(const auto key, blob::BlobKey::parse(upload.parts.front().handle));
    MR_CO_TRY(auto reader, co_await services.blobs.open(key, {.offset = 0, .length = kSniffBytes}));
    TransferBuffer buffer;
    for (;;) {
      MR_CO_TRY(const auto size, co_await reader->read(buffer.space()));
      if (size == 0) break;
      head.take(buffer.space().first(size));
    }
  }
  co_return head.type(upload.content_type);
}

}  // namespace millrace::api
