// What worker and zygote say to each other: one packet per message on a SOCK_SEQPACKET pair, with
// descriptors beside it. Both sides are ours and of one build; nothing of a document is in it.
#pragma once

#include "base/result.h"
#include "sandbox/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace millrace::sandbox {

inline constexpr int kTaskSocketFd = 3;  // Of the zygote.
inline constexpr std::size_t kWireTextMaxBytes = 16 * 1024;
inline constexpr std::size_t kWireFdsMax = 32;

enum class WireType : std::uint32_t {
  start = 1,           // To the zygote. Descriptors: request, pipe for frames, files.
  ready = 2,           // peak_rss_bytes: its own. Text: the jail, encoded.
  not_ready = 3,       // Text: why. The zygote exits.
  started = 4,         // pid. Descriptor: its pidfd.
  not_started = 5,     // Text: why there is no child.
  cannot_confine = 6,  // Text: why there will be no child here.
  ended = 7,           // wait_status, ran_out, peak_rss_bytes, cpu_us.
};

struct WireMessage {
  WireType type = WireType::start;
  std::int32_t pid = 0;
  std::uint64_t task_id = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t processes = 0;
  std::int32_t wait_status = 0;
  std::uint32_t ran_out = 0;  // 1: the kernel ended it, its cgroup was full.
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t cpu_us = 0;
};

struct WirePacket {
  WireMessage message;
  std::string text = {};
  std::vector<UniqueFd> fds = {};
};

enum class WireAnswer { done, would_block, closed, failed };  // failed: errno says why.

// Descriptors stay the caller's. Text beyond kWireTextMaxBytes is cut.
WireAnswer send_packet(int socket, const WireMessage& message, std::string_view text,
                       std::span<const int> fds, bool wait);
WireAnswer receive_packet(int socket, WirePacket& packet, bool wait);

}  // namespace millrace::sandbox
