#include "attempts.h"
#include "sandbox/frame.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace millrace::test {
namespace {

using sandbox::FrameType;
constexpr int kPipe = 3;

void write_pipe(const void* bytes, std::size_t size) {
  if (::write(kPipe, bytes, size) < 0) ::_exit(9);
}

void write_frame(FrameType type, std::uint32_t claimed, const std::string& body) {
  const auto head = sandbox::encode_head({.type = type, .size_bytes = claimed});
  write_pipe(head.bytes, sizeof head.bytes);
  if (!body.empty()) write_pipe(body.data(), body.size());
}

// After the lie: stays, so that the end is the parent's doing.
[[noreturn]] void stay() {
  for (;;) {
    const timespec long_time{.tv_sec = 3600, .tv_nsec = 0};
    ::nanosleep(&long_time, nullptr);
  }
}

auto lie(FrameType type, std::uint32_t claimed, std::string body) {
  return [=](const Attempt&) -> std::string {
    write_frame(type, claimed, body);
    stay();
  };
}

std::string burn() {
  volatile unsigned long count = 0;
  for (;;) count = count + 1;
}

// Not a tail call, and with a frame that is touched.
int overflow_stack(int depth) {  // NOLINT(misc-no-recursion)
  if (depth < 0) return depth;   // Never.
  volatile char frame[4096];
  std::memset(const_cast<char*>(frame), depth, sizeof frame);
  return overflow_stack(depth + 1) + frame[depth % 4096];
}

void add_lies(Attempts& attempts) {
  attempts["unknown_frame"] = lie(static_cast<FrameType>(77), 0, {});
  attempts["confined_twice"] = lie(FrameType::confined, 0, {});
  attempts["confined_with_body"] = lie(FrameType::confined, 4, "abcd");
  attempts["late_cannot_confine"] = lie(FrameType::cannot_confine, 4, "free");
  attempts["wrong_progress"] = lie(FrameType::progress, 8, std::string("\5\0\0\0\1\0\0\0", 8));
  attempts["short_progress"] = lie(FrameType::progress, 3, "abc");
  attempts["refusal_without_code"] = lie(FrameType::refused, 3, "abc");
  attempts["claims_four_gigabytes"] = lie(FrameType::result, ~0U, {});
  attempts["large_output_frame"] = lie(FrameType::output, 1U << 30U, {});
  attempts["says_forbidden"] = lie(FrameType::forbidden, 4, std::string("\0\0\0\0", 4));
  attempts["noise"] = [](const Attempt&) -> std::string {
    unsigned value = 12345;
    std::string bytes(8192, '\0');
    for (char& byte : bytes) byte = static_cast<char>((value = value * 1103515245 + 12345) >> 16U);
    write_pipe(bytes.data(), bytes.size());
    stay();
  };
  attempts["flood_of_small_frames"] = [](const Attempt&) -> std::string {
    for (;;) write_frame(FrameType::output, 0, {});
  };
  attempts["two_results"] = [](const Attempt&) {
    write_frame(FrameType::result, 2, "{}");
    return std::string("{}");
  };
  attempts["result_then_output"] = [](const Attempt&) -> std::string {
    write_frame(FrameType::result, 2, "{}");
    write_frame(FrameType::output, 2, "ab");
    stay();
  };
  attempts["half_a_frame"] = [](const Attempt&) -> std::string {
    write_frame(FrameType::result, 100, "half");
    ::_exit(0);
  };
  attempts["half_a_frame_and_crash"] = [](const Attempt&) -> std::string {
    write_frame(FrameType::result, 100, "half");
    ::abort();
  };
  attempts["close_pipe"] = [](const Attempt&) -> std::string {
    ::close(kPipe);
    stay();
  };
  attempts["answer_and_stay"] = [](const Attempt&) -> std::string {
    write_frame(FrameType::result, 2, "{}");
    ::close(kPipe);
    stay();
  };
}

void add_crashes(Attempts& attempts) {
  attempts["abort"] = [](const Attempt&) -> std::string { ::abort(); };
  attempts["segfault"] = [](const Attempt&) -> std::string {
    *reinterpret_cast<volatile int*>(16) = 1;
    return {};
  };
  attempts["throw"] = [](const Attempt&) -> std::string { throw std::runtime_error("surprise"); };
  attempts["exit_without_result"] = [](const Attempt&) -> std::string { ::_exit(0); };
  attempts["exit_with_code"] = [](const Attempt&) -> std::string { ::_exit(3); };
  attempts["stack_overflow"] = [](const Attempt&) { return std::to_string(overflow_stack(0)); };
  attempts["stop_itself"] = [](const Attempt&) -> std::string {
    ::raise(SIGSTOP);
    stay();
  };
}

void add_bombs(Attempts& attempts) {
  attempts["sleep"] = [](const Attempt&) -> std::string { stay(); };
  attempts["burn"] = [](const Attempt&) { return burn(); };
  attempts["burn_and_catch"] = [](const Attempt&) {
    ::signal(SIGXCPU, SIG_IGN);
    return burn();
  };
  attempts["memory_bomb"] = [](const Attempt&) -> std::string {
    std::vector<std::string> hoard;
    for (;;) hoard.emplace_back(1U << 20U, 'x');
  };
  attempts["one_huge_block"] = [](const Attempt&) {
    return std::to_string(std::string(1ULL << 40U, 'x').size());
  };
  attempts["map_bomb"] = [](const Attempt&) {
    void* page = nullptr;
    while (page != MAP_FAILED) {
      page = ::mmap(nullptr, 1U << 24U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return outcome(-1);
  };
  // As a C library does that forgets to look.
  attempts["careless_bomb"] = [](const Attempt&) -> std::string {
    for (;;) std::memset(std::malloc(1U << 20U), 1, 1U << 20U);
  };
  attempts["caught_memory_bomb"] = [](const Attempt&) {
    try {
      return std::to_string(std::string(1ULL << 40U, 'x').size());
    } catch (const std::bad_alloc&) {
      return std::string("made do with less");
    }
  };
  attempts["use_memory"] = [](const Attempt& attempt) {
    const std::string block(std::stoul(attempt.argument), 'x');
    return std::to_string(std::ranges::count(block, 'x'));
  };
  attempts["endless_output"] = [](const Attempt& attempt) -> std::string {
    const std::string block(1U << 16U, 'x');
    for (;;) {
      if (!attempt.channel.output(std::as_bytes(std::span(block)))) ::_exit(7);
    }
  };
  attempts["output"] = [](const Attempt& attempt) {
    const std::string block(std::stoul(attempt.argument), 'o');
    return std::string(attempt.channel.output(std::as_bytes(std::span(block))) ? "sent" : "failed");
  };
  attempts["output_by_the_byte"] = [](const Attempt& attempt) {
    const std::byte one{'b'};
    for (unsigned long i = std::stoul(attempt.argument); i > 0; --i) {
      if (!attempt.channel.output({&one, 1})) return std::string("failed");
    }
    return std::string("sent");
  };
  attempts["result"] = [](const Attempt& attempt) {
    return std::string(std::stoul(attempt.argument), 'r');
  };
  attempts["echo"] = [](const Attempt& attempt) { return attempt.argument; };
  attempts["refuse"] = [](const Attempt&) { return std::string(); };  // By main, as an Error.
  attempts["progress"] = [](const Attempt& attempt) {
    for (int i = 0; i <= 10; ++i) attempt.channel.progress(i, 10);
    return std::string("done");
  };
}

}  // namespace

void add_limits(Attempts& attempts) {
  add_lies(attempts);
  add_crashes(attempts);
  add_bombs(attempts);
}

}  // namespace millrace::test
