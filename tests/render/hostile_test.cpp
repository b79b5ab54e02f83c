// Hostile pages, with their scripts allowed, and ordinary documents between them.
#include "base/run.h"
#include "hostile_pages.h"
#include "listener.h"
#include "render_world.h"
#include "sandbox/child.h"

#include <set>

namespace millrace::render {
namespace {

using std::chrono::milliseconds;

RenderRequest hostile(const HostilePage& page, milliseconds timeout) {
  RenderRequest request{.html = page.html};
  request.options.scripts = true;
  request.timeout = timeout;
  return request;
}

// Nothing that a page does ends otherwise than with a PDF or one of these.
void expect_known_end(const HostilePage& page, const Answer& answer) {
  static const std::set<std::string_view> kFaults = {fault::kTimedOut,  fault::kCrashed,
                                                     fault::kMemory,    fault::kTooLarge,
                                                     fault::kNavigated, fault::kFlooded};
  if (answer.result.has_value()) {
    EXPECT_GE(answer.result->page_count, 1u) << page.name;
    EXPECT_EQ(answer.result->bytes, answer.pdf.size()) << page.name;
    return;
  }
  EXPECT_TRUE(kFaults.contains(answer.result.error().detail))
      << page.name << ": " << answer.result.error().describe();
}

struct Count {
  std::size_t printed = 0;
  std::size_t failed = 0;
};

// Two hostile pages at a time, and an ordinary document after every sixth.
Count run_pages(RenderWorld& world, const std::vector<HostilePage>& pages, milliseconds timeout) {
  Count count;
  std::vector<std::future<Answer>> under_way;
  std::vector<std::future<Answer>> ordinary;
  for (const auto& page : pages) {
    if (under_way.size() % 6 == 0) ordinary.push_back(world.begin({.html = ordinary_html("word")}));
    under_way.push_back(world.begin(hostile(page, timeout)));
  }
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const Answer answer = under_way[i].get();
    expect_known_end(pages[i], answer);
    ++(answer.result.has_value() ? count.printed : count.failed);
  }
  for (auto& document : ordinary) world.expect_ordinary(document.get());
  return count;
}

void expect_no_stuck_slot(RenderWorld& world) {
  for (int i = 0; i < 4; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("z")}));
  const auto state = world.renderer().state();
  EXPECT_EQ(state.running, 0u);
  EXPECT_EQ(state.waiting, 0u);
}

// The same pages do get through to the listener where no wall stands: it can count.
TEST(HostilePages, AreHeardByTheListenerWithoutTheWalls) {
  Listener listener;
  const auto program = find_browser();
  ASSERT_TRUE(program.has_value());
  boost::asio::io_context io(1);
  std::string html;
  for (const auto& page : calling_pages(listener.port())) {
    if (page.name == "img 127.0.0.1" || page.name == "fetch 127.0.0.1") html += page.html;
  }
  sandbox::ChildSpec spec{.argv = {*program, "--headless", "--no-sandbox", "--disable-gpu",
                                   "--dump-dom", "data:text/html," + html},
                          .timeout = std::chrono::seconds(60)};
  spec.env["HOME"] = std::filesystem::temp_directory_path() / "render-control";
  spec.limits.core = false;
  const auto ended = run_blocking(io, sandbox::Child::run(
                                          io.get_executor(), spec, [](std::string_view) {},
                                          [](std::string_view) {}, CancelToken()));
  ASSERT_TRUE(ended.has_value()) << ended.error().describe();
  EXPECT_GE(listener.hits(), 1u);
}

// Without namespaces the listener is within reach: what keeps pages from it is the browser's
// set-up.
TEST(HostilePages, ReachNobodyEvenWithoutANetworkNamespace) {
  Listener listener;
  const auto pages = calling_pages(listener.port());
  ASSERT_GE(pages.size(), 200u);
  RenderWorld world({.waiting_max = 1000, .namespaces = false});
  const Count count = run_pages(world, pages, milliseconds(3000));
  EXPECT_EQ(listener.hits(), 0u);
  // Nearly all of them are ordinary pages once their requests are refused.
  EXPECT_GE(count.printed, pages.size() * 8 / 10);
  EXPECT_FALSE(world.renderer().state().confinement.network_namespace);
  expect_no_stuck_slot(world);
  EXPECT_EQ(listener.hits(), 0u);
}

TEST(HostilePages, GreedyOnesCostThemselvesAndNobodyElse) {
  const auto pages = greedy_pages();
  ASSERT_GE(pages.size(), 80u);
  RenderWorld world({.waiting_max = 1000});
  const Count count = run_pages(world, pages, milliseconds(700));
  EXPECT_GE(count.failed, 5u);  // Endless loops cannot be printed.
  EXPECT_GE(count.printed, 5u);
  expect_no_stuck_slot(world);
}

TEST(HostilePages, ReachNobodyFromWithinTheWalls) {
  Listener listener;
  std::vector<HostilePage> pages;  // Some of them: there is no network at all here.
  for (const auto& page : calling_pages(listener.port())) {
    if (page.name.ends_with("127.0.0.1") && pages.size() < 24) pages.push_back(page);
  }
  RenderWorld world({.waiting_max = 1000});
  run_pages(world, pages, milliseconds(3000));
  EXPECT_EQ(listener.hits(), 0u);
  expect_no_stuck_slot(world);
}

}  // namespace
}  // namespace millrace::render
