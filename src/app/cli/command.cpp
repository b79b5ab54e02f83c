#include "app/cli/command.h"

#include "base/assert.h"
#include "base/words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millrace::app {

struct Command::Parser {
  CLI::App* app = nullptr;
  std::unique_ptr<CLI::App> owned;  // The root owns the tree.
  CLI::Option* last = nullptr;
};

namespace {

std::int64_t to_integer(const std::string& names, const std::string& text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) {
    throw CLI::ValidationError(fmt::format("{}: '{}' is not a whole number", names, text));
  }
  return value;
}

// The long form of "-q,--queue".
std::string shown_name(const std::string& names) {
  const auto comma = names.rfind(',');
  return comma == names.npos ? names : names.substr(comma + 1);
}

std::vector<std::string> command_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto& child : command.commands()) {
    if (!child->hidden()) names.push_back(child->name());
  }
  return names;
}

std::vector<std::string> option_names(const Command& command, const Command& root) {
  std::vector<std::string> names{"--help"};
  for (const auto* node : {&command, &root}) {
    for (const auto& option : node->options()) {
      if (!option.is_argument) names.push_back(shown_name(option.names));
    }
  }
  return names;
}

// "jobs list", the way people say it.
std::string short_path(const Command& command) {
  const auto path = command.path();
  const auto space = path.find(' ');
  return space == path.npos ? path : path.substr(space + 1);
}

Error usage_error(const Command& command, std::string message) {
  return {.kind = ErrorKind::invalid_argument,
          .message = std::move(message),
          .hint = fmt::format("see '{} --help'", command.path())};
}

Error unexpected_word(const Command& command, const Command& root, const std::string& word) {
  const bool is_option = word.starts_with('-');
  const bool is_command = !is_option && !command.commands().empty();
  if (!is_option && !is_command) {
    return usage_error(command,
                       fmt::format("{}: unexpected argument '{}'", short_path(command), word));
  }
  const auto name = word.substr(0, word.find('='));
  const auto near = nearest(name, is_option ? option_names(command, root) : command_names(command));
  auto message = fmt::format("unknown {} '{}'", is_option ? "option" : "command", name);
  if (&command != &root) message += fmt::format(" of '{}'", short_path(command));
  if (near) message += fmt::format("; did you mean '{}'?", *near);
  return usage_error(command, std::move(message));
}

}  // namespace

Command::Command(std::string name, std::string description, std::unique_ptr<Parser> parser,
                 const Command* parent)
    : name_(std::move(name)),
      description_(std::move(description)),
      parser_(std::move(parser)),
      parent_(parent) {}

Command::~Command() = default;

std::string Command::path() const {
  return parent_ == nullptr ? name_ : parent_->path() + " " + name_;
}

Command& Command::add(std::string name, std::string description) {
  auto parser = std::make_unique<Parser>();
  parser->app = parser_->app->add_subcommand(name, description);
  parser->app->fallthrough();
  parser_->app->require_subcommand(0, 1);
  commands_.push_back(std::unique_ptr<Command>(
      new Command(std::move(name), std::move(description), std::move(parser), this)));
  return *commands_.back();
}

Command& Command::group(std::string title) {
  parser_->app->group(std::move(title));
  return *this;
}

Command& Command::hide() {
  hidden_ = true;
  parser_->app->group("");
  return *this;
}

Command& Command::footer(std::string text) {
  parser_->app->footer(std::move(text));
  return *this;
}

Command& Command::action(Action action) {
  action_ = std::move(action);
  return *this;
}

Command& Command::without_config() {
  needs_config_ = false;
  return *this;
}

Command& Command::service() {
  service_ = true;
  return *this;
}

Command& Command::flag(std::string names, bool& target, std::string description) {
  parser_->last = parser_->app->add_flag(names, target, description);
  options_.push_back({std::move(names), "", std::move(description), {}});
  return *this;
}

Command& Command::option(std::string names, std::string value, std::string& target,
                         std::string description) {
  parser_->last = parser_->app->add_option(names, target, description)->type_name(value);
  parser_->last->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  options_.push_back({std::move(names), std::move(value), std::move(description), {}});
  return *this;
}

Command& Command::option(std::string names, std::string value, std::optional<std::string>& target,
                         std::string description) {
  const auto store = [&target](const std::string& text) { target = text; };
  parser_->last =
      parser_->app->add_option_function<std::string>(names, store, description)->type_name(value);
  parser_->last->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  options_.push_back({std::move(names), std::move(value), std::move(description), {}});
  return *this;
}

Command& Command::option(std::string names, std::string value, std::optional<std::int64_t>& target,
                         std::string description) {
  const auto store = [&target, names](const std::string& text) {
    target = to_integer(shown_name(names), text);
  };
  parser_->last =
      parser_->app->add_option_function<std::string>(names, store, description)->type_name(value);
  parser_->last->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  options_.push_back({std::move(names), std::move(value), std::move(description), {}});
  return *this;
}

Command& Command::option(std::string names, std::string value, std::int64_t& target,
                         std::string description) {
  const auto store = [&target, names](const std::string& text) {
    target = to_integer(shown_name(names), text);
  };
  parser_->last =
      parser_->app->add_option_function<std::string>(names, store, description)->type_name(value);
  parser_->last->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  options_.push_back({std::move(names), std::move(value), std::move(description), {}});
  return *this;
}

Command& Command::option(std::string names, std::string value, std::vector<std::string>& target,
                         std::string description) {
  // One value per mention, so that an argument may follow: `enqueue --after A --after B noop`.
  parser_->last = parser_->app->add_option(names, target, description)
                      ->type_name(value)
                      ->allow_extra_args(false)
                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  options_.push_back({std::move(names), std::move(value), std::move(description), {}});
  return *this;
}

Command& Command::argument(std::string placeholder, std::string& target, std::string description,
                           bool required) {
  parser_->last = parser_->app->add_option(placeholder, target, description);
  parser_->last->required(required)->type_name("")->option_text(" ");
  options_.push_back({placeholder, std::move(placeholder), std::move(description), {}, true});
  return *this;
}

Command& Command::argument(std::string placeholder, std::vector<std::string>& target,
                           std::string description, bool required) {
  parser_->last = parser_->app->add_option(placeholder, target, description);
  parser_->last->required(required)->type_name("")->option_text("...");
  options_.push_back({placeholder, std::move(placeholder), std::move(description), {}, true});
  return *this;
}

Command& Command::choices(std::vector<std::string> allowed) {
  MR_ASSERT(parser_->last != nullptr);
  const auto name = shown_name(options_.back().names);
  options_.back().choices = allowed;
  parser_->last->check(
      [name, allowed](const std::string& text) {
        if (std::ranges::find(allowed, text) != allowed.end()) return std::string{};
        return fmt::format("{}: '{}' is not {}", name, text, one_of(allowed));
      },
      "");
  return *this;
}

Command& Command::files() {
  options_.back().is_file = true;
  return *this;
}

Command& Command::hide_last() {
  parser_->last->group("");
  options_.pop_back();
  return *this;
}

CommandLine::CommandLine(std::string name, std::string description) {
  auto parser = std::make_unique<Command::Parser>();
  parser->owned = std::make_unique<CLI::App>(description, name);
  parser->app = parser->owned.get();
  parser->app->require_subcommand(0, 1);
  parser->app->set_help_flag("-h,--help", "Show this help");
  parser->app->get_formatter()->column_width(34);
  root_ = std::unique_ptr<Command>(
      new Command(std::move(name), std::move(description), std::move(parser), nullptr));
}

CommandLine::~CommandLine() = default;

Result<CommandLine::Parsed> CommandLine::parse(int argc, const char* const* argv) {
  auto& app = *root_->parser_->app;
  const auto find_parsed = [&] {
    const Command* command = root_.get();
    for (;;) {
      const Command* next = nullptr;
      for (const auto& child : command->commands()) {
        if (child->parser_->app->parsed()) next = child.get();
      }
      if (next == nullptr) return command;
      command = next;
    }
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Parsed{.help = app.help()};
  } catch (const CLI::ExtrasError&) {
    const auto* command = find_parsed();
    const auto rest = app.remaining(true);
    return fail(unexpected_word(*command, *root_, rest.empty() ? "" : rest.front()));
  } catch (const CLI::RequiredError& error) {
    // CLI11 says "ID is required".
    const auto* command = find_parsed();
    return fail(usage_error(*command, fmt::format("{}: {}", short_path(*command), error.what())));
  } catch (const CLI::ValidationError& error) {
    std::string message = error.what();
    // A check's text comes back as "--status: --status: 'x' is not ...".
    const auto colon = message.find(": ");
    if (colon != message.npos) {
      const auto rest = message.substr(colon + 2);
      if (rest.find(": '") != rest.npos) message = rest;
    }
    return fail(usage_error(*find_parsed(), message));
  } catch (const CLI::ParseError& error) {
    return fail(usage_error(*find_parsed(), error.what()));
  }
  const auto* command = find_parsed();
  if (!command->action_) {
    if (command == root_.get()) return Parsed{.help = app.help(), .help_asked = false};
    return fail(usage_error(*command, fmt::format("{}: which command? {}", short_path(*command),
                                                  one_of(command_names(*command)))));
  }
  return Parsed{.command = command,
                .help = {},
                .needs_config = command->needs_config_,
                .service = command->service_,
                .action = command->action_};
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  return nearest_word(word, candidates);
}

std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace millrace::app
