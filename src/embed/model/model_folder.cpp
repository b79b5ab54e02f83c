#include "embed/model/model_folder.h"

#include "base/assert.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace millrace::embed {
namespace {

Error model_error(ErrorKind kind, const KnownModel& model, const std::filesystem::path& folder,
                  std::string_view what) {
  return {.kind = kind,
          .message = fmt::format("the embedding model {} cannot be read from {}: {}", model.name,
                                 folder.string(), what),
          .hint = fmt::format("Install the {} and name the folder of its files.", model.package)};
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  MR_ASSERT(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) ==
            1);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(errno == ENOENT || errno == ENOTDIR ? ErrorKind::not_found : ErrorKind::unavailable,
                fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  }
  struct stat about{};
  void* mapped = MAP_FAILED;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    mapped = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if (mapped == MAP_FAILED) {
    return fail(ErrorKind::unavailable, fmt::format("cannot map {}", path.string()));
  }
  return MappedFile({static_cast<const char*>(mapped), static_cast<std::size_t>(about.st_size)});
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}
MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

Result<ModelFolder> ModelFolder::open(const std::filesystem::path& folder,
                                      const KnownModel& model) {
  ModelFolder out;
  for (const auto& known : model.files) {
    auto file = MappedFile::open(folder / known.name);
    if (!file.has_value()) {
      return fail(model_error(file.error().kind, model, folder, file.error().message));
    }
    const auto bytes = file->bytes();
    if (bytes.size() != known.size_bytes) {
      return fail(model_error(ErrorKind::internal, model, folder,
                              fmt::format("{} has {} bytes instead of {}", known.name, bytes.size(),
                                          known.size_bytes)));
    }
    if (sha256_hex(bytes) != known.sha256) {
      return fail(model_error(ErrorKind::internal, model, folder,
                              fmt::format("{} is damaged or of another version (its SHA-256 is not "
                                          "the one of version {})",
                                          known.name, model.version)));
    }
    out.files_.emplace(known.name, *std::move(file));
  }
  return out;
}

std::string_view ModelFolder::file(std::string_view name) const {
  const auto found = files_.find(name);
  MR_ASSERT(found != files_.end());
  return found->second.bytes();
}

}  // namespace millrace::embed
