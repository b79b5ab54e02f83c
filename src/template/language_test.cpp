#include "template/template_testing.h"

#include <gmock/gmock.h>

namespace millrace::templates {
namespace {

using testing::HasSubstr;

TEST(Language, PrintsPathsAndNothingForWhatIsAbsent) {
  EXPECT_EQ(rendered("{{ a.b.1 }}|{{ a.x.y }}|{{ nobody }}", R"({"a": {"b": [1, "two"]}})"),
            "two||");
  EXPECT_EQ(
      rendered("{{ data.labels }}, {{ labels.hello }}, {{ page.size }}", R"({"labels": "mine"})"),
      "mine, Hallo, A4");
}

TEST(Language, ConditionsAreDecidedFromTheInsideOut) {
  const auto text =
      "{% if a == 1 and not b %}one{% elsif (b or c) and a < 5 %}two{% else %}three{% endif %}";
  EXPECT_EQ(rendered(text, R"({"a": 1})"), "one");
  EXPECT_EQ(rendered(text, R"({"a": 1.0, "b": true})"), "two");
  EXPECT_EQ(rendered(text, R"({"a": 9, "b": true})"), "three");
  EXPECT_EQ(rendered("{% if list | length >= 2 %}many{% endif %}", R"({"list": [1, 2]})"), "many");
  EXPECT_EQ(rendered("{% if zero %}there{% endif %}{% if none %}no{% endif %}",
                     R"({"zero": 0, "none": []})"),
            "there");
}

TEST(Language, LoopsKnowWhereTheyAre) {
  EXPECT_EQ(rendered("{% for x in list %}{{ loop.index }}{{ x }}{% if not loop.last %},{% endif %}"
                     "{% else %}empty{% endfor %}",
                     R"({"list": ["a", "b"]})"),
            "1a,2b");
  EXPECT_EQ(rendered("{% for x in list %}{% else %}empty{% endfor %}", "{}"), "empty");
  EXPECT_EQ(rendered("{% for pair in map %}{{ pair.key }}={{ pair.value }};{% endfor %}",
                     R"({"map": {"a": 1, "b": 2}})"),
            "a=1;b=2;");
  EXPECT_THAT(rendered("{% for x in list %}{% endfor %}", R"({"list": 5})"),
              HasSubstr("page.html:1:13: /list must be a list"));
}

TEST(Language, LetLastsUntilTheEndOfItsBlock) {
  EXPECT_EQ(rendered("{% let a = 1 %}{% if true %}{% let a = 2 %}{{ a }}{% endif %}{{ a }}", "{}"),
            "21");
}

TEST(Language, TagsAloneOnTheirLineLeaveNoLine) {
  EXPECT_EQ(rendered("<p>\n  {% if true %}\n  x\n  {% endif %}\n  {# note #}\n</p>\n", "{}"),
            "<p>\n  x\n</p>\n");
}

TEST(Language, QuotesHideTheEndOfATag) {
  EXPECT_EQ(rendered(R"({{ a | default: "}}" }})", "{}"), "}}");
}

TEST(Language, MistakesAreToldWithTheirPlaceAndWhatWasExpected) {
  const auto says = [](std::string_view source) { return rendered(source, "{}"); };
  EXPECT_THAT(says("a\n  {{ b | }}"), HasSubstr("page.html:2:10: expected the name of a filter"));
  EXPECT_THAT(says("{{ a | uper }}"),
              HasSubstr("there is no filter \"uper\"; did you mean \"upper\"?"));
  EXPECT_THAT(says("{{ a | truncate }}"), HasSubstr("truncate takes 1 arguments, found 0"));
  EXPECT_THAT(says("{{ a"), HasSubstr("page.html:1:1: expected }} at the end of this tag"));
  EXPECT_THAT(says("ä{% if a %}b"), HasSubstr("page.html:1:2: expected {% endif %} for this tag"));
  EXPECT_THAT(says("{% endif %}"), HasSubstr("expected if, for, let, include, found 'endif'"));
  EXPECT_THAT(says("{% for x of y %}{% endfor %}"),
              HasSubstr("page.html:1:10: expected 'in', found 'of'"));
  EXPECT_THAT(says("{{ a b }}"), HasSubstr("expected '|' or '}}', found 'b'"));
  EXPECT_THAT(says("{{ \"open }}"), HasSubstr("expected }}"));
  EXPECT_THAT(says("{{ a | markdown | upper }}"), HasSubstr("must be the last filter"));
}

TEST(Language, RequiredNamesThePointer) {
  EXPECT_EQ(rendered("{% for x in list %}\n{{ x.name | required }}\n{% endfor %}",
                     R"({"list": [{"name": "a"}, {}]})"),
            "error: page.html:2:13: /list/1/name | required: must be there and not empty");
}

TEST(Language, PartialsStayInTheirFolder) {
  Trial trial;
  trial.files = {{"_row.html", "<i>{{ x }}</i>"},
                 {"_loop.html", "{% include \"loop\" %}"},
                 {"_a.html", "{% include \"b\" %}"},
                 {"_b.html", "{% include \"a\" %}"}};
  EXPECT_EQ(rendered("{% for x in list %}{% include \"row\" %}{% endfor %}", R"({"list": [1, 2]})",
                     trial),
            "<i>1</i><i>2</i>");
  EXPECT_THAT(rendered("{% include \"../row\" %}", "{}", trial), HasSubstr("letters, digits"));
  EXPECT_THAT(rendered("{% include \"none\" %}", "{}", trial),
              HasSubstr("there is no partial _none.html"));
  EXPECT_THAT(rendered("{% include \"loop\" %}", "{}", trial), HasSubstr("would include itself"));
  EXPECT_THAT(rendered("{% include \"a\" %}", "{}", trial), HasSubstr("would include itself"));
  EXPECT_THAT(rendered("<p class=\"{% include \"row\" %}\">", "{}", trial),
              HasSubstr("between tags only"));
}

TEST(Limits, OutputStepsTurnsAndDepth) {
  const std::string data = R"({"list": [1,2,3,4,5,6,7,8,9,10]})";
  const auto nested =
      "{% for a in list %}{% for b in list %}{% for c in list %}{{ c }}{% endfor %}{% endfor %}{% "
      "endfor %}";
  EXPECT_THAT(rendered(nested, data, {.limits = {.items_max = 500}}),
              HasSubstr("loops may have 500 turns"));
  EXPECT_THAT(rendered(nested, data, {.limits = {.steps_max = 500}}),
              HasSubstr("more than 500 steps"));
  EXPECT_THAT(rendered(nested, data, {.limits = {.output_max_bytes = 100}}),
              HasSubstr("more than 100 bytes"));
  EXPECT_EQ(rendered(nested, data).size(), 1100U);
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "{% if true %}";
  EXPECT_THAT(rendered(deep, "{}"), HasSubstr("nested 32 deep"));
  EXPECT_THAT(rendered(std::string(kSourceMaxBytes + 1, 'x'), "{}"),
              HasSubstr("at most 262144 bytes"));
  EXPECT_THAT(rendered("{% if " + std::string(100, '(') + "a %}{% endif %}", "{}"),
              HasSubstr("nested less deeply"));
}

}  // namespace
}  // namespace millrace::templates
