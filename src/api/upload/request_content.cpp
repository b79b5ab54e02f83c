#include "api/upload/request_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace millrace::api {
namespace {

using Kind = http::MultipartEvent::Kind;

constexpr std::size_t kBufferBytes = 16 * 1024;
// With so much at hand a slow client is not waited for: who reads has other things to do as well,
// such as to say that the upload lives.
constexpr std::size_t kEnoughBytes = 4 * 1024;
constexpr std::size_t kFieldMaxBytes = 8 * 1024;
constexpr std::size_t kPartsMax = 20;
constexpr std::size_t kFileNameMaxBytes = 255;

std::unexpected<Error> bad_form(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

}  // namespace

Task<std::size_t> BodyContent::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  if (failed_) co_return fail(*failed_);
  while (filled < buffer.size()) {
    const auto rest = buffer.subspan(filled);
    auto got =
        co_await call_.request.read_body({reinterpret_cast<char*>(rest.data()), rest.size()});
    if (!got) {
      call_.body_failed = true;
      failed_ = std::move(got).error();
      if (filled > 0) break;
      co_return fail(*failed_);
    }
    filled += *got;
    if (*got == 0 || filled >= kEnoughBytes) break;
  }
  co_return filled;
}

FormContent::FormContent(Call& call, http::MultipartParser parser)
    : body_(call),
      parser_(std::move(parser)),
      body_bytes_(call.request.body_length()),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

Result<std::unique_ptr<FormContent>> FormContent::make(Call& call) {
  const auto type = call.request.header("content-type").value_or(std::string_view());
  MR_TRY(auto parser, http::MultipartParser::make(type, {.parts_max = kPartsMax}));
  return std::unique_ptr<FormContent>(new FormContent(call, std::move(parser)));
}

Task<http::MultipartEvent> FormContent::next() {
  for (;;) {
    MR_CO_TRY(const auto event, parser_.next(input_));
    if (event.kind != Kind::need_more) co_return event;
    MR_CO_TRY(const auto size, co_await body_.read({buffer_.get(), kBufferBytes}));
    if (size == 0) {
      MR_CO_TRY_VOID(parser_.finish());
      co_return http::MultipartEvent{.kind = Kind::end};
    }
    read_bytes_ += size;
    if (expected_) sha256_.update({buffer_.get(), size});
    input_ = {reinterpret_cast<const char*>(buffer_.get()), size};
  }
}

Task<void> FormContent::read_fields() {
  for (;;) {
    MR_CO_TRY(const auto event, co_await next());
    if (event.kind == Kind::end) co_return bad_form("the form has no file");
    if (event.kind != Kind::part) continue;
    if (parser_.part().file_name) {
      file_name_ = *parser_.part().file_name;
      content_type_ = parser_.part().content_type;
      co_return ok();
    }
    MR_CO_TRY_VOID(co_await read_field());
  }
}

Task<void> FormContent::read_field() {
  const auto name = parser_.part().name;
  std::string value;
  for (;;) {
    MR_CO_TRY(const auto event, co_await next());
    if (event.kind == Kind::part_end) break;
    if (value.size() + event.data.size() > kFieldMaxBytes) {
      co_return bad_form(fmt::format("field {} must have {} bytes at most", name, kFieldMaxBytes));
    }
    value += event.data;
  }
  if (value.contains('\0')) co_return bad_form(fmt::format("field {} must not hold U+0000", name));
  if (!fields_.emplace(name, std::move(value)).second) {
    co_return bad_form(fmt::format("field {} is given twice", name));
  }
  co_return ok();
}

std::optional<std::uint64_t> FormContent::size_at_most() const {
  if (!body_bytes_) return std::nullopt;
  return *body_bytes_ - std::min(*body_bytes_, read_bytes_ - input_.size());
}

Task<std::size_t> FormContent::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size() && !ended_) {
    if (file_data_.empty()) {
      if (filled >= kEnoughBytes && input_.empty()) break;
      MR_CO_TRY(const auto event, co_await next());
      if (event.kind == Kind::part_end) {
        MR_CO_TRY_VOID(co_await read_rest());
        break;
      }
      file_data_ = event.data;
      continue;
    }
    const auto size = std::min(file_data_.size(), buffer.size() - filled);
    std::memcpy(buffer.data() + filled, file_data_.data(), size);
    file_data_.remove_prefix(size);
    filled += size;
  }
  co_return filled;
}

// Before the end is told: content of a form that is not whole is nobody's.
Task<void> FormContent::read_rest() {
  MR_CO_TRY(const auto event, co_await next());
  if (event.kind != Kind::end) {
    co_return bad_form(parser_.part().file_name
                           ? "a form must have one file"
                           : "the fields of the form must come before its file");
  }
  if (expected_) {
    MR_CO_TRY_VOID(co_await check_digest());
  }
  ended_ = true;
  co_return ok();
}

// What stands behind the last boundary belongs to the body, too.
Task<void> FormContent::check_digest() {
  MR_CO_TRY_VOID(co_await next());
  if (sha256_.finish() == *expected_) co_return ok();
  co_return bad_form("the body does not have the digest that was sent with it");
}

std::string clean_file_name(std::string_view name) {
  if (const auto slash = name.find_last_of("/\\"); slash != name.npos) {
    name.remove_prefix(slash + 1);
  }
  std::string out;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
  }
  if (out.size() > kFileNameMaxBytes) {
    std::size_t end = kFileNameMaxBytes;
    // Not in the middle of a letter.
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0U) == 0x80U) --end;
    out.resize(end);
  }
  if (out == "." || out == "..") out.clear();
  return out;
}

}  // namespace millrace::api
