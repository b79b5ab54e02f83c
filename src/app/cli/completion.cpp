#include "app/cli/completion.h"

#include <fmt/format.h>

#include <functional>

namespace millrace::app {
namespace {

// "-q,--queue" as {"-q", "--queue"}.
std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= names.size();) {
    const auto comma = std::min(names.find(',', at), names.size());
    out.push_back(names.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void walk(const Command& command, const std::function<void(const Command&)>& visit) {
  if (command.hidden()) return;
  visit(command);
  for (const auto& child : command.commands()) walk(*child, visit);
}

std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  for (const auto& child : command.commands()) {
    if (!child->hidden()) words.push_back(child->name());
  }
  for (const auto& option : command.options()) {
    if (option.is_argument) {
      words.insert(words.end(), option.choices.begin(), option.choices.end());
    } else {
      for (auto& name : split_names(option.names)) words.push_back(std::move(name));
    }
  }
  return words;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string{letter};
  return out + "'";
}

// The path below the program: "jobs list".
std::string below(const Command& root, const Command& command) {
  const auto path = command.path();
  return path.size() > root.name().size() ? path.substr(root.name().size() + 1) : std::string();
}

// What may follow an option: its choices, files, or nothing that we could know.
std::string bash_values(const std::string& path, const Command::OptionInfo& option) {
  if (option.is_argument || option.value.empty()) return {};
  const auto action =
      !option.choices.empty()
          ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))", quoted(joined(option.choices)))
      : option.is_file ? std::string("COMPREPLY=($(compgen -f -- \"$word\"))")
                       : std::string("COMPREPLY=()");
  std::string cases;
  for (const auto& name : split_names(option.names)) {
    cases += fmt::format("    {}) {}; return ;;\n", quoted(path + ":" + name), action);
  }
  return cases;
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string words;
  std::string values;
  std::string paths = "|";
  walk(root, [&](const Command& command) {
    const auto path = below(root, command);
    if (&command != &root) paths += path + "|";
    words += fmt::format("    {}) words={} ;;\n", quoted(path), quoted(joined(words_of(command))));
    for (const auto& option : command.options()) values += bash_values(path, option);
  });
  std::string global = "--help";
  std::string global_values;
  for (const auto& option : root.options()) {
    for (const auto& name : split_names(option.names)) global += " " + name;
    global_values += bash_values("", option);
  }
  return fmt::format(R"(# bash completion for {0}: source <({0} completion bash)
_{0}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local path='' next words='' global='{1}' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="${{path:+$path }}${{COMP_WORDS[i]}}"
    case " {2} " in *"|$next|"*) path="$next" ;; esac
  done
  case "$path:$before" in
{3}  esac
  case ":$before" in
{4}  esac
  case "$path" in
{5}  esac
  COMPREPLY=($(compgen -W "$words $global" -- "$word"))
}}
complete -o default -F _{0} {0}
)",
                     root.name(), global, paths, values, global_values, words);
}

std::string zsh_completion(const Command& root) {
  std::string cases;
  std::string values;
  std::string paths = "|";
  const auto entry = [](const std::string& name, const std::string& description) {
    std::string safe;
    for (const char letter : name) safe += letter == ':' ? std::string("\\:") : std::string{letter};
    return fmt::format(" {}", quoted(safe + ":" + description));
  };
  walk(root, [&](const Command& command) {
    if (&command != &root) paths += below(root, command) + "|";
    std::string list;
    for (const auto& child : command.commands()) {
      if (!child->hidden()) list += entry(child->name(), child->description());
    }
    for (const auto& option : command.options()) {
      if (option.is_argument) {
        for (const auto& choice : option.choices) list += entry(choice, option.description);
        continue;
      }
      for (const auto& name : split_names(option.names)) {
        list += entry(name, option.description);
        if (option.choices.empty()) continue;
        values += fmt::format("    {}) compadd -- {}; return ;;\n", name, joined(option.choices));
      }
    }
    cases += fmt::format("    {}) entries=({} ) ;;\n", quoted(below(root, command)), list);
  });
  return fmt::format(R"(#compdef {0}
# zsh completion for {0}: {0} completion zsh > "${{fpath[1]}}/_{0}"
_{0}() {{
  local route='' next i
  local -a entries
  for ((i = 2; i < CURRENT; i++)); do
    next="${{route:+$route }}${{words[i]}}"
    case '{1}' in *"|$next|"*) route="$next" ;; esac
  done
  case "${{words[CURRENT-1]}}" in
{2}  esac
  case "$route" in
{3}  esac
  _describe 'millrace' entries || _files
}}
compdef _{0} {0}
)",
                     root.name(), paths, values, cases);
}

std::string fish_completion(const Command& root) {
  std::string paths = "|";
  std::string lines;
  walk(root, [&](const Command& command) {
    const auto path = below(root, command);
    if (&command != &root) paths += path + "|";
    const auto here = fmt::format("-n \"__{}_at {}\"", root.name(), quoted(path));
    for (const auto& child : command.commands()) {
      if (child->hidden()) continue;
      lines += fmt::format("complete -c {} {} -f -a {} -d {}\n", root.name(), here, child->name(),
                           quoted(child->description()));
    }
    for (const auto& option : command.options()) {
      if (option.is_argument) {
        if (option.choices.empty()) continue;
        lines += fmt::format("complete -c {} {} -f -a {}\n", root.name(), here,
                             quoted(joined(option.choices)));
        continue;
      }
      std::string names;
      for (const auto& name : split_names(option.names)) {
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const auto value = option.value.empty()      ? std::string()
                         : !option.choices.empty() ? " -x -a " + quoted(joined(option.choices))
                         : option.is_file          ? std::string(" -r -F")
                                                   : std::string(" -x");
      // Options of the program itself go with every command.
      lines += fmt::format("complete -c {}{}{}{} -d {}\n", root.name(),
                           &command == &root ? std::string() : " " + here, names, value,
                           quoted(option.description));
    }
  });
  return fmt::format(R"(# fish completion for {0}: {0} completion fish | source
function __{0}_at
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim "$path $word")
    if string match -q "*|$next|*" '{1}'
      set path $next
    end
  end
  test "$path" = "$argv[1]"
end
{2})",
                     root.name(), paths, lines);
}

}  // namespace millrace::app
