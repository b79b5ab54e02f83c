#include "template/template_testing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace millrace::templates {
namespace {

using testing::HasSubstr;
using testing::Not;

// What people have used to break out of one context or another.
constexpr auto kHostile = std::to_array<std::string_view>({
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    " JaVa\tScRiPt:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "vbscript:x",
    "</style><script>alert(1)</script>",
    "</title><script>",
    "red; background: url(https://evil.example/)",
    "expression(alert(1))",
    "url(javascript:alert(1))",
    "\\22 ; } body { display: none",
    "\"; } @import 'https://evil.example'; {",
    "*/ } body { color: red } /*",
    "--><script>alert(1)</script><!--",
    "&lt;script&gt;",
    "{{ 7 | times: 7 }}{% include \"x\" %}",
    "`${alert(1)}`",
    "//evil.example/x",
    "\\\\evil.example\\share",
    "file:///etc/passwd",
    "https://ok.example/\" onclick=\"alert(1)",
});

std::string data_with(std::string_view value) { return "{\"x\": " + json_quote(value) + "}"; }

TEST(Escaping, TextNeverBecomesMarkup) {
  for (const auto hostile : kHostile) {
    const auto out = rendered("<p>{{ x }}</p>", data_with(hostile));
    EXPECT_EQ(std::ranges::count(out, '<'), 2) << out;
    EXPECT_EQ(std::ranges::count(out, '>'), 2) << out;
  }
}

TEST(Escaping, AttributesNeverEnd) {
  for (const auto hostile : kHostile) {
    const auto twice = rendered("<p title=\"{{ x }}\">t</p>", data_with(hostile));
    EXPECT_EQ(std::ranges::count(twice, '"'), 2) << twice;
    EXPECT_EQ(std::ranges::count(twice, '<'), 2) << twice;
    const auto once = rendered("<p title='{{ x }}'>t</p>", data_with(hostile));
    EXPECT_EQ(std::ranges::count(once, '\''), 2) << once;
  }
}

TEST(Escaping, LinksHaveOneOfFourSchemes) {
  for (const auto hostile : kHostile) {
    for (const auto* source : {"<a href=\"{{ x }}\">t</a>", "<a href=\"{{ x | link }}\">t</a>"}) {
      const auto out = rendered(source, data_with(hostile));
      const auto href = out.substr(9, out.find('"', 9) - 9);
      EXPECT_TRUE(href.starts_with("https://") || href == "#") << out;
      EXPECT_EQ(std::ranges::count(out, '"'), 2) << out;
    }
  }
  std::vector<std::string> warnings;
  EXPECT_EQ(rendered("<a href=\"{{ x }}\">t</a>", data_with("javascript:alert(1)"),
                     {.warnings = &warnings}),
            "<a href=\"#\">t</a>");
  EXPECT_THAT(warnings,
              testing::ElementsAre("page.html:1:13: /x is not allowed as a link and was left out"));
  EXPECT_EQ(rendered("<a href=\"{{ x }}\">t</a>", R"({"x": "https://a.example/?q=1&r=ä b"})"),
            "<a href=\"https://a.example/?q=1&amp;r=%C3%A4%20b\">t</a>");
  EXPECT_EQ(rendered("<a href=\"{{ x | link }}\">t</a>", R"({"x": "linkedin.com/in/x"})"),
            "<a href=\"https://linkedin.com/in/x\">t</a>");
}

TEST(Escaping, PartsOfAddressesAreEncoded) {
  EXPECT_EQ(rendered("<a href=\"mailto:{{ x }}\">t</a>", R"({"x": "a@b.example?bcc=c&d"})"),
            "<a href=\"mailto:a@b.example%3Fbcc%3Dc%26d\">t</a>");
  // The first value is empty, the second must not become a scheme.
  EXPECT_EQ(rendered("<a href=\"{{ none }}{{ x }}\">t</a>", data_with("javascript:alert(1)")),
            "<a href=\"javascript%3Aalert%281%29\">t</a>");
}

TEST(Escaping, PicturesComeFromTheDataOnly) {
  for (const auto hostile : kHostile) {
    EXPECT_EQ(rendered("<img src=\"{{ x }}\">", data_with(hostile)), "<img src=\"\">") << hostile;
  }
  EXPECT_EQ(rendered("<img src=\"{{ x }}\">", R"({"x": "https://a.example/a.png"})"),
            "<img src=\"\">");
  EXPECT_EQ(rendered("<img src=\"{{ x }}\">", R"({"x": "data:image/png;base64,iVBORw0="})"),
            "<img src=\"data:image/png;base64,iVBORw0=\">");
}

TEST(Escaping, ValuesOfCssAreWordsAndNumbers) {
  for (const auto hostile : kHostile) {
    EXPECT_EQ(rendered("<p style=\"color: {{ x }}\">t</p>", data_with(hostile)),
              "<p style=\"color: \">t</p>")
        << hostile;
    EXPECT_EQ(rendered("p { color: {{ x }}; }", data_with(hostile), {.markup = Markup::css}),
              "p { color: ; }")
        << hostile;
  }
  EXPECT_EQ(rendered("<p style=\"width: {{ x }}%\">t</p>", R"({"x": 12.5})"),
            "<p style=\"width: 12.5%\">t</p>");
}

TEST(Escaping, TextsOfCssNeverEnd) {
  for (const auto hostile : kHostile) {
    const auto out =
        rendered("p { content: \"{{ x }}\"; }", data_with(hostile), {.markup = Markup::css});
    EXPECT_EQ(std::ranges::count(out, '"'), 2) << out;
    EXPECT_THAT(out, Not(HasSubstr("<")));
    EXPECT_EQ(std::ranges::count(out, '{'), 1) << out;
    const auto in_attribute = rendered("<p style=\"--x: '{{ x }}'\">t</p>", data_with(hostile));
    EXPECT_EQ(std::ranges::count(in_attribute, '"'), 2) << in_attribute;
    EXPECT_EQ(std::ranges::count(in_attribute, '\''), 2) << in_attribute;
    EXPECT_EQ(std::ranges::count(in_attribute, '<'), 2) << in_attribute;
  }
  EXPECT_EQ(rendered("p { content: \"{{ x }}\"; }", R"({"x": "a\"b"})", {.markup = Markup::css}),
            "p { content: \"a\\22 b\"; }");
}

TEST(Escaping, MarkdownKeepsTagsAsText) {
  for (const auto hostile : kHostile) {
    const auto out = rendered("<div>{{ x | markdown }}</div>", data_with(hostile));
    EXPECT_THAT(out, Not(HasSubstr("<script"))) << out;
    EXPECT_THAT(out, Not(HasSubstr("<img"))) << out;
  }
  EXPECT_EQ(rendered("{{ x | markdown_inline }}",
                     R"json({"x": "[a](javascript:alert(1)) [b](https://b.example)"})json"),
            "a) <a href=\"https://b.example\">b</a>");
}

TEST(Escaping, PlacesWithoutASafeFormAreRefusedWhenLoading) {
  const auto says = [](std::string_view source, Markup markup = Markup::html) {
    return rendered(source, "{}", {.markup = markup});
  };
  EXPECT_THAT(says("<{{ x }}>"), HasSubstr("in the name of an element"));
  EXPECT_THAT(says("<p {{ x }}>"), HasSubstr("where attributes stand"));
  EXPECT_THAT(says("<p class={{ x }}>"), HasSubstr("without quotes"));
  EXPECT_THAT(says("<!-- {{ x }} -->"), HasSubstr("in a comment"));
  EXPECT_THAT(says("<script>{{ x }}</script>"), HasSubstr("<script> is not among the elements"));
  EXPECT_THAT(says("<s{% if a %}cript>{% endif %}"), HasSubstr("expected a space"));
  EXPECT_THAT(says("<p on{% if a %}click=\"x\"{% endif %}>"), HasSubstr("expected a space"));
  EXPECT_THAT(says("<style>p{}</style>"), HasSubstr("<style> is not among"));
  EXPECT_THAT(says("<iframe src=\"x\">"), HasSubstr("<iframe> is not among"));
  EXPECT_THAT(says("<p onclick=\"x\">"), HasSubstr("templates have no scripts"));
  EXPECT_THAT(says("<a href=\"javascript:x\">"), HasSubstr("a link begins with"));
  EXPECT_THAT(says("<a href=\"java{{ x }}\">"), HasSubstr("partly literal"));
  EXPECT_THAT(says("<a href=\"&#106;avascript:x\">"), HasSubstr("entities"));
  EXPECT_THAT(says("<img src=\"https://a.example/x.png\">"), HasSubstr("pictures are data:image"));
  EXPECT_THAT(says("<p style=\"background: url({{ x }})\">"), HasSubstr("within url()"));
  EXPECT_THAT(says("<p title=\"{{ x | markdown }}\">"),
              HasSubstr("cannot be printed as the value of an attribute"));
  EXPECT_THAT(says("<p class=\"a{% if x %}\"{% endif %}>"), HasSubstr("same place of the markup"));
  EXPECT_THAT(says("{% for x in y %}<p title=\"{% endfor %}"),
              HasSubstr("same place of the markup"));
  EXPECT_THAT(says("<p class=\"a"), HasSubstr("the file ends within the value of class"));
  EXPECT_THAT(says("p { background: url(https://x) }", Markup::css), HasSubstr("data: only"));
  EXPECT_THAT(says("@import 'x';", Markup::css), HasSubstr("@import is not allowed"));
  EXPECT_THAT(says("p::after { content: '</style>' }", Markup::css),
              HasSubstr("may not contain '<'"));
  EXPECT_THAT(says("/* {{ x }} */", Markup::css), HasSubstr("in a comment of CSS"));
}

TEST(Escaping, BranchesWithinTagsMeet) {
  EXPECT_EQ(rendered("<td{% if a %} class=\"x\"{% endif %}>{{ a }}</td>", R"({"a": 1})"),
            "<td class=\"x\">1</td>");
  EXPECT_EQ(rendered("<p class=\"a{% if a %} b{% else %} c{% endif %}\">t</p>", "{}"),
            "<p class=\"a c\">t</p>");
}

}  // namespace
}  // namespace millrace::templates
