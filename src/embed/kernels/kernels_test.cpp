#include "embed/kernels/kernels.h"

#include "embed/kernels/attention.h"
#include "embed/kernels/dense.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace millrace::embed {
namespace {

struct Kind {
  const char* name;
  void (*product)(const Product&);
  void (*layer_norm)(const LayerNorm&);
  void (*softmax)(const Softmax&);
};

// Those that this processor can run.
std::vector<Kind> kinds() {
  std::vector<Kind> out = {
      {"any", &kernels_any::product, &kernels_any::layer_norm, &kernels_any::softmax}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    out.push_back(
        {"avx2", &kernels_avx2::product, &kernels_avx2::layer_norm, &kernels_avx2::softmax});
  }
  if (__builtin_cpu_supports("avx512f")) {
    out.push_back({"avx512", &kernels_avx512::product, &kernels_avx512::layer_norm,
                   &kernels_avx512::softmax});
  }
#endif
  return out;
}

class Kernels : public testing::TestWithParam<Kind> {
 protected:
  Floats numbers(std::size_t count) {
    std::normal_distribution<float> spread(0, 1);
    Floats out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = spread(random_);
    return out;
  }
  std::mt19937 random_{7};
};

double finish(Finish kind, double sum, double before) {
  switch (kind) {
    case Finish::keep:
      return sum;
    case Finish::add:
      return before + sum;
    case Finish::relu:
      return std::max(sum, 0.0);
    case Finish::gelu:
      return sum * 0.5 * (1 + std::erf(sum / std::sqrt(2.0)));
  }
  return sum;
}

TEST_P(Kernels, MultiplyRowsOfEveryNumber) {
  for (const auto kind : {Finish::keep, Finish::add, Finish::relu, Finish::gelu}) {
    for (const std::size_t rows : {1, 2, 3, 5, 12, 13, 31}) {
      constexpr std::size_t kInputs = 23;
      constexpr std::size_t kPanels = 3;
      constexpr std::size_t kOutputs = kPanels * kPanel;
      const auto in = numbers(rows * kInputs);
      const auto weights = numbers(kInputs * kOutputs);
      const auto bias = numbers(kOutputs);
      auto out = numbers(rows * kOutputs);
      const std::vector<float> before(out.data(), out.data() + out.size());
      GetParam().product({.weights = weights.data(),
                          .bias = bias.data(),
                          .panels = kPanels,
                          .inputs = kInputs,
                          .in = in.data(),
                          .in_stride = kInputs,
                          .out = out.data(),
                          .out_stride = kOutputs,
                          .rows = rows,
                          .finish = kind});
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < kOutputs; ++i) {
          double sum = bias[i];
          for (std::size_t k = 0; k < kInputs; ++k) {
            sum += static_cast<double>(in[row * kInputs + k]) *
                   weights[(i / kPanel * kInputs + k) * kPanel + i % kPanel];
          }
          ASSERT_NEAR(out[row * kOutputs + i], finish(kind, sum, before[row * kOutputs + i]), 2e-5)
              << rows << " rows, row " << row << ", output " << i;
        }
      }
    }
  }
}

TEST_P(Kernels, GiveARowTheSameBitsAloneAndAmongOthers) {
  constexpr std::size_t kInputs = 200;
  constexpr std::size_t kPanels = 5;
  constexpr std::size_t kOutputs = kPanels * kPanel;
  constexpr std::size_t kRows = 37;
  const auto in = numbers(kRows * kInputs);
  const auto weights = numbers(kInputs * kOutputs);
  Floats together(kRows * kOutputs);
  Product task{.weights = weights.data(),
               .panels = kPanels,
               .inputs = kInputs,
               .in = in.data(),
               .in_stride = kInputs,
               .out = together.data(),
               .out_stride = kOutputs,
               .rows = kRows};
  GetParam().product(task);
  Floats alone(kOutputs);
  for (std::size_t row = 0; row < kRows; ++row) {
    task.in = in.data() + row * kInputs;
    task.out = alone.data();
    task.rows = 1;
    GetParam().product(task);
    ASSERT_EQ(std::memcmp(alone.data(), together.data() + row * kOutputs, kOutputs * sizeof(float)),
              0)
        << row;
  }
}

TEST_P(Kernels, NormaliseRows) {
  constexpr std::size_t kWidth = 48;
  constexpr std::size_t kRows = 3;
  const auto in = numbers(kRows * kWidth);
  const auto scale = numbers(kWidth);
  const auto shift = numbers(kWidth);
  Floats out(kRows * kWidth);
  GetParam().layer_norm({.in = in.data(),
                         .out = out.data(),
                         .width = kWidth,
                         .rows = kRows,
                         .scale = scale.data(),
                         .shift = shift.data(),
                         .epsilon = 1e-6F});
  for (std::size_t row = 0; row < kRows; ++row) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < kWidth; ++i) mean += in[row * kWidth + i] / double{kWidth};
    for (std::size_t i = 0; i < kWidth; ++i) {
      variance += std::pow(in[row * kWidth + i] - mean, 2) / double{kWidth};
    }
    for (std::size_t i = 0; i < kWidth; ++i) {
      const double wanted =
          (in[row * kWidth + i] - mean) / std::sqrt(variance + 1e-6) * scale[i] + shift[i];
      ASSERT_NEAR(out[row * kWidth + i], wanted, 1e-5);
    }
  }
}

TEST_P(Kernels, WeighEveryNumberOfPlaces) {
  for (const std::size_t count : {1, 2, 15, 16, 17, 33, 100}) {
    constexpr std::size_t kStride = 112;
    auto values = numbers(2 * kStride);
    values[0] = 300;  // Far from all others: no overflow.
    const std::vector<float> before(values.data(), values.data() + values.size());
    GetParam().softmax(
        {.values = values.data(), .stride = kStride, .rows = 2, .count = count, .factor = 0.5F});
    for (std::size_t row = 0; row < 2; ++row) {
      double sum = 0;
      const float* from = before.data() + row * kStride;
      double highest = from[0];
      for (std::size_t i = 0; i < count; ++i) highest = std::max(highest, double{from[i]});
      for (std::size_t i = 0; i < count; ++i) sum += std::exp((from[i] - highest) * 0.5);
      for (std::size_t i = 0; i < count; ++i) {
        const double wanted = std::exp((from[i] - highest) * 0.5) / sum;
        ASSERT_NEAR(values[row * kStride + i], wanted, 1e-6) << count << " " << i;
      }
      for (std::size_t i = count; i < (count + kPanel - 1) / kPanel * kPanel; ++i) {
        ASSERT_EQ(values[row * kStride + i], 0.0F);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisProcessor, Kernels, testing::ValuesIn(kinds()),
                         [](const auto& about) { return std::string(about.param.name); });

TEST(Dense, ReadsWeightsInBothOrders) {
  constexpr std::size_t kInputs = 3;
  std::vector<float> by_input(kInputs * 2 * kPanel);
  std::vector<float> by_output(by_input.size());
  std::vector<float> bias(2 * kPanel);
  for (std::size_t i = 0; i < bias.size(); ++i) {
    bias[i] = static_cast<float>(i);
    for (std::size_t k = 0; k < kInputs; ++k) {
      const auto value = static_cast<float>(100 * k + i);
      by_input[k * bias.size() + i] = value;
      by_output[i * kInputs + k] = value;
    }
  }
  Dense one(kInputs, bias.size());
  one.set(0, by_input, WeightOrder::by_input, bias);
  Dense other(kInputs, bias.size());
  const auto half = std::span(by_output).first(kInputs * kPanel);
  other.set(0, half, WeightOrder::by_output, std::span(bias).first(kPanel));
  other.set(kPanel, std::span(by_output).subspan(half.size()), WeightOrder::by_output,
            std::span(bias).subspan(kPanel));
  const std::vector<float> in = {1, 2, 3};
  std::vector<float> from_one(bias.size());
  std::vector<float> from_other(bias.size());
  one.apply(in.data(), from_one.data(), 1);
  other.apply(in.data(), from_other.data(), 1);
  EXPECT_EQ(from_one, from_other);
  EXPECT_FLOAT_EQ(from_one[5], 5 + 5 + 2 * 105 + 3 * 205);
}

TEST(Attention, TakesFromTheOthersByLikeness) {
  constexpr std::size_t kTokens = 19;
  constexpr std::size_t kWidth = 32;
  constexpr std::size_t kHeads = 2;
  constexpr std::size_t kHead = kWidth / kHeads;
  std::mt19937 random(11);
  std::normal_distribution<float> spread(0, 1);
  Floats qkv(kTokens * 3 * kWidth);
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = spread(random);
  Floats out(kTokens * kWidth);
  AttentionRoom room(64, kHead);
  attend({.qkv = qkv.data(), .out = out.data(), .width = kWidth, .heads = kHeads, .factor = 0.25F},
         kTokens, room);
  for (std::size_t token = 0; token < kTokens; ++token) {
    for (std::size_t i = 0; i < kWidth; ++i) {
      const std::size_t head = i / kHead * kHead;
      double sum = 0;
      double taken = 0;
      for (std::size_t other = 0; other < kTokens; ++other) {
        double likeness = 0;
        for (std::size_t k = head; k < head + kHead; ++k) {
          likeness += double{qkv[token * 3 * kWidth + k]} * qkv[other * 3 * kWidth + kWidth + k];
        }
        const double weight = std::exp(likeness * 0.25);
        sum += weight;
        taken += weight * qkv[other * 3 * kWidth + 2 * kWidth + i];
      }
      ASSERT_NEAR(out[token * kWidth + i], taken / sum, 1e-5) << token << " " << i;
    }
  }
}

}  // namespace
}  // namespace millrace::embed
