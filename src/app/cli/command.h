// Command: one node of the command line's tree, a small face over CLI11.
//
// CLI11 takes seconds to compile, so command.cpp is the only file that includes it. A command group
// declares its options with references into a struct that its action keeps alive, and remembers
// nothing else. The same tree feeds help, completion and the check of docs/cli.md.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::app {

struct Context;

class Command {
 public:
  using Action = std::function<Result<int>(Context&)>;

  struct OptionInfo {
    std::string names;  // "-q,--queue", or a placeholder such as "ID" for an argument.
    std::string value;  // Placeholder of the value, empty for a flag.
    std::string description;
    std::vector<std::string> choices;
    bool is_argument = false;
    bool is_file = false;
  };

  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command& add(std::string name, std::string description);
  Command& group(std::string title);  // Heading in the parent's help.
  Command& hide();                    // Not shown in help and completion.
  Command& footer(std::string text);  // Examples, below the options.
  Command& action(Action action);
  // Runs although configuration files may be broken: version, completion.
  Command& without_config();
  // Runs until told to stop and logs what it does; other commands log warnings only.
  Command& service();

  Command& flag(std::string names, bool& target, std::string description);
  Command& option(std::string names, std::string value, std::string& target,
                  std::string description);
  Command& option(std::string names, std::string value, std::optional<std::string>& target,
                  std::string description);
  Command& option(std::string names, std::string value, std::optional<std::int64_t>& target,
                  std::string description);
  Command& option(std::string names, std::string value, std::int64_t& target,
                  std::string description);
  Command& option(std::string names, std::string value, std::vector<std::string>& target,
                  std::string description);
  Command& argument(std::string placeholder, std::string& target, std::string description,
                    bool required = true);
  Command& argument(std::string placeholder, std::vector<std::string>& target,
                    std::string description, bool required = true);
  // For the option or argument declared last.
  Command& choices(std::vector<std::string> allowed);
  Command& files();
  Command& hide_last();  // Not for people.

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  bool hidden() const { return hidden_; }
  const std::vector<OptionInfo>& options() const { return options_; }
  const std::vector<std::unique_ptr<Command>>& commands() const { return commands_; }
  std::string path() const;  // "millrace jobs list".

 private:
  friend class CommandLine;
  struct Parser;  // Hides CLI::App and the option declared last.
  Command(std::string name, std::string description, std::unique_ptr<Parser> parser,
          const Command* parent);

  std::string name_;
  std::string description_;
  std::unique_ptr<Parser> parser_;
  const Command* parent_;
  bool hidden_ = false;
  bool needs_config_ = true;
  bool service_ = false;
  Action action_;
  std::vector<OptionInfo> options_;
  std::vector<std::unique_ptr<Command>> commands_;
};

class CommandLine {
 public:
  CommandLine(std::string name, std::string description);
  ~CommandLine();

  Command& root() { return *root_; }

  struct Parsed {
    const Command* command = nullptr;  // Null when help was asked for.
    std::string help;                  // What to print in that case.
    bool help_asked = true;            // False: printed because nothing was said.
    bool needs_config = true;
    bool service = false;
    Command::Action action;
  };
  // Errors are invalid_argument, one line that says what to type instead.
  Result<Parsed> parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<Command> root_;
};

// The candidate with the fewest edits from `word`, when it is near enough to be meant.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);
// "'a', 'b' or 'c'".
std::string one_of(const std::vector<std::string>& words);

}  // namespace millrace::app
