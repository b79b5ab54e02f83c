#include "app/demo/served.h"

#include "base/cancel.h"
#include "base/event.h"
#include "base/file.h"
#include "base/run.h"
#include "base/spawn.h"
#include "http/client.h"
#include "sandbox/child.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::size_t kLogBytesMax = std::size_t{64} * 1024 * 1024;
constexpr std::string_view kUser = "00000000-0000-4000-8000-0000000000de";

std::map<std::string, std::string> plain_environment() {
  return {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}};
}

Error refused(const http::Response& response) {
  const auto problem = parse_json_object(response.body);
  auto detail = problem ? text_member(*problem, "detail") : std::string();
  if (problem && detail.empty()) detail = text_member(*problem, "message");
  return {.kind = response.status == 404 ? ErrorKind::not_found : ErrorKind::unavailable,
          .message = fmt::format("{} {}", response.status,
                                 detail.empty() ? response.body.substr(0, 200) : detail)};
}

}  // namespace

fs::path beside_this_program(std::string_view name) {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

Result<std::string> run_program(std::vector<std::string> argv, std::chrono::milliseconds timeout) {
  boost::asio::io_context io(1);
  std::string words;
  sandbox::ChildSpec spec{.argv = std::move(argv), .env = plain_environment(), .timeout = timeout};
  const auto name = fs::path(spec.argv.front()).filename().string();
  MR_TRY(auto ended, run_blocking(io, sandbox::Child::run(
                                          io.get_executor(), std::move(spec),
                                          [&words](std::string_view line) { words = line; },
                                          [](std::string_view) {}, {})));
  if (ended.exit_code != 0) {
    return fail(ErrorKind::unavailable,
                fmt::format("{} did not succeed{}", name, words.empty() ? "" : ": " + words));
  }
  return std::move(ended.stdout_text);
}

struct Served::Parts {
  explicit Parts(Context& owner) : context(owner) {}

  Task<void> run_up(fs::path data_dir, fs::path ready_file, int slots);
  Result<http::Response> send(http::Request request);

  Context& context;
  boost::asio::io_context up_io{1};
  std::thread thread;
  CancelSource end;
  std::atomic<bool> ended = false;
  std::mutex mutex;                 // Guards words.
  std::condition_variable changed;  // It has ended.
  std::string words;
  std::string url;
  std::string token;
  boost::asio::io_context io{1};  // Of the client.
  std::unique_ptr<http::Client> client;
};

Task<void> Served::Parts::run_up(fs::path data_dir, fs::path ready_file, int slots) {
  sandbox::ChildSpec spec;
  spec.argv = {beside_this_program("millrace").string(),
               "--data-dir",
               data_dir.string(),
               "--log-level",
               "warn",
               "up",
               "--listen",
               "127.0.0.1:0",
               "--slots",
               std::to_string(slots),
               "--ready-file",
               ready_file.string()};
  spec.env = plain_environment();
  spec.timeout = std::chrono::hours(24 * 365);
  spec.kill_grace = 30s;  // It stops a database.
  spec.stdout_max_bytes = kLogBytesMax;
  auto run = co_await sandbox::Child::run(
      up_io.get_executor(), std::move(spec),
      [this](std::string_view line) {
        const std::lock_guard lock(mutex);
        words = line;
      },
      [](std::string_view) {}, end.token());
  if (!run) {
    const std::lock_guard lock(mutex);
    words = run.error().message;
  }
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  co_return ok();
}

Result<http::Response> Served::Parts::send(http::Request request) {
  request.headers.emplace_back("Authorization", "Bearer " + token);
  request.response_max_bytes = std::size_t{256} * 1024 * 1024;
  MR_TRY(auto response, run_blocking(io, client->send(std::move(request))));
  if (response.status < 200 || response.status > 299) return fail(refused(response));
  return response;
}

Served::Served(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Served>> Served::start(Context& context, const fs::path& data_dir,
                                              int slots) {
  auto parts = std::make_unique<Parts>(context);
  const auto ready_file = data_dir.string() + ".ready";
  std::error_code ignored;
  fs::remove(ready_file, ignored);
  auto* raw = parts.get();
  std::unique_ptr<Served> served(new Served(std::move(parts)));
  raw->thread = std::thread([raw, data_dir, ready_file, slots] {
    (void)run_blocking(raw->up_io, raw->run_up(data_dir, ready_file, slots));
  });
  const auto deadline = context.clock.now() + 60s;
  while (!fs::exists(ready_file, ignored)) {
    std::unique_lock lock(raw->mutex);
    if (raw->ended || context.clock.now() > deadline) {
      return fail(ErrorKind::unavailable, "millrace up did not get ready: " + raw->words);
    }
    raw->changed.wait_for(lock, 20ms, [raw] { return raw->ended.load(); });
  }
  MR_TRY(const auto text, read_file(ready_file));
  MR_TRY(const auto ready, parse_json_object(text));
  raw->url = text_member(ready, "http_url");
  MR_TRY(raw->token, run_program({beside_this_program("millrace").string(), "--data-dir",
                                  data_dir.string(), "token", "create", "--role", "authenticated",
                                  "--user", std::string(kUser), "--ttl", "12h"},
                                 30s));
  while (!raw->token.empty() && raw->token.back() == '\n') raw->token.pop_back();
  raw->client = std::make_unique<http::Client>(raw->io.get_executor());
  return served;
}

Served::~Served() { stop(); }

const std::string& Served::url() const { return parts_->url; }
const std::string& Served::token() const { return parts_->token; }
bool Served::running() const { return !parts_->ended; }

void Served::stop() {
  parts_->end.cancel("the demo is over");
  if (parts_->thread.joinable()) parts_->thread.join();
}

Result<json::Value> Served::get(std::string_view path) {
  MR_TRY(const auto response, parts_->send({.url = parts_->url + std::string(path)}));
  return parse_json(response.body, {.max_bytes = std::size_t{256} * 1024 * 1024});
}

Result<json::Value> Served::post(std::string_view path, std::string body,
                                 std::string_view content_type) {
  http::Request request{.method = "POST", .url = parts_->url + std::string(path)};
  if (!content_type.empty()) request.headers.emplace_back("Content-Type", content_type);
  request.body = std::move(body);
  MR_TRY(const auto response, parts_->send(std::move(request)));
  return parse_json(response.body);
}

Result<std::string> Served::download(std::string_view path) {
  MR_TRY(auto response, parts_->send({.url = parts_->url + std::string(path)}));
  return std::move(response.body);
}

}  // namespace millrace::app
