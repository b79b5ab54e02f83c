// The simulation in the suite: the seeds that once failed, some that did not, and the simulator's
// own promise that a seed always means the same.
#include "sim/world.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace millrace::sim {
namespace {

constexpr std::uint64_t kSeeds = 4000;
// Under a sanitizer a world takes many times as long.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t kShare = 8;
#else
constexpr std::uint64_t kShare = 1;
#endif
#else
constexpr std::uint64_t kShare = 1;
#endif

std::string explain(std::uint64_t seed) {
  Coverage coverage;
  World world(seed, coverage, true);
  world.run();
  return world.checks().report() + "replay: millrace_sim --first " + std::to_string(seed) +
         " --seeds 1 --trace";
}

// One seed a line, and what it showed.
std::vector<std::uint64_t> kept_seeds() {
  std::ifstream file(MILLRACE_SIM_DIR "/seeds.txt");
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t seed = 0;
    if (words >> seed) seeds.push_back(seed);
  }
  return seeds;
}

TEST(SimTest, SeedsThatOnceFailed) {
  const auto seeds = kept_seeds();
  ASSERT_FALSE(seeds.empty());
  for (const auto seed : seeds) {
    Coverage coverage;
    EXPECT_FALSE(World(seed, coverage).run().violation.has_value()) << explain(seed);
  }
}

TEST(SimTest, t7_ManySeedsHoldEveryPropertyAndReachEveryPath) {
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= kSeeds / kShare; ++seed) {
    ASSERT_FALSE(World(seed, coverage).run().violation.has_value()) << explain(seed);
  }
  if (kShare > 1) return;
  for (const auto& hole : coverage.holes()) ADD_FAILURE() << "no seed reached " << hole;
}

TEST(SimTest, ASeedAlwaysMeansTheSame) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Coverage coverage;
    const auto once = World(seed, coverage).run();
    const auto again = World(seed, coverage, true).run();  // Tracing changes nothing.
    EXPECT_EQ(once.digest, again.digest) << "seed " << seed;
    EXPECT_EQ(once.steps, again.steps) << "seed " << seed;
  }
}

}  // namespace
}  // namespace millrace::sim
