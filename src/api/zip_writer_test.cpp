#include "api/zip_writer.h"

#include <boost/beast/zlib/inflate_stream.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace millrace::api {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::uint32_t number(std::string_view archive, std::size_t at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint32_t>(
                 static_cast<unsigned char>(archive.at(at + static_cast<std::size_t>(i))))
             << (8 * i);
  }
  return value;
}

std::string inflate(std::string_view packed, std::size_t plain_bytes) {
  namespace zlib = boost::beast::zlib;
  std::string out(plain_bytes + 1, '\0');
  zlib::inflate_stream stream;
  zlib::z_params state;
  state.next_in = packed.data();
  state.avail_in = packed.size();
  state.next_out = out.data();
  state.avail_out = out.size();
  boost::beast::error_code error;
  stream.write(state, zlib::Flush::finish, error);
  EXPECT_EQ(error, zlib::error::end_of_stream);
  out.resize(out.size() - state.avail_out);
  return out;
}

// An archive as unpackers read it: from the directory at its end, with ZIP64 where it says so.
std::vector<std::pair<std::string, std::string>> unpack(std::string_view archive) {
  std::vector<std::pair<std::string, std::string>> out;
  auto end = archive.size() - 22;
  EXPECT_EQ(number(archive, end, 4), 0x06054B50U);
  std::size_t at = number(archive, end + 16, 4);
  std::uint32_t left = number(archive, end + 10, 2);
  if (at == 0xFFFF'FFFFU || left == 0xFFFFU) {
    EXPECT_EQ(number(archive, end - 20, 4), 0x07064B50U);
    const std::size_t record = number(archive, end - 12, 4);
    EXPECT_EQ(number(archive, record, 4), 0x06064B50U);
    left = number(archive, record + 32, 4);
    at = number(archive, record + 48, 4);
    EXPECT_EQ(at + number(archive, record + 40, 4), record);
    end = record;
  }
  for (; left > 0; --left) {
    EXPECT_EQ(number(archive, at, 4), 0x02014B50U);
    const auto crc = number(archive, at + 16, 4);
    std::size_t packed = number(archive, at + 20, 4);
    std::size_t plain = number(archive, at + 24, 4);
    const auto name_bytes = number(archive, at + 28, 2);
    const auto extra_bytes = number(archive, at + 30, 2);
    std::size_t header = number(archive, at + 42, 4);
    const auto name = archive.substr(at + 46, name_bytes);
    auto extra = at + 46 + name_bytes + 4;
    bool wide = false;
    const auto take = [&](std::size_t& value) {
      if (value != 0xFFFF'FFFFU) return false;
      value = number(archive, extra, 4);
      EXPECT_EQ(number(archive, extra + 4, 4), 0U);
      extra += 8;
      return true;
    };
    wide = take(plain);
    EXPECT_EQ(take(packed), wide);
    take(header);
    at += 46 + name_bytes + extra_bytes;
    if (extra_bytes > 0) {
      EXPECT_EQ(extra, at);
    }
    EXPECT_EQ(number(archive, header, 4), 0x04034B50U);
    EXPECT_EQ(archive.substr(header + 30, name_bytes), name);
    const auto data = header + 30 + name_bytes + (wide ? 20 : 0);
    out.emplace_back(name, inflate(archive.substr(data, packed), plain));
    EXPECT_EQ(number(archive, data + packed, 4), 0x08074B50U);
    EXPECT_EQ(number(archive, data + packed + 4, 4), crc);
    EXPECT_EQ(number(archive, data + packed + 8, 4), packed);
    EXPECT_EQ(number(archive, data + packed + (wide ? 16 : 12), 4), plain);
  }
  EXPECT_EQ(at, end);
  return out;
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& files,
                std::size_t piece_bytes, ZipOptions options = {}) {
  ZipWriter writer(options);
  std::string out;
  for (const auto& [name, content] : files) {
    out += writer.begin(name, content.size());
    for (std::size_t at = 0; at < content.size(); at += piece_bytes) {
      out += writer.write(std::string_view(content).substr(at, piece_bytes)).value();
    }
    out += writer.end().value();
  }
  return out + writer.finish();
}

std::string noise(std::size_t bytes) {
  std::mt19937 generator(7);
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(generator());
  return out;
}

TEST(ZipWriter, WhatWentInComesOut) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"Lebenslauf Ä.pdf", std::string(300'000, 'a')},
      {"noise.pdf", noise(200'000)},
      {"empty", ""}};
  const auto archive = zip(files, 1000);
  EXPECT_EQ(unpack(archive), files);
  EXPECT_LT(archive.size(), 210'000U) << "what can be packed is packed";
  EXPECT_EQ(zip(files, 77'777), archive) << "how the bytes arrive does not matter";
}

TEST(ZipWriter, KnowsTheChecksumOfTheStandard) {
  const auto archive = zip({{"check", "123456789"}}, 100);
  EXPECT_EQ(number(archive, archive.size() - 22 - 46 - 5 + 16, 4), 0xCBF43926U);
}

TEST(ZipWriter, EqualNamesGetNumbers) {
  EXPECT_THAT(unpack(zip({{"cv.pdf", "1"}, {"cv.pdf", "2"}, {"cv.pdf", "3"}, {"cv", "4"}}, 10)),
              ElementsAre(Pair("cv.pdf", "1"), Pair("cv (2).pdf", "2"), Pair("cv (3).pdf", "3"),
                          Pair("cv", "4")));
}

// The numbers that do not fit into 32 bits, at a scale that a test can hold: every combination of
// a wide file, a wide offset and a wide directory.
TEST(ZipWriter, WhatIsTooLargeForThirtyTwoBitsIsWrittenWide) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"small.pdf", "tiny"}, {"large.pdf", noise(5'000)}, {"behind.pdf", "tiny again"}};
  for (const std::uint64_t from : {0ULL, 100ULL, 5'000ULL, 5'001ULL, 1'000'000ULL}) {
    EXPECT_EQ(unpack(zip(files, 999, {.wide_from = from})), files) << from;
  }
  EXPECT_EQ(unpack(zip(files, 999, {.wide_from_entries = 3})), files);
  ZipWriter unknown;  // Whose size nobody knows.
  auto archive = unknown.begin("stream.pdf");
  archive += unknown.write("some bytes").value();
  archive += unknown.end().value();
  archive += unknown.finish();
  EXPECT_THAT(unpack(archive), ElementsAre(Pair("stream.pdf", "some bytes")));
}

TEST(ZipWriter, AnEmptyArchiveIsOne) { EXPECT_TRUE(unpack(zip({}, 1)).empty()); }

}  // namespace
}  // namespace millrace::api
