#include "app/cli/command.h"
#include "app/commands/job_spec.h"
#include "app/config/settings.h"
#include "app/config/wiring.h"
#include "app/context.h"
#include "fuzz/targets.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace millrace::fuzz {
namespace {

// A file in memory that Settings can open by name.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }
  void hold(std::string_view text) const {
    property(::ftruncate(fd_, 0) == 0, "a file can be emptied");
    const auto written = ::pwrite(fd_, text.data(), text.size(), 0);
    property(written == static_cast<ssize_t>(text.size()), "a file can be written");
  }

 private:
  int fd_;
};

Result<app::Settings> load(std::string_view text, const app::Environment& environment = {}) {
  static const MemoryFile file;
  file.hold(text);
  return app::Settings::load({.file = file.path(), .environment = environment});
}

void check_handler(const app::HandlerConfig& handler) {
  using Kind = app::HandlerConfig::Kind;
  property(!handler.type.empty(), "a handler has a type");
  property(handler.kind != Kind::exec || !handler.argv.empty(), "an exec handler has a program");
  property(handler.kind != Kind::http || handler.url.starts_with("http"),
           "an http handler has a URL");
  property(!handler.timeout || handler.timeout->count() > 0, "a timeout is above zero");
  property(std::filesystem::path(handler.cwd).is_absolute(), "a program's folder is absolute");
  for (const auto& limit : {handler.memory_bytes, handler.cpu_seconds, handler.file_bytes,
                            handler.open_files, handler.processes}) {
    property(!limit || *limit > 0, "a limit is above zero");
  }
}

void check_settings(app::Settings& settings) {
  for (const auto& spec : app::setting_specs()) {
    const auto name = spec.name();
    const auto value = settings.text(name);
    if (!settings.is_set(name)) continue;
    // The written form is a fixed point: as a flag it means the same.
    property(settings.set_flag(name, value, "--again").has_value(), "a value is read again", name);
    property(settings.text(name) == value, "a value has one written form", name);
    if (spec.type == app::SettingType::integer) {
      property(settings.integer(name) >= spec.min, "within its range", name);
      property(settings.integer(name) <= spec.max, "within its range", name);
    }
    if (spec.type == app::SettingType::duration) {
      property(settings.duration(name).count() >= spec.min, "within its range", name);
      property(settings.duration(name).count() <= spec.max, "within its range", name);
    }
  }
  std::set<std::string> types;
  for (const auto& handler : settings.handlers()) {
    check_handler(handler);
    property(types.insert(handler.type).second, "a type has one handler", handler.type);
  }
  const auto fields = app::queue_policy_fields();
  for (const auto& queue : settings.queues()) {
    property(!queue.name.empty(), "a queue has a name");
    for (const auto& [key, value] : queue.policy) {
      property(std::ranges::find(fields, key) != fields.end(), "a policy has known fields", key);
      property(app::is_duration_policy(key) ? value.is_string() : value.is_number(),
               "a policy field has its type", key);
    }
  }
}

}  // namespace

void fuzz_config(Input input) {
  auto settings = load(input);
  if (settings) {
    check_settings(*settings);
  } else {
    check_told(settings.error());
    // Where it is wrong: the file, and the line unless the file cannot be read at all.
    property(settings.error().message.contains("/proc/self/fd/"), "the file is named",
             settings.error().message);
  }
  // The same text as an operator's editor on another system would save it.
  const bool plain = !input.contains('\r') && !input.contains("\"\"\"") && !input.contains("'''");
  if (plain) {
    std::string other;
    for (const char c : input) {
      if (c == '\n') other += '\r';
      other += c;
    }
    property(load(other).has_value() == settings.has_value(), "line ends do not matter");
  }
  check_linear(input, [](std::string_view text) { static_cast<void>(load(text)); });
}

void fuzz_words(Input input) {
  const auto words = app::split_words(input);
  if (words) {
    std::string joined;
    for (const auto& word : *words) {
      joined += '\'';
      for (const char c : word) joined += c == '\'' ? std::string("'\\''") : std::string(1, c);
      joined += "' ";
    }
    const auto again = app::split_words(joined);
    property(again.has_value(), "words in quotes are read", joined);
    property(*again == *words, "words in quotes are the same words", joined);
  } else {
    check_told(words.error());
  }
  const auto bytes = app::parse_bytes(input);
  if (bytes) {
    property(*bytes > 0, "a size is above zero");
    property(app::parse_bytes(fmt::format("{}", *bytes)).value_or(0) == *bytes,
             "a size in bytes is itself");
    property(input.front() >= '0' && input.front() <= '9', "a size begins with a digit", input);
  } else {
    check_told(bytes.error());
  }
  check_linear(input, [](std::string_view text) {
    static_cast<void>(app::split_words(text));
    static_cast<void>(app::parse_bytes(text));
  });
}

void fuzz_times(Input input) {
  const auto time = app::parse_timestamp(input);
  if (time) {
    const auto text = app::format_timestamp(*time);
    const auto again = app::parse_timestamp(text);
    property(again.has_value(), "what is printed is read", text);
    property(*again == std::chrono::floor<std::chrono::seconds>(*time) ||
                 *again == std::chrono::ceil<std::chrono::seconds>(*time),
             "printing and reading loses less than a second", text);
  }
  const auto interval = app::parse_interval(input);
  if (interval) property(!app::format_age(*interval).empty(), "an age can be printed");
}

namespace {

std::optional<std::string> take_option(Input& input) {
  const auto line = take_line(input);
  if (line.empty()) return std::nullopt;
  return std::string(line);
}

bool reads_a_file(const std::string& payload) { return payload == "-" || payload.starts_with('@'); }

void check_spec(const app::JobSpecOptions& options) {
  const auto spec = app::to_job_spec(options);
  if (!spec) return check_told(spec.error());
  property(spec->at("job_type") == options.type.c_str() || options.type.contains('\0'),
           "the type is what was said");
  for (const auto* key : {"delay_seconds", "run_timeout_seconds", "dedupe_keep_seconds"}) {
    const auto* value = spec->if_contains(key);
    property(value == nullptr || value->as_double() >= 0, "times are not negative", key);
  }
  const auto* payload = spec->if_contains("payload");
  property(payload == nullptr || payload->is_object(), "a payload is an object");
  if (is_utf8(options.type)) {
    const auto text = to_json(*spec);
    property(parse_json(text, {.max_bytes = text.size(), .max_depth = 70}).has_value(),
             "the database can read it", text);
  }
}

void check_command_line(const std::vector<std::string>& words) {
  app::CommandLine line("fuzz", "The options of a job");
  app::JobSpecOptions options;
  app::Command& command = line.root().add("enqueue", "Enqueue a job");
  command.argument("TYPE", options.type, "Job type");
  app::add_job_spec_options(command, options, true);
  command.action([](app::Context&) -> Result<int> { return 0; });
  std::vector<const char*> argv{"fuzz", "enqueue"};
  for (const auto& word : words) argv.push_back(word.c_str());
  const auto parsed = line.parse(static_cast<int>(argv.size()), argv.data());
  if (!parsed) return check_told(parsed.error());
  if (parsed->command != nullptr && !reads_a_file(options.payload)) check_spec(options);
}

}  // namespace

// The first byte chooses: options by position, or the words of a command line.
void fuzz_job_spec(Input input) {
  const auto kind = take_byte(input);
  if (kind == 'w') return check_command_line(take_lines(input));
  if (kind == 'a') {
    const auto lines = take_lines(input);
    const auto values = app::parse_assignments(lines);
    if (!values) return check_told(values.error());
    property(values->size() == lines.size(), "every assignment counts");
    return;
  }
  app::JobSpecOptions options;
  options.type = take_line(input);
  options.delay = take_option(input);
  options.timeout = take_option(input);
  options.at = take_option(input);
  options.dedupe_keep = take_option(input);
  if (auto id = take_option(input)) options.after.push_back(std::move(*id));
  options.payload = input;
  if (!reads_a_file(options.payload)) check_spec(options);
}

}  // namespace millrace::fuzz
