#include "embed/kernels/attention.h"

#include "base/assert.h"
#include "embed/kernels/kernels.h"

#include <algorithm>

namespace millrace::embed {
namespace {

std::size_t padded(std::size_t count) { return (count + kPanel - 1) / kPanel * kPanel; }

// Keys become the weights of a product: panels of head width × kPanel tokens. Tokens that only fill
// up the last panel are those of an earlier text or 0; softmax() gives them no weight.
void pack_keys(const float* keys, std::size_t stride, std::size_t tokens, std::size_t head_width,
               float* to) {
  for (std::size_t token = 0; token < tokens; ++token) {
    const float* from = keys + token * stride;
    float* panel = to + token / kPanel * head_width * kPanel + token % kPanel;
    for (std::size_t k = 0; k < head_width; ++k) panel[k * kPanel] = from[k];
  }
}

// Values likewise: panels of tokens × kPanel numbers.
void pack_values(const float* values, std::size_t stride, std::size_t tokens,
                 std::size_t head_width, float* to) {
  for (std::size_t panel = 0; panel < head_width; panel += kPanel) {
    for (std::size_t token = 0; token < tokens; ++token, to += kPanel) {
      std::copy_n(values + token * stride + panel, kPanel, to);
    }
  }
}

}  // namespace

AttentionRoom::AttentionRoom(std::size_t tokens, std::size_t head_width)
    : keys_(padded(tokens) * head_width),
      values_(tokens * head_width),
      scores_(tokens * padded(tokens)) {}

void attend(const Attention& task, std::size_t tokens, AttentionRoom& room) {
  const std::size_t head_width = task.width / task.heads;
  const std::size_t stride = 3 * task.width;
  const std::size_t wide = padded(tokens);
  MR_ASSERT(tokens * head_width <= room.values_.size());
  for (std::size_t head = 0; head < task.heads; ++head) {
    const float* queries = task.qkv + head * head_width;
    pack_keys(queries + task.width, stride, tokens, head_width, room.keys_.data());
    pack_values(queries + 2 * task.width, stride, tokens, head_width, room.values_.data());
    product({.weights = room.keys_.data(),
             .panels = wide / kPanel,
             .inputs = head_width,
             .in = queries,
             .in_stride = stride,
             .out = room.scores_.data(),
             .out_stride = wide,
             .rows = tokens});
    softmax({.values = room.scores_.data(),
             .stride = wide,
             .rows = tokens,
             .count = tokens,
             .factor = task.factor});
    product({.weights = room.values_.data(),
             .panels = head_width / kPanel,
             .inputs = tokens,
             .in = room.scores_.data(),
             .in_stride = wide,
             .out = task.out + head * head_width,
             .out_stride = task.width,
             .rows = tokens});
  }
}

}  // namespace millrace::embed
