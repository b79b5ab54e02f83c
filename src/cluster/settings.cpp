#include "cluster/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sys/statvfs.h>
#include <unistd.h>

namespace millrace::cluster {

namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

// The lowest limit of the control groups this process is in, if they say so.
std::uint64_t cgroup_limit_bytes() {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (file >> value) lowest = std::min(lowest, value);  // "max" is not a number.
  }
  return lowest;
}

std::string quote_setting(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

std::string quote_ident_field(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + "\"";
}

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '-' || c == '_' || c == '.';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

}  // namespace

Machine this_machine() {
  const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
  Machine machine{.memory_bytes = std::min(pages * page_bytes, cgroup_limit_bytes()),
                  .shared_memory_bytes = 0};
  struct statvfs shm{};
  if (::statvfs("/dev/shm", &shm) == 0) {
    machine.shared_memory_bytes = std::uint64_t{shm.f_blocks} * shm.f_frsize;
  }
  return machine;
}

std::string server_conf(const Settings& settings) {
  const auto megabytes = settings.machine.memory_bytes / kMiB;
  const auto part = [&](std::uint64_t divisor, std::uint64_t low, std::uint64_t high) {
    return std::clamp(megabytes / divisor, low, high);
  };
  auto text = fmt::format(
      "# Written by millrace at every start. Put settings of your own into local.conf beside it;\n"
      "# they win over these.\n"
      "listen_addresses = ''\n"
      "port = {}\n"
      "unix_socket_directories = {}\n"
      "unix_socket_permissions = 0700\n"
      "max_connections = {}\n"
      "\n"
      "# Nothing that was committed may be lost.\n"
      "fsync = on\n"
      "synchronous_commit = on\n"
      "full_page_writes = on\n"
      "\n"
      "# From this machine's memory.\n"
      "shared_buffers = {}MB\n"
      "effective_cache_size = {}MB\n"
      "maintenance_work_mem = {}MB\n"
      "work_mem = 8MB\n",
      kPort, quote_setting(settings.socket_directory.string()), kConnectionsMax, part(8, 128, 1024),
      part(2, 256, 1024 * 1024), part(32, 64, 512));
  // A container's /dev/shm is often 64 MB: parallel queries would fail there.
  if (settings.machine.shared_memory_bytes < 256 * kMiB) {
    text += "dynamic_shared_memory_type = mmap\n";
  }
  text +=
      "\n"
      "# Queues write much and keep little: fewer checkpoints, smaller log, prompt vacuum.\n"
      "max_wal_size = 2GB\n"
      "checkpoint_timeout = 15min\n"
      "checkpoint_completion_target = 0.9\n"
      "wal_compression = on\n"
      "autovacuum_naptime = 10s\n"
      "autovacuum_vacuum_cost_limit = 2000\n"
      "\n"
      "timezone = 'UTC'\n"
      "log_timezone = 'UTC'\n"
      "log_destination = 'stderr'\n"
      "logging_collector = off\n"
      "log_line_prefix = '%m [%p] %q%u@%d '\n"
      "log_checkpoints = off\n"
      "log_min_duration_statement = 5s\n"
      "log_lock_waits = on\n"
      "\n"
      "include_if_exists 'local.conf'\n";
  return text;
}

std::string hba_conf() {
  return "# Written by millrace at every start.\n"
         "local all all peer map=millrace\n";
}

std::string ident_conf(const std::vector<std::string>& os_users,
                       const std::vector<std::string>& app_logins) {
  std::set<std::string> roles = {
      std::string(kSuperuser), "millrace_owner",  "millrace_api", "millrace_worker",
      "millrace_keeper",       "millrace_reader", "anon",         "authenticated",
      "service_role",          "authenticator"};
  roles.insert(app_logins.begin(), app_logins.end());
  std::string text =
      "# Written by millrace at every start.\n"
      "# map  system user  role\n";
  for (const auto& user : std::set<std::string>(os_users.begin(), os_users.end())) {
    for (const auto& role : roles) {
      text += fmt::format("millrace {} {}\n", quote_ident_field(user), quote_ident_field(role));
    }
  }
  text += "millrace /^(.+)$ \\1\n";
  return text;
}

std::string connection_url(const std::filesystem::path& socket_directory, std::string_view user,
                           std::string_view database) {
  return fmt::format("postgresql://{}@/{}?host={}&port={}", percent_encode(user),
                     percent_encode(database), percent_encode(socket_directory.string()), kPort);
}

bool fits_socket(const std::filesystem::path& directory) {
  const auto& text = directory.native();
  // A comma separates hosts for libpq and directories for the server.
  return directory.is_absolute() && text.size() <= kSocketDirectoryMaxBytes &&
         text.find_first_of(",\"\n") == std::string::npos;
}

}  // namespace millrace::cluster
