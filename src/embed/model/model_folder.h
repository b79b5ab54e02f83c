// ModelFolder: the files of a published model, mapped, and believed only when they are the ones
// that this program knows, byte for byte.
//
// Lifetime: parts are views into the mapping. Models copy what they keep, so that a folder can be
// closed, and replaced by an installer, while they work.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::embed {

struct KnownFile {
  std::string_view name;
  std::size_t size_bytes = 0;
  std::string_view sha256;  // In hexadecimal.
};

struct KnownModel {
  std::string_view name;
  std::string_view version;
  std::string_view package;  // What to install, for people: "npm package x 1.0".
  std::span<const KnownFile> files;
};

class MappedFile {
 public:
  // not_found when there is no such file.
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();
  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

class ModelFolder {
 public:
  // not_found when the folder or a file is missing, internal when a file is another than it should
  // be; both say what to install.
  static Result<ModelFolder> open(const std::filesystem::path& folder, const KnownModel& model);

  // A file of the list.
  std::string_view file(std::string_view name) const;

 private:
  std::map<std::string, MappedFile, std::less<>> files_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace millrace::embed
