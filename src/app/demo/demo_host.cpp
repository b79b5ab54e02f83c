#include "app/demo/demo_host.h"

#include <vector>

namespace millrace::app {

std::filesystem::path example_folder(std::string_view name) {
  std::error_code ignored;
  std::vector<std::filesystem::path> places{std::filesystem::current_path(ignored)};
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) places.push_back(program.parent_path() / ".." / "..");
  for (const auto& place : places) {
    const auto folder = place / "examples" / name;
    if (std::filesystem::is_directory(folder, ignored)) {
      return std::filesystem::weakly_canonical(folder, ignored);
    }
  }
  return {};
}

Result<std::unique_ptr<Served>> start_demo_server(Context& context, const DemoOptions& options) {
  const auto data_dir = options.folder / ".documents";
  std::error_code error;
  std::filesystem::remove_all(data_dir, error);
  std::filesystem::create_directories(options.folder, error);
  return Served::start(context, data_dir, 4);
}

}  // namespace millrace::app
