#include "parser_stand_in.h"

#include "parser_forms.h"
#include "side.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::test {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr int kAttempts = 3;
constexpr std::size_t kHooksUrlMax = 2'048;

WireReply detail(int status, std::string_view text) {
  return json_reply(status, json::Object{{"detail", text}});
}

const std::set<std::string> kTiers = {"fast", "cost_effective", "agentic", "agentic_plus"};

// As the real service checks it; nothing: it is fine.
std::optional<WireReply> wrong_configuration(const json::Object& configuration) {
  if (!kTiers.contains(member(configuration, "tier"))) return detail(422, "tier is not known");
  if (member(configuration, "version").empty()) return detail(422, "version is missing");
  const auto* hooks = configuration.if_contains("webhook_configurations");
  if (hooks == nullptr) return std::nullopt;
  if (!hooks->is_array()) return detail(422, "webhook_configurations must be a list");
  for (const auto& hook : hooks->get_array()) {
    const auto url = member(hook, "webhook_url");
    if (url.empty() || url.size() > kHooksUrlMax) return detail(422, "webhook_url is not valid");
  }
  return std::nullopt;
}

}  // namespace

class ParserStandIn::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::io_context& io, const Clock& clock, ParserStandInOptions options)
      : io_(io), clock_(clock), options_(std::move(options)), client_(io.get_executor()) {}

  WireReply handle(const WireRequest& request) {
    ++requests_;
    if (request.path.starts_with("/presigned/")) return presigned(request);
    const bool known = request.header("authorization") == "Bearer " + options_.key;
    if (!known) return detail(401, "Invalid API Key");
    if (request.method == "POST" && request.path == "/api/v2/parse") return create(request);
    if (request.method == "POST" && request.path == "/api/v2/parse/upload") return upload(request);
    constexpr std::string_view kLook = "/api/v2/parse/";
    if (request.method == "GET" && request.path.starts_with(kLook)) {
      return look(request.path.substr(kLook.size()), request.query);
    }
    if (request.method == "POST" && request.path.ends_with("/parse")) return contract(request);
    return detail(404, "Not Found");
  }

  void close() { closed_ = true; }

  asio::io_context& io_;
  const Clock& clock_;
  ParserStandInOptions options_;
  http::Client client_;
  std::deque<ParsePlan> plans_;
  ParsePlan otherwise_;
  std::deque<StoodParse> parses_;
  std::deque<SentCallback> callbacks_;
  std::size_t requests_ = 0;
  std::string url_;
  bool closed_ = false;

 private:
  ParsePlan next_plan() {
    if (plans_.empty()) return otherwise_;
    auto plan = std::move(plans_.front());
    plans_.pop_front();
    return plan;
  }

  // What goes wrong before anything is done.
  static std::optional<WireReply> trouble(ParsePlan::Create create) {
    using Create = ParsePlan::Create;
    switch (create) {
      case Create::throttled: {
        auto reply = detail(429, "Rate limit exceeded");
        reply.headers.emplace_back("Retry-After", "1");
        return reply;
      }
      case Create::server_error:
        return detail(500, "Internal Server Error");
      case Create::quota:
        return detail(402, "You've exceeded the maximum number of credits for your plan.");
      case Create::auth:
        return detail(401, "Invalid API Key");
      case Create::reset_before:
        return WireReply{.end = WireReply::End::reset};
      case Create::normal:
      case Create::cut:
        return std::nullopt;
    }
    return std::nullopt;
  }

  WireReply create(const WireRequest& request) {
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size() + 1});
    if (!body) return detail(422, "the body is no JSON");
    const auto link = member(*body, "source_url");
    if (link.empty()) return detail(422, "source_url or file_id must be given");
    if (auto wrong = wrong_configuration(*body)) return *wrong;
    auto plan = next_plan();
    if (auto reply = trouble(plan.create)) return *reply;
    StoodParse parse{.source = "url", .configuration = *body, .plan = std::move(plan)};
    parse.file_name = link.substr(0, link.find('?'));
    return begin(std::move(parse), link);
  }

  WireReply upload(const WireRequest& request) {
    const auto form = read_form(request);
    if (!form || !form->contains("file") || !form->contains("configuration")) {
      return detail(422, "file and configuration must be given");
    }
    const auto configuration = parse_json_object(form->at("configuration").content);
    if (!configuration) return detail(422, "configuration is no JSON");
    if (auto wrong = wrong_configuration(*configuration)) return *wrong;
    auto plan = next_plan();
    if (auto reply = trouble(plan.create)) return *reply;
    StoodParse parse{.source = "upload",
                     .configuration = *configuration,
                     .file_name = form->at("file").file_name,
                     .content = form->at("file").content,
                     .plan = std::move(plan)};
    return begin(std::move(parse), {});
  }

  WireReply contract(const WireRequest& request) {
    const auto body = parse_json_object(request.body, {.max_bytes = request.body.size() + 1});
    if (!body) return detail(422, "the body is no JSON");
    StoodParse parse{.source = "contract", .configuration = *body};
    parse.job_id = member(*body, "job_id");
    parse.webhook_url = member(*body, "webhook_url");
    parse.webhook_secret = member(*body, "webhook_secret");
    const auto link = member(*body, "source_url");
    if (parse.job_id.empty() || parse.webhook_url.empty() || parse.webhook_secret.empty() ||
        link.empty() || member(*body, "output_format") != "markdown") {
      return detail(422, "job_id, source_url, webhook_url, webhook_secret, output_format");
    }
    parse.plan = next_plan();
    if (auto reply = trouble(parse.plan.create)) return *reply;
    return begin(std::move(parse), link);
  }

  // Done from here on, whatever becomes of the answer.
  WireReply begin(StoodParse parse, const std::string& link) {
    parse.id = fmt::format("pjb-{:08x}", 0x5eed0000 + parses_.size());
    parse.began = std::chrono::steady_clock::now();
    const auto cut = parse.plan.create == ParsePlan::Create::cut;
    const bool early = std::ranges::any_of(parse.plan.callbacks, [](const auto& callback) {
      return callback.when == ParsePlan::Callback::When::before;
    });
    const auto id = parse.id;
    auto reply = parse.source == "contract"
                     ? json_reply(202, json::Object{{"parse_job_id", id}})
                     : json_reply(200, json::Object{{"id", id},
                                                    {"status", "PENDING"},
                                                    {"tier", member(parse.configuration, "tier")},
                                                    {"a_new_member", true}});
    parses_.push_back(std::move(parse));
    spawn(run(shared_from_this(), parses_.size() - 1, link));
    if (cut) reply.end = WireReply::End::cut;
    // The callback overtakes the answer.
    if (early) reply.delay = milliseconds(150);
    return reply;
  }

  WireReply look(const std::string& id, const std::string& query) {
    const auto at = std::ranges::find(parses_, id, &StoodParse::id);
    if (at == parses_.end() || at->source == "contract") return detail(404, "Job not found");
    if (at->broken < at->plan.polls_broken) {
      ++at->broken;
      return detail(500, "Internal Server Error");
    }
    ++at->looks;
    json::Object job{{"id", id}, {"status", status_of(*at)}};
    job["error_message"] = nullptr;
    const bool done = at->ended && at->looks > at->plan.polls_pending + at->plan.polls_running;
    if (done && at->plan.end == ParsePlan::End::failed) job["error_message"] = at->plan.error;
    json::Object out{{"job", std::move(job)}};
    if (done && at->plan.end == ParsePlan::End::completed && query.contains("markdown")) {
      out["markdown"] = json::Object{{"pages", pages_of(*at)}};
    }
    if (done && query.contains("result_content_metadata")) {
      const auto until = clock_.wall() + options_.link_ttl;
      const auto seconds =
          std::chrono::floor<std::chrono::seconds>(until).time_since_epoch().count();
      out["result_content_metadata"] = json::Object{
          {"markdown", json::Object{{"presigned_url", fmt::format("{}/presigned/{}?expires={}",
                                                                  url_, id, seconds)}}}};
    }
    return json_reply(200, out);
  }

  std::string status_of(const StoodParse& parse) const {
    const auto& plan = parse.plan;
    if (parse.looks <= plan.polls_pending) return "PENDING";
    if (parse.looks <= plan.polls_pending + plan.polls_running || !parse.ended) return "RUNNING";
    switch (plan.end) {
      case ParsePlan::End::completed:
        return "COMPLETED";
      case ParsePlan::End::failed:
        return "FAILED";
      case ParsePlan::End::cancelled:
        return "CANCELLED";
      case ParsePlan::End::never:
        return "RUNNING";
    }
    return "RUNNING";
  }

  static json::Array pages_of(const StoodParse& parse) {
    json::Array pages;
    int number = 0;
    // In another order than that of the document: nobody promises one.
    for (const auto& text : split_pages(text_of(parse))) {
      ++number;
      json::Object page{{"page_number", number}};
      const bool failed = parse.plan.failed_pages.contains(number);
      // Every second page that failed has no text and says nothing else.
      const bool silent = parse.plan.all_members && number % 2 == 0;
      if (parse.plan.all_members) {
        page["success"] = nullptr;
        page["markdown"] = silent ? json::Value() : json::Value("");
        page["error"] = "";
      } else {
        page["success"] = !failed;
      }
      if (!failed)
        page["markdown"] = text;
      else if (!silent)
        page["error"] = "page could not be parsed";
      pages.insert(pages.begin(), std::move(page));
    }
    return pages;
  }

  static std::string text_of(const StoodParse& parse) {
    return parse.plan.text.empty() ? parse.content : parse.plan.text;
  }

  WireReply presigned(const WireRequest& request) {
    const auto id = request.path.substr(std::string_view("/presigned/").size());
    const auto at = std::ranges::find(parses_, id, &StoodParse::id);
    constexpr std::string_view kExpires = "expires=";
    if (at == parses_.end() || !request.query.starts_with(kExpires)) return detail(403, "denied");
    const auto until = std::stoll(request.query.substr(kExpires.size()));
    const auto now =
        std::chrono::floor<std::chrono::seconds>(clock_.wall()).time_since_epoch().count();
    if (now > until) return {.status = 403, .body = "<Error><Code>AccessDenied</Code></Error>"};
    return {.status = 200, .headers = {{"Content-Type", "text/markdown"}}, .body = text_of(*at)};
  }

  template <class Work>
  void spawn(Work work) {
    asio::co_spawn(io_, std::move(work), [](std::exception_ptr) {});
  }

  // The life of one parse.
  static awaitable<void> run(std::shared_ptr<Core> core, std::size_t index, std::string link) {
    using When = ParsePlan::Callback::When;
    co_await core->callbacks_of(core, index, When::before);
    if (!link.empty()) co_await core->fetch(core, index, link);
    co_await pause(core->io_, core->parses_[index].plan.takes);
    if (core->parses_[index].plan.end == ParsePlan::End::never) co_return;
    core->parses_[index].ended = true;
    co_await core->callbacks_of(core, index, When::after);
  }

  static awaitable<void> pause(asio::io_context& io, milliseconds time) {
    if (time <= milliseconds::zero()) co_return;
    asio::steady_timer timer(io, time);
    co_await timer.async_wait(asio::use_awaitable);
  }

  static awaitable<void> fetch(std::shared_ptr<Core> core, std::size_t index, std::string link) {
    http::Request request{.url = std::move(link)};
    request.response_max_bytes = std::size_t{64} * 1024 * 1024;
    auto response = co_await core->client_.send(std::move(request));
    auto& parse = core->parses_[index];
    parse.fetched = response && response->status == 200;
    if (parse.fetched) parse.content = response->body;
    if (!parse.fetched) parse.plan.end = ParsePlan::End::failed;
  }

  static awaitable<void> callbacks_of(std::shared_ptr<Core> core, std::size_t index,
                                      ParsePlan::Callback::When when) {
    const auto list = core->parses_[index].plan.callbacks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].when != when) continue;
      const auto message = core->message_of(core->parses_[index], list[i], i);
      if (!message) continue;
      for (int n = 0; n < list[i].times; ++n) co_await deliver(core, index, *message);
    }
  }

  std::optional<http::Request> message_of(const StoodParse& parse,
                                          const ParsePlan::Callback& callback, std::size_t number) {
    if (parse.source == "contract") {
      return contract_message({.job_id = parse.job_id,
                               .webhook_url = parse.webhook_url,
                               .secret = callback.wrong_token ? "wrong" : parse.webhook_secret,
                               .webhook_id = fmt::format("{}-{}", parse.id, number),
                               .content = parse.plan.end == ParsePlan::End::completed
                                              ? std::optional(text_of(parse))
                                              : std::nullopt,
                               .error = parse.plan.error,
                               .wrong_signature = parse.plan.wrong_signature,
                               .wrong_hash = parse.plan.wrong_hash,
                               .at = clock_.wall() + std::chrono::seconds(parse.plan.clock_shift)});
    }
    const auto* hooks = parse.configuration.if_contains("webhook_configurations");
    if (hooks == nullptr || hooks->get_array().empty()) return std::nullopt;
    return thin_message({.configuration = hooks->get_array().front().as_object(),
                         .parse_id = parse.id,
                         .event_id = fmt::format("evt-{}-{}", parse.id, number),
                         .event_type = !callback.type.empty() ? callback.type
                                       : parse.plan.end == ParsePlan::End::completed
                                           ? "parse.success"
                                           : "parse.error",
                         .wrong_token = callback.wrong_token,
                         .at = clock_.wall()});
  }

  // Three attempts, then silence.
  static awaitable<void> deliver(std::shared_ptr<Core> core, std::size_t index,
                                 http::Request message) {
    auto wait = core->options_.retry_base;
    for (int attempt = 1; attempt <= kAttempts && !core->closed_; ++attempt) {
      auto copy = message;
      copy.total_timeout = std::chrono::seconds(30);
      auto response = co_await core->client_.send(std::move(copy));
      const int status = response ? response->status : 0;
      core->callbacks_.push_back({.id = core->parses_[index].id,
                                  .attempt = attempt,
                                  .status = status,
                                  .body = response ? response->body : response.error().message});
      if (status >= 200 && status < 300) co_return;
      if (attempt < kAttempts) co_await pause(core->io_, wait);
      wait *= 2;
    }
  }
};

ParserStandIn::ParserStandIn(asio::io_context& io, const Clock& clock,
                             ParserStandInOptions options) {
  const auto port = options.port;
  core_ = std::make_shared<Core>(io, clock, std::move(options));
  server_ = std::make_unique<WireServer>(
      io, port, [core = core_](const WireRequest& request) { return core->handle(request); });
  core_->url_ = url();
}

ParserStandIn::~ParserStandIn() { core_->close(); }

std::uint16_t ParserStandIn::port() const { return server_->port(); }
std::string ParserStandIn::url() const { return fmt::format("http://127.0.0.1:{}", port()); }
void ParserStandIn::push(ParsePlan plan) { core_->plans_.push_back(std::move(plan)); }
void ParserStandIn::set_default(ParsePlan plan) { core_->otherwise_ = std::move(plan); }
const std::deque<StoodParse>& ParserStandIn::parses() const { return core_->parses_; }
const std::deque<SentCallback>& ParserStandIn::callbacks() const { return core_->callbacks_; }
std::size_t ParserStandIn::requests() const { return core_->requests_; }

}  // namespace millrace::test
