#include "sandbox/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace millrace::sandbox {
namespace {

constexpr std::size_t kReasonMaxBytes = 1024;
constexpr std::size_t kCodeMaxBytes = 64;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

bool is_code(std::string_view text) {
  return !text.empty() && text.size() <= kCodeMaxBytes && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

struct CodePoint {
  char32_t value;
  std::size_t size_bytes;  // 0: not UTF-8.
};

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + size > text.size()) return {0, 0};
  char32_t value = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return {0, 0};
    value = (value << 6U) | (byte(at + i) & 0x3FU);
  }
  const char32_t lowest = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  if (value < lowest || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {0, 0};
  return {value, size};
}

// Controls, line separators, and the marks that turn the direction of a line around.
bool is_unprintable(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

}  // namespace

FrameHeadBytes encode_head(FrameHead head) {
  FrameHeadBytes encoded{};
  encoded.bytes[0] = static_cast<unsigned char>(head.type);
  for (unsigned i = 0; i < 4; ++i) {
    encoded.bytes[i + 1] = static_cast<unsigned char>(head.size_bytes >> (8 * i));
  }
  return encoded;
}

FrameReader::Step FrameReader::feed(std::string_view& bytes, std::string_view& output) {
  while (fault_ == Fault::none) {
    if (!frame_) {
      const std::size_t take = std::min(kFrameHeadBytes - head_.size(), bytes.size());
      head_.append(bytes.substr(0, take));
      bytes.remove_prefix(take);
      if (head_.size() < kFrameHeadBytes) return Step::need_more;
      const FrameHead head{.type = static_cast<FrameType>(head_[0]),
                           .size_bytes = number_at(head_, 1)};
      head_.clear();
      if (!begin(head)) break;
    }
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, bytes.size()));
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    left_bytes_ -= size;
    if (frame_->type == FrameType::output) {
      if (left_bytes_ == 0) frame_.reset();
      if (size == 0 && left_bytes_ > 0) return Step::need_more;
      if (size == 0) continue;
      output = part;
      return Step::output;
    }
    body_.append(part);
    if (left_bytes_ > 0) return Step::need_more;
    if (end() == Step::progress) return Step::progress;
  }
  bytes = {};  // Nobody listens to one who has broken the rules.
  return Step::need_more;
}

void FrameReader::finish() {
  if (fault_ == Fault::none && (frame_ || !head_.empty())) {
    fail(Fault::malformed, "the child stopped in the middle of a frame");
  }
}

bool FrameReader::answered() const {
  return said_.cannot_confine || said_.result || said_.refused_code || said_.out_of_memory ||
         said_.forbidden_call;
}

// Everything is refused by its head, before a byte of it is kept.
bool FrameReader::begin(FrameHead head) {
  const auto malformed = [&](std::string message) {
    fail(Fault::malformed, std::move(message));
    return false;
  };
  if (answered()) return malformed("a frame after the answer");
  const auto type = static_cast<unsigned>(head.type);
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  switch (head.type) {
    case FrameType::confined:
      if (said_.confined) return malformed("confined for the second time");
      break;
    case FrameType::cannot_confine:
      if (said_.confined) return malformed("not confined after it was confined");
      most = kReasonMaxBytes;
      break;
    case FrameType::result:
      most = limits_.result_max_bytes;
      break;
    case FrameType::refused:
      most = kCodeMaxBytes + 1 + kReasonMaxBytes;
      break;
    case FrameType::output:
      most = kOutputFrameMaxBytes;
      break;
    case FrameType::progress:
      least = most = 8;
      break;
    case FrameType::memory_short:
    case FrameType::out_of_memory:
      break;
    case FrameType::forbidden:
      least = most = 4;
      break;
    default:
      return malformed(fmt::format("frame type {} is unknown", type));
  }
  const bool may_begin = head.type == FrameType::confined ||
                         head.type == FrameType::cannot_confine ||
                         head.type == FrameType::forbidden;
  if (!said_.confined && !may_begin) return malformed("the first frame is not about the jail");
  if (head.type == FrameType::result && head.size_bytes > most) {
    fail(Fault::result_too_large,
         fmt::format("the result has {} bytes, {} are allowed", head.size_bytes, most));
    return false;
  }
  if (head.size_bytes < least || head.size_bytes > most) {
    return malformed(fmt::format("a frame of type {} with {} bytes", type, head.size_bytes));
  }
  if (head.size_bytes < kSmallFrameBytes && ++small_frames_ > kSmallFramesMax) {
    return malformed(fmt::format("more than {} small frames", kSmallFramesMax));
  }
  if (head.type == FrameType::output) {
    output_bytes_ += head.size_bytes;
    if (output_bytes_ > limits_.output_max_bytes) {
      fail(Fault::output_too_large,
           fmt::format("more than {} bytes of output", limits_.output_max_bytes));
      return false;
    }
  }
  // Once, and not twice as much while it grows. What never comes takes no memory.
  if (head.type == FrameType::result) body_.reserve(head.size_bytes);
  frame_ = head;
  left_bytes_ = head.size_bytes;
  return true;
}

FrameReader::Step FrameReader::end() {
  const FrameType type = std::exchange(frame_, std::nullopt)->type;
  std::string body = std::exchange(body_, {});
  switch (type) {
    case FrameType::confined:
      said_.confined = true;
      break;
    case FrameType::cannot_confine:
      said_.cannot_confine = printable(body, kReasonMaxBytes);
      break;
    case FrameType::result:
      said_.result = std::move(body);
      break;
    case FrameType::refused: {
      const auto split = body.find('\0');
      if (split == std::string::npos || !is_code(std::string_view(body).substr(0, split))) {
        fail(Fault::malformed, "a refusal without a code");
        break;
      }
      said_.refused_code = body.substr(0, split);
      said_.refused_message = printable(std::string_view(body).substr(split + 1), kReasonMaxBytes);
      break;
    }
    case FrameType::progress: {
      const std::uint32_t done = number_at(body, 0);
      const std::uint32_t total = number_at(body, 4);
      if (total > INT_MAX || done > total) {
        fail(Fault::malformed, "progress beyond its total");
        break;
      }
      said_.done = static_cast<int>(done);
      said_.total = static_cast<int>(total);
      return Step::progress;
    }
    case FrameType::memory_short:
      said_.memory_short = true;
      break;
    case FrameType::out_of_memory:
      said_.out_of_memory = true;
      break;
    case FrameType::forbidden:
      said_.forbidden_call = number_at(body, 0);
      break;
    case FrameType::output:
      break;
  }
  return Step::need_more;
}

void FrameReader::fail(Fault fault, std::string message) {
  fault_ = fault;
  fault_message_ = std::move(message);
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    if (c.size_bytes == 0) {
      ++at;
      continue;
    }
    const bool blank = is_unprintable(c.value);
    const std::string_view piece = blank ? " " : text.substr(at, c.size_bytes);
    if (line.size() + piece.size() > max_bytes) break;
    line.append(piece);
    at += c.size_bytes;
  }
  return line;
}

}  // namespace millrace::sandbox
