#include "app/bench/uploads.h"

#include "base/json.h"
#include "cluster/unique_fd.h"
#include "http/server.h"

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace millrace::app {
namespace {

using cluster::UniqueFd;
using Milliseconds = std::chrono::duration<double, std::milli>;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kPatternBytes = 1 << 20;
constexpr std::int64_t kMarkBytes = 128;  // At the beginning of each: what makes it another one.
constexpr std::size_t kAtOnceBytes = 256 * 1024;
constexpr std::size_t kSpareFiles = 64;
constexpr int kTickMs = 10;
constexpr std::chrono::seconds kPatience{120};  // Without a byte either way.

std::unexpected<Error> system_error(std::string_view what) {
  return fail(ErrorKind::unavailable,
              fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

Result<UniqueFd> connect_to(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const auto parsed =
      http::parse_listen(url.starts_with(kScheme) ? url.substr(kScheme.size()) : url);
  if (!parsed || ::inet_pton(AF_INET, parsed->host.c_str(), &address.sin_addr) != 1) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is not http://ADDRESS:PORT of this machine", url));
  }
  address.sin_port = htons(parsed->port);
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_error("socket");
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_error("cannot connect to the server");
  }
  return socket;
}

const std::string& pattern() {
  static const std::string bytes = [] {
    std::string text(kPatternBytes, '\0');
    std::uint32_t state = 1;
    for (auto& c : text) {
      state = state * 1664525U + 1013904223U;
      c = static_cast<char>(state >> 24U);
    }
    return text;
  }();
  return bytes;
}

std::string mark_of(const UploadLoadOptions& options, int number) {
  auto mark = fmt::format("%PDF-1.7 {} upload {} ", options.name, number);
  mark.resize(kMarkBytes, '.');
  return mark;
}

// The status, length and body of an answer as far as they have come.
struct AnswerText {
  std::string text;

  int status() const {
    int value = 0;
    if (text.size() > 12) std::from_chars(text.data() + 9, text.data() + 12, value);
    return value;
  }
  std::size_t head_bytes() const {
    const auto end = text.find("\r\n\r\n");
    return end == text.npos ? 0 : end + 4;
  }
  std::size_t length() const {
    constexpr std::string_view kName = "\r\nContent-Length: ";
    const auto at = text.find(kName);
    std::size_t value = 0;
    if (at == text.npos) return 0;
    std::from_chars(text.data() + at + kName.size(), text.data() + text.size(), value);
    return value;
  }
  bool whole() const { return head_bytes() > 0 && text.size() >= head_bytes() + length(); }
  std::string body() const { return text.substr(head_bytes(), length()); }
};

struct Upload {
  UniqueFd socket;
  int number = 0;
  std::int64_t sent_bytes = 0;
  AnswerText answer;
  bool ended = false;
};

class Load {
 public:
  Load(const UploadLoadOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  Result<void> open();
  Result<UploadOutcome> run(const std::function<void()>& tick);

 private:
  Result<void> open_one(int number);
  void serve(Upload& upload, std::uint32_t events);
  bool send_more(Upload& upload);
  bool receive(Upload& upload);
  void end(Upload& upload);
  void watch(const Upload& upload, std::uint32_t events) const;

  const UploadLoadOptions& options_;
  const Clock& clock_;
  UniqueFd epoll_;
  std::vector<Upload> uploads_;
  std::size_t left_ = 0;
  Clock::Steady begin_{};
  UploadOutcome outcome_;
  std::string scratch_;
  std::array<char, 16 * 1024> buffer_{};
};

Result<void> Load::open() {
  const auto files = http::raise_open_files_limit();
  if (files < static_cast<std::size_t>(options_.uploads) + kSpareFiles) {
    return fail(Error{.kind = ErrorKind::unavailable,
                      .message = fmt::format("only {} files may be open here", files),
                      .hint = "raise 'ulimit -Hn', or take fewer --connections"});
  }
  epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return system_error("epoll_create1");
  uploads_.reserve(static_cast<std::size_t>(options_.uploads));
  for (int i = 0; i < options_.uploads; ++i) {
    MR_TRY_VOID(open_one(i));
  }
  left_ = uploads_.size();
  return {};
}

// The head goes out at once: the server knows of all uploads before it has one of them.
Result<void> Load::open_one(int number) {
  MR_TRY(auto socket, connect_to(options_.url));
  const auto head = fmt::format(
      "POST /api/v1/uploads?file_name=bench-{}.pdf HTTP/1.1\r\nHost: bench\r\n"
      "Authorization: Bearer {}\r\nIdempotency-Key: {}-{}\r\nContent-Type: application/pdf\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      number, options_.token, options_.name, number, options_.size_bytes);
  if (::send(socket.get(), head.data(), head.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(head.size())) {
    return system_error("cannot send to the server");
  }
  const epoll_event event{.events = EPOLLIN | EPOLLOUT,
                          .data = {.u32 = static_cast<std::uint32_t>(number)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), const_cast<epoll_event*>(&event)) !=
      0) {
    return system_error("epoll_ctl");
  }
  uploads_.push_back({.socket = std::move(socket), .number = number});
  return {};
}

Result<UploadOutcome> Load::run(const std::function<void()>& tick) {
  std::array<epoll_event, 256> events;
  begin_ = clock_.now();
  auto heard = begin_;
  auto ticked = begin_;
  while (left_ > 0) {
    const int ready =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kTickMs);
    if (ready < 0 && errno != EINTR) return system_error("epoll_wait");
    const auto now = clock_.now();
    if (ready > 0) heard = now;
    if (now - heard > kPatience) {
      return fail(ErrorKind::unavailable, fmt::format("{} uploads were not answered", left_));
    }
    if (now - ticked >= std::chrono::milliseconds(kTickMs)) {
      tick();
      ticked = now;
    }
    for (int i = 0; i < ready; ++i) {
      const auto& event = events[static_cast<std::size_t>(i)];
      serve(uploads_[event.data.u32], event.events);
    }
  }
  outcome_.seconds = Seconds(clock_.now() - begin_).count();
  return std::move(outcome_);
}

void Load::serve(Upload& upload, std::uint32_t events) {
  if (upload.ended) return;
  bool goes_on = true;
  if ((events & EPOLLOUT) != 0) goes_on = send_more(upload);
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) goes_on = receive(upload);
  if (!goes_on || upload.answer.whole()) end(upload);
}

bool Load::send_more(Upload& upload) {
  const auto bytes =
      upload_bytes(options_, upload.number, upload.sent_bytes, scratch_).substr(0, kAtOnceBytes);
  if (!bytes.empty()) {
    const auto sent =
        ::send(upload.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    // A server that refuses may close before it has read everything; its answer is still there.
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EPIPE;
    upload.sent_bytes += sent;
  }
  if (upload.sent_bytes == options_.size_bytes) watch(upload, EPOLLIN);
  return true;
}

bool Load::receive(Upload& upload) {
  const auto got = ::recv(upload.socket.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
  if (got == 0) return false;
  upload.answer.text.append(buffer_.data(), static_cast<std::size_t>(got));
  return true;
}

void Load::end(Upload& upload) {
  upload.ended = true;
  --left_;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, upload.socket.get(), nullptr);
  upload.socket = UniqueFd();
  outcome_.times.push_back(Milliseconds(clock_.now() - begin_).count());
  const auto object = parse_json_object(upload.answer.body());
  if (upload.answer.status() == 201 && object) {
    ++outcome_.accepted;
    outcome_.files.push_back(text_member(*object, "id"));
    return;
  }
  ++outcome_.refused;
  if (outcome_.first_refusal.empty()) {
    outcome_.first_refusal =
        upload.answer.text.empty() ? "the connection was closed" : upload.answer.text;
  }
}

void Load::watch(const Upload& upload, std::uint32_t events) const {
  epoll_event event{.events = events, .data = {.u32 = static_cast<std::uint32_t>(upload.number)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, upload.socket.get(), &event);
}

// How many bytes of a file come back; the first of them in `front`.
Result<std::int64_t> fetch(const UploadLoadOptions& options, const std::string& file,
                           std::string& front) {
  MR_TRY(const auto socket, connect_to(options.url));
  const auto request = fmt::format(
      "GET /api/v1/files/{}/content HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n"
      "Connection: close\r\n\r\n",
      file, options.token);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return system_error("cannot send to the server");
  }
  AnswerText answer;
  std::vector<char> buffer(kAtOnceBytes);
  std::int64_t total = 0;
  for (;;) {
    const auto got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return system_error("cannot read from the server");
    if (got == 0) break;
    total += got;
    if (answer.head_bytes() == 0 || answer.text.size() < answer.head_bytes() + kMarkBytes) {
      answer.text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  if (answer.status() != 200) return std::int64_t{0};
  front = answer.text.substr(answer.head_bytes(), kMarkBytes);
  return total - static_cast<std::int64_t>(answer.head_bytes());
}

}  // namespace

std::string_view upload_bytes(const UploadLoadOptions& options, int number, std::int64_t offset,
                              std::string& scratch) {
  const auto left = static_cast<std::size_t>(options.size_bytes - offset);
  if (offset < kMarkBytes) {
    scratch = mark_of(options, number);
    return std::string_view(scratch).substr(static_cast<std::size_t>(offset), left);
  }
  const auto at = static_cast<std::size_t>(offset) % kPatternBytes;
  return std::string_view(pattern()).substr(at, left);
}

Result<UploadOutcome> run_upload_load(const UploadLoadOptions& options, const Clock& clock,
                                      const std::function<void()>& tick) {
  Load load(options, clock);
  MR_TRY_VOID(load.open());
  return load.run(tick);
}

Result<void> read_back(const UploadLoadOptions& options, UploadOutcome& outcome) {
  std::vector<std::string> marks;
  for (const auto& file : outcome.files) {
    std::string front;
    MR_TRY(const auto size, fetch(options, file, front));
    const bool whole = size == options.size_bytes;
    if (whole) marks.push_back(front);
  }
  // Every upload has content of its own: one that came back twice stands for one that did not.
  std::ranges::sort(marks);
  const auto distinct = std::ranges::unique(marks);
  marks.erase(distinct.begin(), distinct.end());
  outcome.lost = outcome.accepted - static_cast<std::int64_t>(marks.size());
  return {};
}

}  // namespace millrace::app
