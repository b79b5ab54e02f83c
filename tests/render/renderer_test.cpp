// What comes out of the renderer, and what becomes of documents when browsers fail.
#include "base/file.h"
#include "pdf_tools.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <regex>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace millrace::render {
namespace {

using std::chrono::milliseconds;

RenderRequest endless(milliseconds timeout) {
  RenderRequest request{.html = "<p>x<script>for(;;);</script>"};
  request.options.scripts = true;
  request.timeout = timeout;
  return request;
}

TEST(Renderer, GivesATaggedPdfWithItsMetadataAndText) {
  RenderWorld world;
  RenderRequest request{.html = ordinary_html("Straße naïve")};
  request.options.page_size = PageSize::A4;
  request.metadata = {
      .title = "A (title) \\ here", .author = "Zoë Müller \U0001F600", .keywords = {"one", "two"}};
  const Answer answer = world.render_now(request);
  world.expect_ordinary(answer);
  const std::string file = save(world, answer.pdf);
  const std::string check = run_tool({"qpdf", "--check", file});
  EXPECT_TRUE(check.contains("No syntax or stream encoding errors found")) << check;
  const std::string info = run_tool({"pdfinfo", "-enc", "UTF-8", file});
  for (const auto* line : {"A (title) \\ here", "Zoë Müller \U0001F600", "one, two", "ResumePair",
                           "Resume", "Tagged:          yes", "Pages:           1", "(A4)"}) {
    EXPECT_TRUE(info.contains(line)) << line << "\n" << info;
  }
  EXPECT_TRUE(run_tool({"pdftotext", "-enc", "UTF-8", file, "-"}).contains("Straße naïve"));
  EXPECT_TRUE(
      run_tool({"qpdf", "--qdf", "--object-streams=disable", file, "-"}).contains("/Outlines"));
}

TEST(Renderer, CountsPagesThatAreThereAndNotWhatTextSays) {
  RenderWorld world;
  std::string html = "<title>/Type /Page</title>";
  for (int i = 0; i < 7; ++i) {
    html +=
        "<div style='break-after:page'>/Type /Page <a href='http://a.invalid/Type/Page(%3E%3E"
        "endobj'>x</a></div>";
  }
  html += "<p>end";
  const Answer answer = world.render_now({.html = html});
  ASSERT_TRUE(answer.result.has_value()) << answer.result.error().describe();
  EXPECT_EQ(answer.result->page_count, 8u);
  const std::string info = run_tool({"pdfinfo", save(world, answer.pdf)});
  EXPECT_TRUE(info.contains("Pages:           8")) << info;
}

TEST(Renderer, GrayscaleLeavesTextSearchableAndNoColour) {
  RenderWorld world;
  RenderRequest request{
      .html =
          "<style>h1{color:#c00000;background:linear-gradient(red,blue)}"
          "li::before{content:'b';color:lime}</style><h1>Grey text</h1><ul><li>x</ul>"
          "<svg width=50 height=50><rect width=50 height=50 fill='#00f' /></svg>"};
  const auto colours = [&world](const std::string& pdf) {
    const std::string text =
        run_tool({"qpdf", "--qdf", "--object-streams=disable", save(world, pdf), "-"});
    std::size_t found = 0;
    const std::regex set("([0-9.]+) ([0-9.]+) ([0-9.]+) (rg|RG)");
    for (std::sregex_iterator i(text.begin(), text.end(), set), end; i != end; ++i) {
      if ((*i)[1] != (*i)[2] || (*i)[2] != (*i)[3]) ++found;
    }
    return found;
  };
  const Answer coloured = world.render_now(request);
  request.options.color_mode = ColorMode::grayscale;
  const Answer grey = world.render_now(request);
  ASSERT_TRUE(coloured.result.has_value()) << coloured.result.error().describe();
  ASSERT_TRUE(grey.result.has_value()) << grey.result.error().describe();
  EXPECT_GE(colours(coloured.pdf), 2u);
  EXPECT_EQ(colours(grey.pdf), 0u);
  EXPECT_TRUE(run_tool({"pdftotext", save(world, grey.pdf), "-"}).contains("Grey text"));
}

TEST(Renderer, GivesAPictureOfTheFirstPage) {
  RenderWorld world;
  RenderRequest request{.html = ordinary_html("picture")};
  request.preview_width_px = 425;
  const Answer answer = world.render_now(request);
  world.expect_ordinary(answer);
  const std::string& png = answer.result->preview_png;
  ASSERT_GT(png.size(), 24u);
  EXPECT_TRUE(png.starts_with("\x89PNG"));
  const auto number = [&png](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8U | static_cast<unsigned char>(png[at + i]);
    return value;
  };
  EXPECT_EQ(number(16), 425u);
  EXPECT_EQ(number(20), 550u);
}

TEST(Renderer, ScriptsRunOnlyWhereTheyAreAllowed) {
  RenderWorld world;
  RenderRequest request{.html = "<p id=p>before</p><script>p.textContent='after'</script>"};
  EXPECT_TRUE(
      run_tool({"pdftotext", save(world, world.render_now(request).pdf), "-"}).contains("before"));
  request.options.scripts = true;
  EXPECT_TRUE(
      run_tool({"pdftotext", save(world, world.render_now(request).pdf), "-"}).contains("after"));
}

// Browsers draw frames only when they are asked to.
TEST(Renderer, ScriptsGetTheFramesTheyWaitFor) {
  RenderWorld world;
  RenderRequest request{
      .html =
          "<p id=p>before</p><script>requestAnimationFrame(() => requestAnimationFrame(() => "
          "{p.textContent='drawn'}))</script>"};
  request.options.scripts = true;
  EXPECT_TRUE(
      run_tool({"pdftotext", save(world, world.render_now(request).pdf), "-"}).contains("drawn"));
}

// What a picture is made of is asked for when it is drawn, and the page is loaded after that.
TEST(Renderer, PicturesOfPartsOfOthersHoldNobodyUp) {
  RenderWorld world;
  for (const bool scripts : {false, true}) {
    RenderRequest request{.html =
                              "<p>beside</p><svg width=300 height=99><use "
                              "href='http://pictures.example/all.svg#one'/></svg>"};
    request.options.scripts = scripts;
    EXPECT_TRUE(
        run_tool({"pdftotext", save(world, world.render_now(request).pdf), "-"}).contains("beside"))
        << scripts;
  }
}

TEST(Renderer, TimeoutEndsItsDocumentWithAHintAndNoOther) {
  RenderWorld world;
  auto stuck = world.begin(endless(milliseconds(500)));
  for (int i = 0; i < 3; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  const Answer answer = stuck.get();
  ASSERT_FALSE(answer.result.has_value());
  EXPECT_EQ(answer.result.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(answer.result.error().detail, fault::kTimedOut);
  EXPECT_TRUE(answer.result.error().hint.contains("Reduce"));
  for (int i = 0; i < 3; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("b")}));
}

TEST(Renderer, BrowserThatIsKilledCostsOnlyItsDocument) {
  RenderWorld world({.size = 1});
  world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  auto stuck = world.begin(endless(std::chrono::seconds(60)));
  while (world.renderer().state().running == 0) std::this_thread::yield();
  const auto browsers = world.renderer().state().browsers;
  ASSERT_EQ(browsers.size(), 1u);
  ::kill(browsers[0], SIGKILL);
  const Answer answer = stuck.get();
  ASSERT_FALSE(answer.result.has_value());
  EXPECT_EQ(answer.result.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(answer.result.error().detail, fault::kCrashed);
  world.expect_ordinary(world.render_now({.html = ordinary_html("b")}));
  EXPECT_NE(world.renderer().state().browsers.at(0), browsers[0]);
}

// A full disk, no processes to be had, a program that is gone: from here all are a browser that
// does not start.
TEST(Renderer, WithoutAnyBrowserDocumentsAreToldAtOnceUntilOneIsWarmAgain) {
  RenderWorld world({.size = 2});
  ASSERT_TRUE(world.ready().has_value());
  auto first = world.begin(endless(std::chrono::seconds(60)));
  auto second = world.begin(endless(std::chrono::seconds(60)));
  while (world.renderer().state().running < 2) std::this_thread::yield();
  auto waiting = world.begin({.html = ordinary_html("a")});
  while (world.renderer().state().waiting == 0) std::this_thread::yield();

  const auto aside = world.folder() / "aside";
  std::filesystem::rename(world.scratch(), aside);
  for (const auto browser : world.renderer().state().browsers) ::kill(browser, SIGKILL);
  EXPECT_EQ(first.get().result.error().detail, fault::kCrashed);
  EXPECT_EQ(second.get().result.error().detail, fault::kCrashed);
  for (const auto& answer : {waiting.get(), world.render_now({.html = ordinary_html("b")})}) {
    ASSERT_FALSE(answer.result.has_value());
    EXPECT_EQ(answer.result.error().kind, ErrorKind::unavailable);
    EXPECT_EQ(answer.result.error().detail, fault::kNoBrowser);
  }
  const auto refused = world.ready();
  ASSERT_FALSE(refused.has_value());
  EXPECT_TRUE(refused.error().message.starts_with("no browser: ")) << refused.error().message;
  EXPECT_TRUE(refused.error().message.contains("No such file or directory"))
      << refused.error().message;
  EXPECT_EQ(world.renderer().state().waiting, 0u);

  std::filesystem::rename(aside, world.scratch());
  while (!world.ready().has_value()) std::this_thread::yield();
  world.expect_ordinary(world.render_now({.html = ordinary_html("c")}));
}

TEST(Renderer, CancelEndsADocumentUnderWayAndOneInLine) {
  RenderWorld world({.size = 1});
  CancelSource first;
  CancelSource second;
  auto running = world.begin(endless(std::chrono::seconds(60)), first.token());
  while (world.renderer().state().running == 0) std::this_thread::yield();
  auto waiting = world.begin({.html = ordinary_html("a")}, second.token());
  second.cancel("not wanted");
  EXPECT_EQ(waiting.get().result.error().kind, ErrorKind::cancelled);
  first.cancel("not wanted either");
  EXPECT_EQ(running.get().result.error().kind, ErrorKind::cancelled);
  world.expect_ordinary(world.render_now({.html = ordinary_html("b")}));
}

TEST(Renderer, RecyclesBrowsersByCount) {
  RenderWorld world({.size = 1, .documents_max = 2});
  for (int i = 0; i < 5; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  EXPECT_GE(world.renderer().state().starts, 3u);
  EXPECT_GE(world.renderer().state().recycled_for_count, 2u);
}

TEST(Renderer, RecyclesBrowsersByMemory) {
  RenderWorld world({.size = 1, .memory_recycle_bytes = 1});
  for (int i = 0; i < 3; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  EXPECT_GE(world.renderer().state().recycled_for_memory, 2u);
}

// Takes memory of its own, and keeps it, without an end.
RenderRequest hungry(int megabytes) {
  RenderRequest request{.html = "<p>x<script>const kept=[];for(let i=0;i<" +
                                std::to_string(megabytes) +
                                ";++i)kept.push(new Uint8Array(1<<20).fill(i|1));"
                                "for(;;);</script>"};
  request.options.scripts = true;
  request.timeout = std::chrono::seconds(60);
  return request;
}

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

// What `size` browsers use that have not had any document.
std::uint64_t memory_when_warm(std::size_t size) {
  RenderWorld world({.size = size});
  while (world.renderer().state().warm < size) std::this_thread::yield();
  return world.renderer().state().memory_bytes;
}

TEST(Renderer, x28_TheLargestIsEndedWhenAllTogetherNeedTooMuch) {
  const auto pool = memory_when_warm(2) + 200 * kMiB;
  RenderWorld world({.size = 2, .memory_pool_bytes = pool});
  CancelSource enough;
  auto small = world.begin(endless(std::chrono::seconds(60)), enough.token());
  while (world.renderer().state().running < 1) std::this_thread::yield();
  const Answer large = world.render_now(hungry(600));
  ASSERT_FALSE(large.result.has_value());
  EXPECT_EQ(large.result.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(large.result.error().detail, fault::kMemory);
  EXPECT_TRUE(large.result.error().message.contains("together")) << large.result.error().message;
  EXPECT_EQ(world.renderer().state().running, 1u);
  enough.cancel("seen");
  EXPECT_EQ(small.get().result.error().kind, ErrorKind::cancelled);
  world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
}

TEST(Renderer, x28_OneThatWaitsIsEndedBeforeADocumentIs) {
  const auto one = memory_when_warm(1);
  std::atomic<std::uint64_t> most = 0;
  const auto note = [&most](std::uint64_t bytes) { most = std::max(most.load(), bytes); };
  // Room for the document beside itself, but not beside another browser.
  RenderWorld world({.size = 2, .memory_pool_bytes = 2 * one + 200 * kMiB, .on_memory = note});
  while (world.renderer().state().warm < 2) std::this_thread::yield();
  CancelSource enough;
  auto large = world.begin(hungry(static_cast<int>(one / kMiB / 2 + 200)), enough.token());
  while (world.renderer().state().recycled_for_memory == 0) std::this_thread::yield();
  // There is no room for the next one as long as the document needs it.
  while (world.renderer().state().browsers.size() > 1) std::this_thread::yield();
  EXPECT_EQ(world.renderer().state().running, 1u);
  EXPECT_GT(most, one);
  enough.cancel("seen");
  EXPECT_EQ(large.get().result.error().kind, ErrorKind::cancelled);
  while (world.renderer().state().warm < 2) std::this_thread::yield();
  EXPECT_EQ(world.renderer().state().starts, 4u) << "two, and one for each that was ended";
}

TEST(Renderer, x28_BrowsersThatDoNotFitTogetherAreFewer) {
  const auto one = memory_when_warm(1);
  RenderWorld world({.size = 2, .memory_pool_bytes = one + one / 2});
  while (world.renderer().state().starts < 2) std::this_thread::yield();
  while (world.renderer().state().browsers.size() > 1) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  EXPECT_EQ(world.renderer().state().browsers.size(), 1u);
}

TEST(Renderer, WithoutNamespacesItSaysWhichWallsAreMissingOrStartsNoBrowser) {
  const SystemClock clock;
  std::string lines;
  const Logger log(
      clock, [&lines](std::string_view line) { lines += line; }, Logger::Format::json,
      LogLevel::warn);
  RenderWorld world({.size = 1, .namespaces = false, .log = log});
  world.expect_ordinary(world.render_now({.html = ordinary_html("a")}));
  world.stop();
  EXPECT_TRUE(lines.contains("browser_walls_missing")) << lines;
  EXPECT_TRUE(lines.contains("network_namespace, pid_namespace, own_root")) << lines;
  boost::asio::io_context io;
  SystemClock other;
  const auto refused = Renderer::start(
      io.get_executor(), other,
      {.scratch_root = world.folder() / "other", .namespaces = false, .require_confinement = true});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(refused.error().detail, fault::kNoBrowser);
  EXPECT_TRUE(refused.error().message.contains("pid_namespace")) << refused.error().message;
}

TEST(Renderer, RefusesWhatItCannotDo) {
  RenderWorld world({.size = 1, .waiting_max = 1});
  RenderRequest request{.html = ordinary_html("a")};
  request.options.margins.left = 2.5;
  Answer answer = world.render_now(request);
  ASSERT_FALSE(answer.result.has_value());
  EXPECT_EQ(answer.result.error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(answer.result.error().message.contains("margins.left"));
  CancelSource cancel;
  auto running = world.begin(endless(std::chrono::seconds(60)), cancel.token());
  while (world.renderer().state().running == 0) std::this_thread::yield();
  auto waiting = world.begin({.html = ordinary_html("a")});
  while (world.renderer().state().waiting == 0) std::this_thread::yield();
  EXPECT_EQ(world.render_now({.html = "x"}).result.error().kind, ErrorKind::throttled);
  cancel.cancel("enough");
  world.expect_ordinary(waiting.get());
  EXPECT_FALSE(running.get().result.has_value());
}

TEST(Renderer, DrainFinishesWhatItHasAndStopIsSafeTwice) {
  RenderWorld world({.size = 1});
  std::vector<std::future<Answer>> documents;
  for (int i = 0; i < 4; ++i) documents.push_back(world.begin({.html = ordinary_html("a")}));
  world.expect_ordinary(documents[0].get());
  world.drain();
  for (std::size_t i = 1; i < 4; ++i) world.expect_ordinary(documents[i].get());
  EXPECT_EQ(world.render_now({.html = "x"}).result.error().kind, ErrorKind::unavailable);
  world.stop();
  world.stop();
  EXPECT_TRUE(world.renderer().state().browsers.empty());
}

TEST(Renderer, StopEndsDocumentsUnderWay) {
  RenderWorld world({.size = 1});
  auto running = world.begin(endless(std::chrono::seconds(60)));
  while (world.renderer().state().running == 0) std::this_thread::yield();
  world.stop();
  EXPECT_EQ(running.get().result.error().kind, ErrorKind::unavailable);
}

// A script in its place would be the leader, and get the signals that are meant for the browser.
TEST(Renderer, TheBrowserIsAProgramAndNoScript) {
  const auto program = find_browser();
  ASSERT_TRUE(program.has_value()) << program.error().describe();
  const auto bytes = run_tool({"head", "-c", "4", *program});
  EXPECT_EQ(bytes,
            "\x7f"
            "ELF")
      << *program;
}

// Without a PID namespace nothing but the process group holds a browser together.
TEST(Renderer, EveryProcessOfABrowserEndsWithItsDocumentEvenWithoutNamespaces) {
  RenderWorld world({.size = 1, .namespaces = false});
  auto stuck = world.begin(endless(milliseconds(500)));
  while (world.renderer().state().running == 0) std::this_thread::yield();
  const auto browsers = world.renderer().state().browsers;
  ASSERT_EQ(browsers.size(), 1u);
  const pid_t group = browsers[0];
  EXPECT_EQ(::kill(-group, 0), 0);
  EXPECT_FALSE(stuck.get().result.has_value());
  world.expect_ordinary(world.render_now({.html = ordinary_html("b")}));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (::kill(-group, 0) == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  EXPECT_NE(::kill(-group, 0), 0);
}

// A worker that is killed leaves no browser behind, and its folder goes when the next one starts.
TEST(Renderer, DeathOfTheWorkerEndsItsBrowsersAndTheNextSweepsItsFolder) {
  RenderWorld world;
  const auto scratch = world.folder() / "other";
  const auto html = world.folder() / "a.html";
  std::ofstream(html) << ordinary_html("a");
  int out[2];
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::dup2(out[1], 1);
    ::execl(MILLRACE_RENDER_RUN, "render_run", "--scratch", scratch.c_str(), "--html", html.c_str(),
            "--hold", nullptr);
    ::_exit(127);
  }
  ::close(out[1]);
  std::string said;
  char byte = 0;
  while (::read(out[0], &byte, 1) == 1 && byte != '\n') said += byte;
  ASSERT_TRUE(said.starts_with("ready ")) << said;
  std::vector<int> browsers;
  std::istringstream words(said.substr(6));
  for (pid_t pid = 0; words >> pid;) {
    browsers.push_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    ASSERT_GE(browsers.back(), 0);
  }
  ASSERT_EQ(browsers.size(), 2u);
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  for (const int browser : browsers) {
    pollfd watched{.fd = browser, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&watched, 1, 30000), 1);
    ::close(browser);
  }
  ::close(out[0]);
  RenderWorld next({.scratch_root = scratch});
  EXPECT_EQ(next.renderer().state().swept, 1u);
  next.expect_ordinary(next.render_now({.html = ordinary_html("b")}));
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(scratch)) {
    folders += entry.is_directory() ? 1 : 0;
  }
  EXPECT_EQ(folders, 1u);
}

}  // namespace
}  // namespace millrace::render
