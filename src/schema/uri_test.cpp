#include "schema/uri.h"

#include <gtest/gtest.h>

namespace millrace::schema {
namespace {

// RFC 3986, 5.4.
TEST(Uri, ResolvesTheExamplesOfItsStandard) {
  const struct {
    const char* reference;
    const char* target;
  } cases[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {";x", "http://a/b/c/;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
  };
  for (const auto& [reference, target] : cases) {
    EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), target) << reference;
  }
}

TEST(Uri, ResolvesWithoutABaseAndAgainstUrns) {
  EXPECT_EQ(resolve_uri("", "a/b.json#/c"), "a/b.json#/c");
  EXPECT_EQ(resolve_uri("a/b.json", "c.json"), "a/c.json");
  EXPECT_EQ(resolve_uri("urn:uuid:feed", "#/c"), "urn:uuid:feed#/c");
  EXPECT_EQ(resolve_uri("http://host", "x.json"), "http://host/x.json");
  EXPECT_EQ(resolve_uri("file:///folder/file.json", "/abs/x.json"), "file:///abs/x.json");
}

TEST(Uri, TakesFragmentsApart) {
  EXPECT_EQ(without_fragment("http://a/b#c"), "http://a/b");
  EXPECT_EQ(fragment_of("http://a/b#c"), "c");
  EXPECT_EQ(fragment_of("http://a/b"), "");
  EXPECT_EQ(percent_decoded("a%25b%2"), "a%b%2");
  EXPECT_EQ(percent_decoded("%C3%A9%zz"), "é%zz");
}

TEST(JsonPointer, ReadsAndWritesTokens) {
  using Tokens = std::vector<std::string>;
  EXPECT_EQ(pointer_tokens(""), Tokens{});
  EXPECT_EQ(pointer_tokens("/"), Tokens{""});
  EXPECT_EQ(pointer_tokens("/a~1b/m~0n//0"), (Tokens{"a/b", "m~n", "", "0"}));
  EXPECT_EQ(pointer_tokens("/~01"), Tokens{"~1"});
  EXPECT_FALSE(pointer_tokens("a"));
  EXPECT_FALSE(pointer_tokens("/~"));
  EXPECT_FALSE(pointer_tokens("/~2"));
  std::string pointer;
  for (const auto* token : {"a/b", "m~n", "", "0"}) append_token(pointer, token);
  EXPECT_EQ(pointer, "/a~1b/m~0n//0");
  EXPECT_EQ(array_index("10"), 10U);
  for (const auto* token : {"", "01", "-1", "1x", "99999999999999999999"}) {
    EXPECT_FALSE(array_index(token)) << token;
  }
}

}  // namespace
}  // namespace millrace::schema
