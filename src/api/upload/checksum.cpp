#include "api/upload/checksum.h"

#include "base/assert.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <utility>

namespace millrace::api {
namespace {

struct Algorithm {
  std::string_view name;
  ChecksumKind kind;
  std::size_t size_bytes;
};
constexpr std::array kAlgorithms{Algorithm{"sha1", ChecksumKind::sha1, 20},
                                 Algorithm{"sha256", ChecksumKind::sha256, 32},
                                 Algorithm{"md5", ChecksumKind::md5, 16}};

const EVP_MD* evp_of(ChecksumKind kind) {
  switch (kind) {
    case ChecksumKind::sha1:
      return EVP_sha1();
    case ChecksumKind::sha256:
      return EVP_sha256();
    case ChecksumKind::md5:
      return EVP_md5();
  }
  std::unreachable();
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

std::unexpected<Error> malformed_digest() {
  return fail(ErrorKind::invalid_argument,
              "a digest must be written sha-256=:<base64 of 32 bytes>: (RFC 9530)");
}

// ":<base64>:" → its bytes.
Result<blob::Digest> read_sha256(std::string_view value) {
  if (value.size() < 2 || !value.starts_with(':') || !value.ends_with(':')) {
    return malformed_digest();
  }
  const auto bytes = blob::from_base64(value.substr(1, value.size() - 2));
  if (!bytes || bytes->size() != blob::Digest().bytes.size()) return malformed_digest();
  blob::Digest digest;
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    digest.bytes[i] = static_cast<std::uint8_t>((*bytes)[i]);
  }
  return digest;
}

}  // namespace

Result<ExpectedChecksum> parse_upload_checksum(std::string_view header) {
  header = trimmed(header);
  const auto blank = header.find(' ');
  const auto name = header.substr(0, blank);
  for (const auto& algorithm : kAlgorithms) {
    if (algorithm.name != name) continue;
    const auto value = blank == header.npos ? std::string_view() : trimmed(header.substr(blank));
    auto bytes = blob::from_base64(value);
    if (!bytes || bytes->size() != algorithm.size_bytes) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("Upload-Checksum must be {} and the base64 of {} bytes",
                              algorithm.name, algorithm.size_bytes));
    }
    return ExpectedChecksum{.kind = algorithm.kind, .bytes = *std::move(bytes)};
  }
  return fail(ErrorKind::invalid_argument,
              fmt::format("Upload-Checksum must begin with one of {}", kChecksumKinds));
}

Result<std::optional<blob::Digest>> parse_content_digest(std::string_view header) {
  std::optional<blob::Digest> found;
  while (!header.empty()) {
    const auto comma = header.find(',');
    const auto entry = trimmed(header.substr(0, comma));
    header = comma == header.npos ? std::string_view() : header.substr(comma + 1);
    const auto equals = entry.find('=');
    if (equals == entry.npos) return malformed_digest();
    if (entry.substr(0, equals) != "sha-256") continue;
    MR_TRY(found, read_sha256(trimmed(entry.substr(equals + 1))));
  }
  return found;
}

std::string content_digest(std::string_view sha256_hex) {
  const auto digest = blob::Digest::parse(sha256_hex);
  return digest ? fmt::format("sha-256=:{}:", digest->base64()) : std::string();
}

struct ChecksumStream::State {
  explicit State(ChecksumKind kind) : context(EVP_MD_CTX_new()) {
    MR_ASSERT(context != nullptr);
    const int started = EVP_DigestInit_ex(context, evp_of(kind), nullptr);
    MR_ASSERT(started == 1);
  }
  ~State() { EVP_MD_CTX_free(context); }

  EVP_MD_CTX* context;
};

ChecksumStream::ChecksumStream(ChecksumKind kind) : state_(std::make_unique<State>(kind)) {}
ChecksumStream::~ChecksumStream() = default;
ChecksumStream::ChecksumStream(ChecksumStream&&) noexcept = default;
ChecksumStream& ChecksumStream::operator=(ChecksumStream&&) noexcept = default;

void ChecksumStream::update(std::span<const std::byte> bytes) {
  const int taken = EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  MR_ASSERT(taken == 1);
}

std::string ChecksumStream::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  const int ended = EVP_DigestFinal_ex(state_->context, out.data(), &size);
  MR_ASSERT(ended == 1);
  return {reinterpret_cast<const char*>(out.data()), size};
}

}  // namespace millrace::api
