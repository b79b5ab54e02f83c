#include "schema/regex/regex.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::schema {
namespace {

constexpr std::uint64_t kSteps = 1'000'000;

Search search(std::string_view pattern, std::string_view text, std::uint64_t steps = kSteps) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex) << pattern << ": " << regex.error().message;
  if (!regex) return Search::too_costly;
  Matcher matcher;
  return regex->search(text, steps, matcher);
}

bool finds(std::string_view pattern, std::string_view text) {
  const auto found = search(pattern, text);
  EXPECT_NE(found, Search::too_costly) << pattern;
  return found == Search::found;
}

std::string error_of(std::string_view pattern) {
  const auto regex = Regex::compile(pattern);
  if (regex) return "accepted";
  EXPECT_EQ(regex.error().kind, ErrorKind::invalid_argument);
  return regex.error().message;
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Regex, FindsAMatchAnywhereUnlessItIsAnchored) {
  EXPECT_TRUE(finds("es", "expression"));
  EXPECT_FALSE(finds("^es", "expression"));
  EXPECT_TRUE(finds("on$", "expression"));
  EXPECT_FALSE(finds("on$", "expression\n"));  // Unlike Perl.
  EXPECT_TRUE(finds("", ""));
  EXPECT_TRUE(finds("^$", ""));
  EXPECT_FALSE(finds("^$", "x"));
  EXPECT_TRUE(finds("a|b|c$", "xxc"));
  EXPECT_FALSE(finds("[]", "x"));
  EXPECT_TRUE(finds("[^]", "\n"));
}

TEST(Regex, RepeatsAsOftenAsSaid) {
  EXPECT_TRUE(finds("^a{2,3}$", "aaa"));
  EXPECT_FALSE(finds("^a{2,3}$", "aaaa"));
  EXPECT_TRUE(finds("^(ab){2,}$", "ababab"));
  EXPECT_FALSE(finds("^(ab){2,}$", "ab"));
  EXPECT_TRUE(finds("^a{0}$", ""));
  EXPECT_TRUE(finds("^(?:a*)*$", "aaa"));
  EXPECT_TRUE(finds("^(?:a?){3}b$", "b"));
  // Long counts of single characters stay one instruction.
  const auto regex = Regex::compile("^[a-z]{1,60000}x{17,}?$");
  ASSERT_TRUE(regex);
  EXPECT_LT(regex->size(), 20U);
  EXPECT_TRUE(finds("^[a-z]{100,200}$", std::string(150, 'q')));
  EXPECT_FALSE(finds("^[a-z]{100,200}$", std::string(201, 'q')));
  EXPECT_TRUE(finds("^[a-z]{20,}?q$", std::string(150, 'q')));
  EXPECT_FALSE(finds("^q{20,}$", std::string(19, 'q')));
}

TEST(Regex, CountsCodePointsNotBytes) {
  EXPECT_TRUE(finds("^.$", "🐲"));
  EXPECT_TRUE(finds("^🐲*$", "🐲🐲"));
  EXPECT_TRUE(finds("^\\ud83d\\udc32$", "🐲"));
  EXPECT_TRUE(finds("^[\\u{1F432}-\\u{1F433}]{2}$", "🐲🐳"));
  EXPECT_FALSE(finds("^.$", "ab"));
  EXPECT_FALSE(finds("^.$", "\xe2\x80\xa8"));  // U+2028 ends a line.
  EXPECT_FALSE(finds("^(?<=é)x", "x"));
  EXPECT_TRUE(finds("(?<=é)x$", "éx"));
}

TEST(Regex, KnowsTheClassesOfEcma262) {
  EXPECT_FALSE(finds("^\\d$", "৩"));  // ASCII only.
  EXPECT_FALSE(finds("^\\w$", "é"));
  EXPECT_TRUE(finds("^\\W$", "é"));
  for (const auto* space : {"\t", "\v", "\f", " ", "\xc2\xa0", "\xef\xbb\xbf", "\n", "\r",
                            "\xe2\x80\xa8", "\xe2\x80\x83"}) {
    EXPECT_TRUE(finds("^\\s$", space));
    EXPECT_FALSE(finds("^\\S$", space));
  }
  EXPECT_FALSE(finds("^\\s$", "\x01"));
  EXPECT_TRUE(finds("^\\p{Letter}cole$", "École"));
  EXPECT_TRUE(finds("^\\p{Lu}\\p{Ll}+$", "Élan"));
  EXPECT_TRUE(finds("^\\p{Script=Greek}+$", "λόγος"));
  EXPECT_TRUE(finds("^\\p{sc=Cyrl}+$", "привет"));
  EXPECT_TRUE(finds("^\\p{scx=Deva}$", "\xe0\xa5\xa4"));  // Shared by many scripts.
  EXPECT_FALSE(finds("^\\p{sc=Deva}$", "\xe0\xa5\xa4"));
  EXPECT_TRUE(finds("^\\P{L}$", "1"));
  EXPECT_TRUE(finds("^[\\p{Nd}\\p{Lu}]+$", "৩A"));
  EXPECT_TRUE(finds("^\\p{Emoji_Presentation}$", "🐲"));
  EXPECT_TRUE(finds("^\\p{Cn}$", "\xf4\x8f\xbf\xbf"));
  EXPECT_TRUE(finds("^\\p{Any}$", "\xf4\x8f\xbf\xbf"));
  EXPECT_TRUE(finds("^\\cC\\0\\x41\\t$", std::string_view("\x03\0A\t", 4)));
  EXPECT_TRUE(finds("^[\\b]$", "\b"));
}

TEST(Regex, AcceptsWhatPeopleWriteThoughTheUFlagWouldNot) {
  EXPECT_TRUE(finds("^\\-\\@\\_\\ $", "-@_ "));
  EXPECT_TRUE(finds("^[\\w-.]+$", "a-b.c"));
  EXPECT_TRUE(finds("^{a}]$", "{a}]"));
  EXPECT_TRUE(finds("^a{,3}$", "a{,3}"));
}

TEST(Regex, LooksAroundInBothDirections) {
  EXPECT_TRUE(finds("^(?=.*[A-Z])(?=.*\\d).{8,}$", "passWord1"));
  EXPECT_FALSE(finds("^(?=.*[A-Z])(?=.*\\d).{8,}$", "password1"));
  EXPECT_TRUE(finds("^(?!admin$)\\w+$", "administrator"));
  EXPECT_FALSE(finds("^(?!admin$)\\w+$", "admin"));
  EXPECT_TRUE(finds("(?<=\\$\\d{1,9})\\.", "$1234."));
  EXPECT_FALSE(finds("(?<!a+)b", "aaab"));
  EXPECT_TRUE(finds("\\bfoo\\b", "a foo b"));
  EXPECT_FALSE(finds("\\Bfoo", "a foo b"));
  // An answer found on the way to a success may be asked for again.
  EXPECT_TRUE(finds("^(?:(?=a*b)a)*b$", "aaab"));
  EXPECT_FALSE(finds("^(?:(?=a*c)a)*b$", "aaab"));
}

TEST(Regex, RemembersGroups) {
  EXPECT_TRUE(finds("^(a+)b\\1$", "aabaa"));
  EXPECT_FALSE(finds("^(a+)b\\1$", "aaba"));
  EXPECT_TRUE(finds("^(?<q>['\"])x\\k<q>$", "'x'"));
  EXPECT_FALSE(finds("^(?<q>['\"])x\\k<q>$", "'x\""));
  EXPECT_TRUE(finds("^\\1(a)$", "a"));          // Not set yet: matches nothing.
  EXPECT_TRUE(finds("^(?:(a)|b)*\\1$", "ab"));  // Forgotten in the second round.
  EXPECT_FALSE(finds("^(?:(a)|b)*\\1$", "ba"));
  EXPECT_TRUE(finds("^(?:(a)|b)*\\1$", "baa"));
  EXPECT_TRUE(finds("^(?=(a+))\\1b$", "aab"));
  EXPECT_FALSE(finds("^(?=(a+))a\\1b$", "aab"));  // A lookahead does not give back.
  EXPECT_TRUE(finds("(?<=(\\d+)(\\d+))$", "1053"));
  EXPECT_TRUE(finds("(?<=\\1(a))b", "aab"));
}

TEST(Regex, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error_of("a("), "at byte 2: a group is not closed, a ')' is missing");
  EXPECT_TRUE(error_of("a)").contains("no group that this ')' could close"));
  EXPECT_TRUE(error_of("[a").contains("a ']' is missing"));
  EXPECT_TRUE(error_of("[z-a]").contains("wrong order"));
  EXPECT_TRUE(error_of("a{3,2}").contains("wrong order"));
  EXPECT_TRUE(error_of("*a").contains("nothing to repeat"));
  EXPECT_TRUE(error_of("a**").contains("nothing to repeat"));
  EXPECT_TRUE(error_of("^*").contains("cannot be repeated"));
  EXPECT_TRUE(error_of("\\Z").contains("\\Z is not an escape of ECMA-262"));
  EXPECT_TRUE(error_of("\\a").contains("\\a is not an escape"));
  EXPECT_TRUE(error_of("\\").contains("backslash stands at the end"));
  EXPECT_TRUE(error_of("\\07").contains("octal"));
  EXPECT_TRUE(error_of("\\1").contains("only 0"));
  EXPECT_TRUE(error_of("\\k<no>").contains("does not exist"));
  EXPECT_TRUE(error_of("(?<a>x)(?<a>y)").contains("same name"));
  EXPECT_TRUE(error_of("(?i)a").contains("does not know"));
  EXPECT_TRUE(error_of("\\p{Klingon}").contains("not known"));
  EXPECT_TRUE(error_of("\\u{110000}").contains("past U+10FFFF"));
  EXPECT_TRUE(error_of("\\u12").contains("four hexadecimal digits"));
  EXPECT_TRUE(error_of("\xff").contains("not UTF-8"));
}

TEST(Regex, HasLimitsOfSizeAndNesting) {
  EXPECT_TRUE(error_of(std::string(70'000, 'a')).contains("the limit is"));
  EXPECT_TRUE(error_of(repeated("(", 200) + repeated(")", 200)).contains("nested deeper"));
  EXPECT_TRUE(error_of("((a{1,9}b){1,99}c){1,99}").contains("too large"));
  EXPECT_TRUE(error_of("(?:a|b){1000000000}").contains("too large"));
  EXPECT_EQ(error_of("a{1000000000}"), "accepted");
  EXPECT_EQ(error_of("a{99999999999999999999}"), "accepted");
  EXPECT_EQ(error_of("(?:){4000000000,}(?:a{0}){4000000000}"), "accepted");
}

// The classic traps of backtracking: each takes an exponential number of steps there.
TEST(Regex, CostsInProportionToPatternAndText) {
  const struct {
    std::string_view pattern;
    std::string text;
  } cases[] = {
      {"^(a+)+$", std::string(5000, 'a') + "b"},
      {"^(a|aa)+$", std::string(5000, 'a') + "b"},
      {"^(a|a?)+$", std::string(5000, 'a') + "b"},
      {"(.*)*x", std::string(5000, 'y')},
      {"^(.*?,){11}P", repeated("1,2,3,4,5,", 500)},
      {"^(([a-z])+.)+[A-Z]([a-z])+$", std::string(5000, 'a')},
      {"[^ab]*c", std::string(20'000, 'd')},
      {"(?:(?:a|b)*c)*d", repeated("abab", 2000)},
  };
  for (const auto& [pattern, text] : cases) {
    EXPECT_EQ(search(pattern, text, 100 * text.size()), Search::absent) << pattern;
  }
}

TEST(Regex, EndsWhenItsStepsAreUsedUp) {
  std::uint64_t steps = 100'000;
  const auto regex = Regex::compile("^(a+)+\\1b$");
  ASSERT_TRUE(regex);
  Matcher matcher;
  EXPECT_EQ(regex->search(std::string(100, 'a'), steps, matcher), Search::too_costly);
  EXPECT_EQ(steps, 0U);
  steps = kSteps;
  EXPECT_EQ(regex->search("aaaab", steps, matcher), Search::found);  // It can be used again.
  EXPECT_EQ(search("x{1,60000}y", std::string(3000, 'x')), Search::too_costly);
}

TEST(Regex, TakesBytesThatAreNotUtf8AsOneCharacterEach) {
  EXPECT_TRUE(finds("^.{3}$", "\xff\xfe\xfd"));
  EXPECT_TRUE(finds("(?<=^.)b",
                    "\x80"
                    "b"));
}

}  // namespace
}  // namespace millrace::schema
