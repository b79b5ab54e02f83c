#include "embed/model/use_lite_encoder.h"

#include "embed/kernels/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace millrace::embed {
namespace {

constexpr std::size_t kTokensMax = 128;
constexpr std::size_t kNarrow = 256;  // A row as it is looked up.
constexpr std::size_t kWide = 512;    // A row behind layer 0.
constexpr std::size_t kMiddle = 1536;
constexpr std::size_t kHeads = 4;
constexpr std::size_t kVocabulary = 8002;
constexpr float kEpsilon = 1e-6F;
constexpr std::string_view kConcat = "/ConcatPartitions/concat";

// Sines and cosines of a token's place, turning ever more slowly.
Floats places_of(std::span<const float> rates) {
  Floats out(kTokensMax * kNarrow);
  for (std::size_t place = 0; place < kTokensMax; ++place) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const float angle = static_cast<float>(place) * rates[i];
      out[place * kNarrow + i] = std::sin(angle);
      out[place * kNarrow + rates.size() + i] = std::cos(angle);
    }
  }
  return out;
}

}  // namespace

// What one call computes with.
struct UseLiteEncoder::Room {
  Room(std::size_t row_count, std::size_t longest)
      : rows(row_count),
        state(row_count * kWide),
        normal(row_count * kWide),
        broad(row_count * kMiddle),
        attention(longest, kWide / kHeads) {}
  std::size_t rows;
  Floats state;  // The rows as the layers leave them.
  Floats normal;
  Floats broad;
  AttentionRoom attention;
};

std::size_t UseLiteEncoder::dimension() const { return kWide; }
std::size_t UseLiteEncoder::tokens_max() const { return kTokensMax; }

Result<Norm> UseLiteEncoder::read_norm(const Weights& weights, const std::string& name,
                                       std::size_t width) {
  const std::array shape = {width};
  const auto array = [&](std::string_view part) {
    return weights.get(
        fmt::format("{}/layer_prepostprocess/layer_norm/layer_norm_{}{}", name, part, kConcat),
        shape);
  };
  MR_TRY(const auto scale, array("scale"));
  MR_TRY(const auto shift, array("bias"));
  return Norm{.scale = copied(scale), .shift = copied(shift)};
}

Result<Dense> UseLiteEncoder::read_dense(const Weights& weights, const std::string& kernel,
                                         const std::string& bias, std::size_t inputs,
                                         std::size_t outputs) {
  MR_TRY(const auto kernel_values, weights.get(kernel, std::array{inputs, outputs}));
  MR_TRY(const auto bias_values, weights.get(bias, std::array{outputs}));
  Dense out(inputs, outputs);
  out.set(0, kernel_values, WeightOrder::by_input, bias_values);
  return out;
}

Result<UseLiteEncoder::Layer> UseLiteEncoder::read_layer(const Weights& weights,
                                                         std::size_t index) {
  // Folding constants has spread the names over three places.
  const auto stored =
      fmt::format("module/Encoder_en/KonaTransformer/Encode/Layer_{}/TransformerLayer", index);
  const auto made = fmt::format(
      "module_apply_default/Encoder_en/KonaTransformer/Encode/Layer_{}/TransformerLayer", index);
  const auto folded = fmt::format(
      "module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_{}"
      "/TransformerLayer/FFN",
      index);
  const auto conv = [&](std::string_view name, std::size_t inputs, std::size_t outputs) {
    return read_dense(weights, fmt::format("{}/{}/Tensordot/Reshape_1", folded, name),
                      fmt::format("{}/FFN/{}/bias{}", made, name, kConcat), inputs, outputs);
  };
  const auto attention = [&](std::string_view name, std::size_t inputs, std::size_t outputs) {
    return read_dense(weights, fmt::format("{}/MultiheadAttention/{}/kernel/part_0", stored, name),
                      fmt::format("{}/MultiheadAttention/{}/bias{}", made, name, kConcat), inputs,
                      outputs);
  };
  Layer layer{.width = index == 0 ? kNarrow : kWide};
  MR_TRY(layer.norm, read_norm(weights, made, layer.width));
  MR_TRY(layer.qkv, attention("qkv_transform_single", layer.width, 3 * layer.width));
  MR_TRY(layer.attention_out, attention("output_transform_single", layer.width, kWide));
  MR_TRY(layer.middle_norm, read_norm(weights, made + "/FFN", kWide));
  MR_TRY(layer.wide, conv("conv1", kWide, kMiddle));
  MR_TRY(layer.narrow, conv("conv2", kMiddle, kWide));
  return layer;
}

Result<UseLiteEncoder> UseLiteEncoder::make(const Weights& weights) {
  const std::string encode = "module_apply_default/Encoder_en/KonaTransformer/Encode/";
  const std::string tanh = "module/Encoder_en/hidden_layers/tanh_layer_0/";
  UseLiteEncoder out;
  MR_TRY(const auto embeddings,
         weights.get("module/Embeddings_en", std::array{kVocabulary, kNarrow}));
  out.embeddings_ = copied(embeddings);
  MR_TRY(const auto rates,
         weights.get(encode + "TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1",
                     std::array{kNarrow / 2}));
  out.places_ = places_of(rates);
  const auto dense = encode + "Layer_0/TransformerLayer/dense/";
  MR_TRY(out.residual_, read_dense(weights, dense + "kernel" + std::string(kConcat),
                                   dense + "bias" + std::string(kConcat), kNarrow, kWide));
  MR_TRY(out.layers_[0], read_layer(weights, 0));
  MR_TRY(out.layers_[1], read_layer(weights, 1));
  MR_TRY(out.last_, read_dense(weights, tanh + "weights", tanh + "bias", kWide, kWide));
  return out;
}

void UseLiteEncoder::look_up(Texts texts, float* rows) const {
  for (const auto& text : texts) {
    for (std::size_t place = 0; place < text.size(); ++place, rows += kNarrow) {
      const auto token = static_cast<std::size_t>(text[place]);
      MR_ASSERT(token < kVocabulary);
      const float* values = embeddings_.data() + token * kNarrow;
      const float* signal = places_.data() + place * kNarrow;
      for (std::size_t i = 0; i < kNarrow; ++i) rows[i] = values[i] + (values[i] + signal[i]);
    }
  }
}

// Layer 0 reads rows of 256 from `normal` and leaves rows of 512 in `state`, like layer 1.
void UseLiteEncoder::run_layer(const Layer& layer, Texts texts, Room& room) const {
  const bool first = layer.width == kNarrow;
  float* const state = room.state.data();
  float* const normal = room.normal.data();
  float* const broad = room.broad.data();
  if (first) residual_.apply(normal, state, room.rows);
  layer.norm.apply(first ? normal : state, normal, room.rows, kEpsilon);
  layer.qkv.apply(normal, broad, room.rows);
  const float factor = 1.0F / std::sqrt(static_cast<float>(layer.width / kHeads));
  std::size_t row = 0;
  for (const auto& text : texts) {
    attend({.qkv = broad + row * 3 * layer.width,
            .out = normal + row * layer.width,
            .width = layer.width,
            .heads = kHeads,
            .factor = factor},
           text.size(), room.attention);
    row += text.size();
  }
  layer.attention_out.apply(normal, state, room.rows, Finish::add);
  layer.middle_norm.apply(state, normal, room.rows, kEpsilon);
  layer.wide.apply(normal, broad, room.rows, Finish::relu);
  layer.narrow.apply(broad, state, room.rows, Finish::add);
}

std::vector<std::vector<float>> UseLiteEncoder::encode(Texts texts) const {
  Room room(count_rows(texts), longest_text(texts));
  look_up(texts, room.normal.data());
  for (const auto& layer : layers_) run_layer(layer, texts, room);

  std::vector<std::vector<float>> out;
  Floats mean(kWide);
  const float* rows = room.state.data();
  for (const auto& text : texts) {
    mean_of({rows, text.size() * kWide}, {mean.data(), kWide});
    rows += text.size() * kWide;
    auto& vector = out.emplace_back(kWide);
    last_.apply(mean.data(), vector.data(), 1);
    for (float& value : vector) value = std::tanh(value);
    scale_to_length_1(vector);
  }
  return out;
}

}  // namespace millrace::embed
