// LineNetwork: the network that reads a line: pixels in, for each step to the right the probability
// of each character out.
//
// It is the one that Tesseract's fast models hold: a convolution, a maximum over 3 × 3, an LSTM
// down each column of pixels, LSTMs to the right and back, and a softmax. Weights are theirs; the
// arithmetic here is in floating point and many columns at a time, which takes a fraction of the
// time. Models of any other form are refused, and read by Tesseract itself.
#pragma once

#include "base/result.h"
#include "document/ocr/gray.h"
#include "document/ocr/network/dense.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace millrace::document {

// Steps × codes, row by row.
struct CodeProbabilities {
  std::size_t codes = 0;
  std::vector<float> values = {};
  std::size_t steps() const { return codes == 0 ? 0 : values.size() / codes; }
  std::span<const float> at(std::size_t step) const {
    return std::span(values).subspan(step * codes, codes);
  }
};

class LineNetwork {
 public:
  // invalid_argument when the bytes are no model, or one of another form.
  static Result<LineNetwork> parse(std::string_view bytes);

  std::size_t height() const { return height_; }  // Of the images that it takes.
  std::size_t codes() const { return codes_; }
  std::size_t null_code() const { return null_code_; }  // "Nothing new here."
  static constexpr int kStepWidth = 3;                  // Pixels.

  // One image of that height and at least kStepWidth wide.
  CodeProbabilities run(const Gray& line) const;

 private:
  struct Lstm {
    Dense input;      // From what is below, with the bias.
    Dense recurrent;  // From its own last output.
    std::size_t cells = 0;
    bool backwards = false;
  };

  std::size_t height_ = 0;
  std::size_t codes_ = 0;
  std::size_t null_code_ = 0;
  Dense convolution_;
  std::size_t features_ = 0;
  Lstm down_;
  std::vector<Lstm> along_;
  Dense output_;

  friend class NetworkParser;
  std::vector<float> convolve(const Gray& line) const;
  std::vector<float> pool(const std::vector<float>& in, std::size_t width) const;
  std::vector<float> run_down(const std::vector<float>& in, std::size_t steps) const;
  static std::vector<float> run_along(const Lstm& lstm, const std::vector<float>& in,
                                      std::size_t steps);
};

}  // namespace millrace::document
