// parse in its jail: charsets that need tables, every kind of reader, limits. J02, J03.
#include "base/json.h"
#include "base/run.h"
#include "document/inspect/made_office.h"
#include "document/inspect/made_pdf.h"
#include "sandbox/memory_file.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>

namespace millrace {
namespace {

using End = sandbox::TaskResult::End;

struct Outcome {
  End end = End::protocol;
  std::string markdown = {};
  json::Object answer = {};
  std::string message = {};
};

class ParseInJail : public testing::Test {
 protected:
  void SetUp() override {
    auto started = sandbox::TaskPool::start(
        io_.get_executor(),
        {.program = MILLRACE_DOCUMENT_PROGRAM, .env = {{"OMP_THREAD_LIMIT", "1"}}});
    ASSERT_TRUE(started.has_value()) << started.error().message;
    pool_ = std::move(*started);
    const auto ready = run_blocking(io_, pool_->ready());
    ASSERT_TRUE(ready.has_value()) << ready.error().message;
  }
  void TearDown() override {
    if (pool_ != nullptr) run_blocking(io_, pool_->stop());
  }

  Outcome parse(const std::string& bytes, json::Object request = {},
                std::uint64_t output_max_bytes = 64 * 1024 * 1024) {
    request["op"] = "parse";
    Outcome out;
    sandbox::TaskSpec spec{.request = to_json(request)};
    spec.limits.output_max_bytes = output_max_bytes;
    const auto written = sandbox::make_memory_file("document", bytes);
    EXPECT_TRUE(written.has_value());
    const auto path = fmt::format("/proc/self/fd/{}", written->get());
    spec.files.emplace_back(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    spec.on_output = [&out](std::span<const std::byte> piece) -> Task<void> {
      out.markdown.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      co_return ok();
    };
    const auto result = run_blocking(io_, pool_->run(std::move(spec), {}));
    EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().message);
    if (!result.has_value()) return out;
    out.end = result->end;
    out.message = result->message;
    if (auto answer = parse_json_object(result->result); answer.has_value()) {
      out.answer = *std::move(answer);
    }
    return out;
  }

  boost::asio::io_context io_;
  std::unique_ptr<sandbox::TaskPool> pool_;
};

TEST_F(ParseInJail, KnowsCharsetsWhoseTablesAreFiles) {
  const std::string shift_jis = "<html><p>\x93\xfa\x96\x7b";
  const auto out = parse(shift_jis, {{"charset", "shift_jis"}});
  ASSERT_EQ(out.end, End::ok) << out.message;
  EXPECT_EQ(out.markdown, "日本\n");
  EXPECT_EQ(parse("<html><p>\xcf\xf0", {{"charset", "windows-1251"}}).markdown, "Пр\n");
  EXPECT_EQ(parse("<html><p>\xd6\xd0", {{"charset", "gb2312"}}).markdown, "中\n");
}

TEST_F(ParseInJail, ReadsEveryKind) {
  const auto pdf = parse(document::MadePdf().page("A page of a made file, long enough").bytes());
  ASSERT_EQ(pdf.end, End::ok) << pdf.message;
  EXPECT_EQ(pdf.markdown, "<!-- page 1 -->\n\nA page of a made file, long enough\n");
  EXPECT_EQ(pdf.answer.at("parser"), "builtin");
  EXPECT_EQ(parse(document::made_docx(document::docx_paragraph("x")).bytes()).markdown, "x\n");
  EXPECT_EQ(parse("From: a@b\nTo: c@d\nSubject: s\n\nt\n").answer.at("kind"), "mail");
}

TEST_F(ParseInJail, RefusalsAndLimitsEndTheTask) {
  const auto refused = parse("MZ\x90 program");
  EXPECT_EQ(refused.end, End::refused);
  EXPECT_NE(refused.message.find("a Windows program"), std::string::npos) << refused.message;
  EXPECT_EQ(parse("<p>" + std::string(1'000'000, 'x'), {{"kind", "html"}}, 100'000).end,
            End::overflow);
}

}  // namespace
}  // namespace millrace
