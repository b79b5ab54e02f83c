#include "app/bench/workers.h"

#include "base/file.h"

#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace millrace::app {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartPatience = 120s;
constexpr auto kStopPatience = 60s;

Result<std::string> own_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorKind::internal, "cannot find this program's own file");
  return path.string();
}

std::string quoted(const std::string& text) { return json_quote(text); }

}  // namespace

std::string database_settings(const World& world) {
  const auto& database = world.database();
  if (!database.is_private) return fmt::format("[database]\nurl = {}\n", quoted(database.url));
  return fmt::format("[database]\ndata_dir = {}\n",
                     quoted(cluster_folder(world.folder()).string()));
}

std::string worker_settings(const World& world, const WorkerSpec& spec) {
  std::string text = "[log]\nlevel = \"warn\"\n" + database_settings(world);
  text +=
      fmt::format("[worker]\nid = \"bench\"\nslots = {}\nprocesses = {}\ntest_outcomes = true\n",
                  spec.slots, spec.processes);
  if (spec.prefetch) text += fmt::format("prefetch = {}\n", *spec.prefetch);
  for (const auto& [type, run] :
       {std::pair{kNoopType, "noop"}, {kLimitedType, "noop"}, {kSleepType, "sleep"}}) {
    text += fmt::format("[[handler]]\ntype = \"{}\"\nrun = \"{}\"\nqueue = \"{}\"\n", type, run,
                        kBenchQueue);
  }
  return text;
}

Result<WorkerGroup> WorkerGroup::launch(const World& world, const std::string& name,
                                        const std::string& settings,
                                        std::vector<std::string> arguments) {
  const auto toml = world.folder() / (name + ".toml");
  const auto ready = world.folder() / (name + ".ready.json");
  std::error_code ignored;
  std::filesystem::remove(ready, ignored);
  MR_TRY_VOID(write_file_atomically(toml, settings, 0600));
  MR_TRY(auto program, own_program());
  arguments.insert(arguments.begin(), {std::move(program), "--config", toml.string()});
  arguments.insert(arguments.end(), {"--ready-file", ready.string()});
  const auto log = world.folder() / (name + ".log");
  const cluster::UniqueFd output(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  MR_TRY(auto process,
         cluster::Process::spawn(
             {.argv = std::move(arguments), .output_fd = output.get(), .death_signal = SIGKILL}));
  WorkerGroup group(std::move(process));
  const auto& clock = world.context().clock;
  const auto begin = clock.now();
  while (::access(ready.c_str(), F_OK) != 0) {
    if (!group.running() || clock.now() - begin > kStartPatience) {
      return fail(ErrorKind::unavailable,
                  fmt::format("the workers did not start; see {}", log.string()));
    }
    world.pause_until(clock.now() + 5ms);
  }
  return group;
}

Result<WorkerGroup> WorkerGroup::start(const World& world, const WorkerSpec& spec) {
  return launch(world, "worker", worker_settings(world, spec), {"worker", "--queue", kBenchQueue});
}

Result<WorkerGroup> WorkerGroup::start_clock(const World& world,
                                             const std::filesystem::path& times) {
  return launch(world, "clock", worker_settings(world, {}),
                {"bench", "clock-worker", "--times", times.string()});
}

Result<WorkerGroup> WorkerGroup::start_server(const World& world, const std::string& settings,
                                              std::string& url) {
  MR_TRY(auto group, launch(world, "server", database_settings(world) + settings, {"serve"}));
  MR_TRY(const auto text, read_file(world.folder() / "server.ready.json"));
  MR_TRY(const auto ready, parse_json_object(text));
  url = text_member(ready, "http_url");
  return group;
}

WorkerGroup::~WorkerGroup() {
  if (!process_.running()) return;
  // A supervisor passes it on to its children; they would otherwise die with it all the same.
  process_.signal(SIGKILL);
  (void)process_.wait(5s);
}

Result<void> WorkerGroup::stop() {
  process_.signal(SIGTERM);
  if (!process_.wait(kStopPatience)) {
    process_.signal(SIGKILL);
    (void)process_.wait(5s);
    return fail(ErrorKind::unavailable, "the workers did not stop when asked to");
  }
  if (!process_.succeeded()) {
    return fail(ErrorKind::internal, "a worker ended with " + process_.exit_text());
  }
  return {};
}

std::int64_t WorkerGroup::resident() const {
  std::int64_t bytes = 0;
  for (const auto pid : ProcessTable::read().family(process_.pid())) bytes += resident_bytes(pid);
  return bytes;
}

}  // namespace millrace::app
