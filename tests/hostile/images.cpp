// Images that are larger, longer or more tangled than they look.
#include "corpus.h"
#include "document/inspect/made_image.h"

#include <fmt/format.h>

namespace millrace::hostile {

using namespace document;
using namespace std::string_literals;

namespace {

constexpr std::uint64_t kMega = 1024 * 1024;

std::string tiff_start() { return "II*\0\x08\0\0\0"s; }

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

using Add = std::function<void(std::string, std::string, std::function<std::string()>)>;

void add_png(const Add& add) {
  add("png of 100000 by 100000", "pixels", [] { return made_png(100'000, 100'000, {}, false); });
  add("png of two milliard by two milliard", "pixels",
      [] { return made_png(0x7fffffff, 0x7fffffff, {}, false); });
  add("png without a size", "image_structure", [] { return made_png(0, 0); });
  add("png without pixels", "image_structure",
      [] { return png_header(4, 4) + png_chunk("IEND", {}); });
  add("png chunk of four gigabytes", "truncated", [] {
    return png_header(4, 4) +
           "\xff\xff\xff\xff"
           "IDAT";
  });
  add("png text that is a bomb", "ratio",
      [] { return made_png(4, 4, png_chunk("zTXt", "a\0\0"s + deflated_zeros(200 * kMega))); });
  add("png profile that is a bomb", "ratio",
      [] { return made_png(4, 4, png_chunk("iCCP", "a\0\0"s + deflated_zeros(200 * kMega))); });
  add("png international text that is a bomb", "ratio", [] {
    return made_png(4, 4, png_chunk("iTXt", "a\0\1\0\0\0"s + deflated_zeros(200 * kMega)));
  });
  add("png of two hundred thousand chunks", "image_segments",
      [] { return made_png(4, 4, repeated(png_chunk("tEXt", "a"), 200'000)); });
  add("png with a huge frame", "pixels", [] {
    return made_png(4, 4,
                    png_chunk("fcTL", big(0, 4) + big(100'000, 4) + big(100'000, 4) + big(0, 14)));
  });
  add("png with a wrong checksum", "damaged", [] {
    auto png = made_png(4, 4);
    png[30] = static_cast<char>(png[30] ^ 1);
    return png;
  });
}

void add_jpeg(const Add& add) {
  add("jpeg of 65500 by 65500", "pixels", [] { return made_jpeg(65'500, 65'500); });
  add("jpeg with a second, larger size", "", [] {
    return made_jpeg(
        8, 8, jpeg_segment(0xc0, "\x08" + big(65'500, 2) + big(65'500, 2) + "\x01\x01\x11\0"s));
  });
  add("jpeg without a size", "image_structure", [] { return made_jpeg(0, 0); });
  add("jpeg without pixels", "image_structure", [] { return "\xff\xd8\xff\xd9"s; });
  add("jpeg with a segment of no length", "damaged",
      [] { return "\xff\xd8\xff\xe0\0\0"s + std::string(50, 'x'); });
  add("jpeg of two hundred thousand segments", "image_segments",
      [] { return made_jpeg(8, 8, repeated(jpeg_segment(0xe5, "a"), 200'000)); });
  add("jpeg of a thousand scans", "image_segments", [] {
    auto jpeg = made_jpeg(8, 8);
    jpeg.resize(jpeg.size() - 2);
    return jpeg + repeated(jpeg_segment(0xda, "\x01\x01\0\0\x3f\0"s) + "\x3f", 1'000) + "\xff\xd9";
  });
  add("jpeg of markers only", "truncated",
      [] { return "\xff\xd8" + std::string(1'000'000, '\xff'); });
  add("jpeg of noise", "", [] { return "\xff\xd8\xff" + noise(31, 100'000); });
}

void add_tiff(const Add& add) {
  add("tiff that is its own next page", "image_structure",
      [] { return made_tiff(8, 8).replace(8 + 2 + 9 * 12, 4, little(8, 4)); });
  add("tiff of two pages in a circle", "image_structure", [] {
    auto tiff = made_tiff(8, 8, 2);
    return tiff.replace(tiff.size() - 8 - 4, 4, little(8, 4));
  });
  add("tiff of 100000 by 100000", "pixels", [] {
    return tiff_start() + tiff_directory({{256, 4, 1, 100'000}, {257, 4, 1, 100'000}}, 0);
  });
  add("tiff with fields beyond the file", "truncated",
      [] { return tiff_start() + tiff_directory({{256, 4, 0xffffffff, 8}}, 0); });
  add("tiff with strips beyond the file", "truncated", [] {
    return tiff_start() +
           tiff_directory(
               {{256, 4, 1, 8}, {257, 4, 1, 8}, {273, 4, 1, 0xfffffff0}, {279, 4, 1, 100}}, 0);
  });
  add("tiff whose strips are the whole file", "image_structure", [] {
    const std::uint32_t strips = 2'000;
    const std::uint32_t begin = 8 + 2 + 4 * 12 + 4;
    return tiff_start() +
           tiff_directory({{256, 4, 1, 9},
                           {257, 4, 1, strips},
                           {273, 4, strips, begin},
                           {279, 4, strips, begin + strips * 4}},
                          0) +
           repeated(little(0, 4), strips) + repeated(little(begin + strips * 8, 4), strips);
  });
  add("tiff of six thousand pages", "page_count", [] { return made_tiff(8, 1, 6'000); });
  add("tiff without pixels", "image_structure",
      [] { return tiff_start() + tiff_directory({{256, 4, 1, 8}, {257, 4, 1, 8}}, 0); });
  add("tiff of sixty thousand fields", "",
      [] { return tiff_start() + little(60'000, 2) + std::string(720'000, '\1'); });
  add("tiff that begins beyond its end", "", [] { return "II*\0\xf0\xff\xff\xff"s; });
  add("large tiff that begins beyond numbers", "",
      [] { return "II+\0\x08\0\0\0\xf0\xff\xff\xff\xff\xff\xff\xff"s; });
  add("large tiff with fields beyond numbers", "", [] {
    return "II+\0\x08\0\0\0"s + little(16, 8) + little(1, 8) + little(256, 2) + little(4, 2) +
           little(0x4000000000000001, 8) + little(8, 8) + little(0, 8);
  });
  add("tiff of noise", "", [] { return tiff_start() + noise(32, 100'000); });
}

void add_others(const Add& add) {
  add("gif of 65535 by 65535", "pixels", [] { return made_gif(65'535, 65'535); });
  add("gif with a frame larger than itself", "pixels", [] {
    auto gif = made_gif(4, 4);
    gif.pop_back();
    return gif + gif_frame(65'000, 65'000) + ";";
  });
  add("gif of ten thousand frames", "page_count", [] { return made_gif(2, 2, 10'000); });
  add("gif without an end", "",
      [] { return made_gif(2, 2).substr(0, 20) + std::string(100'000, '\xff'); });
  add("gif without a frame", "image_structure", [] { return made_gif(2, 2, 0); });
  add("bmp of 100000 by 100000", "pixels", [] { return made_bmp(100'000, 100'000, false); });
  add("bmp with a width below zero", "image_structure", [] { return made_bmp(-100, 100, false); });
  add("bmp with the least height of all", "", [] { return made_bmp(100, INT32_MIN, false); });
  add("bmp of no depth", "image_structure",
      [] { return made_bmp(4, 4).replace(28, 2, little(77, 2)); });
  add("bmp whose pixels lie beyond it", "truncated",
      [] { return made_bmp(4, 4).replace(10, 4, little(60'000, 4)); });
  add("bmp with fewer pixels than it says", "truncated",
      [] { return made_bmp(1'000, 1'000, false); });
  add("webp of 16384 by 16384", "pixels", [] { return made_webp(16'384, 16'384); });
  add("webp chunk longer than the file", "truncated",
      [] { return made_webp(4, 4).replace(16, 4, little(0xfffffff0, 4)); });
  add("webp without a frame", "image_structure", [] { return "RIFF" + little(4, 4) + "WEBP"; });
  add("pnm of 1000000 by 1000000", "pixels", [] { return "P5\n1000000 1000000\n255\n"s; });
  add("pnm with sides beyond numbers", "pixels",
      [] { return "P6\n" + std::string(100, '9') + " 5\n255\n"; });
  add("pnm of a comment", "", [] { return "P5\n#" + std::string(1'000'000, 'c'); });
}

}  // namespace

Corpus images() {
  Corpus corpus;
  const Add add = [&](std::string name, std::string rule, std::function<std::string()> make) {
    corpus.push_back({.name = "image: " + name,
                      .expect = Expect::refused,
                      .rule = std::move(rule),
                      .make = std::move(make)});
  };
  add_png(add);
  add_jpeg(add);
  add_tiff(add);
  add_others(add);
  return corpus;
}

}  // namespace millrace::hostile
