#include "provider/form_upload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace millrace::provider {
namespace {

std::string quoted_name(std::string name) {
  std::ranges::replace_if(
      name, [](unsigned char c) { return c < ' ' || c == '"' || c == '\\' || c == 0x7f; }, '_');
  return name.empty() ? "document" : name;
}

class FormSource final : public http::BodySource {
 public:
  FormSource(std::string head, ByteSource bytes, std::uint64_t size_bytes, std::string tail)
      : head_(std::move(head)),
        bytes_(std::move(bytes)),
        left_(size_bytes),
        tail_(std::move(tail)) {}

  Task<std::size_t> read(std::span<std::byte> buffer) override {
    if (const auto size = take(head_, buffer); size > 0) co_return size;
    if (left_ > 0) {
      const auto room = std::min<std::uint64_t>(left_, buffer.size());
      MR_CO_TRY(const auto size, co_await bytes_(buffer.first(room)));
      if (size == 0) co_return fail(ErrorKind::internal, "the document is shorter than it was");
      left_ -= size;
      co_return size;
    }
    co_return take(tail_, buffer);
  }

 private:
  static std::size_t take(std::string& text, std::span<std::byte> buffer) {
    const auto size = std::min(text.size(), buffer.size());
    std::memcpy(buffer.data(), text.data(), size);
    text.erase(0, size);
    return size;
  }

  std::string head_;
  ByteSource bytes_;
  std::uint64_t left_;
  std::string tail_;
};

}  // namespace

void add_form(http::Request& request, FormUpload upload, Random& random) {
  // Random, because a document could hold one that is known, and with it fields of its own.
  const auto boundary = "millrace-" + random.uuid().to_string();
  auto head = fmt::format(
      "--{0}\r\nContent-Disposition: form-data; name=\"{1}\"\r\n\r\n{2}\r\n"
      "--{0}\r\nContent-Disposition: form-data; name=\"{3}\"; filename=\"{4}\"\r\n"
      "Content-Type: {5}\r\n\r\n",
      boundary, upload.field.first, upload.field.second, upload.file_field,
      quoted_name(std::move(upload.file_name)), upload.content_type);
  auto tail = fmt::format("\r\n--{}--\r\n", boundary);
  request.headers.emplace_back("Content-Type",
                               fmt::format("multipart/form-data; boundary={}", boundary));
  request.body_source_bytes = head.size() + upload.size_bytes + tail.size();
  request.body_source = std::make_shared<FormSource>(std::move(head), std::move(upload.bytes),
                                                     upload.size_bytes, std::move(tail));
}

}  // namespace millrace::provider
