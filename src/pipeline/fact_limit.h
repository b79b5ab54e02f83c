// FactLimit: which pages of a document are told together, and how many facts are not.
//
// Pages come in order. From the first on whose facts do not fit any more none is told: the reader
// is to know up to where. One page is always told, however much it says.
#pragma once

#include <cstddef>

namespace millrace::pipeline {

class FactLimit {
 public:
  explicit FactLimit(std::size_t most) : most_(most) {}

  bool full() const { return full_; }
  // Whether a page with so many facts is told.
  bool take(std::size_t facts) {
    full_ = full_ || (told_ > 0 && told_ + facts > most_);
    (full_ ? left_out_ : told_) += facts;
    return !full_;
  }
  std::size_t left_out() const { return left_out_; }

 private:
  std::size_t most_;
  std::size_t told_ = 0;
  std::size_t left_out_ = 0;
  bool full_ = false;
};

}  // namespace millrace::pipeline
