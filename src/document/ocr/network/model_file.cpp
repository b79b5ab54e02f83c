#include "document/ocr/network/model_file.h"

#include "base/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace millrace::document {
namespace {

// Where Debian puts the data.
constexpr std::array<std::string_view, 3> kFolders = {"/usr/share/tesseract-ocr/5/tessdata",
                                                      "/usr/share/tesseract-ocr/4.00/tessdata",
                                                      "/usr/share/tessdata"};
constexpr std::uint32_t kPartsMax = 64;

}  // namespace

Result<ModelFile> ModelFile::open(const std::string& language) {
  for (const auto folder : kFolders) {
    auto bytes = read_file(fmt::format("{}/{}.traineddata", folder, language));
    if (bytes.has_value()) return ModelFile(*std::move(bytes));
  }
  return fail(ErrorKind::not_found, fmt::format("there is no language data for {}", language));
}

std::string_view ModelFile::part(ModelPart part) const {
  ModelReader reader(bytes_);
  const auto count = reader.number<std::uint32_t>();
  const auto wanted = static_cast<std::size_t>(part);
  if (count > kPartsMax || wanted >= count) return {};
  std::uint64_t begin = 0;
  std::uint64_t end = bytes_.size();
  std::array<std::int64_t, kPartsMax> offsets{};
  for (std::uint32_t i = 0; i < count; ++i) offsets[i] = reader.number<std::int64_t>();
  if (reader.failed() || offsets[wanted] < 0) return {};
  begin = static_cast<std::uint64_t>(offsets[wanted]);
  for (std::uint32_t i = 0; i < count; ++i) {  // Up to the part that follows.
    if (offsets[i] > offsets[wanted]) end = std::min(end, static_cast<std::uint64_t>(offsets[i]));
  }
  if (begin > bytes_.size() || end < begin) return {};
  return std::string_view(bytes_).substr(begin, end - begin);
}

}  // namespace millrace::document
