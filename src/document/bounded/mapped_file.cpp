#include "document/bounded/mapped_file.h"

#include "document/bounded/refusal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>

namespace millrace::document {

Result<MappedFile> MappedFile::open(int fd, const Limits& limits) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) {
    return fail(ErrorKind::internal, fmt::format("cannot stat the file: {}", strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::internal, "the document is no file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > limits.file_bytes_max) {
    return refuse("file_too_large",
                  fmt::format("{} bytes, more than {}", size, limits.file_bytes_max));
  }
  MappedFile file;
  if (size == 0) return file;
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    return fail(ErrorKind::unavailable, fmt::format("cannot map the file: {}", strerror(errno)));
  }
  file.data_ = data;
  file.size_ = size;
  return file;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace millrace::document
