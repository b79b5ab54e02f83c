#include "api/compute/inputs_hash.h"

#include "api/compute/inputs_hash_vectors.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace::api {
namespace {

const TenantId kTenant = *TenantId::parse("11111111-1111-4111-8111-111111111111");
const TenantId kOther = *TenantId::parse("22222222-2222-4222-8222-222222222222");

json::Value value_of(std::string_view text) { return parse_json(text).value(); }

struct Question {
  TenantId tenant = kTenant;
  std::optional<Uuid> owner = {};
  std::string app_id = "app";
  std::string definition = "solver";
  std::string version = "1.0.0";
  std::string inputs = "{}";
};

auto key_of(const Question& question) {
  const auto inputs = value_of(question.inputs);
  return compute_key({.tenant = question.tenant,
                      .owner = question.owner,
                      .app_id = question.app_id,
                      .definition = question.definition,
                      .version = question.version,
                      .inputs = inputs});
}

TEST(InputsHash, HasTheBytesOfTheSourcesFormula) {  // J-03
  for (const auto& vector : kHashVectors) {
    const auto value = value_of(vector.json);
    EXPECT_EQ(python_json(value), vector.normalized);
    EXPECT_EQ(inputs_hash(value, vector.definition, vector.version), vector.hash) << vector.json;
  }
}

// F04: the source's formula cannot tell these apart; what we decide by can.
TEST(ComputeKey, TellsApartWhatTheSourcesHashMixesUp) {
  const auto inputs = value_of("{}");
  ASSERT_EQ(inputs_hash(inputs, "solver1", "1.0.0"), inputs_hash(inputs, "solver", "11.0.0"));
  EXPECT_NE(key_of({.definition = "solver1", .version = "1.0.0"}),
            key_of({.definition = "solver", .version = "11.0.0"}));
}

TEST(ComputeKey, DiffersByEveryPart) {  // F05, T-12
  const auto user = Uuid::parse("33333333-3333-4333-8333-333333333333").value();
  const std::set keys{key_of({}),
                      key_of({.tenant = kOther}),
                      key_of({.owner = user}),
                      key_of({.app_id = "other"}),
                      key_of({.definition = "other"}),
                      key_of({.version = "1.0.1"}),
                      key_of({.inputs = R"({"x":1})"})};
  EXPECT_EQ(keys.size(), 7U);
}

TEST(ComputeKey, IsTheSameForEqualValues) {
  EXPECT_EQ(key_of({.inputs = R"({"a":1,"b":[2.50,"é"]})"}),
            key_of({.inputs = R"({ "b" : [25e-1,"\u00e9"], "a" : 1.0 })"}));
  EXPECT_EQ(key_of({.inputs = "[0,-0.0]"}), key_of({.inputs = "[0.0,0]"}));
  EXPECT_EQ(key_of({.inputs = "[1152921504606846976.0]"}),
            key_of({.inputs = "[1152921504606846976]"}));
}

// A double prints as 1152921504606847000 where its value is 24 less: no number stands for another.
TEST(ComputeKey, IsExactBeyondWhatDoublesHold) {
  EXPECT_NE(key_of({.inputs = "[9007199254740992]"}), key_of({.inputs = "[9007199254740993]"}));
  EXPECT_NE(key_of({.inputs = "[1152921504606846976.0]"}),
            key_of({.inputs = "[1152921504606847000]"}));
}

TEST(WholeNumbers, BeyondSixtyFourBitsAreNamed) {
  EXPECT_TRUE(check_whole_numbers(R"({"a":18446744073709551615,"b":-9223372036854775808})"));
  EXPECT_TRUE(check_whole_numbers(R"({"123456789012345678901":"123456789012345678901\"99"})"));
  EXPECT_TRUE(check_whole_numbers("[1e30,123456789012345678901234.5]"));
  const auto large = check_whole_numbers(R"({"a":18446744073709551616})");
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(large.error().message, "the whole number at byte 5 has more than 64 bits");
  EXPECT_FALSE(check_whole_numbers("[-9223372036854775809]"));
}

}  // namespace
}  // namespace millrace::api
