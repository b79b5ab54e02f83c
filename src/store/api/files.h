// FileStore: files, storage objects and exports that a caller may see; one call per SQL function.
//
// A user sees the own ones; another's, another tenant's and what is not there look the same
// (not_found). Rows come as JSON text. An object's JSON has store_key and sha256: the server opens
// the content by them, or signs a URL; neither is for clients. Threading and lifetime: as
// ApiSession, which outlives it.
#pragma once

#include "base/task.h"
#include "store/api/session.h"
#include "store/api/versions.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace::store {

// What the server needs to hand out the content of an object or artifact.
struct StoredObject {
  Uuid id;
  TenantId tenant;
  std::string bucket;
  std::string name;
  std::optional<Uuid> owner;
  std::string sha256;  // Hexadecimal.
  std::string store_key;
  std::int64_t size_bytes = 0;
  std::string content_type;
  std::string cache_control;
  std::string json;  // All of it.
  // How long it may still be had, where it is the file of an export: by the database's clock, in
  // whole seconds, rounded down.
  std::optional<std::chrono::seconds> expires_in = {};
};

struct ObjectList {
  std::string bucket;
  std::string prefix;         // A folder; empty for the root.
  std::string search;         // Names in it that begin so.
  std::string sort = "name";  // Or created_at, updated_at.
  bool descending = false;
  int limit = 100;  // 1 to 1000.
  int offset = 0;   // 0 to 10000.
};

struct FileList {
  std::optional<Uuid> before = {};  // Newest first.
  std::optional<Uuid> patient = {};
  int limit = 50;
};

// An export that is about to be downloaded.
struct Download {
  std::string file_path;  // In bucket exports.
  std::string file_name;
  bool expired = false;  // Then it was not counted.
  std::string json;
};

class FileStore {
 public:
  virtual ~FileStore() = default;

  // With where its first job stands. MR039.
  virtual Task<Versioned> get_file(CallContext caller, Uuid file) = 0;
  virtual Task<std::string> list_files(CallContext caller, FileList list) = 0;
  // With its objects; live jobs are cancelled. The row as it was, in an array, which is empty where
  // it was not the caller's. `wanted`: only while it is in one of these versions (MR040).
  virtual Task<std::string> delete_shell_file(CallContext caller, Uuid file,
                                              WantedVersions wanted) = 0;

  // An array of all of them, or of the one that is named.
  virtual Task<std::string> list_buckets(CallContext caller, std::optional<std::string> name) = 0;
  // MR031.
  virtual Task<StoredObject> get_object(CallContext caller, std::string bucket,
                                        std::string name) = 0;
  // An array; folders have no id.
  virtual Task<std::string> list_objects(CallContext caller, ObjectList list) = 0;
  // An array of those that were removed; what is missing or not the caller's is left out.
  virtual Task<std::string> remove_objects(CallContext caller, std::string bucket,
                                           std::vector<std::string> names) = 0;

  // Exports. MR031 where there is none.
  virtual Task<Download> count_download(CallContext caller, Uuid history) = 0;
  // The same, and nothing is counted: for who only asks whether it is there.
  virtual Task<Download> find_download(CallContext caller, Uuid history) = 0;
  virtual Task<std::string> list_export_history(CallContext caller, std::optional<Uuid> before,
                                                int limit) = 0;
  virtual Task<std::string> delete_export_history(CallContext caller, std::vector<Uuid> ids) = 0;
};

std::unique_ptr<FileStore> make_file_store(ApiSession& session);

}  // namespace millrace::store
