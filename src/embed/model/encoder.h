// Encoder: the tokens of texts → one vector of length 1 for each. Immutable, any thread.
#pragma once

#include "embed/kernels/floats.h"
#include "embed/text/tokenizer.h"

#include <cstddef>
#include <span>
#include <vector>

namespace millrace::embed {

using Texts = std::span<const std::span<const Token>>;

class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual std::size_t dimension() const = 0;
  virtual std::size_t tokens_max() const = 0;
  // Texts of 1 … tokens_max() tokens. The rows of all go through the layers together, so there
  // should be some hundred of them, not many thousand; each text has the vector that it has alone.
  virtual std::vector<std::vector<float>> encode(Texts texts) const = 0;
};

// What encoders have in common.
std::size_t count_rows(Texts texts);
std::size_t longest_text(Texts texts);
Floats copied(std::span<const float> values);
// The mean of rows of mean.size() numbers, of which there is at least one.
void mean_of(std::span<const float> rows, std::span<float> mean);
void scale_to_length_1(std::span<float> vector);

struct Norm {
  Floats scale;
  Floats shift;
  // `in` may be `out`.
  void apply(const float* in, float* out, std::size_t rows, float epsilon) const;
};

}  // namespace millrace::embed
