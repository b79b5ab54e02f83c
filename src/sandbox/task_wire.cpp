#include "sandbox/task_wire.h"

#include "base/assert.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>

namespace millrace::sandbox {
namespace {

union Control {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kWireFdsMax)];
};

WireAnswer answer_of_errno() {
  switch (errno) {
    case EAGAIN:
      return WireAnswer::would_block;
    case EPIPE:
    case ECONNRESET:
      return WireAnswer::closed;
    default:
      return WireAnswer::failed;
  }
}

void take_fds(msghdr& head, std::vector<UniqueFd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&head); part != nullptr; part = CMSG_NXTHDR(&head, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

}  // namespace

WireAnswer send_packet(int socket, const WireMessage& message, std::string_view text,
                       std::span<const int> fds, bool wait) {
  MR_ASSERT(fds.size() <= kWireFdsMax);
  text = text.substr(0, kWireTextMaxBytes);
  std::array<iovec, 2> parts = {{{const_cast<WireMessage*>(&message), sizeof message},
                                 {const_cast<char*>(text.data()), text.size()}}};
  Control control{};
  msghdr head{};
  head.msg_iov = parts.data();
  head.msg_iovlen = parts.size();
  if (!fds.empty()) {
    head.msg_control = control.bytes;
    head.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* const part = CMSG_FIRSTHDR(&head);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(part), fds.data(), sizeof(int) * fds.size());
  }
  const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &head, flags);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? answer_of_errno() : WireAnswer::done;
}

WireAnswer receive_packet(int socket, WirePacket& packet, bool wait) {
  packet = {};
  packet.text.resize(kWireTextMaxBytes);
  std::array<iovec, 2> parts = {
      {{&packet.message, sizeof packet.message}, {packet.text.data(), packet.text.size()}}};
  Control control{};
  msghdr head{};
  head.msg_iov = parts.data();
  head.msg_iovlen = parts.size();
  head.msg_control = control.bytes;
  head.msg_controllen = sizeof control.bytes;
  const int flags = MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT);
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &head, flags);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return answer_of_errno();
  take_fds(head, packet.fds);
  if (size == 0) return WireAnswer::closed;
  // Too few descriptors to be had, or not a message of ours: both are for the caller to refuse.
  const bool cut = (head.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  if (cut || static_cast<std::size_t>(size) < sizeof packet.message) {
    errno = EBADMSG;
    if ((head.msg_flags & MSG_CTRUNC) != 0) errno = EMFILE;
    return WireAnswer::failed;
  }
  packet.text.resize(static_cast<std::size_t>(size) - sizeof packet.message);
  return WireAnswer::done;
}

}  // namespace millrace::sandbox
