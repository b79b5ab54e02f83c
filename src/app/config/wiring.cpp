#include "app/config/wiring.h"

#include "app/cli/command.h"
#include "base/byte_size.h"
#include "base/duration.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace millrace::app {
namespace {

struct PolicyField {
  std::string_view name;
  bool is_duration;
};
constexpr std::array kPolicyFields{
    PolicyField{"max_attempts", false},
    PolicyField{"backoff_base", true},
    PolicyField{"backoff_factor", false},
    PolicyField{"backoff_cap", true},
    PolicyField{"jitter_low", false},
    PolicyField{"jitter_high", false},
    PolicyField{"lease", true},
    PolicyField{"beat", true},
    PolicyField{"run_timeout", true},
    PolicyField{"reclaim_jitter", true},
    PolicyField{"max_age", true},
    PolicyField{"max_snoozes", false},
    PolicyField{"concurrency_max", false},
    PolicyField{"key_concurrency_max", false},
    PolicyField{"depth_max", false},
    PolicyField{"priority_default", false},
    PolicyField{"age_step", true},
};

Error at(const TomlFile& file, int line, const std::string& what) {
  return {.kind = ErrorKind::invalid_argument,
          .message = fmt::format("{}:{}: {}", file.name, line, what)};
}

// Reads the values of one table and remembers the first thing wrong with them.
class TableReader {
 public:
  TableReader(const TomlFile& file, const TomlTable& table, std::string kind)
      : file_(file), table_(table), kind_(std::move(kind)) {}

  std::optional<std::string> text(const std::string& key) {
    const auto* found = take(key);
    if (found == nullptr) return std::nullopt;
    if (const auto* value = found->value.if_string()) return std::string(*value);
    return wrong<std::string>(*found, key, "must be a text in quotes");
  }

  std::string required_text(const std::string& key) {
    auto value = text(key);
    if ((!value || value->empty()) && !error_) {
      error_ = at(file_, table_.line, fmt::format("[[{}]] needs {} = \"...\"", kind_, key));
    }
    return value.value_or("");
  }

  std::optional<std::chrono::milliseconds> duration(const std::string& key) {
    const auto* found = take(key);
    if (found == nullptr) return std::nullopt;
    if (const auto* value = found->value.if_string()) {
      if (auto parsed = parse_duration(std::string_view(*value))) return *parsed;
    }
    return wrong<std::chrono::milliseconds>(*found, key, "must be a time such as \"30s\"");
  }

  std::map<std::string, std::string> text_map(const std::string& key) {
    std::map<std::string, std::string> out;
    const auto* found = take(key);
    if (found == nullptr) return out;
    const auto* object = found->value.if_object();
    if (object == nullptr) {
      (void)wrong<int>(*found, key, "must be a table such as {NAME = \"value\"}");
      return out;
    }
    for (const auto& [name, value] : *object) {
      if (!value.is_string()) {
        (void)wrong<int>(*found, key + "." + std::string(name), "must be a text in quotes");
        return out;
      }
      out[std::string(name)] = std::string(value.as_string());
    }
    return out;
  }

  std::vector<std::string> text_list(const std::string& key) {
    std::vector<std::string> out;
    const auto* found = take(key);
    if (found == nullptr) return out;
    const auto* array = found->value.if_array();
    const bool all_text =
        array != nullptr && std::ranges::all_of(*array, [](auto& v) { return v.is_string(); });
    if (!all_text) {
      (void)wrong<int>(*found, key, "must be a list of texts");
      return out;
    }
    for (const auto& value : *array) out.emplace_back(value.as_string());
    return out;
  }

  const TomlValue* take(const std::string& key) {
    taken_.insert(key);
    const auto found = table_.values.find(key);
    return found == table_.values.end() ? nullptr : &found->second;
  }

  template <class T>
  std::optional<T> wrong(const TomlValue& value, const std::string& key, std::string_view rule) {
    if (!error_) error_ = at(file_, value.line, fmt::format("{}.{} {}", kind_, key, rule));
    return std::nullopt;
  }

  void wrong_table(const std::string& what) {
    if (!error_) error_ = at(file_, table_.line, what);
  }

  // Call last: complains about what nobody asked for.
  std::optional<Error> finish() {
    for (const auto& [key, value] : table_.values) {
      if (error_) break;
      if (taken_.contains(key)) continue;
      auto what = fmt::format("unknown key {}.{}", kind_, key);
      if (auto near = nearest(key, {taken_.begin(), taken_.end()})) {
        what += fmt::format("; did you mean {}.{}?", kind_, *near);
      }
      error_ = at(file_, value.line, what);
    }
    return error_;
  }

  const TomlFile& file() const { return file_; }

 private:
  const TomlFile& file_;
  const TomlTable& table_;
  std::string kind_;
  std::set<std::string> taken_;
  std::optional<Error> error_;
};

void read_limits(TableReader& reader, HandlerConfig& handler) {
  const auto* found = reader.take("limits");
  if (found == nullptr) return;
  const auto* object = found->value.if_object();
  if (object == nullptr) {
    (void)reader.wrong<int>(*found, "limits", "must be a table such as {memory = \"512M\"}");
    return;
  }
  const std::map<std::string, std::optional<std::uint64_t>*> known{
      {"memory", &handler.memory_bytes},
      {"cpu", &handler.cpu_seconds},
      {"file_size", &handler.file_bytes},
      {"files", &handler.open_files},
      {"processes", &handler.processes}};
  for (const auto& [name, value] : *object) {
    const std::string key(name);
    const auto target = known.find(key);
    if (target == known.end()) {
      std::vector<std::string> names;
      for (const auto& [known_name, unused] : known) names.push_back(known_name);
      (void)reader.wrong<int>(*found, "limits." + key,
                              "is not a limit; there are " + one_of(names));
      return;
    }
    Result<std::uint64_t> amount = fail(ErrorKind::invalid_argument, "");
    if (const auto* integer = value.if_int64(); integer != nullptr && *integer > 0) {
      amount = static_cast<std::uint64_t>(*integer);
    } else if (value.is_string() && key == "cpu") {
      if (auto time = parse_duration(std::string_view(value.as_string()))) {
        amount = static_cast<std::uint64_t>(
            std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(*time).count()));
      }
    } else if (value.is_string() && (key == "memory" || key == "file_size")) {
      amount = parse_bytes(std::string_view(value.as_string()));
    }
    if (!amount) {
      const auto rule = key == "cpu"                            ? "must be a time such as \"10s\""
                        : key == "memory" || key == "file_size" ? "must be a size such as \"512M\""
                                                                : "must be a positive whole number";
      (void)reader.wrong<int>(*found, "limits." + key, rule);
      return;
    }
    *target->second = *amount;
  }
}

bool is_web_address(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme) && text.size() > scheme.size()) return true;
  }
  return false;
}

void read_run(TableReader& reader, const std::filesystem::path& folder, HandlerConfig& handler) {
  const auto run = reader.required_text("run");
  const auto rule = fmt::format(
      "handler.run: '{}' is not exec:PROGRAM, http://..., https://..., noop or sleep", run);
  if (run == "noop") {
    handler.kind = HandlerConfig::Kind::noop;
  } else if (run == "sleep") {
    handler.kind = HandlerConfig::Kind::sleep;
  } else if (is_web_address(run)) {
    handler.kind = HandlerConfig::Kind::http;
    handler.url = run;
  } else if (run.starts_with("exec:")) {
    handler.kind = HandlerConfig::Kind::exec;
    auto words = split_words(std::string_view(run).substr(5));
    if (!words || words->empty()) {
      reader.wrong_table(words ? rule : "handler.run: " + words.error().message);
      return;
    }
    handler.argv = std::move(*words);
    // A program with a slash is a file beside millrace.toml; without one it comes from PATH.
    auto& program = handler.argv.front();
    if (program.find('/') != program.npos) {
      program = (folder / program).lexically_normal().string();
    }
  } else {
    reader.wrong_table(rule);
  }
}

Result<HandlerConfig> read_handler(const TomlFile& file, const TomlTable& table,
                                   const std::filesystem::path& folder) {
  TableReader reader(file, table, "handler");
  HandlerConfig handler;
  handler.line = table.line;
  handler.type = reader.required_text("type");
  read_run(reader, folder, handler);
  handler.queue = reader.text("queue").value_or("");
  handler.timeout = reader.duration("timeout");
  if (handler.timeout && handler.timeout->count() <= 0) {
    reader.wrong_table("handler.timeout must be above zero");
  }
  handler.env = reader.text_map("env");
  handler.pass_env = reader.text_list("pass_env");
  handler.headers = reader.text_map("headers");
  const auto cwd = reader.text("cwd").value_or(".");
  handler.cwd = (folder / cwd).lexically_normal().string();
  read_limits(reader, handler);
  if (auto error = reader.finish()) return fail(std::move(*error));
  return handler;
}

}  // namespace

Result<std::vector<HandlerConfig>> read_handlers(const TomlFile& file,
                                                 const std::filesystem::path& folder) {
  std::vector<HandlerConfig> handlers;
  const auto tables = file.arrays.find("handler");
  if (tables == file.arrays.end()) return handlers;
  std::map<std::string, int> seen;
  for (const auto& table : tables->second) {
    MR_TRY(auto handler, read_handler(file, table, folder));
    const auto [first, is_new] = seen.try_emplace(handler.type, handler.line);
    if (!is_new) {
      return fail(at(file, handler.line,
                     fmt::format("handler.type '{}' has a handler already, at line {}",
                                 handler.type, first->second)));
    }
    handlers.push_back(std::move(handler));
  }
  return handlers;
}

Result<std::vector<QueueConfig>> read_queues(const TomlFile& file) {
  std::vector<QueueConfig> queues;
  const auto tables = file.arrays.find("queue");
  if (tables == file.arrays.end()) return queues;
  for (const auto& table : tables->second) {
    TableReader reader(file, table, "queue");
    QueueConfig queue;
    queue.name = reader.required_text("name");
    for (const auto& field : kPolicyFields) {
      const std::string key(field.name);
      if (field.is_duration) {
        if (auto time = reader.duration(key)) {
          queue.policy[key] = fmt::format("{} milliseconds", time->count());
        }
      } else if (const auto* value = reader.take(key)) {
        if (!value->value.is_number()) (void)reader.wrong<int>(*value, key, "must be a number");
        queue.policy[key] = value->value;
      }
    }
    if (auto error = reader.finish()) return fail(std::move(*error));
    queues.push_back(std::move(queue));
  }
  return queues;
}

Result<std::uint64_t> parse_bytes(std::string_view text) { return parse_byte_size(text); }

bool is_duration_policy(std::string_view field) {
  return std::ranges::any_of(kPolicyFields, [&](const PolicyField& known) {
    return known.name == field && known.is_duration;
  });
}

std::vector<std::string> queue_policy_fields() {
  std::vector<std::string> names;
  for (const auto& field : kPolicyFields) names.emplace_back(field.name);
  return names;
}

}  // namespace millrace::app
