#include "app/demo/first_page.h"

#include "app/demo/served.h"
#include "base/file.h"
#include "base/run.h"
#include "sandbox/task.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <fcntl.h>

namespace millrace::app {
namespace {

using File = std::pair<std::filesystem::path, std::filesystem::path>;

constexpr int kWidthMax = 1'000;  // Pixels.

Task<void> draw(sandbox::TaskPool& pool, File file) {
  sandbox::UniqueFd pdf(::open(file.first.c_str(), O_RDONLY | O_CLOEXEC));
  if (!pdf.valid()) {
    co_return fail(ErrorKind::unavailable, fmt::format("cannot open {}", file.first.string()));
  }
  std::string png;
  sandbox::TaskSpec task{.request = to_json(json::Object{{"op", "image"},
                                                         {"kind", "pdf"},
                                                         {"page", 1},
                                                         {"width_px_max", kWidthMax},
                                                         {"format", "png"},
                                                         {"turn_deg", 0},
                                                         {"boxes", json::Array()}})};
  task.files.push_back(std::move(pdf));
  task.on_output = [&png](std::span<const std::byte> piece) -> Task<void> {
    png.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    co_return ok();
  };
  MR_CO_TRY(const auto done, co_await pool.run(std::move(task), {}));
  if (done.end != sandbox::TaskResult::End::ok) {
    co_return fail(ErrorKind::unavailable,
                   fmt::format("{} cannot be drawn: {}", file.first.string(), done.message));
  }
  co_return write_file_atomically(file.second, png, 0644);
}

Task<void> draw_all(sandbox::TaskPool& pool, std::vector<File> files) {
  for (auto& file : files) {
    auto drawn = co_await draw(pool, std::move(file));
    if (!drawn) {
      co_await pool.stop();
      co_return drawn;
    }
  }
  co_await pool.stop();
  co_return ok();
}

}  // namespace

Result<void> draw_first_pages(Context& context, const std::vector<File>& files) {
  boost::asio::io_context io(1);
  MR_TRY(const auto pool,
         sandbox::TaskPool::start(io.get_executor(),
                                  {.program = beside_this_program("millrace-document").string(),
                                   .env = {{"OMP_THREAD_LIMIT", "1"}, {"LC_ALL", "C.UTF-8"}},
                                   .size = 1,
                                   .log = context.log}));
  return run_blocking(io, draw_all(*pool, files));
}

}  // namespace millrace::app
