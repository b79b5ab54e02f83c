#include "sandbox/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace millrace::sandbox {
namespace {

using Fault = FrameReader::Fault;

std::string frame(FrameType type, std::string_view body) {
  const auto head =
      encode_head({.type = type, .size_bytes = static_cast<std::uint32_t>(body.size())});
  return std::string(reinterpret_cast<const char*>(head.bytes), sizeof head.bytes).append(body);
}

std::string confined() { return frame(FrameType::confined, {}); }

struct Read {
  FrameReader reader;
  std::string output = {};
  std::vector<std::pair<int, int>> progress = {};
};

Read read(std::string_view bytes, std::size_t chunk_bytes = 1000,
          FrameReader::Limits limits = {.result_max_bytes = 20, .output_max_bytes = 30}) {
  Read read{.reader = FrameReader(limits)};
  for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes) {
    std::string_view chunk = bytes.substr(at, chunk_bytes);
    for (;;) {
      std::string_view output;
      const auto step = read.reader.feed(chunk, output);
      if (step == FrameReader::Step::need_more) break;
      if (step == FrameReader::Step::output) read.output += output;
      if (step == FrameReader::Step::progress) {
        read.progress.emplace_back(read.reader.said().done, read.reader.said().total);
      }
    }
  }
  read.reader.finish();
  return read;
}

TEST(Frame, ReadsAWholeTalkHoweverItIsCut) {
  const std::string talk = confined() + frame(FrameType::output, "first ") +
                           frame(FrameType::progress, std::string("\1\0\0\0\2\0\0\0", 8)) +
                           frame(FrameType::output, "") + frame(FrameType::output, "second") +
                           frame(FrameType::result, "{\"pages\":2}");
  for (std::size_t chunk = 1; chunk <= talk.size(); ++chunk) {
    const Read all = read(talk, chunk);
    EXPECT_EQ(all.reader.fault(), Fault::none) << chunk;
    EXPECT_EQ(all.output, "first second");
    EXPECT_EQ(all.progress, (std::vector<std::pair<int, int>>{{1, 2}}));
    EXPECT_EQ(all.reader.said().result, "{\"pages\":2}");
    EXPECT_TRUE(all.reader.answered());
  }
}

TEST(Frame, ReadsRefusalsAndReports) {
  const auto refused =
      read(confined() + frame(FrameType::refused, std::string("invalid_argument\0no pages", 25)));
  EXPECT_EQ(refused.reader.said().refused_code, "invalid_argument");
  EXPECT_EQ(refused.reader.said().refused_message, "no pages");
  const auto forbidden =
      read(confined() + frame(FrameType::forbidden, std::string("\x65\1\0\0", 4)));
  EXPECT_EQ(forbidden.reader.said().forbidden_call, 0x165U);
  const auto memory =
      read(confined() + frame(FrameType::memory_short, {}) + frame(FrameType::out_of_memory, {}));
  EXPECT_TRUE(memory.reader.said().memory_short);
  EXPECT_TRUE(memory.reader.said().out_of_memory);
  const auto free = read(frame(FrameType::cannot_confine, "no Landlock"));
  EXPECT_EQ(free.reader.said().cannot_confine, "no Landlock");
}

TEST(Frame, AnswersAtTheLimitPassAndOneByteMoreDoesNot) {
  EXPECT_EQ(read(confined() + frame(FrameType::result, std::string(20, 'r'))).reader.fault(),
            Fault::none);
  EXPECT_EQ(read(confined() + frame(FrameType::result, std::string(21, 'r'))).reader.fault(),
            Fault::result_too_large);
  const auto ten = frame(FrameType::output, std::string(10, 'o'));
  EXPECT_EQ(read(confined() + ten + ten + ten).reader.fault(), Fault::none);
  const auto over = read(confined() + ten + ten + ten + frame(FrameType::output, "o"));
  EXPECT_EQ(over.reader.fault(), Fault::output_too_large);
  EXPECT_EQ(over.output.size(), 30U);
}

// Whatever it claims to be, nothing of it is kept or passed on.
TEST(Frame, RefusesWhatIsAgainstTheRules) {
  const std::vector<std::string> talks = {
      frame(FrameType::result, "{}"),  // Before it said that it is confined.
      frame(FrameType::output, "x"),
      confined() + confined(),
      confined() + frame(FrameType::cannot_confine, "x"),
      confined() + frame(FrameType::result, "{}") + frame(FrameType::result, "{}"),
      confined() + frame(FrameType::result, "{}") + frame(FrameType::output, "x"),
      confined() + frame(FrameType::refused, "no code"),
      confined() + frame(FrameType::refused, std::string("Bad Code\0x", 10)),
      confined() + frame(FrameType::refused, std::string("\0x", 2)),
      confined() + frame(FrameType::progress, "1234567"),
      confined() + frame(FrameType::progress, std::string("\2\0\0\0\1\0\0\0", 8)),
      confined() + frame(FrameType::progress, "\xff\xff\xff\xff\xff\xff\xff\xff"),
      confined() + frame(FrameType::memory_short, "x"),
      confined() + frame(FrameType::forbidden, "12345"),
      frame(FrameType::confined, "x"),
      frame(static_cast<FrameType>(0), {}),
      frame(static_cast<FrameType>(200), {}),
      confined() + frame(FrameType::output, std::string(kOutputFrameMaxBytes + 1, 'x')),
      frame(FrameType::cannot_confine, std::string(1025, 'x')),
      confined() + frame(FrameType::result, "{}").substr(0, 6),
      confined().substr(0, 3),
  };
  for (std::size_t i = 0; i < talks.size(); ++i) {
    const Read all =
        read(talks[i], 1000, {.result_max_bytes = 1000, .output_max_bytes = 1'000'000});
    EXPECT_EQ(all.reader.fault(), Fault::malformed) << i;
    EXPECT_FALSE(all.reader.fault_message().empty()) << i;
    EXPECT_TRUE(all.output.empty()) << i;
  }
}

TEST(Frame, SmallFramesAreCounted) {
  std::string talk = confined();
  for (std::size_t i = 1; i < kSmallFramesMax; ++i) talk += frame(FrameType::output, {});
  EXPECT_EQ(read(talk).reader.fault(), Fault::none);
  EXPECT_EQ(read(talk + frame(FrameType::output, {})).reader.fault(), Fault::malformed);
}

TEST(Frame, EveryByteFlippedIsReadWithoutHarm) {
  const std::string talk = confined() + frame(FrameType::output, "abcdef") +
                           frame(FrameType::progress, std::string("\1\0\0\0\2\0\0\0", 8)) +
                           frame(FrameType::result, "{}");
  for (std::size_t at = 0; at < talk.size(); ++at) {
    for (const unsigned value : {0U, 1U, 3U, 5U, 9U, 127U, 128U, 255U}) {
      std::string broken = talk;
      broken[at] = static_cast<char>(value);
      const Read all = read(broken, 7);
      EXPECT_LE(all.output.size(), 30U);
      EXPECT_LE(all.reader.said().result.value_or("").size(), 20U);
    }
  }
}

TEST(Printable, LeavesOneLineOfValidText) {
  EXPECT_EQ(printable("Seite 3: Größe", 100), "Seite 3: Größe");
  EXPECT_EQ(printable("a\nb\tc\x1b[0m\x7f", 100), "a b c [0m ");
  EXPECT_EQ(printable(std::string_view("a\0b", 3), 100), "a b");
  EXPECT_EQ(printable("bad \xff\xc3\x28 utf\xe2\x82", 100), "bad ( utf");
  EXPECT_EQ(printable("\xed\xa0\x80"
                      "\xc0\x80"
                      "\xf4\x90\x80\x80",
                      100),
            "");  // Not characters.
  EXPECT_EQ(printable("turn \u202e round \u2066x", 100), "turn   round  x");
  EXPECT_EQ(printable("ääää", 5), "ää");  // Never half a character.
}

}  // namespace
}  // namespace millrace::sandbox
