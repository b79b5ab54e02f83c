// Frames: what a confined child says to its parent, through a pipe: one byte of type, four bytes of
// length (little endian), then so many bytes.
//
// The parent reads them as untrusted. FrameReader takes chunks as they come, knows which frame may
// follow which, and holds results and output to their limits before it keeps a byte. The first
// frame is `confined` or `cannot_confine`: what a child claims about its jail counts only before it
// has read anything. Threading: none of its own.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::sandbox {

enum class FrameType : std::uint8_t {
  confined = 1,        // Empty. The jail is taken; the task begins.
  cannot_confine = 2,  // Why not.
  result = 3,          // Once, and the last.
  refused = 4,         // An ErrorKind, a zero byte, a message. Once, and the last.
  output = 5,
  progress = 6,       // Two numbers of four bytes: done, total.
  memory_short = 7,   // Empty. An allocation failed; what follows may be a crash.
  out_of_memory = 8,  // Empty. The task ended for that. The last.
  forbidden = 9,      // The number of a system call, four bytes. The last.
};

inline constexpr std::size_t kFrameHeadBytes = 5;
inline constexpr std::size_t kOutputFrameMaxBytes = 64 * 1024;
// Frames that carry little cost the parent much: a child gathers its output, and reports progress
// by the page.
inline constexpr std::size_t kSmallFrameBytes = 1024;
inline constexpr std::size_t kSmallFramesMax = 100'000;

struct FrameHead {
  FrameType type;
  std::uint32_t size_bytes;
};

// The five bytes before the body.
struct FrameHeadBytes {
  unsigned char bytes[kFrameHeadBytes];
};
FrameHeadBytes encode_head(FrameHead head);

class FrameReader {
 public:
  struct Limits {
    std::uint64_t result_max_bytes;
    std::uint64_t output_max_bytes;
  };
  enum class Fault { none, malformed, result_too_large, output_too_large };

  struct Said {  // What the frames so far amount to.
    bool confined = false;
    std::optional<std::string> cannot_confine = {};
    std::optional<std::string> result = {};
    std::optional<std::string> refused_code = {};
    std::string refused_message = {};
    bool memory_short = false;
    bool out_of_memory = false;
    std::optional<std::uint32_t> forbidden_call = {};
    int done = 0;
    int total = 0;
  };

  // What feed() found that must be passed on before it goes on.
  enum class Step { need_more, output, progress };

  explicit FrameReader(Limits limits) : limits_(limits) {}

  // Takes from the front of `bytes` and cuts it there. `output` is part of the chunk handed in.
  Step feed(std::string_view& bytes, std::string_view& output);
  // The pipe has ended: half a frame is malformed.
  void finish();

  Fault fault() const { return fault_; }
  const std::string& fault_message() const { return fault_message_; }
  const Said& said() const { return said_; }
  Said take_said() { return std::move(said_); }
  bool answered() const;  // A frame has come that must be the last.

 private:
  bool begin(FrameHead head);
  Step end();
  void fail(Fault fault, std::string message);

  Limits limits_;
  Said said_;
  Fault fault_ = Fault::none;
  std::string fault_message_;
  std::string head_;                // Up to five bytes of the next head.
  std::optional<FrameHead> frame_;  // Being read.
  std::uint64_t left_bytes_ = 0;    // Of its body.
  std::string body_;                // Of frames that are kept.
  std::uint64_t output_bytes_ = 0;
  std::size_t small_frames_ = 0;
};

// One line for people out of bytes from a stranger: control characters become spaces, broken UTF-8
// and what is beyond `max_bytes` goes.
std::string printable(std::string_view text, std::size_t max_bytes);

}  // namespace millrace::sandbox
