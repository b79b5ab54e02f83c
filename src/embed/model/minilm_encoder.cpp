#include "embed/model/minilm_encoder.h"

#include "base/assert.h"
#include "embed/kernels/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millrace::embed {
namespace {

constexpr std::size_t kRowsMax = 256;  // The model's own limit, [CLS] and [SEP] included.
constexpr std::size_t kEnds = 2;
constexpr std::size_t kPlaces = 512;
constexpr std::size_t kWidth = 384;
constexpr std::size_t kMiddle = 1536;
constexpr std::size_t kHeads = 12;
constexpr std::size_t kVocabulary = 30522;
constexpr float kEpsilon = 1e-12F;

Result<void> set_dense(const Weights& weights, const std::string& name, std::size_t outputs,
                       std::size_t first, Dense& dense) {
  MR_TRY(const auto values, weights.get(name + ".weight", std::array{outputs, dense.inputs()}));
  MR_TRY(const auto bias, weights.get(name + ".bias", std::array{outputs}));
  dense.set(first, values, WeightOrder::by_output, bias);
  return ok();
}

Result<Dense> read_dense(const Weights& weights, const std::string& name, std::size_t inputs,
                         std::size_t outputs) {
  Dense out(inputs, outputs);
  MR_TRY_VOID(set_dense(weights, name, outputs, 0, out));
  return out;
}

}  // namespace

struct MiniLmEncoder::Room {
  Room(std::size_t row_count, std::size_t longest)
      : rows(row_count),
        state(row_count * kWidth),
        taken(row_count * kWidth),
        broad(row_count * kMiddle),
        attention(longest, kWidth / kHeads) {}
  std::size_t rows;
  Floats state;  // The rows as the layers leave them.
  Floats taken;  // What tokens take from each other.
  Floats broad;
  AttentionRoom attention;
};

std::size_t MiniLmEncoder::dimension() const { return kWidth; }
std::size_t MiniLmEncoder::tokens_max() const { return kRowsMax - kEnds; }

Result<Norm> MiniLmEncoder::read_norm(const Weights& weights, const std::string& name) {
  MR_TRY(const auto scale, weights.get(name + ".LayerNorm.weight", std::array{kWidth}));
  MR_TRY(const auto shift, weights.get(name + ".LayerNorm.bias", std::array{kWidth}));
  return Norm{.scale = copied(scale), .shift = copied(shift)};
}

Result<MiniLmEncoder::Layer> MiniLmEncoder::read_layer(const Weights& weights, std::size_t index) {
  const auto name = fmt::format("encoder.layer.{}.", index);
  Layer layer{.qkv = Dense(kWidth, 3 * kWidth)};
  const std::array<std::string_view, 3> parts = {"query", "key", "value"};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    MR_TRY_VOID(set_dense(weights, fmt::format("{}attention.self.{}", name, parts[i]), kWidth,
                          i * kWidth, layer.qkv));
  }
  MR_TRY(layer.attention_out, read_dense(weights, name + "attention.output.dense", kWidth, kWidth));
  MR_TRY(layer.attention_norm, read_norm(weights, name + "attention.output"));
  MR_TRY(layer.wide, read_dense(weights, name + "intermediate.dense", kWidth, kMiddle));
  MR_TRY(layer.narrow, read_dense(weights, name + "output.dense", kMiddle, kWidth));
  MR_TRY(layer.norm, read_norm(weights, name + "output"));
  return layer;
}

Result<MiniLmEncoder> MiniLmEncoder::make(const Weights& weights, Ends ends) {
  MiniLmEncoder out;
  out.ends_ = ends;
  MR_TRY(const auto embeddings,
         weights.get("embeddings.word_embeddings.weight", std::array{kVocabulary, kWidth}));
  MR_TRY(const auto places,
         weights.get("embeddings.position_embeddings.weight", std::array{kPlaces, kWidth}));
  MR_TRY(const auto kinds, weights.get("embeddings.token_type_embeddings.weight",
                                       std::array<std::size_t, 2>{2, kWidth}));
  out.embeddings_ = copied(embeddings);
  out.places_ = copied(places.first(kRowsMax * kWidth));
  for (std::size_t i = 0; i < out.places_.size(); ++i) out.places_[i] += kinds[i % kWidth];
  MR_TRY(out.first_norm_, read_norm(weights, "embeddings"));
  for (std::size_t i = 0; i < out.layers_.size(); ++i) {
    MR_TRY(out.layers_[i], read_layer(weights, i));
  }
  return out;
}

void MiniLmEncoder::look_up(Texts texts, float* rows) const {
  for (const auto& text : texts) {
    const std::size_t count = text.size() + kEnds;
    MR_ASSERT(count <= kRowsMax);
    for (std::size_t place = 0; place < count; ++place, rows += kWidth) {
      Token token = ends_.begin;
      if (place > 0) token = place + 1 < count ? text[place - 1] : ends_.end;
      MR_ASSERT(static_cast<std::size_t>(token) < kVocabulary);
      const float* values = embeddings_.data() + static_cast<std::size_t>(token) * kWidth;
      const float* signal = places_.data() + place * kWidth;
      for (std::size_t i = 0; i < kWidth; ++i) rows[i] = values[i] + signal[i];
    }
  }
}

void MiniLmEncoder::run_layer(const Layer& layer, Texts texts, Room& room) const {
  float* const state = room.state.data();
  float* const broad = room.broad.data();
  layer.qkv.apply(state, broad, room.rows);
  std::size_t row = 0;
  for (const auto& text : texts) {
    attend({.qkv = broad + row * 3 * kWidth,
            .out = room.taken.data() + row * kWidth,
            .width = kWidth,
            .heads = kHeads,
            .factor = 1.0F / std::sqrt(static_cast<float>(kWidth / kHeads))},
           text.size() + kEnds, room.attention);
    row += text.size() + kEnds;
  }
  layer.attention_out.apply(room.taken.data(), state, room.rows, Finish::add);
  layer.attention_norm.apply(state, state, room.rows, kEpsilon);
  layer.wide.apply(state, broad, room.rows, Finish::gelu);
  layer.narrow.apply(broad, state, room.rows, Finish::add);
  layer.norm.apply(state, state, room.rows, kEpsilon);
}

std::vector<std::vector<float>> MiniLmEncoder::encode(Texts texts) const {
  Room room(count_rows(texts) + texts.size() * kEnds, longest_text(texts) + kEnds);
  look_up(texts, room.state.data());
  first_norm_.apply(room.state.data(), room.state.data(), room.rows, kEpsilon);
  for (const auto& layer : layers_) run_layer(layer, texts, room);

  std::vector<std::vector<float>> out;
  const float* rows = room.state.data();
  for (const auto& text : texts) {
    const std::size_t count = (text.size() + kEnds) * kWidth;
    auto& vector = out.emplace_back(kWidth);
    mean_of({rows, count}, vector);
    scale_to_length_1(vector);
    rows += count;
  }
  return out;
}

}  // namespace millrace::embed
