// UseLiteEncoder: the Universal Sentence Encoder, lite: two transformer layers over pieces of
// words, the mean of their rows, one more layer, length 1.
//
//   token ─▶ row of 256, twice, + sines of its place
//   layer 0: norm ─▶ 4 heads of 64 ─▶ 512 + the row through a layer of its own ─▶ norm ─▶ 1536 ─▶ +
//   512 layer 1: norm ─▶ 4 heads of 128 ─▶ + 512                                  ─▶ norm ─▶ 1536
//   ─▶ + 512 mean over tokens ─▶ tanh of 512 ─▶ length 1
//
// In: the published graph's weights by their names; shapes are checked, the graph itself is known
// (its file is compared byte for byte).
#pragma once

#include "base/result.h"
#include "embed/kernels/dense.h"
#include "embed/kernels/floats.h"
#include "embed/model/encoder.h"
#include "embed/model/weights.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace millrace::embed {

class UseLiteEncoder final : public Encoder {
 public:
  static Result<UseLiteEncoder> make(const Weights& weights);

  std::size_t dimension() const override;
  std::size_t tokens_max() const override;
  std::vector<std::vector<float>> encode(Texts texts) const override;

 private:
  struct Layer {
    std::size_t width = 0;  // Of its input and of its attention.
    Norm norm;
    Dense qkv;
    Dense attention_out;
    Norm middle_norm;
    Dense wide;
    Dense narrow;
  };
  struct Room;

  static Result<Norm> read_norm(const Weights& weights, const std::string& name, std::size_t width);
  static Result<Dense> read_dense(const Weights& weights, const std::string& kernel,
                                  const std::string& bias, std::size_t inputs, std::size_t outputs);
  static Result<Layer> read_layer(const Weights& weights, std::size_t index);
  void look_up(Texts texts, float* rows) const;
  void run_layer(const Layer& layer, Texts texts, Room& room) const;

  Floats embeddings_;
  Floats places_;   // What is added for a token's place, a row for each.
  Dense residual_;  // Layer 0 is narrower than what it is added to.
  std::array<Layer, 2> layers_;
  Dense last_;
};

}  // namespace millrace::embed
