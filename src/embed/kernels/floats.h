// Floats: an array of numbers that begins on a cache line, so that no load of a vector touches two.
#pragma once

#include "base/assert.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace millrace::embed {

class Floats {
 public:
  Floats() = default;
  // All zero.
  explicit Floats(std::size_t count) : count_(count) {
    const std::size_t bytes = (count * sizeof(float) + kLine - 1) / kLine * kLine;
    auto* memory = static_cast<float*>(std::aligned_alloc(kLine, bytes == 0 ? kLine : bytes));
    MR_ASSERT(memory != nullptr);
    for (std::size_t i = 0; i < count; ++i) memory[i] = 0.0F;
    values_.reset(memory);
  }

  float* data() { return values_.get(); }
  const float* data() const { return values_.get(); }
  std::size_t size() const { return count_; }
  float& operator[](std::size_t i) { return values_[i]; }
  float operator[](std::size_t i) const { return values_[i]; }

 private:
  static constexpr std::size_t kLine = 64;
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float[], Free> values_;
  std::size_t count_ = 0;
};

}  // namespace millrace::embed
