#include "document/ocr/network/word_list.h"

#include "document/ocr/network/model_file.h"

#include <bit>

namespace millrace::document {
namespace {

constexpr std::int16_t kMagic = 42;
constexpr std::uint32_t kEdgesMax = 16'000'000;
constexpr unsigned kFlags = 3;
constexpr std::uint64_t kLastEdge = 1;
constexpr std::uint64_t kBackwards = 2;
constexpr std::uint64_t kWordEnd = 4;

}  // namespace

Result<WordList> WordList::parse(std::string_view bytes) {
  ModelReader reader(bytes);
  const auto magic = reader.number<std::int16_t>();
  const auto characters = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint32_t>();
  if (reader.failed() || magic != kMagic || count > kEdgesMax || characters > 1'000'000) {
    return fail(ErrorKind::invalid_argument, "the model is not of the known form: words");
  }
  WordList out;
  out.flags_at_ = static_cast<unsigned>(std::bit_width(characters));
  out.next_at_ = out.flags_at_ + kFlags;
  out.letter_mask_ = (std::uint64_t{1} << out.flags_at_) - 1;
  out.edges_.reserve(count);
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    out.edges_.push_back(reader.number<std::uint64_t>());
  }
  if (reader.failed()) {
    return fail(ErrorKind::invalid_argument, "the model is not of the known form: words");
  }
  return out;
}

bool WordList::has(std::span<const std::int32_t> characters) const {
  std::uint64_t node = 0;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    if (characters[i] < 0) return false;
    const auto wanted = static_cast<std::uint64_t>(characters[i]);
    bool found = false;
    for (auto at = node; at < edges_.size(); ++at) {
      const auto edge = edges_[at];
      const auto flags = edge >> flags_at_;
      if ((edge & letter_mask_) == wanted && (flags & kBackwards) == 0) {
        if (i + 1 == characters.size()) return (flags & kWordEnd) != 0;
        node = edge >> next_at_;
        found = node != 0;
        break;
      }
      if ((flags & kLastEdge) != 0) break;
    }
    if (!found) return false;
  }
  return false;
}

}  // namespace millrace::document
