#include "api/compute/contract_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace millrace::api {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 4;
constexpr std::size_t kFilesMax = 100'000;

// Names, sizes and times of all schemas below, also behind links, which is where deployments put
// them: equal when nothing has changed. A file that goes away meanwhile is left out, and the next
// look sees the rest. Links that lead in a circle end at the depth.
std::string look_of(const fs::path& folder) {
  std::vector<std::string> lines;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::follow_directory_symlink,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry.depth() >= kDepthMax) entry.disable_recursion_pending();
    if (!entry->path().native().ends_with(".json")) continue;
    std::error_code gone;
    const auto size = entry->file_size(gone);
    const auto time = entry->last_write_time(gone);
    if (gone) continue;
    lines.push_back(
        fmt::format("{} {} {}\n", entry->path().native(), size, time.time_since_epoch().count()));
    if (lines.size() > kFilesMax) break;
  }
  std::ranges::sort(lines);
  std::string out;
  for (const auto& line : lines) out += line;
  return out;
}

}  // namespace

ContractDirectory::ContractDirectory(fs::path folder, const Logger& log)
    : folder_(std::move(folder)), log_(log) {}

ContractDirectory::~ContractDirectory() { stop(); }

Result<std::unique_ptr<ContractDirectory>> ContractDirectory::open(fs::path folder,
                                                                   const Logger& log) {
  std::unique_ptr<ContractDirectory> directory(new ContractDirectory(std::move(folder), log));
  if (directory->folder_.empty()) return directory;
  MR_TRY_VOID(directory->refresh());
  return directory;
}

std::shared_ptr<const ContractSet> ContractDirectory::current() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

std::shared_ptr<const Contract> ContractDirectory::find(const ContractName& name) const {
  return current()->find(name);
}

std::vector<std::shared_ptr<const Contract>> ContractDirectory::all() const {
  return current()->all();
}

Result<bool> ContractDirectory::refresh() {
  if (folder_.empty()) return false;
  // Looked at before it is read: what changes in between is read again next time.
  auto look = look_of(folder_);
  if (look == seen_) return false;
  // What could not be read is read again at the next look, changed or not: the reason may pass.
  MR_TRY(auto loaded, ContractSet::load(folder_));
  seen_ = std::move(look);
  auto fresh = std::make_shared<const ContractSet>(std::move(loaded));
  const std::lock_guard lock(mutex_);
  set_ = std::move(fresh);
  return true;
}

void ContractDirectory::watch(std::chrono::milliseconds interval) {
  if (folder_.empty() || thread_.joinable()) return;
  thread_ = std::jthread([this, interval](std::stop_token stopping) { look(stopping, interval); });
}

void ContractDirectory::look(std::stop_token stopping, std::chrono::milliseconds interval) {
  std::mutex waiting;  // Nobody else wants it: the wait ends with time or with stop().
  std::string told;    // Said once, not at every look.
  while (!stopping.stop_requested()) {
    {
      std::unique_lock lock(waiting);
      woken_.wait_for(lock, stopping, interval, [] { return false; });
    }
    if (stopping.stop_requested()) return;
    const auto changed = refresh();
    if (!changed) {
      if (changed.error().message == told) continue;
      told = changed.error().message;
      log_.warn("contracts_not_loaded", {{"error", told}});
    } else if (*changed) {
      told.clear();
      log_.info("contracts_loaded", {{"contracts", current()->size()}});
    }
  }
}

void ContractDirectory::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

}  // namespace millrace::api
