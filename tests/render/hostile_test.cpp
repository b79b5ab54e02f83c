// Hostile pages, with their scripts allowed and without, as documents are printed; and ordinary
// documents between them.
#include "hostile_pages.h"
#include "listener.h"
#include "pdf_tools.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <memory>
#include <netinet/in.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

namespace millrace::render {
namespace {

using std::chrono::milliseconds;

RenderRequest hostile(const HostilePage& page, milliseconds timeout, bool scripts = true) {
  RenderRequest request{.html = page.html};
  request.options.scripts = scripts;
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
Count run_pages(RenderWorld& world, const std::vector<HostilePage>& pages, milliseconds timeout,
                bool scripts = true) {
  Count count;
  std::vector<std::future<Answer>> under_way;
  std::vector<std::future<Answer>> ordinary;
  for (const auto& page : pages) {
    if (under_way.size() % 6 == 0) ordinary.push_back(world.begin({.html = ordinary_html("word")}));
    under_way.push_back(world.begin(hostile(page, timeout, scripts)));
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

// A way and who hears it: a listener of its own, so that nobody is taken for another.
struct Call {
  const Way* way;
  std::unique_ptr<Listener> listener;
};

std::vector<Call> run_ways(RenderWorld& world, bool scripts, const std::vector<const Way*>& ways,
                           const std::string& more = "") {
  std::vector<Call> calls;
  std::vector<std::future<Answer>> under_way;
  for (const Way* way : ways) {
    calls.push_back({.way = way, .listener = std::make_unique<Listener>()});
    auto page = calling_page(*way, "127.0.0.1", calls.back().listener->port());
    page.html += more;
    under_way.push_back(world.begin(hostile(page, milliseconds(3000), scripts)));
  }
  for (auto& answer : under_way) answer.get();
  return calls;
}

std::vector<const Way*> acting_ways(bool scripts) {
  std::vector<const Way*> ways;
  for (const Way& way : calling_ways()) {
    if (acts(way, scripts)) ways.push_back(&way);
  }
  return ways;
}

std::vector<Call> run_ways(RenderWorld& world, bool scripts) {
  return run_ways(world, scripts, acting_ways(scripts));
}

std::string_view mode(bool scripts) { return scripts ? "with scripts" : "without scripts"; }

constexpr Walls kNone{.policy = false, .interception = false, .switches = false};

// A port that takes connections and never answers: a page with a picture from there stays open
// until its time is over.
class SilentPort {
 public:
  SilentPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    MR_ASSERT(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    MR_ASSERT(::listen(fd_, 200) == 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~SilentPort() { ::close(fd_); }
  std::string picture() const { return fmt::format("<img src='http://127.0.0.1:{}/x'>", port_); }

 private:
  int fd_;
  unsigned short port_ = 0;
};

// Each way is real: where no wall stands, it is heard. The table says which is not, and why.
TEST(HostilePages, AreHeardByTheListenerWithoutTheWalls) {
  RenderWorld world({.waiting_max = 1000, .namespaces = false, .walls = kNone});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    std::vector<const Way*> late;
    for (const auto& call : run_ways(world, scripts)) {
      if (call.way->facts.unheard.empty() && call.listener->hits() == 0) late.push_back(call.way);
    }
    EXPECT_LT(late.size(), acting_ways(scripts).size() / 2);
    // Some begin only when the page would be printed and gone already; and some only when it is
    // complete, which it never is with that picture.
    const SilentPort silent;
    for (const auto& more : {silent.picture(), std::string()}) {
      std::vector<const Way*> still;
      for (const auto& call : run_ways(world, scripts, late, more)) {
        if (call.listener->hits() == 0) still.push_back(call.way);
      }
      late = std::move(still);
    }
    for (const Way* way : late) ADD_FAILURE() << way->name << " was not heard";
  }
}

// What is said to act only where scripts run does nothing where they do not, and the other way
// round: no wall stands that could hold it.
TEST(HostilePages, AreHeardOnlyWithScriptsOrOnlyWithoutWhereTheTableSaysSo) {
  RenderWorld world({.waiting_max = 1000, .namespaces = false, .walls = kNone});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    std::vector<const Way*> idle;
    for (const Way& way : calling_ways()) {
      if (!acts(way, scripts)) idle.push_back(&way);
    }
    EXPECT_FALSE(idle.empty());
    for (const auto& call : run_ways(world, scripts, idle)) {
      EXPECT_EQ(call.listener->hits(), 0u) << call.way->name;
    }
  }
}

TEST(HostilePages, AreHeldByTheSwitchesAlone) {
  Walls walls = kNone;
  walls.switches = true;
  RenderWorld world({.waiting_max = 1000, .namespaces = false, .walls = walls});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    for (const auto& call : run_ways(world, scripts)) {
      EXPECT_EQ(call.listener->hits(), 0u) << call.way->name;
    }
  }
}

TEST(HostilePages, AreHeldByTheNetworkNamespaceAlone) {
  RenderWorld world({.waiting_max = 1000, .walls = kNone});
  if (!world.renderer().state().confinement.network_namespace) {
    GTEST_SKIP() << "the kernel gives no network namespace";
  }
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    for (const auto& call : run_ways(world, scripts)) {
      EXPECT_EQ(call.listener->hits(), 0u) << call.way->name;
    }
  }
}

// What it does not hold is in the table: navigations and connections that are no fetches.
TEST(HostilePages, AreHeldByThePolicyAloneButForThoseThatAreNoFetches) {
  Walls walls = kNone;
  walls.policy = true;
  RenderWorld world({.waiting_max = 1000, .namespaces = false, .walls = walls});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    for (const auto& call : run_ways(world, scripts)) {
      if (!call.way->facts.past_policy) EXPECT_EQ(call.listener->hits(), 0u) << call.way->name;
    }
  }
}

// Likewise; a worker may begin before the browser is told that it is to wait.
TEST(HostilePages, AreHeldByInterceptionAloneButForThoseThatAreNoRequests) {
  Walls walls = kNone;
  walls.interception = true;
  RenderWorld world({.waiting_max = 1000, .namespaces = false, .walls = walls});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    for (const auto& call : run_ways(world, scripts)) {
      if (!call.way->facts.past_interception)
        EXPECT_EQ(call.listener->hits(), 0u) << call.way->name;
    }
  }
}

// No control: the browser itself lets no page but one of a file show another. So the search is
// shown to find the words where they are.
TEST(HostilePages, ShowNothingOfAFile) {
  constexpr std::string_view kSecret = "Quicksilver4711";
  for (const bool namespaces : {true, false}) {
    RenderWorld world({.waiting_max = 1000, .namespaces = namespaces});
    const auto text = world.folder() / "secret.txt";
    const auto svg = world.folder() / "secret.svg";
    std::ofstream(text) << kSecret << "\n";
    const std::string drawing =
        "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='99'>"
        "<text id='a' y='50'>" +
        std::string(kSecret) + "</text></svg>";
    std::ofstream(svg) << drawing;
    for (const auto& shown :
         {std::string(kSecret), drawing, "<img src=\"data:image/svg+xml," + drawing + "\">"}) {
      const Answer control = world.render_now({.html = "<p>" + shown});
      EXPECT_TRUE(text_of(world, control.pdf).contains(kSecret)) << shown;
    }
    for (const auto& page : reading_pages(text, svg)) {
      const Answer answer = world.render_now(hostile(page, milliseconds(3000)));
      expect_known_end(page, answer);
      // A page may name the file, and so it stands in the address of a link; not what is in it.
      EXPECT_FALSE(text_of(world, answer.pdf).contains(kSecret)) << page.name;
    }
  }
}

// Without namespaces the listener is within reach: what keeps pages from it is the browser's
// set-up.
TEST(HostilePages, ReachNobodyEvenWithoutANetworkNamespace) {
  Listener listener;
  std::size_t tried = 0;
  RenderWorld world({.waiting_max = 1000, .namespaces = false});
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    const auto pages = calling_pages(listener.port(), scripts);
    tried += pages.size();
    const Count count = run_pages(world, pages, milliseconds(3000), scripts);
    EXPECT_EQ(listener.hits(), 0u);
    // Nearly all of them are ordinary pages once their requests are refused.
    EXPECT_GE(count.printed, pages.size() * 8 / 10);
  }
  EXPECT_GE(tried, 200u);
  EXPECT_FALSE(world.renderer().state().confinement.network_namespace);
  expect_no_stuck_slot(world);
  EXPECT_EQ(listener.hits(), 0u);
}

// The other browser that the product takes is a whole one: it connects ahead, looks for icons and
// installs. It gets those ways, and some of every kind.
std::vector<HostilePage> ways_for_the_whole_browser(unsigned short port, bool scripts,
                                                    std::size_t count_max) {
  std::vector<const Way*> others;
  std::vector<HostilePage> pages;
  for (const Way* way : acting_ways(scripts)) {
    if (way->facts.unheard.contains("the shell")) {
      pages.push_back(calling_page(*way, "127.0.0.1", port));
    } else {
      others.push_back(way);
    }
  }
  const std::size_t step = others.size() / (count_max - pages.size()) + 1;
  for (std::size_t i = 0; i < others.size(); i += step) {
    pages.push_back(calling_page(*others[i], "127.0.0.1", port));
  }
  return pages;
}

// No control: this one's network ends with the switch that keeps crash reports away, which is not
// among the walls that a test takes down.
TEST(HostilePages, ReachNobodyFromTheWholeBrowserEither) {
  const std::string program = "/usr/lib/chromium/chromium";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "there is no " << program;
  const RendererSpec spec{.program = program,
                          .waiting_max = 1000,
                          // As large as it is when it is warm, and more.
                          .memory_recycle_bytes = std::uint64_t{700} << 20U,
                          .memory_max_bytes = std::uint64_t{1600} << 20U,
                          .memory_pool_bytes = std::uint64_t{3} << 30U,
                          .warm_up_timeout = std::chrono::seconds(60),
                          .namespaces = false};
  Listener listener;
  RenderWorld world(spec);
  for (const bool scripts : {true, false}) {
    SCOPED_TRACE(mode(scripts));
    const auto pages = ways_for_the_whole_browser(listener.port(), scripts, 12);
    ASSERT_GE(pages.size(), 8u);
    const Count count = run_pages(world, pages, milliseconds(8000), scripts);
    EXPECT_EQ(listener.hits(), 0u);
    EXPECT_GE(count.printed, pages.size() / 2);
  }
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
  for (const auto& page : calling_pages(listener.port(), true)) {
    if (page.name.ends_with("127.0.0.1") && pages.size() < 24) pages.push_back(page);
  }
  RenderWorld world({.waiting_max = 1000});
  run_pages(world, pages, milliseconds(3000));
  EXPECT_EQ(listener.hits(), 0u);
  expect_no_stuck_slot(world);
}

}  // namespace
}  // namespace millrace::render
