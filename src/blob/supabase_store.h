// SupabaseStore: blobs as objects of a private bucket in Supabase Storage, by its REST interface.
//
// A write is spooled first; then small ones go in one upload and larger ones by TUS in pieces of
// exactly 6 MiB, as Supabase wants them; both replace what is there under the name, which is the
// same content. The object shows when it is whole. Supabase checks no digest, so the size is looked
// at after a write, and the digest at every read. An upload that nobody finished is removed by
// Supabase when its URL expires: there is nothing to sweep.
//
// What a signed URL says of type and name is not part of Supabase's signature: whoever has the URL
// can ask for another name. Removing is not conditional either, see RemoveOptions.
#pragma once

#include "blob/blob_store.h"
#include "blob/remote_reader.h"
#include "blob/spooled_writer.h"
#include "blob/supabase_dialect.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace millrace::blob {

struct SupabaseOptions {
  std::string url;  // Of the project: "https://ref.supabase.co", or of one's own installation.
  std::string public_url = {};  // In signed URLs, when clients reach the project by another name.
  std::string bucket;
  std::string prefix = {};
  Secret<std::string> api_key;
  // Unset: the api_key, unless that is one of the newer keys (sb_…), which are no bearer tokens.
  Secret<std::string> bearer = {};
  RemoteLimits limits = {};
};

class SupabaseStore final : public BlobStore, private Uploader, private RemoteObjects {
 public:
  // Blocks: makes the spool folder. Does not ask the server anything: see check().
  static Result<std::unique_ptr<SupabaseStore>> make(SupabaseOptions options,
                                                     RemoteServices services);

  std::string_view name() const override { return "supabase"; }
  Task<std::unique_ptr<BlobWriter>> create(PutOptions options) override;
  Task<std::unique_ptr<BlobReader>> open(BlobKey key, ByteRange range) override;
  Task<BlobInfo> stat(BlobKey key) override;
  Task<bool> remove(BlobKey key, RemoveOptions options) override;
  Task<BlobPage> list(ListOptions options) override;
  Task<std::optional<SignedUrl>> signed_url(BlobKey key, SignOptions options) override;
  Task<std::size_t> sweep_staging(Clock::Duration older_than) override;
  Task<void> check() override;

 private:
  struct Entry {
    std::string name;
    bool folder = false;
    std::uint64_t size_bytes = 0;
    Clock::Wall modified;
  };
  struct Folder {  // What is asked of one folder, and how far the answer went.
    std::string path;
    std::string after;         // Only names behind this one.
    std::uint64_t offset = 0;  // Of the first entry not seen, as far as known.
    std::size_t limit = 0;
    bool ended = false;  // Nothing was behind the last answer.
  };

  SupabaseStore(SupabaseOptions options, Endpoint endpoint, Endpoint public_endpoint,
                RemoteServices services);

  std::string object_path(const BlobKey& key, std::string_view verb = {}) const;
  Call get(const BlobKey& key) const override;
  Task<void> check_old(BlobKey key, Clock::Wall before);
  Task<BlobInfo> upload(Upload upload) override;

  // supabase_upload.cpp
  Task<void> put_whole(const Upload* upload);
  Task<void> put_resumable(const Upload* upload);
  Task<std::string> start_resumable(const Upload* upload);
  Task<std::uint64_t> send_piece(const Upload* upload, std::string path, std::uint64_t offset);
  Task<std::uint64_t> resume_offset(std::string path);

  // supabase_list.cpp
  Task<std::vector<Entry>> entries(std::string path, std::uint64_t offset, std::size_t limit);
  Task<std::vector<Entry>> entries_after(Folder* folder);

  SupabaseOptions options_;
  Endpoint public_endpoint_;
  SpoolSpace space_;
  SupabaseDialect dialect_;
  Remote remote_;
};

}  // namespace millrace::blob
