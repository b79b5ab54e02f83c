// make_store: the store that the configuration names.
#pragma once

#include "blob/azure_store.h"
#include "blob/filesystem_store.h"
#include "blob/s3_store.h"
#include "blob/supabase_store.h"

#include <memory>
#include <variant>

namespace millrace::blob {

using StoreOptions = std::variant<FilesystemOptions, S3Options, AzureOptions, SupabaseOptions>;

// Blocks: makes folders. The services outlive the store.
Result<std::unique_ptr<BlobStore>> make_store(StoreOptions options, RemoteServices services);

}  // namespace millrace::blob
