#include "api/storage/object_view.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace millrace::api {
namespace {

json::Value member(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value == nullptr ? json::Value(nullptr) : *value;
}

std::string text(const json::Object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

std::string etag(const json::Object& object) {
  return fmt::format("\"{}\"", text(object, "sha256"));
}

std::string cache_control(const json::Object& object) {
  return fmt::format("max-age={}", text(object, "cache_control"));
}

}  // namespace

json::Object storage_entry(const json::Object& object) {
  const bool folder = member(object, "id").is_null();
  json::Object entry{{"name", member(object, "name")},
                     {"id", member(object, "id")},
                     {"updated_at", member(object, "updated_at")},
                     {"created_at", member(object, "created_at")},
                     {"last_accessed_at", member(object, "updated_at")},
                     {"metadata", nullptr}};
  if (folder) return entry;
  entry["metadata"] = json::Object{{"eTag", etag(object)},
                                   {"size", member(object, "size_bytes")},
                                   {"mimetype", member(object, "content_type")},
                                   {"cacheControl", cache_control(object)},
                                   {"lastModified", member(object, "updated_at")},
                                   {"contentLength", member(object, "size_bytes")},
                                   {"httpStatusCode", 200}};
  return entry;
}

json::Object removed_entry(const json::Object& object) {
  auto entry = storage_entry(object);
  entry["bucket_id"] = member(object, "bucket");
  entry["owner"] = text(object, "owner_id");
  entry["owner_id"] = member(object, "owner_id");
  entry["user_metadata"] = member(object, "user_metadata");
  return entry;
}

json::Object storage_info_of(const json::Object& object) {
  return {{"id", member(object, "id")},
          {"name", member(object, "name")},
          {"version", member(object, "sha256")},
          {"bucket_id", member(object, "bucket")},
          {"size", member(object, "size_bytes")},
          {"content_type", member(object, "content_type")},
          {"cache_control", cache_control(object)},
          {"etag", etag(object)},
          {"metadata", member(object, "user_metadata")},
          {"last_modified", member(object, "updated_at")},
          {"created_at", member(object, "created_at")}};
}

json::Object storage_bucket_of(const json::Object& bucket) {
  return {{"id", member(bucket, "bucket")},
          {"name", member(bucket, "bucket")},
          {"owner", ""},
          {"public", false},
          {"file_size_limit", member(bucket, "file_size_limit")},
          {"allowed_mime_types", member(bucket, "allowed_mime_types")},
          {"created_at", member(bucket, "created_at")},
          {"updated_at", member(bucket, "created_at")}};
}

}  // namespace millrace::api
