// Content that comes piece by piece.
#include "api/upload/upload_impl.h"
#include "base/fault.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::chrono::seconds kRelease{1};  // As short as a lease can be.

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

std::unexpected<Error> too_many_pieces(store::UploadId id) {
  return fail(Error{
      .kind = ErrorKind::invalid_argument,
      .message = fmt::format("upload {} came in too many pieces; send more bytes in each", id),
      .sqlstate = "MR038"});
}

}  // namespace

struct UploadEngine::Impl::Place {
  std::atomic<bool> replaced = false;
  bool finishing = false;  // Guarded by turns_mutex.
};

// One request that appends, until a later one of this process takes its place: its client has
// come back, and the connection this one waits for is dead. One that makes the file is let end:
// what it does takes long and would only be begun again.
struct UploadEngine::Impl::Turn {
  // Nothing while another makes the file.
  static std::unique_ptr<Turn> take(Impl& owner, store::UploadId upload) {
    const std::lock_guard lock(owner.turns_mutex);
    auto& now = owner.turns[upload];
    if (now && now->finishing) return nullptr;
    if (now) now->replaced = true;
    now = std::make_shared<Place>();
    return std::make_unique<Turn>(owner, upload, now);
  }
  Turn(Impl& owner, store::UploadId upload, std::shared_ptr<Place> own)
      : impl(owner), id(upload), place(std::move(own)) {}
  ~Turn() {
    const std::lock_guard lock(impl.turns_mutex);
    const auto found = impl.turns.find(id);
    if (found != impl.turns.end() && found->second == place) impl.turns.erase(found);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool over() const { return place->replaced; }
  // From now on nobody takes its place. False: somebody has.
  bool hold() {
    const std::lock_guard lock(impl.turns_mutex);
    place->finishing = !place->replaced;
    return place->finishing;
  }

  Impl& impl;
  store::UploadId id;
  std::shared_ptr<Place> place;  // Shared with the table, where the next one finds it.
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
  auto taken = co_await services.uploads.take_upload(name.caller, name.id, name.user, own_writer,
                                                     limits.writer_lease);
  if (!taken) {
    if (!has_ended_well(taken.error())) co_return fail(std::move(taken).error());
    co_return co_await already_done(std::move(name), request.offset_bytes);
  }
  if (request.offset_bytes != taken->offset_bytes) {
    if (!has_turn(name.id)) (void)co_await release_writer(name);
    co_return stands_elsewhere(*taken, request.offset_bytes);
  }
  // Only now: who may not go on, or not from there, takes nobody's place.
  const auto turn = Turn::take(*this, name.id);
  if (!turn) co_return somebody_else(name.id);
  auto appended =
      co_await append_pieces(name, *std::move(taken), std::move(request), content, *turn);
  const bool done = appended && appended->upload.state == "done";
  if (done || turn->over()) co_return appended;
  const auto released = co_await release_writer(std::move(name));
  if (appended && released) appended->upload.expires_at = released->expires_at;
  co_return appended;
}

bool UploadEngine::Impl::has_turn(store::UploadId id) {
  const std::lock_guard lock(turns_mutex);
  return turns.contains(id);
}

Task<store::UploadState> UploadEngine::Impl::release_writer(UploadName name) {
  co_return co_await services.uploads.take_upload(name.caller, name.id, name.user, own_writer,
                                                  kRelease);
}

Task<void> UploadEngine::Impl::keep_writer(UploadName name) {
  const auto taken = co_await services.uploads.take_upload(name.caller, name.id, name.user,
                                                           own_writer, limits.writer_lease);
  if (taken || may_pass(taken.error()) || has_ended_well(taken.error())) co_return ok();
  co_return fail(taken.error());
}

Task<Appended> UploadEngine::Impl::already_done(UploadName name, std::int64_t offset_bytes) {
  MR_CO_TRY(auto upload, co_await services.uploads.get_upload(name.caller, name.id, name.user));
  upload.offset_bytes = upload.size_bytes.value_or(upload.offset_bytes);
  if (upload.offset_bytes != offset_bytes) co_return stands_elsewhere(upload, offset_bytes);
  co_return Appended{.upload = std::move(upload)};
}

Task<Appended> UploadEngine::Impl::append_pieces(UploadName name, store::UploadState upload,
                                                 AppendRequest request, ContentSource& content,
                                                 Turn& turn) {
  if (request.size_bytes) {
    MR_CO_TRY_VOID(co_await say_size(name, upload, *request.size_bytes));
  }
  if (upload.parts_left <= 0 && upload.size_bytes != upload.offset_bytes) {
    co_return too_many_pieces(upload.id);
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
      if (!turn.hold()) co_return somebody_else(upload.id);
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
  // Where nothing is missing any more it is said by finishing: until then a client that asks where
  // the upload stands must not take it for done.
  if (size_bytes != upload.offset_bytes) {
    MR_CO_TRY_VOID(
        co_await services.uploads.grow_upload(name.caller, name.id, name.user, 0, size_bytes));
    upload.reserved_bytes = std::max(upload.reserved_bytes, size_bytes);
  }
  upload.size_bytes = size_bytes;
  co_return ok();
}

Task<UploadEngine::Impl::Piece> UploadEngine::Impl::read_piece(UploadName name,
                                                               store::UploadState& upload,
                                                               const AppendRequest& request,
                                                               ContentSource& content,
                                                               const Turn& turn) {
  const auto size_max = size_limit(upload);
  const auto room = std::max<std::int64_t>(size_max - upload.offset_bytes, 0);
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
    const auto needed = upload.offset_bytes + piece.size_bytes + static_cast<std::int64_t>(*got);
    if (needed > upload.reserved_bytes) {
      MR_CO_TRY(upload.reserved_bytes,
                co_await grow(name, upload.reserved_bytes, needed, size_max));
    }
    if (!piece.writer) {
      MR_CO_TRY(piece.writer, co_await services.blobs.create({}));
    }
    MR_CO_TRY_VOID(co_await piece.writer->write(bytes));
    if (checksum) checksum->update(bytes);
    piece.size_bytes += static_cast<std::int64_t>(*got);
    buffer.note(piece.size_bytes);
    if (services.clock.now() - renewed_at < limits.writer_lease / kRenewalsInALease) continue;
    MR_CO_TRY_VOID(co_await keep_writer(name));
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
  const auto call = [this, name = std::move(name), part = std::move(part)] {
    return services.uploads.advance_upload(name.caller, name.id, own_writer, part);
  };
  MR_CO_TRY(upload.offset_bytes, co_await until_known<std::int64_t>(call));
  MR_FAULT("upload.piece_noted");
  co_return ok();
}

}  // namespace millrace::api
