#include "stand_in.h"

#include "control.h"
#include "pass_answer.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace millrace::test {
namespace {

constexpr std::size_t kRecordsMax = 200'000;
constexpr std::size_t kBodiesKept = 300;

bool is_saying(Action action) {
  switch (action) {
    case Action::bad_text:
    case Action::refusal:
    case Action::length:
    case Action::content_filter:
    case Action::inner_error:
    case Action::wrong_shape:
    case Action::short_answer:
    case Action::duplicate_index:
    case Action::wrong_index:
    case Action::wrong_dimension:
    case Action::not_a_number:
    case Action::as_floats:
      return true;
    default:
      return false;
  }
}

bool is_trouble(Action action) {
  switch (action) {
    case Action::throttle:
    case Action::throttle_bare:
    case Action::slow_down:
    case Action::quota:
    case Action::unavailable:
    case Action::unavailable_told:
    case Action::overloaded:
    case Action::server_error:
    case Action::auth:
    case Action::too_large:
    case Action::echo:
      return true;
    default:
      return false;
  }
}

}  // namespace

class StandIn::Core final : public std::enable_shared_from_this<Core>, public Controlled {
 public:
  Core(const Clock& clock, StandInOptions options)
      : clock_(clock),
        began_(clock.now()),
        options_(std::move(options)),
        ledger_(clock, options_.window) {
    for (const auto& [key, limits] : options_.keys) ledger_.set_limits(key, limits);
    sides_.push_back(make_openai_side());
    sides_.push_back(make_anthropic_side());
    sides_.push_back(make_vision_side());
    sides_.push_back(make_embeddings_side());
  }

  WireReply handle(const WireRequest& request) {
    if (request.path.starts_with("/control/")) return control(*this, request);
    const auto* side = side_of(request.path);
    if (side == nullptr) return json_reply(404, json::Object{{"detail", "Not Found"}});
    const auto step = next_step(side->name());
    const auto key = side->key_of(request);
    auto& record = note(request, *side, key, step.action);
    auto reply = answer(request, *side, key, step, record);
    const bool answers = reply.end == WireReply::End::whole || reply.end == WireReply::End::cut;
    record.status = answers ? reply.status : 0;
    reply.delay = step.delay;
    return reply;
  }

  // Controlled
  void add_step(Step step) override { script_.push_back(std::move(step)); }
  void set_random(RandomMode mode) override {
    random_ = mode;
    dice_ = std::make_unique<SeededRandom>(mode.seed);
  }
  void set_limits(const std::string& key, KeyLimits limits) override {
    ledger_.set_limits(key, limits);
  }
  void set_window(std::chrono::milliseconds window) override { ledger_.set_window(window); }
  void add_model(std::string model) override { options_.models.models.insert(std::move(model)); }
  void set_embed_bounds(EmbedBounds bounds) override { options_.models.embed = bounds; }
  void set_context(std::uint64_t tokens) override { options_.models.context_tokens = tokens; }
  void reset() override {
    script_.clear();
    random_ = {};
    dice_.reset();
    records_.clear();
    actions_.clear();
    idempotency_keys_.clear();
    repeats_ = 0;
    paid_.forget();
    ledger_.forget();
  }
  void add_embedding_model(std::string model, std::size_t dimensions) override {
    options_.models.embedding_models[std::move(model)] = dimensions;
  }
  const PaidTexts& paid() const override { return paid_; }
  const std::deque<Recorded>& records() const override { return records_; }
  json::Object state() const override {
    auto out = ledger_.report();
    json::Object actions;
    for (const auto& [action, count] : actions_) actions[to_string(action)] = count;
    out["requests"] = number_;
    out["actions"] = std::move(actions);
    out["idempotency_repeats"] = repeats_;
    out["script_left"] = script_.size();
    out["embedded"] = paid_.report();
    return out;
  }

  const Ledger& ledger() const { return ledger_; }

 private:
  const Side* side_of(std::string_view path) const {
    if (path.ends_with("/chat/completions")) return sides_[0].get();
    if (path.ends_with("/v1/messages")) return sides_[1].get();
    if (path.ends_with("/images:annotate")) return sides_[2].get();
    if (path.ends_with("/v1/embeddings")) return sides_[3].get();
    return nullptr;
  }

  Step next_step(std::string_view service) {
    const auto at = std::ranges::find_if(
        script_, [&](const Step& step) { return step.service.empty() || step.service == service; });
    if (at != script_.end()) {
      Step step = std::move(*at);
      script_.erase(at);
      return step;
    }
    Step step;
    if (!dice_) return step;
    double roll = dice_->uniform();
    for (const auto& [action, rate] : random_.rates) {
      roll -= rate;
      if (roll >= 0) continue;
      step.action = action;
      break;
    }
    step.delay = std::chrono::milliseconds(
        dice_->between(random_.latency_min.count(), random_.latency_max.count()));
    return step;
  }

  Recorded& note(const WireRequest& request, const Side& side, const std::string& key,
                 Action action) {
    ++actions_[action];
    const auto idempotency_key = request.header("idempotency-key");
    if (!idempotency_key.empty() && !idempotency_keys_.insert(idempotency_key).second) ++repeats_;
    if (records_.size() >= kBodiesKept) {
      records_[records_.size() - kBodiesKept].request.body.clear();
    }
    if (records_.size() >= kRecordsMax) records_.pop_front();
    return records_.emplace_back(
        Recorded{.number = number_++,
                 .at = std::chrono::floor<std::chrono::milliseconds>(clock_.now() - began_),
                 .service = std::string(side.name()),
                 .key = key,
                 .idempotency_key = idempotency_key,
                 .correlation_id = request.header("x-client-request-id"),
                 .action = action,
                 .request = request});
  }

  WireReply answer(const WireRequest& request, const Side& side, const std::string& key,
                   const Step& step, Recorded& record) {
    if (!ledger_.knows(key)) return side.wrong_key(key.empty());
    const auto question = request.too_large
                              ? std::unexpected(side.fail({.action = Action::too_large}))
                              : side.read(request, options_.models);
    if (question) {
      record.model = question->model;
      record.tokens = question->input_tokens + question->output_max;
      record.inputs = question->inputs.size();
    }
    const auto admission = ledger_.open(key, record.tokens);
    auto reply = admission.refused != Admission::Refused::no && step.action == Action::normal
                     ? over_limit(side, admission)
                     : reply_to(question, side, key, step, record.number);
    side.add_limits(reply, admission, clock_.wall());
    reply.done = [core = shared_from_this(), key] { core->ledger_.close(key); };
    return reply;
  }

  WireReply over_limit(const Side& side, const Admission& admission) const {
    const auto seconds = (admission.wait.count() + 999) / 1'000;
    return side.fail({.action = Action::throttle,
                      .retry_after = std::to_string(std::max<std::int64_t>(seconds, 1))});
  }

  WireReply reply_to(const std::expected<Question, WireReply>& question, const Side& side,
                     const std::string& key, const Step& step, std::uint64_t number) {
    if (step.action == Action::reset_before) return {.end = WireReply::End::reset};
    if (step.action == Action::custom) {
      return {.status = step.status, .headers = step.headers, .body = step.body};
    }
    if (step.action == Action::gateway) {
      return {.status = 502,
              .headers = {{"Content-Type", "text/html"}},
              .body = "<html><body>502 Bad Gateway</body></html>"};
    }
    if (step.action == Action::redirect) {
      return {.status = 307, .headers = {{"Location", "http://127.0.0.1:1/elsewhere"}}};
    }
    if (!question) return question.error();
    if (is_trouble(step.action)) {
      return side.fail({.action = step.action,
                        .retry_after = step.retry_after,
                        .repeated = fmt::format("key '{}', text '{}'", key, question->user)});
    }
    // From here on the work is done, whatever becomes of the answer.
    paid_.note(number, question->inputs);
    return success(*question, side, step, number);
  }

  WireReply success(const Question& question, const Side& side, const Step& step,
                    std::uint64_t number) const {
    Saying saying{.id = fmt::format("standin-{}", number)};
    saying.text = pass_answer({.system = question.system,
                               .user = question.user,
                               .schema = question.schema ? &*question.schema : nullptr,
                               .invented = step.action == Action::invented});
    if (step.action == Action::bad_text) saying.text = "Certainly! Here is {your JSON";
    if (is_saying(step.action)) saying.action = step.action;
    auto reply = side.say(question, saying);
    if (step.action == Action::wrong_json) reply.body = "<!DOCTYPE html><p>Welcome</p>";
    if (step.action == Action::cut) reply.end = WireReply::End::cut;
    if (step.action == Action::reset_after) reply.end = WireReply::End::reset;
    if (step.action == Action::stall) reply.end = WireReply::End::stall;
    if (step.action == Action::slow) reply.pause = step.pause;
    return reply;
  }

  const Clock& clock_;
  Clock::Steady began_;
  StandInOptions options_;
  Ledger ledger_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::deque<Step> script_;
  RandomMode random_;
  std::unique_ptr<SeededRandom> dice_;
  std::deque<Recorded> records_;
  std::map<Action, std::uint64_t> actions_;
  std::set<std::string> idempotency_keys_;
  std::uint64_t repeats_ = 0;
  std::uint64_t number_ = 0;
  PaidTexts paid_;
};

StandIn::StandIn(boost::asio::io_context& io, const Clock& clock, StandInOptions options) {
  const auto port = options.port;
  core_ = std::make_shared<Core>(clock, std::move(options));
  server_ = std::make_unique<WireServer>(
      io, port, [core = core_](const WireRequest& request) { return core->handle(request); });
}

StandIn::~StandIn() = default;

std::uint16_t StandIn::port() const { return server_->port(); }
std::string StandIn::url() const { return fmt::format("http://127.0.0.1:{}", port()); }
void StandIn::push(Step step) { core_->add_step(std::move(step)); }
void StandIn::set_random(RandomMode mode) { core_->set_random(std::move(mode)); }
void StandIn::set_limits(const std::string& key, KeyLimits limits) {
  core_->set_limits(key, limits);
}
Result<void> StandIn::apply(const json::Object& settings) {
  return apply_settings(*core_, settings);
}
void StandIn::reset() { core_->reset(); }
const std::deque<Recorded>& StandIn::requests() const { return core_->records(); }
const KeyUse& StandIn::use(const std::string& key) const { return core_->ledger().use(key); }
std::uint64_t StandIn::open_max() const { return core_->ledger().open_max(); }
const PaidTexts& StandIn::paid() const { return core_->paid(); }
json::Object StandIn::state() const { return core_->state(); }

}  // namespace millrace::test
