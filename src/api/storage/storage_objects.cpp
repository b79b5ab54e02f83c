#include "api/storage/object_view.h"
#include "api/storage/storage_api.h"
#include "api/upload/content_reply.h"
#include "api/upload/request_content.h"
#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

constexpr JsonLimits kRowLimits{.max_bytes = 64UL * 1024 * 1024, .max_depth = 64};

using View = json::Object (*)(const json::Object& object);

// An array of rows, each as a client sees it.
Result<Reply> view_rows(std::string_view rows_json, View view) {
  MR_TRY(const auto rows, parse_json(rows_json, kRowLimits));
  const auto* array = rows.if_array();
  if (array == nullptr)
    return fail(ErrorKind::internal, "the database gave rows that are no array");
  json::Array out;
  for (const auto& row : *array) {
    if (const auto* object = row.if_object()) out.push_back(view(*object));
  }
  return Reply::json(out);
}

std::string_view base_name(std::string_view name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

void take_sort(store::ObjectList& list, const json::Value* sort) {
  const auto* object = sort == nullptr ? nullptr : sort->if_object();
  if (object == nullptr) return;
  if (const auto* column = object->if_contains("column");
      column != nullptr && column->is_string()) {
    list.sort = column->get_string();
  }
  const auto* order = object->if_contains("order");
  list.descending = order != nullptr && *order == json::Value("desc");
}

}  // namespace

Task<Reply> send_object(Call& call, StorageServices services, store::StoredObject object) {
  auto content = sent_content(object);
  if (auto control = cache_control_of(object); !control.empty()) {
    content.cache_control = std::move(control);
  }
  if (const auto name = call.parameters.text("download")) {
    content.file_name = clean_file_name(name->empty() ? base_name(object.name) : *name);
  }
  call.note("object_id", object.id);
  return send_content(call, services.blobs, std::move(content));
}

Task<Reply> storage_download(Call& call, StorageServices services) {
  MR_CO_TRY(auto object,
            co_await services.files.get_object(call.context(), call.parameters.required("bucket"),
                                               call.parameters.required("path")));
  co_return co_await send_object(call, services, std::move(object));
}

Task<Reply> storage_info(Call& call, StorageServices services) {
  MR_CO_TRY(const auto object,
            co_await services.files.get_object(call.context(), call.parameters.required("bucket"),
                                               call.parameters.required("path")));
  MR_CO_TRY(const auto row, parse_json_object(object.json));
  co_return Reply::json(storage_info_of(row));
}

Task<Reply> storage_list(Call& call, StorageServices services) {
  store::ObjectList list{.bucket = call.parameters.required("bucket"),
                         .prefix = call.text("prefix").value_or(std::string()),
                         .search = call.text("search").value_or(std::string()),
                         .limit = static_cast<int>(call.integer("limit").value_or(100)),
                         .offset = static_cast<int>(call.integer("offset").value_or(0))};
  take_sort(list, call.member("sortBy"));
  MR_CO_TRY(const auto rows, co_await services.files.list_objects(call.context(), std::move(list)));
  co_return view_rows(rows, storage_entry);
}

Task<Reply> storage_buckets(Call& call, StorageServices services) {
  MR_CO_TRY(const auto rows, co_await services.files.list_buckets(call.context(), std::nullopt));
  co_return view_rows(rows, storage_bucket_of);
}

Task<Reply> storage_bucket(Call& call, StorageServices services) {
  MR_CO_TRY(const auto text, co_await services.files.list_buckets(
                                 call.context(), call.parameters.required("bucket")));
  MR_CO_TRY(const auto rows, parse_json(text, kRowLimits));
  const auto* array = rows.if_array();
  const auto* row = array == nullptr || array->empty() ? nullptr : array->front().if_object();
  if (row == nullptr) {
    co_return fail(Error{
        .kind = ErrorKind::not_found, .message = "bucket does not exist", .sqlstate = "MR031"});
  }
  co_return Reply::json(storage_bucket_of(*row));
}

Task<Reply> storage_remove(Call& call, StorageServices services) {
  std::vector<std::string> names;
  for (const auto& name : call.member("prefixes")->get_array()) {
    names.emplace_back(name.get_string());
  }
  MR_CO_TRY(const auto rows,
            co_await services.files.remove_objects(
                call.context(), call.parameters.required("bucket"), std::move(names)));
  co_return view_rows(rows, removed_entry);
}

}  // namespace millrace::api
