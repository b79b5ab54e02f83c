// Weights: the named arrays of numbers of a model file.
//
// Two forms are read: TensorFlow.js (a manifest in model.json, the numbers one behind the other in
// shards) and safetensors (a JSON head with offsets, then the numbers). 32-bit floats only.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::embed {

class Weights {
 public:
  // `shards` by the names that the manifest has for them, in its order.
  static Result<Weights> read_tensorflow(std::string_view model_json,
                                         std::span<const std::string_view> shards);
  // The file stays there as long as the weights do.
  static Result<Weights> read_safetensors(std::string_view file);

  // The array of that name, which must have exactly that shape; internal otherwise. Dimensions of
  // size 1 are left out on both sides.
  Result<std::span<const float>> get(std::string_view name,
                                     std::span<const std::size_t> shape) const;

 private:
  struct Array {
    std::vector<std::size_t> shape;
    std::span<const float> values;
  };
  Result<void> add(std::string name, std::vector<std::size_t> shape, std::string_view bytes);

  std::vector<char> joined_;  // Shards one behind the other: arrays do not end where shards do.
  std::map<std::string, Array, std::less<>> arrays_;
};

}  // namespace millrace::embed
