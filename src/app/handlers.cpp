#include "app/handlers.h"

#include "app/compute/compute_handler.h"
#include "app/context.h"
#include "app/documents/document_worker.h"
#include "app/engine.h"
#include "app/exports/export_worker.h"
#include "worker/handlers/builtin.h"
#include "worker/handlers/exec_handler.h"
#include "worker/handlers/http_handler.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace millrace::app {
namespace {

worker::ExecOptions exec_options(const HandlerConfig& config, const Environment& environment) {
  worker::ExecOptions options;
  options.argv = config.argv;
  options.cwd = config.cwd;
  const auto pass = [&](const std::string& name) {
    const auto found = environment.find(name);
    if (found != environment.end()) options.env[name] = found->second;
  };
  pass("PATH");
  for (const auto& name : config.pass_env) pass(name);
  for (const auto& [name, value] : config.env) options.env[name] = value;
  options.limits.memory_bytes = config.memory_bytes;
  options.limits.cpu_seconds = config.cpu_seconds;
  options.limits.file_bytes = config.file_bytes;
  options.limits.open_files = config.open_files;
  options.limits.processes = config.processes;
  return options;
}

worker::HttpOptions http_options(const HandlerConfig& config) {
  worker::HttpOptions options;
  options.url = config.url;
  for (const auto& [name, value] : config.headers) options.headers.push_back({name, value});
  return options;
}

// The shortest of the limits that apply.
std::optional<std::chrono::milliseconds> timeout_of(const Settings& settings,
                                                    const HandlerConfig& config) {
  auto shortest = config.timeout;
  const auto apply = [&](std::string_view key) {
    const auto limit = settings.optional_duration(key);
    if (limit && (!shortest || *limit < *shortest)) shortest = *limit;
  };
  apply("worker.job_timeout");
  if (config.queue == "fast_queue" || config.type.starts_with("fast_queue")) {
    apply("worker.fast_queue_timeout");
  }
  if (config.queue == "ai_queue" || config.type.starts_with("ai_queue")) {
    apply("worker.ai_queue_timeout");
  }
  return shortest;
}

std::vector<HandlerConfig> all_handlers(const Settings& settings) {
  auto all = settings.handlers();
  const auto add_builtin = [&](std::string_view type, HandlerConfig::Kind kind,
                               std::string_view queue = {}) {
    const bool taken = std::ranges::any_of(all, [&](const auto& one) { return one.type == type; });
    if (taken) return;
    HandlerConfig config;
    config.type = type;
    config.kind = kind;
    config.queue = queue;
    all.push_back(std::move(config));
  };
  add_builtin("noop", HandlerConfig::Kind::noop);
  add_builtin("sleep", HandlerConfig::Kind::sleep);
  if (takes_compute_jobs(settings)) {
    add_builtin(kComputeJobType, HandlerConfig::Kind::compute, kComputeQueue);
  }
  return all;
}

struct HandledType {
  std::string type;
  std::string queue;  // Empty: as the type is registered.
};

// Also what make_registry adds by itself. A type of documents may be in several queues.
std::vector<HandledType> all_types(const Settings& settings) {
  std::vector<HandledType> types;
  for (const auto& config : all_handlers(settings)) types.push_back({config.type, config.queue});
  const auto configured = types.size();
  if (takes_exports(settings)) {
    const bool taken =
        std::ranges::any_of(types, [](const auto& one) { return one.type == kExportJobType; });
    if (!taken) types.push_back({std::string(kExportJobType), export_queue(settings)});
  }
  if (!takes_documents(settings)) return types;
  for (auto& [type, queue] : document_types(settings)) {
    const auto end = types.begin() + static_cast<std::ptrdiff_t>(configured);
    const bool taken =
        std::any_of(types.begin(), end, [&](const auto& one) { return one.type == type; });
    if (!taken) types.push_back({type, queue});
  }
  return types;
}

// A worker's own role may not read the tables of policies; then the engine judges the names itself.
bool not_for_us(const Error& error) { return error.sqlstate == "42501"; }

Result<bool> queue_is_there(store::AdminStore& store, const std::string& queue) {
  auto exists = store.queue_exists(queue);
  if (!exists && not_for_us(exists.error())) return true;
  return exists;
}

// "images:3" serves the queue images with weight 3.
Result<worker::QueueChoice> parse_choice(const std::string& text) {
  const auto colon = text.rfind(':');
  int weight = 1;
  if (colon == text.npos) return worker::QueueChoice{.name = text};
  const auto digits = std::string_view(text).substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
  // A queue's name may itself contain colons.
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return worker::QueueChoice{.name = text};
  }
  if (weight < 1 || weight > 1000) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("queue '{}': its weight is not between 1 and 1000", text));
  }
  return worker::QueueChoice{.name = text.substr(0, colon), .weight = weight};
}

}  // namespace

std::unique_ptr<worker::Handler> make_handler(const HandlerConfig& config,
                                              const Environment& environment, http::Client& client,
                                              bool test_outcomes) {
  switch (config.kind) {
    case HandlerConfig::Kind::exec:
      return std::make_unique<worker::ExecHandler>(exec_options(config, environment));
    case HandlerConfig::Kind::http:
      return std::make_unique<worker::HttpHandler>(client, http_options(config));
    case HandlerConfig::Kind::noop:
      return std::make_unique<worker::NoopHandler>();
    case HandlerConfig::Kind::sleep:
      return std::make_unique<worker::SleepHandler>(test_outcomes);
    case HandlerConfig::Kind::compute:
      break;  // Made of the settings, not of a table: see make_registry.
  }
  return nullptr;
}

Result<worker::HandlerRegistry> make_registry(Context& context, const HandlerParts& parts) {
  const auto& settings = context.settings;
  auto& client = parts.client;
  worker::HandlerRegistry registry;
  const bool test_outcomes = settings.boolean("worker.test_outcomes");
  for (const auto& config : all_handlers(settings)) {
    worker::HandlerOptions options;
    options.timeout = timeout_of(settings, config);
    if (!config.queue.empty()) options.queue = config.queue;
    std::unique_ptr<worker::Handler> handler;
    if (config.kind == HandlerConfig::Kind::compute) {
      MR_TRY(handler, make_compute_handler(context, client));
    } else {
      handler = make_handler(config, context.environment, client, test_outcomes);
    }
    MR_TRY_VOID(registry.add(config.type, std::move(handler), options));
  }
  if (takes_exports(settings)) {
    MR_TRY_VOID(add_export_handler(context, parts, registry));
  } else if (settings.boolean("export.enabled")) {
    context.log.warn("exports_not_taken", {{"reason", export_browser(settings).error().message}});
  }
  if (takes_documents(settings)) MR_TRY_VOID(add_document_handlers(context, parts, registry));
  return registry;
}

Result<void> check_handlers(const Settings& settings) {
  MR_TRY_VOID(check_compute(settings));
  for (const auto& config : settings.handlers()) {
    if (config.kind != HandlerConfig::Kind::exec) continue;
    const auto& program = config.argv.front();
    std::error_code ignored;
    const bool is_file = std::filesystem::is_regular_file(program, ignored);
    if (!program.contains('/') || (is_file && ::access(program.c_str(), X_OK) == 0)) continue;
    return fail(Error{.kind = ErrorKind::invalid_argument,
                      .message = fmt::format(
                          "{}:{}: handler '{}': {} {}", settings.file()->string(), config.line,
                          config.type, program, is_file ? "is not executable" : "is not a file"),
                      .hint = is_file ? "chmod +x it" : "correct handler.run"});
  }
  return {};
}

std::vector<std::string> handled_types(const Settings& settings) {
  std::vector<std::string> types;
  for (const auto& one : all_types(settings)) types.push_back(one.type);
  std::ranges::sort(types);
  const auto same = std::ranges::unique(types);
  types.erase(same.begin(), same.end());
  return types;
}

Result<std::vector<worker::QueueChoice>> prepare_queues(Context& context,
                                                        store::AdminStore& store) {
  const auto& settings = context.settings;
  for (const auto& queue : settings.queues()) {
    MR_TRY(const bool exists, queue_is_there(store, queue.name));
    if (exists) continue;
    auto policy = queue.policy;
    const auto& attempts = settings.get("queue_defaults.max_attempts");
    if (!attempts.value.empty() && !policy.contains("max_attempts")) {
      policy["max_attempts"] = settings.integer("queue_defaults.max_attempts");
    }
    auto made = store.set_queue(queue.name, policy);
    if (!made) return fail_with_context(fmt::format("queue '{}'", queue.name), made.error());
  }
  if (takes_exports(settings)) {
    MR_TRY(const auto pipelines, export_registration(settings));
    MR_TRY_VOID(store.register_pipelines(pipelines));
  }
  if (takes_documents(settings)) {
    MR_TRY(const auto pipelines, document_registration(settings));
    MR_TRY(context.kept_types, store.register_pipelines(pipelines));
    auto bound = store.bind_providers(document_bindings(settings));
    if (!bound && !not_for_us(bound.error())) return fail(bound.error());
  }
  std::vector<worker::QueueChoice> choices;
  for (const auto& text : settings.list("worker.queues")) {
    MR_TRY(auto choice, parse_choice(text));
    MR_TRY(const bool exists, queue_is_there(store, choice.name));
    if (!exists) {
      return fail(Error{.kind = ErrorKind::not_found,
                        .message = fmt::format("queue '{}' does not exist", choice.name),
                        .sqlstate = "MR007",
                        .hint = "create it with 'millrace queues set'"});
    }
    choices.push_back(std::move(choice));
  }
  if (!choices.empty()) return choices;

  auto registered = store.list_job_types();
  if (!registered && !not_for_us(registered.error())) return fail(registered.error());
  std::set<std::string> names;
  for (const auto& config : all_types(settings)) {
    std::string queue = config.queue;
    for (const auto& row : registered ? *registered : json::Array()) {
      const auto& type = row.as_object();
      if (text_member(type, "job_type") != config.type) continue;
      names.insert(text_member(type, "queue"));  // Where its jobs go by default.
      if (queue.empty()) queue = text_member(type, "queue");
    }
    names.insert(queue.empty() ? "default" : queue);
  }
  for (const auto& [type, queue] : context.kept_types) names.insert(queue);
  for (const auto& name : names) choices.push_back({.name = name});
  return choices;
}

}  // namespace millrace::app
