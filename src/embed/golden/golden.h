// What another implementation made of texts.txt, and the comparison with ours. For tests only.
#pragma once

#include "base/file.h"
#include "base/json.h"
#include "embed/embedder.h"
#include "embed/text/tokenizer.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value_to.hpp>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace millrace::embed {

struct GoldenText {
  std::string text;
  std::vector<Token> tokens;
  std::vector<double> values;  // Of some dimensions.
};

struct Golden {
  std::vector<std::size_t> dimensions;
  std::vector<GoldenText> texts;

  static Golden read(const std::string& file) {
    const auto json =
        parse_json(read_file(std::string(MILLRACE_GOLDEN_DIR) + "/" + file).value()).value();
    Golden out{.dimensions =
                   boost::json::value_to<std::vector<std::size_t>>(json.at("dimensions"))};
    for (const auto& text : json.at("texts").as_array()) {
      out.texts.push_back(
          {.text = boost::json::value_to<std::string>(text.at("text")),
           .tokens = boost::json::value_to<std::vector<Token>>(text.at("tokens")),
           .values = boost::json::value_to<std::vector<double>>(text.at("values"))});
    }
    return out;
  }
  std::vector<std::string_view> views() const {
    std::vector<std::string_view> out;
    for (const auto& text : texts) out.emplace_back(text.text);
    return out;
  }
};

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline void expect_golden(const Embedder& embedder, const Golden& golden) {
  ASSERT_GE(golden.texts.size(), 50U);
  const auto made = embedder.embed(golden.views());
  ASSERT_TRUE(made.has_value()) << made.error().describe();
  ASSERT_EQ(made->size(), golden.texts.size());
  const auto tally = embedder.tally();
  for (std::size_t i = 0; i < made->size(); ++i) {
    const auto& wanted = golden.texts[i];
    const auto& embedding = (*made)[i];
    EXPECT_EQ(embedding.tokens, wanted.tokens.size()) << wanted.text;
    EXPECT_EQ(embedding.truncated, wanted.tokens.size() > embedder.tokens_max()) << wanted.text;
    EXPECT_EQ(embedder.count_tokens(wanted.text), wanted.tokens.size()) << wanted.text;
    EXPECT_EQ(tally->count(wanted.text), wanted.tokens.size()) << wanted.text;
    EXPECT_EQ(tally->count(wanted.text), wanted.tokens.size()) << "remembered: " << wanted.text;
    ASSERT_EQ(embedding.vector.size(), embedder.dimension());
    ASSERT_EQ(wanted.values.size(), golden.dimensions.size());
    for (std::size_t j = 0; j < golden.dimensions.size(); ++j) {
      EXPECT_NEAR(embedding.vector[golden.dimensions[j]], wanted.values[j], 5e-6) << wanted.text;
    }
  }
}

}  // namespace millrace::embed
