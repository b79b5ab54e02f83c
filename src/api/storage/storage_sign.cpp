#include "api/storage/storage_api.h"
#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::api {
namespace {

constexpr std::string_view kNoObject =
    "Either the object does not exist or you do not have access to it";

struct ObjectName {
  std::string bucket;
  std::string name;

  // What a ticket opens. Another kind of link has another word in front.
  std::string resource() const { return fmt::format("storage/{}/{}", bucket, name); }
};

// Below /storage/v1, and not encoded: supabase-js encodes what it gets. What would end the path
// early is.
std::string path_of(const ObjectName& object) {
  std::string out = fmt::format("/object/sign/{}/", object.bucket);
  for (const char c : object.name) {
    if (c == '?') {
      out += "%3F";
    } else {
      out += c;
    }
  }
  return out;
}

// A URL for somebody who may see the object now. Bound to its tenant also where the caller is
// confined to none: elsewhere another object may have the same name. It ends with its object.
Task<std::string> sign(Call& call, StorageServices services, ObjectName object,
                       std::chrono::seconds ttl) {
  MR_CO_TRY(const auto found,
            co_await services.files.get_object(call.context(), object.bucket, object.name));
  if (found.expires_in) ttl = std::min(ttl, *found.expires_in);
  if (ttl < std::chrono::seconds(1)) {
    co_return fail(
        Error{.kind = ErrorKind::not_found, .message = "object expires", .sqlstate = "MR031"});
  }
  auto holder = call.caller;
  holder.tenant = found.tenant;
  MR_CO_TRY(const auto ticket,
            services.links.make(holder, {.operation = identity::UrlOperation::download,
                                         .resource = object.resource(),
                                         .ttl = ttl}));
  co_return fmt::format("{}?token={}", path_of(object), ticket.text.reveal());
}

std::chrono::seconds ttl_of(const Call& call) {
  return std::chrono::seconds(call.integer("expiresIn").value_or(0));
}

}  // namespace

Task<Reply> storage_sign(Call& call, StorageServices services) {
  MR_CO_TRY(auto url, co_await sign(call, services,
                                    {.bucket = call.parameters.required("bucket"),
                                     .name = call.parameters.required("path")},
                                    ttl_of(call)));
  co_return Reply::json(json::Object{{"signedURL", url}}).with("Cache-Control", "no-store");
}

Task<Reply> storage_sign_many(Call& call, StorageServices services) {
  const auto ttl = ttl_of(call);
  json::Array out;
  for (const auto& path : call.member("paths")->get_array()) {
    std::string name(path.get_string());
    auto url = co_await sign(call, services,
                             {.bucket = call.parameters.required("bucket"), .name = name}, ttl);
    json::Object entry{{"error", nullptr}, {"path", name}, {"signedURL", nullptr}};
    if (url) {
      entry["signedURL"] = *url;
    } else if (url.error().kind == ErrorKind::not_found) {
      entry["error"] = kNoObject;
    } else {
      co_return fail(std::move(url).error());
    }
    out.push_back(std::move(entry));
  }
  co_return Reply::json(out).with("Cache-Control", "no-store");
}

Task<Reply> storage_open_signed(Call& call, StorageServices services) {
  const ObjectName wanted{.bucket = call.parameters.required("bucket"),
                          .name = call.parameters.required("path")};
  MR_CO_TRY(const auto ticket,
            co_await services.links.open(call.parameters.required("token"),
                                         identity::UrlOperation::download, wanted.resource()));
  call.caller = ticket.caller();
  call.note("role", identity::to_string(call.caller.role));
  if (call.caller.tenant) call.note("tenant_id", *call.caller.tenant);
  // What the holder no longer sees, the link no longer opens.
  MR_CO_TRY(auto object,
            co_await services.files.get_object(call.context(), wanted.bucket, wanted.name));
  co_return co_await send_object(call, services, std::move(object));
}

}  // namespace millrace::api
