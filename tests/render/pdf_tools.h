// Tools that look at PDFs: what they print, and the pixels of a page.
#pragma once

#include "base/run.h"
#include "render_world.h"
#include "sandbox/child.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::render {

// Runs a tool; what it prints.
inline std::string run_tool(std::vector<std::string> argv) {
  boost::asio::io_context io(1);
  const auto ended =
      run_blocking(io, sandbox::Child::run(
                           io.get_executor(),
                           {.argv = std::move(argv),
                            .timeout = std::chrono::seconds(60),
                            .stdout_max_bytes = 4 << 20},
                           [](std::string_view) {}, [](std::string_view) {}, CancelToken()));
  if (!ended.has_value()) return "error: " + ended.error().describe();
  return ended->stdout_text;
}

inline std::string save(const RenderWorld& world, const std::string& pdf) {
  const auto path = world.folder() / "out.pdf";
  std::ofstream(path, std::ios::binary) << pdf;
  return path.string();
}

inline std::string text_of(const RenderWorld& world, const std::string& pdf) {
  return run_tool({"pdftotext", "-enc", "UTF-8", save(world, pdf), "-"});
}

struct Colour {
  int red = 0, green = 0, blue = 0;
  bool is_grey() const { return red == green && green == blue; }
  bool is_white() const { return red > 250 && green > 250 && blue > 250; }
  bool is_dark() const { return red < 110 && green < 110 && blue < 110; }
};

struct Picture {
  int width = 0, height = 0;
  std::string bytes;  // Three of each pixel.

  Colour at(int x, int y) const {
    const auto i = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)) *
                   3;
    const auto byte = [&](std::size_t j) { return static_cast<unsigned char>(bytes[i + j]); };
    return {.red = byte(0), .green = byte(1), .blue = byte(2)};
  }
  // How many pixels of all are so.
  template <typename Is>
  double share(Is is) const {
    int found = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) found += is(at(x, y)) ? 1 : 0;
    }
    return static_cast<double>(found) / (width * height);
  }
};

// The first page, 72 pixels an inch.
inline Picture picture_of(const RenderWorld& world, const std::string& pdf) {
  const std::string ppm =
      run_tool({"pdftoppm", "-r", "72", "-f", "1", "-l", "1", save(world, pdf)});
  Picture picture;
  int depth = 0;
  int used = 0;
  if (std::sscanf(ppm.c_str(), "P6 %d %d %d%n", &picture.width, &picture.height, &depth, &used) !=
      3) {
    ADD_FAILURE() << "no picture: " << ppm.substr(0, 200);
    return {.width = 1, .height = 1, .bytes = std::string(3, '\0')};
  }
  picture.bytes = ppm.substr(static_cast<std::size_t>(used) + 1);
  const auto wanted =
      static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height) * 3;
  EXPECT_EQ(picture.bytes.size(), wanted);
  picture.bytes.resize(wanted);
  return picture;
}

}  // namespace millrace::render
