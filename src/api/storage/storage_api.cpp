#include "api/storage/storage_api.h"

#include "api/routes/path.h"

#include <utility>

namespace millrace::api {
namespace {

using identity::Capability;
using Verb = Task<Reply> (*)(Call& call, StorageServices services);

OperationHandler verb_of(Verb verb, StorageServices services) {
  return [verb, services](Call& call) { return verb(call, services); };
}

Parameter bucket_parameter() { return name_parameter("bucket", "medical-docs, exports …", 63); }

std::vector<Parameter> object_parameters() {
  return {bucket_parameter(),
          name_parameter("path", "The name of the object: <user id>/<folder>/<file>.", 1024)};
}

void add_download_parameters(std::vector<Parameter>& parameters) {
  parameters.push_back({.name = "download",
                        .description = "Makes it an attachment, of this name where one is given.",
                        .schema = R"({"type":"string","maxLength":255})"});
  parameters.push_back({.name = "cacheNonce",
                        .description = "Means nothing here; caches see another URL.",
                        .schema = R"({"type":"string","maxLength":255})"});
}

Operation operation(std::string id, std::string method, std::string path, std::string summary) {
  Operation out{.id = std::move(id),
                .method = std::move(method),
                .path = "/storage/v1" + std::move(path),
                .tag = "Supabase: storage",
                .summary = std::move(summary),
                .access = Access::people(Capability::read),
                .parameters = {},
                .answers = {},
                .form = Form::storage,
                .handler = {}};
  return out;
}

std::vector<Answer> content_answers() {
  return {{.status = 200, .description = "The content.", .content_type = "*/*"},
          {.status = 206, .description = "The range that was asked for.", .content_type = "*/*"},
          {.status = 304, .description = "The client has it."}};
}

Operation upload(std::string id, std::string method, std::string summary,
                 const StorageOptions& options) {
  auto out =
      operation(std::move(id), std::move(method), "/object/{bucket}/{path...}", std::move(summary));
  out.description =
      "The body is the object, or a form with the fields cacheControl and metadata and behind them "
      "one file, as supabase-js sends a Blob. Users write into the folder of their own id.";
  out.access = Access::people(Capability::write);
  out.parameters = object_parameters();
  out.body = RequestBody{.kind = RequestBody::Kind::stream,
                         .schema = {},
                         .content_types = {"multipart/form-data", "*/*"},
                         .required = false};
  out.answers = {{.status = 200, .description = "Stored.", .schema = "StorageStored"}};
  out.errors = {404, 408, 409, 507};
  out.body_max_bytes = blob::kBlobMaxBytes;
  out.time_max = options.time_max;
  return out;
}

Operation download(std::string id, std::string path, const StorageOptions& options) {
  auto out = operation(std::move(id), "GET", std::move(path), "The content of an object");
  out.parameters = object_parameters();
  add_download_parameters(out.parameters);
  out.answers = content_answers();
  out.errors = {412, 416};
  out.time_max = options.time_max;
  return out;
}

void add_contents(std::vector<Operation>& out, StorageServices services,
                  const StorageOptions& options) {
  auto create = upload("storage.upload", "POST", "Upload an object", options);
  create.parameters.push_back({.in = In::header,
                               .name = "x-upsert",
                               .description = "true: take the place of what is there.",
                               .schema = R"({"enum":["true","false"]})"});
  create.handler = verb_of(storage_upload, services);
  out.push_back(std::move(create));
  auto replace = upload("storage.replace", "PUT", "Replace an object", options);
  replace.handler = verb_of(storage_replace, services);
  out.push_back(std::move(replace));
  auto plain = download("storage.download", "/object/{bucket}/{path...}", options);
  plain.handler = verb_of(storage_download, services);
  out.push_back(std::move(plain));
  auto named = download("storage.download_authenticated",
                        "/object/authenticated/{bucket}/{path...}", options);
  named.handler = verb_of(storage_download, services);
  out.push_back(std::move(named));
  auto open = download("storage.open_signed", "/object/sign/{bucket}/{path...}", options);
  open.summary = "The content of an object, by a signed URL";
  open.access = Access::signature();
  open.parameters.push_back({.name = "token",
                             .description = "Of the URL. Opens this object, until it expires.",
                             .schema = R"({"type":"string","minLength":1,"maxLength":8192})",
                             .required = true});
  open.handler = verb_of(storage_open_signed, services);
  out.push_back(std::move(open));
}

void add_signing(std::vector<Operation>& out, StorageServices services) {
  auto one = operation("storage.sign", "POST", "/object/sign/{bucket}/{path...}",
                       "A URL that opens one object for a while");
  one.parameters = object_parameters();
  one.body = RequestBody{.schema = "StorageSign"};
  one.answers = {{.status = 200, .description = "The URL.", .schema = "StorageSigned"}};
  one.handler = verb_of(storage_sign, services);
  out.push_back(std::move(one));
  auto many = operation("storage.sign_many", "POST", "/object/sign/{bucket}",
                        "URLs for several objects of a bucket");
  many.parameters = {bucket_parameter()};
  many.body = RequestBody{.schema = "StorageSignMany"};
  many.answers = {{.status = 200, .description = "One entry each.", .schema = "StorageSignedMany"}};
  many.handler = verb_of(storage_sign_many, services);
  out.push_back(std::move(many));
}

void add_objects(std::vector<Operation>& out, StorageServices services) {
  auto info = operation("storage.info", "GET", "/object/info/{bucket}/{path...}",
                        "What there is to know of an object");
  info.parameters = object_parameters();
  info.answers = {{.status = 200, .description = "The object.", .schema = "StorageInfo"}};
  info.handler = verb_of(storage_info, services);
  out.push_back(std::move(info));
  auto list = operation("storage.list", "POST", "/object/list/{bucket}",
                        "What lies directly in a folder: objects, and folders without an id");
  list.parameters = {bucket_parameter()};
  list.body = RequestBody{.schema = "StorageList"};
  list.answers = {{.status = 200, .description = "The entries.", .schema = "StorageEntries"}};
  list.handler = verb_of(storage_list, services);
  out.push_back(std::move(list));
  auto remove = operation("storage.remove", "DELETE", "/object/{bucket}", "Remove objects");
  remove.description =
      "Answers those that were removed; what is missing, another's, or the document of a file that "
      "still exists, is left out.";
  remove.access = Access::people(Capability::write);
  remove.parameters = {bucket_parameter()};
  remove.body = RequestBody{.schema = "StorageRemove"};
  remove.answers = {{.status = 200, .description = "What is gone.", .schema = "StorageEntries"}};
  remove.handler = verb_of(storage_remove, services);
  out.push_back(std::move(remove));
}

// As listBuckets() and getBucket() ask. Making and changing them is the operators' business.
void add_buckets(std::vector<Operation>& out, StorageServices services) {
  auto all = operation("storage.buckets", "GET", "/bucket", "All buckets");
  all.answers = {{.status = 200, .description = "The buckets.", .schema = "StorageBuckets"}};
  all.handler = verb_of(storage_buckets, services);
  out.push_back(std::move(all));
  auto one = operation("storage.bucket", "GET", "/bucket/{bucket}", "One bucket");
  one.parameters = {bucket_parameter()};
  one.answers = {{.status = 200, .description = "The bucket.", .schema = "StorageBucket"}};
  one.handler = verb_of(storage_bucket, services);
  out.push_back(std::move(one));
}

}  // namespace

std::vector<Operation> storage_operations(StorageServices services, StorageOptions options) {
  std::vector<Operation> out;
  add_contents(out, services, options);
  add_signing(out, services);
  add_objects(out, services);
  add_buckets(out, services);
  return out;
}

}  // namespace millrace::api
