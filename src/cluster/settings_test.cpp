#include "cluster/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kGiB = 1024ULL * 1024 * 1024;

std::string conf_for(std::uint64_t memory_bytes, std::uint64_t shared_memory_bytes = 8 * kGiB) {
  return server_conf(
      {.machine = {.memory_bytes = memory_bytes, .shared_memory_bytes = shared_memory_bytes},
       .socket_directory = "/srv/data/run"});
}

TEST(Settings, SharedBuffersAreAnEighthOfMemoryWithinBounds) {
  EXPECT_THAT(conf_for(4 * kGiB), HasSubstr("shared_buffers = 512MB\n"));
  EXPECT_THAT(conf_for(64 * kGiB), HasSubstr("shared_buffers = 1024MB\n"));
  EXPECT_THAT(conf_for(kGiB / 2), HasSubstr("shared_buffers = 128MB\n"));
}

TEST(Settings, NeverListensOnTcpAndNeverGivesUpDurability) {
  const auto conf = conf_for(4 * kGiB);
  EXPECT_THAT(conf, HasSubstr("listen_addresses = ''\n"));
  EXPECT_THAT(conf, HasSubstr("fsync = on\n"));
  EXPECT_THAT(conf, HasSubstr("synchronous_commit = on\n"));
  EXPECT_THAT(conf, HasSubstr("full_page_writes = on\n"));
  EXPECT_THAT(conf, HasSubstr("unix_socket_directories = '/srv/data/run'\n"));
}

TEST(Settings, AvoidsASmallSharedMemoryFileSystem) {
  EXPECT_THAT(conf_for(4 * kGiB, 64 * 1024 * 1024), HasSubstr("dynamic_shared_memory_type = mmap"));
  EXPECT_THAT(conf_for(4 * kGiB), Not(HasSubstr("dynamic_shared_memory_type")));
}

TEST(Settings, QuotesApostrophesInPaths) {
  const auto conf = server_conf({.machine = {}, .socket_directory = "/srv/o'hara/run"});
  EXPECT_THAT(conf, HasSubstr("unix_socket_directories = '/srv/o''hara/run'\n"));
}

TEST(Settings, EverySystemUserMayBeEveryRoleOfOurs) {
  const auto ident = ident_conf({"alice", "root", "alice"}, {"my app"});
  EXPECT_THAT(ident, HasSubstr("millrace \"alice\" \"millrace_worker\"\n"));
  EXPECT_THAT(ident, HasSubstr("millrace \"root\" \"millrace\"\n"));
  EXPECT_THAT(ident, HasSubstr("millrace \"alice\" \"my app\"\n"));
  EXPECT_EQ(ident.find("\"alice\" \"millrace\"\n"), ident.rfind("\"alice\" \"millrace\"\n"));
}

TEST(Settings, LocalCallersAreKnownByTheKernelOnly) {
  EXPECT_THAT(hba_conf(), HasSubstr("local all all peer map=millrace\n"));
  EXPECT_THAT(hba_conf(), Not(HasSubstr("trust")));
  EXPECT_THAT(hba_conf(), Not(HasSubstr("host ")));
}

TEST(Settings, UrlEscapesTheSocketPath) {
  EXPECT_EQ(connection_url("/srv/my data/run", "millrace_worker"),
            "postgresql://millrace_worker@/millrace?host=%2Fsrv%2Fmy%20data%2Frun&port=5432");
}

TEST(Settings, KnowsWhichPathsCannotHoldASocket) {
  EXPECT_TRUE(fits_socket("/srv/run"));
  EXPECT_TRUE(fits_socket("/" + std::string(kSocketDirectoryMaxBytes - 1, 'x')));
  EXPECT_FALSE(fits_socket("/" + std::string(kSocketDirectoryMaxBytes, 'x')));
  EXPECT_FALSE(fits_socket("/srv/a,b"));
  EXPECT_FALSE(fits_socket("relative/run"));
}

}  // namespace
}  // namespace millrace::cluster
