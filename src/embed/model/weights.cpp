#include "embed/model/weights.h"

#include "base/json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace millrace::embed {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are little endian");

constexpr std::size_t kNumbersMax = 512U * 1024 * 1024;
constexpr std::size_t kDimensionsMax = 8;

std::unexpected<Error> broken(std::string_view what) {
  return fail(ErrorKind::internal, fmt::format("the model file is broken: {}", what));
}

const json::Value* member(const json::Value& value, std::string_view name) {
  const auto* object = value.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::string_view text_member(const json::Value& value, std::string_view name) {
  const auto* found = member(value, name);
  const auto* text = found == nullptr ? nullptr : found->if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

struct Shape {
  std::vector<std::size_t> sizes;  // Without those that are 1.
  std::size_t count = 1;
};

Result<Shape> read_shape(const json::Value* value) {
  const auto* list = value == nullptr ? nullptr : value->if_array();
  if (list == nullptr || list->size() > kDimensionsMax) return broken("an array has no shape");
  Shape out;
  for (const auto& item : *list) {
    const auto* size = item.if_int64();
    if (size == nullptr || *size < 1 || static_cast<std::size_t>(*size) > kNumbersMax / out.count) {
      return broken("an array has a size that is not possible");
    }
    out.count *= static_cast<std::size_t>(*size);
    if (*size > 1) out.sizes.push_back(static_cast<std::size_t>(*size));
  }
  return out;
}

}  // namespace

Result<void> Weights::add(std::string name, std::vector<std::size_t> shape,
                          std::string_view bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) != 0) {
    return broken(fmt::format("{} does not begin at a multiple of four", name));
  }
  Array array{
      .shape = std::move(shape),
      .values = {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)}};
  if (!arrays_.try_emplace(std::move(name), std::move(array)).second) {
    return broken("two arrays have one name");
  }
  return ok();
}

Result<Weights> Weights::read_tensorflow(std::string_view model_json,
                                         std::span<const std::string_view> shards) {
  MR_TRY(const auto model, parse_json(model_json, {.max_bytes = 16 * 1024 * 1024}));
  const auto* manifest = member(model, "weightsManifest");
  const auto* groups = manifest == nullptr ? nullptr : manifest->if_array();
  if (groups == nullptr || groups->size() != 1) return broken("it has no list of weights");
  const auto* list = member((*groups)[0], "weights");
  const auto* entries = list == nullptr ? nullptr : list->if_array();
  if (entries == nullptr) return broken("it has no list of weights");

  Weights out;
  for (const auto shard : shards) out.joined_.insert(out.joined_.end(), shard.begin(), shard.end());
  std::string_view rest(out.joined_.data(), out.joined_.size());
  for (const auto& entry : *entries) {
    const auto name = text_member(entry, "name");
    const auto type = text_member(entry, "dtype");
    if (member(entry, "quantization") != nullptr || (type != "float32" && type != "int32")) {
      return broken(fmt::format("{} does not consist of 32-bit numbers", name));
    }
    MR_TRY(auto shape, read_shape(member(entry, "shape")));
    const std::size_t size = shape.count * sizeof(float);
    if (size > rest.size()) return broken(fmt::format("{} is behind its end", name));
    if (type == "float32") {
      MR_TRY_VOID(out.add(std::string(name), std::move(shape.sizes), rest.substr(0, size)));
    }
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return broken("there are bytes that belong to nothing");
  return out;
}

Result<Weights> Weights::read_safetensors(std::string_view file) {
  std::uint64_t head_size = 0;
  if (file.size() < sizeof(head_size)) return broken("it has no head");
  std::memcpy(&head_size, file.data(), sizeof(head_size));
  file.remove_prefix(sizeof(head_size));
  if (head_size > file.size()) return broken("its head is behind its end");
  MR_TRY(const auto head, parse_json_object(file.substr(0, head_size), {.max_bytes = 1024 * 1024}));
  file.remove_prefix(head_size);
  Weights out;
  for (const auto& [key, entry] : head) {
    if (text_member(entry, "dtype") != "F32") continue;
    const std::string name(key);
    MR_TRY(auto shape, read_shape(member(entry, "shape")));
    const auto* offsets = member(entry, "data_offsets");
    const auto* list = offsets == nullptr ? nullptr : offsets->if_array();
    const auto* begin = list != nullptr && list->size() == 2 ? (*list)[0].if_int64() : nullptr;
    const std::size_t size = shape.count * sizeof(float);
    if (begin == nullptr || *begin < 0 || static_cast<std::uint64_t>(*begin) > file.size() ||
        size > file.size() - static_cast<std::size_t>(*begin)) {
      return broken(fmt::format("{} is behind its end", name));
    }
    MR_TRY_VOID(
        out.add(name, std::move(shape.sizes), file.substr(static_cast<std::size_t>(*begin), size)));
  }
  return out;
}

Result<std::span<const float>> Weights::get(std::string_view name,
                                            std::span<const std::size_t> shape) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) return broken(fmt::format("it has no {}", name));
  std::vector<std::size_t> wanted;
  for (const auto size : shape) {
    if (size != 1) wanted.push_back(size);
  }
  if (found->second.shape != wanted) {
    return broken(fmt::format("{} has the shape [{}] instead of [{}]", name,
                              fmt::join(found->second.shape, ", "), fmt::join(wanted, ", ")));
  }
  return found->second.values;
}

}  // namespace millrace::embed
