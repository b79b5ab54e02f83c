#include "world.h"

#include "base/run.h"
#include "blob/azure_store.h"
#include "blob/filesystem_store.h"
#include "blob/s3_store.h"
#include "blob/supabase_store.h"
#include "child_server.h"
#include "supabase_stand_in.h"
#include "support/must.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace millrace::test {
namespace {

using namespace blob;
using namespace std::chrono_literals;

constexpr std::uint64_t kMebibyte = 1ULL << 20;

// The emulator's account and key are published.
constexpr const char* kAzuriteAccount = "devstoreaccount1";
constexpr const char* kAzuriteKey =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
// Some other key of the same form.
constexpr const char* kWrongAzureKey =
    "AAAAvdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

// A clock that is wrong by a fixed amount: what it signs has expired by now.
class ShiftedClock final : public Clock {
 public:
  ShiftedClock(Clock& clock, Wall::duration by) : clock_(clock), by_(by) {}
  Steady now() const override { return clock_.now(); }
  Wall wall() const override { return clock_.wall() + by_; }
  awaitable<void> sleep_for(Duration duration) override { return clock_.sleep_for(duration); }

 private:
  Clock& clock_;
  Wall::duration by_;
};

// What worlds of stores in the network share.
class RemoteWorld : public World {
 public:
  explicit RemoteWorld(Ground& ground)
      : ground_(ground),
        late_(ground.clock, -2h),
        prefix_("t-" + ground.random.uuid().to_string()) {}

  BlobStore& store() override { return *store_; }

 protected:
  RemoteServices services() {
    return {ground_.client, ground_.disk.get_executor(), ground_.clock, ground_.random};
  }
  RemoteServices late_services() {
    return {ground_.client, ground_.disk.get_executor(), late_, ground_.random};
  }
  RemoteLimits limits() {
    return {.request_timeout = 30s, .attempts_max = 3, .spool_folder = spool_.path()};
  }
  std::string url_of(BlobStore& store, const BlobKey& key) {
    const auto url = must(run_blocking(ground_.io, store.signed_url(key, {.ttl = 60s})));
    return url.value().url.reveal();
  }
  // One request as the dialect signs it; must succeed.
  void send(const Dialect& dialect, Call call) {
    const auto body = call.body;
    if (send_with(dialect, std::move(call), body) >= 300) {
      throw std::runtime_error("the test's own request was refused");
    }
  }
  // The status of a request with another body than the one that was signed.
  int send_with(const Dialect& dialect, Call call, std::string body) {
    auto request = must(dialect.sign(call, ground_.clock.wall()));
    request.body = std::move(body);
    return must(run_blocking(ground_.io, ground_.client.send(std::move(request)))).status;
  }

  Ground& ground_;
  ShiftedClock late_;
  std::string prefix_;
  TemporaryFolder spool_;
  std::unique_ptr<BlobStore> store_;
};

class FilesystemWorld final : public World {
 public:
  explicit FilesystemWorld(Ground& ground)
      : store_(must(FilesystemStore::make({.root = folder_.path()}, ground.disk.get_executor(),
                                          ground.clock, ground.random))) {}

  BlobStore& store() override { return *store_; }
  void overwrite(const BlobKey& key, const std::string& bytes) override {
    std::ofstream(folder_.path() / key.text(), std::ios::binary) << bytes;
  }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<BlobStore> store_;
};

class AzuriteWorld final : public RemoteWorld {
 public:
  explicit AzuriteWorld(Ground& ground) : RemoteWorld(ground) {
    static ChildServer server(
        {node_program(), npm_file("azurite/dist/src/blob/main.js"), "--blobHost", "127.0.0.1",
         "--blobPort", "0", "--inMemoryPersistence", "--extentMemoryLimit", "1024", "--silent",
         "--disableTelemetry"},
        "successfully listens on http://127.0.0.1:");
    endpoint_ = fmt::format("{}/{}", server.url(), kAzuriteAccount);
    static bool made = false;
    if (!std::exchange(made, true)) {
      send(dialect(), {.method = "PUT", .path = "/docs", .query = {{"restype", "container"}}});
    }
    store_ = must(AzureStore::make(options(), services()));
  }

  void overwrite(const BlobKey& key, const std::string& bytes) override {
    send(dialect(), {.method = "PUT",
                     .path = fmt::format("/docs/{}/{}", prefix_, key.text()),
                     .headers = {{"x-ms-blob-type", "BlockBlob"}},
                     .body = bytes});
  }
  int put_altered(const BlobKey& key) override {
    Md5Stream md5;
    md5.update(std::as_bytes(std::span(std::string_view("abc"))));
    Call call{
        .method = "PUT",
        .path = fmt::format("/docs/{}/{}", prefix_, key.text()),
        .headers = {{"x-ms-blob-type", "BlockBlob"}, {"Content-MD5", to_base64(md5.finish())}},
        .body = "abc"};
    return send_with(dialect(), std::move(call), "abd");
  }
  std::unique_ptr<BlobStore> with_wrong_secret() override {
    auto wrong = options();
    wrong.key = Secret<std::string>(kWrongAzureKey);
    return must(AzureStore::make(std::move(wrong), services()));
  }
  std::unique_ptr<BlobStore> with_missing_bucket() override {
    auto wrong = options();
    wrong.container = "missing";
    return must(AzureStore::make(std::move(wrong), services()));
  }
  std::vector<std::string> secrets() const override { return {kAzuriteKey, kWrongAzureKey}; }
  std::map<std::string, std::string> environment() const override {
    return {{"MILLRACE_STORAGE_KIND", "azure"},
            {"MILLRACE_STORAGE_AZURE_ACCOUNT", kAzuriteAccount},
            {"MILLRACE_STORAGE_AZURE_KEY", kAzuriteKey},
            {"MILLRACE_STORAGE_AZURE_CONTAINER", "docs"},
            {"MILLRACE_STORAGE_AZURE_ENDPOINT", endpoint_},
            {"MILLRACE_STORAGE_PREFIX", prefix_}};
  }
  std::string expired_url(const BlobKey& key) override {
    return url_of(*must(AzureStore::make(options(), late_services())), key);
  }

 private:
  AzureOptions options() {
    return {.account = kAzuriteAccount,
            .key = Secret<std::string>(kAzuriteKey),
            .container = "docs",
            .prefix = prefix_,
            .endpoint = endpoint_,
            .block_bytes = kMebibyte,
            .limits = limits()};
  }
  AzureDialect dialect() const {
    return {must(Endpoint::parse(endpoint_, "endpoint")),
            {.name = kAzuriteAccount, .key = Secret(must(from_base64(kAzuriteKey)))}};
  }

  std::string endpoint_;
};

// Any server that speaks S3.
class S3World : public RemoteWorld {
 public:
  S3World(Ground& ground, std::string endpoint, std::string id, std::string secret)
      : RemoteWorld(ground),
        endpoint_(std::move(endpoint)),
        id_(std::move(id)),
        secret_(std::move(secret)) {
    store_ = must(S3Store::make(options(), services()));
  }

  void overwrite(const BlobKey& key, const std::string& bytes) override {
    send(dialect(), {.method = "PUT", .path = path_of(key), .body = bytes});
  }
  int put_altered(const BlobKey& key) override {
    return send_with(dialect(), {.method = "PUT", .path = path_of(key), .body = "abc"}, "abd");
  }
  void abandon_upload(const BlobKey& key) override {
    send(dialect(), {.method = "POST", .path = path_of(key), .query = {{"uploads", ""}}});
  }
  std::unique_ptr<BlobStore> with_wrong_secret() override {
    auto wrong = options();
    wrong.credentials.secret_access_key = Secret<std::string>("not" + secret_);
    return must(S3Store::make(std::move(wrong), services()));
  }
  std::unique_ptr<BlobStore> with_missing_bucket() override {
    auto wrong = options();
    wrong.bucket = "missing";
    return must(S3Store::make(std::move(wrong), services()));
  }
  std::vector<std::string> secrets() const override { return {secret_}; }
  std::map<std::string, std::string> environment() const override {
    return {{"MILLRACE_STORAGE_KIND", "s3"},
            {"MILLRACE_STORAGE_S3_ENDPOINT", endpoint_},
            {"MILLRACE_STORAGE_S3_REGION", "us-east-1"},
            {"MILLRACE_STORAGE_S3_BUCKET", "docs"},
            {"MILLRACE_STORAGE_S3_ACCESS_KEY_ID", id_},
            {"MILLRACE_STORAGE_S3_SECRET_ACCESS_KEY", secret_},
            {"MILLRACE_STORAGE_PREFIX", prefix_}};
  }
  std::string expired_url(const BlobKey& key) override {
    return url_of(*must(S3Store::make(options(), late_services())), key);
  }

 protected:
  S3Options options() {
    return {.endpoint = endpoint_,
            .region = "us-east-1",
            .bucket = "docs",
            .prefix = prefix_,
            .credentials = {.access_key_id = id_,
                            .secret_access_key = Secret<std::string>(secret_),
                            .session_token = {}},
            .part_bytes = 5 * kMebibyte,
            .limits = limits()};
  }
  std::string path_of(const BlobKey& key) const {
    return fmt::format("/{}/{}", prefix_, key.text());
  }
  S3Dialect dialect() const {
    auto endpoint = must(Endpoint::parse(endpoint_, "endpoint"));
    endpoint.path += "/docs";
    return {std::move(endpoint),
            {.access_key_id = id_,
             .secret_access_key = Secret<std::string>(secret_),
             .session_token = {}},
            {.region = "us-east-1"}};
  }

 private:
  std::string endpoint_;
  std::string id_;
  std::string secret_;
};

// Takes any secret for the right one, does not know about uploads that nobody completed.
class S3rverWorld final : public S3World {
 public:
  explicit S3rverWorld(Ground& ground) : S3World(ground, start(), "S3RVER", "S3RVER") {}
  bool can_sweep() const override { return false; }
  std::unique_ptr<BlobStore> with_wrong_secret() override { return nullptr; }

 private:
  static std::string start() {
    static TemporaryFolder folder;
    // Its marks for further pages are made with DES.
    static ChildServer server(
        {node_program(), "--openssl-legacy-provider", npm_file("s3rver/bin/s3rver.js"), "-d",
         folder.path(), "-a", "127.0.0.1", "-p", "0", "--silent", "--configure-bucket", "docs"},
        "S3rver listening on 127.0.0.1:");
    return server.url();
  }
};

// versitygw, a gateway to a file system: checks everything. Its program is named by the
// environment.
constexpr const char* kVersitygwId = "millrace-test";
constexpr const char* kVersitygwSecret = "a-secret-of-about-forty-characters-12345";

class VersitygwWorld final : public S3World {
 public:
  explicit VersitygwWorld(Ground& ground)
      : S3World(ground, start(), kVersitygwId, kVersitygwSecret) {
    static bool made = false;
    if (std::exchange(made, true)) return;
    // It says that it listens a moment before it does: with repeats.
    const auto signs = dialect();
    Remote remote("test", services(), limits(), signs);
    must(run_blocking(ground.io, remote.send({.what = "make the bucket", .method = "PUT"})));
  }

 private:
  static std::string start() {
    const char* program = std::getenv("MILLRACE_VERSITYGW");
    if (program == nullptr) {
      throw std::runtime_error("MILLRACE_VERSITYGW does not name the server: run tools/test_s3");
    }
    static TemporaryFolder folder;
    static ChildServer server(
        {program, "--port", fmt::format("127.0.0.1:{}", free_port()), "--access", kVersitygwId,
         "--secret", kVersitygwSecret, "posix", folder.path()},
        "http://127.0.0.1:");
    return server.url();
  }
};

class SupabaseWorld final : public RemoteWorld {
 public:
  explicit SupabaseWorld(Ground& ground) : RemoteWorld(ground), server_(ground.io, {}) {
    store_ = must(SupabaseStore::make(options(), services()));
  }

  void overwrite(const BlobKey& key, const std::string& bytes) override {
    server_.replace(fmt::format("{}/{}", prefix_, key.text()), bytes);
  }
  std::unique_ptr<BlobStore> with_wrong_secret() override {
    auto wrong = options();
    wrong.api_key = Secret<std::string>("sb_secret_wrong");
    return must(SupabaseStore::make(std::move(wrong), services()));
  }
  std::unique_ptr<BlobStore> with_missing_bucket() override {
    auto wrong = options();
    wrong.bucket = "missing";
    return must(SupabaseStore::make(std::move(wrong), services()));
  }
  std::vector<std::string> secrets() const override { return {"sb_secret_abc", "sb_secret_wrong"}; }
  std::string expired_url(const BlobKey& key) override {
    auto url = url_of(*store_, key);
    server_.advance(61s);
    return url;
  }

 private:
  SupabaseOptions options() {
    return {.url = server_.url(),
            .bucket = "docs",
            .prefix = prefix_,
            .api_key = Secret<std::string>("sb_secret_abc"),
            .limits = limits()};
  }

  SupabaseStandIn server_;
};

}  // namespace

std::string to_string(Backend backend) {
  switch (backend) {
    case Backend::filesystem:
      return "Filesystem";
    case Backend::azurite:
      return "Azurite";
    case Backend::s3rver:
      return "S3rver";
    case Backend::supabase:
      return "Supabase";
    case Backend::versitygw:
      return "Versitygw";
  }
  return "?";
}

std::unique_ptr<World> make_world(Backend backend, Ground& ground) {
  switch (backend) {
    case Backend::filesystem:
      return std::make_unique<FilesystemWorld>(ground);
    case Backend::azurite:
      return std::make_unique<AzuriteWorld>(ground);
    case Backend::s3rver:
      return std::make_unique<S3rverWorld>(ground);
    case Backend::supabase:
      return std::make_unique<SupabaseWorld>(ground);
    case Backend::versitygw:
      return std::make_unique<VersitygwWorld>(ground);
  }
  throw std::runtime_error("no such backend");
}

}  // namespace millrace::test
