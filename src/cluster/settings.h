// Settings: the text of the configuration files that the private cluster runs with. No I/O except
// in this_machine().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::cluster {

inline constexpr std::string_view kDatabase = "millrace";
inline constexpr std::string_view kSuperuser = "millrace";
inline constexpr int kPort = 5432;  // Only names the socket file; nothing listens on TCP.
inline constexpr int kConnectionsMax = 200;

// unix(7): 108 bytes for the path with its end mark, and the socket is "<dir>/.s.PGSQL.5432".
inline constexpr std::size_t kSocketDirectoryMaxBytes = 107 - 14;

struct Machine {
  std::uint64_t memory_bytes = 0;         // Physical, or what the control group allows.
  std::uint64_t shared_memory_bytes = 0;  // Size of /dev/shm.
};

Machine this_machine();

struct Settings {
  Machine machine;
  std::filesystem::path socket_directory;
};

// millrace.conf, included at the end of postgresql.conf.
std::string server_conf(const Settings& settings);

// pg_hba.conf: local connections by the kernel's word on who calls, nothing else.
std::string hba_conf();

// pg_ident.conf: the system users `os_users` may be any of our roles and of `app_logins`; everybody
// may be the role of his own name.
std::string ident_conf(const std::vector<std::string>& os_users,
                       const std::vector<std::string>& app_logins);

// postgresql://user@/millrace?host=... for libpq and everything that reads its URLs.
std::string connection_url(const std::filesystem::path& socket_directory, std::string_view user,
                           std::string_view database = kDatabase);

// A path that fits a socket address and that libpq and the server read as one directory.
bool fits_socket(const std::filesystem::path& directory);

}  // namespace millrace::cluster
