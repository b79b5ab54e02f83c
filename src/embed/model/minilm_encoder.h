// MiniLmEncoder: all-MiniLM-L6-v2, a BERT of six layers of 384 with 12 heads; the vector is the
// mean of the rows of all tokens, at length 1.
//
//   [CLS] tokens [SEP] ─▶ row of the token + row of its place, norm
//   six times: 12 heads of 32 ─▶ + ─▶ norm ─▶ 1536, gelu ─▶ + 384 ─▶ norm
#pragma once

#include "base/result.h"
#include "embed/kernels/dense.h"
#include "embed/kernels/floats.h"
#include "embed/model/encoder.h"
#include "embed/model/weights.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace millrace::embed {

class MiniLmEncoder final : public Encoder {
 public:
  struct Ends {
    Token begin = 0;  // [CLS]
    Token end = 0;    // [SEP]
  };
  static Result<MiniLmEncoder> make(const Weights& weights, Ends ends);

  std::size_t dimension() const override;
  std::size_t tokens_max() const override;
  std::vector<std::vector<float>> encode(Texts texts) const override;

 private:
  struct Layer {
    Dense qkv;
    Dense attention_out;
    Norm attention_norm;
    Dense wide;
    Dense narrow;
    Norm norm;
  };
  struct Room;

  static Result<Norm> read_norm(const Weights& weights, const std::string& name);
  static Result<Layer> read_layer(const Weights& weights, std::size_t index);
  void look_up(Texts texts, float* rows) const;
  void run_layer(const Layer& layer, Texts texts, Room& room) const;

  Ends ends_;
  Floats embeddings_;
  Floats places_;  // With the row of the only kind of text that there is.
  Norm first_norm_;
  std::array<Layer, 6> layers_;
};

}  // namespace millrace::embed
