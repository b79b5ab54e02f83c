#include "embed/model/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

namespace millrace::embed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string bytes_of(std::initializer_list<float> numbers) {
  std::string out(numbers.size() * sizeof(float), '\0');
  std::memcpy(out.data(), numbers.begin(), out.size());
  return out;
}

std::string safetensors(const std::string& head, const std::string& data) {
  std::string padded = head;
  while (padded.size() % 8 != 0) padded += ' ';
  const std::uint64_t size = padded.size();
  std::string out(sizeof(size), '\0');
  std::memcpy(out.data(), &size, sizeof(size));
  return out + padded + data;
}

TEST(Weights, ReadsShardsThatEndInsideAnArray) {
  const auto data = bytes_of({1, 2, 3, 4, 5});
  const std::array<std::string_view, 2> shards = {std::string_view(data).substr(0, 6),
                                                  std::string_view(data).substr(6)};
  const auto read = Weights::read_tensorflow(
      R"({"weightsManifest":[{"weights":[{"name":"a","shape":[1,1,2],"dtype":"float32"},
          {"name":"n","shape":[],"dtype":"int32"},{"name":"b","shape":[2],"dtype":"float32"}]}]})",
      shards);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const std::array<std::size_t, 1> two = {2};
  EXPECT_THAT(read->get("a", two).value(), ElementsAre(1, 2));
  EXPECT_THAT(read->get("b", two).value(), ElementsAre(4, 5));
  EXPECT_FALSE(read->get("n", {}).has_value());
}

TEST(Weights, RefusesShardsThatDoNotGoWithTheirList) {
  const auto data = bytes_of({1, 2, 3});
  const std::array<std::string_view, 1> shards = {data};
  const auto with = [](const std::string& entry) {
    return R"({"weightsManifest":[{"weights":[)" + entry + "]}]}";
  };
  for (const auto& [json, why] : std::initializer_list<std::pair<std::string, const char*>>{
           {with(R"({"name":"a","shape":[4],"dtype":"float32"})"), "behind its end"},
           {with(R"({"name":"a","shape":[2],"dtype":"float32"})"), "belong to nothing"},
           {with(R"({"name":"a","shape":[3],"dtype":"uint8"})"), "32-bit"},
           {with(R"({"name":"a","shape":[3],"dtype":"float32","quantization":{}})"), "32-bit"},
           {with(R"({"name":"a","shape":[-3],"dtype":"float32"})"), "not possible"},
           {with(R"({"name":"a","shape":[65536,65536],"dtype":"float32"})"), "not possible"},
           {with(R"({"name":"a","dtype":"float32"})"), "no shape"},
           {R"({"weightsManifest":{}})", "no list"},
           {"[]", "no list"}}) {
    const auto read = Weights::read_tensorflow(json, shards);
    ASSERT_FALSE(read.has_value()) << json;
    EXPECT_THAT(read.error().message, HasSubstr(why)) << json;
  }
}

TEST(Weights, ReadsSafetensors) {
  const auto file = safetensors(
      R"({"__metadata__":{"format":"pt"},"ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},
          "w":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]}})",
      bytes_of({0, 0, 1, 2, 3, 4}));
  const auto read = Weights::read_safetensors(file);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(read->get("w", std::array<std::size_t, 2>{2, 2}).value(), ElementsAre(1, 2, 3, 4));
  const auto other = read->get("w", std::array<std::size_t, 2>{4, 1});
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("shape [2, 2] instead of [4]"));
  EXPECT_THAT(read->get("v", {}).error().message, HasSubstr("has no v"));
}

TEST(Weights, RefusesBrokenSafetensors) {
  const std::string entry = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":)";
  EXPECT_FALSE(Weights::read_safetensors("").has_value());
  EXPECT_FALSE(Weights::read_safetensors(std::string(8, '\xff')).has_value());
  EXPECT_FALSE(Weights::read_safetensors(safetensors("{", "")).has_value());
  for (const char* offsets : {"[4,12]}}", "[9,17]}}", "[-4,4]}}", "[0]}}", "{}}}"}) {
    EXPECT_FALSE(
        Weights::read_safetensors(safetensors(entry + offsets, bytes_of({1, 2}))).has_value())
        << offsets;
  }
}

}  // namespace
}  // namespace millrace::embed
