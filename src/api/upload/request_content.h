// The content of an upload as it comes in a request: the whole body, or the file of a form.
//
// Flow: a route makes one of its Call and hands it to the UploadEngine, which reads at its own
// pace, so that a client is held back by TCP and never by memory. Errors of the body are the
// server's to answer: they pass through unchanged, and the Call remembers them.
// Lifetime: the call outlives it. Threading: the connection's executor.
#pragma once

#include "api/call.h"
#include "api/upload/upload_engine.h"
#include "blob/digest.h"
#include "http/multipart.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace millrace::api {

class BodyContent final : public ContentSource {
 public:
  explicit BodyContent(Call& call) : call_(call) {}

  // Some kilobytes where the client is slow; what came before an error is given first.
  Task<std::size_t> read(std::span<std::byte> buffer) override;

 private:
  Call& call_;
  std::optional<Error> failed_;
};

// multipart/form-data: fields, and behind them one file. Fields count when they come first, because
// what they say is needed before the first byte of the file is kept.
class FormContent final : public ContentSource {
 public:
  // From the request's Content-Type.
  static Result<std::unique_ptr<FormContent>> make(Call& call);

  // What the body, boundaries and all, must have (RFC 9530); anything else is invalid_argument when
  // it ends. Before anything is read.
  void expect(blob::Digest sha256) { expected_ = sha256; }
  // Reads up to the file. invalid_argument names what is wrong: a field that is too long, not text
  // or there twice, or no file at all.
  Task<void> read_fields();
  const std::map<std::string, std::string>& fields() const { return fields_; }
  const std::string& file_name() const { return file_name_; }
  const std::string& content_type() const { return content_type_; }  // As the client says.
  // How long the file can be; nothing when the body does not say how long it is.
  std::optional<std::uint64_t> size_at_most() const;

  // The bytes of the file. Its end is the end of the form, closed and without another file.
  Task<std::size_t> read(std::span<std::byte> buffer) override;

 private:
  FormContent(Call& call, http::MultipartParser parser);

  Task<http::MultipartEvent> next();
  Task<void> read_field();
  Task<void> read_rest();
  Task<void> check_digest();

  BodyContent body_;
  http::MultipartParser parser_;
  std::optional<std::uint64_t> body_bytes_;
  std::unique_ptr<std::byte[]> buffer_;
  std::string_view input_;        // Of the buffer: not yet parsed.
  std::string_view file_data_;    // Of the file: not yet taken.
  std::uint64_t read_bytes_ = 0;  // Of the body.
  bool ended_ = false;
  std::optional<blob::Digest> expected_;
  blob::Sha256Stream sha256_;  // Of the body, where a digest is expected.
  std::map<std::string, std::string> fields_;
  std::string file_name_;
  std::string content_type_;
};

// A name that a client gave to a file, as it is kept: the last component, without control
// characters, 255 bytes at most. Empty where nothing is left.
std::string clean_file_name(std::string_view name);

}  // namespace millrace::api
