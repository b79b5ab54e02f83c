#include "app/compute/mock_app_server.h"

#include "app/compute/compute_outcome.h"
#include "app/compute/mock_solvers.h"
#include "http/server_fixture.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

namespace millrace::app {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

json::Object object_of(const std::string& text) { return parse_json_object(text).value(); }

TEST(MockSolvers, ABeamBendsAsTheTextbookSays) {
  const auto solved = solve_beam(object_of(R"({"span_m":6,"load_kn":12})")).value().outputs;
  EXPECT_NEAR(solved.at("max_moment_knm").as_double(), 12.0 * 6 / 4, 1e-9);
  // P·L³ / 48·E·I with I = 100 · 200³ / 12.
  const double inertia = 100 * 200.0 * 200 * 200 / 12;
  EXPECT_NEAR(solved.at("max_deflection_mm").as_double(),
              12000 * 6000.0 * 6000 * 6000 / (48 * 210'000 * inertia), 1e-9);
  EXPECT_NEAR(solved.at("max_stress_mpa").as_double(), 18e6 * 100 / inertia, 1e-9);
}

TEST(MockSolvers, ALoadBesideTheBeamMakesNoSense) {
  const auto refused = solve_beam(object_of(R"({"span_m":6,"load_kn":12,"load_at_m":7})"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().pointer, "/load_at_m");
}

TEST(MockSolvers, ATourIsUntangled) {
  const auto solved =
      solve_tour(object_of(R"({"points":[[0,0],[1,1],[1,0],[0,1]],"drawing":true})")).value();
  EXPECT_NEAR(solved.outputs.at("length").as_double(), 4, 1e-9);
  EXPECT_EQ(solved.outputs.at("order").as_array().size(), 4U);
  EXPECT_THAT(solved.drawing_svg, testing::StartsWith("<svg "));
  EXPECT_FALSE(solve_tour(object_of(R"({"points":[[0,0],[0,0]]})")).has_value());
}

class MockAppServers : public testing::Test {
 protected:
  explicit MockAppServers(MockAppServer::Options options = {}) {
    std::string name = (fs::temp_directory_path() / "contracts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write("beam/1.0.0/inputs.schema.json", R"({
      "type": "object", "required": ["span_m", "load_kn"],
      "properties": {"span_m": {"type": "number"}, "simulate": {"type": "object"}}})");
    write("tour/2.1.0/inputs.schema.json", R"({"type": "object", "required": ["points"]})");
    write("unknown/1.0.0/inputs.schema.json", "{}");
    contracts_ = api::ContractDirectory::open(folder_, log_).value();
    mock_.emplace(*contracts_, clock_, log_, options);
    server_.emplace(mock_->routes());
  }
  ~MockAppServers() override {
    server_.reset();
    fs::remove_all(folder_);
  }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  http::Reply solve(const std::string& body, const std::string& contract = "beam:1.0.0",
                    const std::string& headers = "Idempotency-Key: job:1\r\n") {
    return server_->ask(http::post("/gh/" + contract + "/solve", body,
                                   "Content-Type: application/json\r\n" + headers));
  }

  static inline const std::string kBeam = R"("span_m":6,"load_kn":12)";
  fs::path folder_;
  SystemClock clock_;
  std::mutex mutex_;  // Guards lines_: the server has threads.
  std::vector<std::string> lines_;
  Logger log_{clock_,
              [this](std::string_view line) {
                const std::lock_guard lock(mutex_);
                lines_.emplace_back(line);
              },
              Logger::Format::json};
  std::unique_ptr<api::ContractDirectory> contracts_;
  std::optional<MockAppServer> mock_;
  std::optional<http::TestServer> server_;
};

TEST_F(MockAppServers, AnswersWithOutputsAndItsName) {  // J-12, H-22
  const auto reply = solve("{" + kBeam + "}");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.header("x-millrace-mock"), "true");
  EXPECT_THAT(reply.body, HasSubstr("mock"));
  EXPECT_NEAR(object_of(reply.body).at("max_moment_knm").to_number<double>(), 18, 1e-9);
}

TEST_F(MockAppServers, RefusesWhatBreaksContractOrDomain) {
  EXPECT_EQ(solve("{}").status, 422);
  const auto domain = solve("{" + kBeam + R"(,"load_at_m":7})");
  EXPECT_EQ(domain.status, 422) << domain.body;
  EXPECT_THAT(domain.body, HasSubstr("/load_at_m"));
  EXPECT_EQ(solve("{").status, 400);
}

TEST_F(MockAppServers, TheLogNamesTheRulesThatAQuestionBrokeAndNoValues) {  // O-02
  EXPECT_EQ(solve(R"({"span_m":"secret length"})").status, 422);
  EXPECT_EQ(solve("{" + kBeam + R"(,"load_at_m":7})").status, 422);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> told;
  std::ranges::copy_if(lines_, std::back_inserter(told),
                       [](const auto& line) { return line.contains("solve.invalid"); });
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[0], HasSubstr("\"definition\":\"beam@1.0.0\""));
  EXPECT_THAT(told[0], HasSubstr("\"rules\":\"required, type\""));
  EXPECT_THAT(told[1], HasSubstr("\"rules\":\"domain\""));
  EXPECT_THAT(told[0], testing::Not(HasSubstr("secret")));
}

TEST_F(MockAppServers, ComputesNothingThatItDoesNotKnow) {
  EXPECT_EQ(solve("{}", "unknown:1.0.0").status, 404);
  EXPECT_EQ(solve("{}", "beam:2.0.0").status, 404);
  EXPECT_EQ(solve("{}", "beam").status, 404);
}

TEST_F(MockAppServers, ThrottlesTheFirstDeliveryOfAJob) {  // V-20
  const auto body = "{" + kBeam + R"(,"simulate":{"answer":"throttle_once"}})";
  const auto first = solve(body);
  EXPECT_EQ(first.status, 429);
  EXPECT_EQ(first.header("retry-after"), "1");
  EXPECT_EQ(solve(body).status, 200);
  EXPECT_EQ(solve(body, "beam:1.0.0", "Idempotency-Key: job:2\r\n").status, 429);
}

TEST_F(MockAppServers, CutsItsAnswerOff) {
  EXPECT_EQ(solve("{" + kBeam + R"(,"simulate":{"answer":"crash_once"}})").status, 0);
  EXPECT_EQ(solve("{" + kBeam + R"(,"simulate":{"answer":"crash_once"}})").status, 200);
}

TEST_F(MockAppServers, GivesUpInTheTimeItIsGiven) {
  const auto reply = solve("{" + kBeam + R"(,"simulate":{"delay_ms":600000}})", "beam:1.0.0",
                           "X-Millrace-Timeout-Ms: 5\r\n");
  EXPECT_EQ(reply.status, 504);
}

TEST_F(MockAppServers, PutsADrawingBesideTheOutputs) {
  const auto reply = solve(R"({"points":[[0,0],[1,0],[0,1]],"drawing":true})", "tour:2.1.0");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.header("content-type"), kOutputsType);
  EXPECT_EQ(object_of(reply.body).at("artifacts").at(0).at("kind"), json::Value("drawing"));
}

class ThrottlingMock : public MockAppServers {
 protected:
  ThrottlingMock() : MockAppServers({.throttle_once = true}) {}
};

TEST_F(ThrottlingMock, ThrottlesEveryJobOnce) {
  EXPECT_EQ(solve("{" + kBeam + "}").status, 429);
  EXPECT_EQ(solve("{" + kBeam + "}").status, 200);
}

}  // namespace
}  // namespace millrace::app
