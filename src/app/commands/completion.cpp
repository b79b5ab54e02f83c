#include "app/cli/completion.h"

#include "app/commands/commands.h"
#include "app/context.h"
#include "app/exit_code.h"

#include <memory>

namespace millrace::app {

void add_completion_command(Command& root) {
  auto shell = std::make_shared<std::string>();
  auto& command = root.add("completion", "Print completion for your shell").group("Help");
  command.argument("SHELL", *shell, "bash, zsh or fish").choices({"bash", "zsh", "fish"});
  command.footer("Example:\n  source <(millrace completion bash)");
  command.without_config();
  command.action([shell, &root](Context& context) -> Result<int> {
    context.print(*shell == "bash"  ? bash_completion(root)
                  : *shell == "zsh" ? zsh_completion(root)
                                    : fish_completion(root));
    return kExitOk;
  });
}

}  // namespace millrace::app
