// Window: the part of the document that is not handed out yet, by its byte offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::chunk {

class Window {
 public:
  std::uint64_t end() const { return base_ + bytes_.size(); }
  void append(std::string_view piece) { bytes_.append(piece); }
  std::string_view view(std::uint64_t begin, std::uint64_t end) const {
    return {bytes_.data() + (begin - base_), static_cast<std::size_t>(end - begin)};
  }
  // What lies before `offset` is not asked for again. Moving the rest is put off until it is less
  // than what goes.
  void drop_before(std::uint64_t offset) {
    const auto size = static_cast<std::size_t>(offset - base_);
    if (size < bytes_.size() - size) return;
    bytes_.erase(0, size);
    base_ = offset;
  }

 private:
  std::string bytes_;
  std::uint64_t base_ = 0;
};

}  // namespace millrace::chunk
