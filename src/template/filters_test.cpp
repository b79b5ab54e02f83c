#include "template/invoice_totals.h"
#include "template/markdown.h"
#include "template/template_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace millrace::templates {
namespace {

using testing::HasSubstr;

std::string filtered(std::string_view expression, std::string_view data,
                     std::string language = "en") {
  return rendered("{{ " + std::string(expression) + " }}", data,
                  {.markup = Markup::plain, .language = std::move(language)});
}

TEST(Filters, Numbers) {
  const std::string data = R"({"n": 1234567.891, "m": -1234.5, "t": "x", "small": 1.005})";
  EXPECT_EQ(filtered("n | number: 2", data), "1,234,567.89");
  EXPECT_EQ(filtered("n | number: 2", data, "de"), "1.234.567,89");
  EXPECT_EQ(filtered("n | number: 2", data, "fr"), "1\u202F234\u202F567,89");
  EXPECT_EQ(filtered("m | number: 2", data, "es"), "\u22121234,50");
  EXPECT_EQ(filtered("small | number: 2", data), "1.01");
  EXPECT_EQ(filtered("m | money: 'EUR'", data), "\u2212€1,234.50");
  EXPECT_EQ(filtered("m | money: 'EUR'", data, "de-AT"), "\u22121.234,50\u00A0€");
  EXPECT_EQ(filtered("n | money: 'JPY'", data), "¥1,234,568");
  EXPECT_EQ(filtered("n | money: 'SEK'", data), "SEK\u00A01,234,567.89");
  EXPECT_EQ(filtered("n | money: 'KWD'", data), "KWD\u00A01,234,567.891");
  EXPECT_EQ(filtered("n | money: 'JPY', 2", data), "¥1,234,567.89");
  EXPECT_EQ(filtered("n | money: 'EUR', none", data), "€1,234,567.89") << "as if it were not given";
  EXPECT_EQ(filtered("19 | percent", data, "de"), "19\u00A0%");
  EXPECT_EQ(filtered("none | number", data), "");
  EXPECT_EQ(filtered("n | number_or_text: 2", data), "1,234,567.89");
  EXPECT_EQ(filtered("t | number_or_text: 2", data), filtered("t", data));
  EXPECT_THAT(filtered("t | number", data), HasSubstr("/t | number: must be a number"));
  EXPECT_EQ(filtered("0.1 | plus: 0.2", data), "0.3");
  EXPECT_EQ(filtered("7 | divided_by: 2", data), "3.5");
  EXPECT_EQ(filtered("7 | divided_by: 0", data), "0");
}

TEST(Filters, Dates) {
  const std::string data =
      R"({"d": "2026-03-04", "m": "2026-03", "t": "2026-03-04T10:00:00Z", "bad": "2026-02-30"})";
  EXPECT_EQ(filtered("d | date", data), "Mar 4, 2026");
  EXPECT_EQ(filtered("d | date: 'long'", data, "en-GB"), "4 March 2026");
  EXPECT_EQ(filtered("t | date: 'short'", data, "de"), "04.03.2026");
  EXPECT_EQ(filtered("d | date: 'long'", data, "es"), "4 de marzo de 2026");
  EXPECT_EQ(filtered("d | date: 'long'", data, "fr"), "4 mars 2026");
  EXPECT_EQ(filtered("m | date: 'long'", data, "de"), "März 2026");
  EXPECT_EQ(filtered("d | date: 'month'", data, "de"), "März 2026");
  EXPECT_EQ(filtered("d | date: 'year'", data), "2026");
  EXPECT_EQ(filtered("bad | date", data), "2026-02-30");
  EXPECT_EQ(filtered("none | date | default: 'today'", data), "today");
}

TEST(Filters, Texts) {
  const std::string data =
      R"({"s": "straße Ñandú", "list": [{"n": "a"}, {"n": ""}, {"n": "b"}], "name": "Ana María de la Cruz", "cjk": "山田 太郎", "long": "The quick brown fox"})";
  EXPECT_EQ(filtered("s | upper", data), "STRASSE ÑANDÚ");
  EXPECT_EQ(filtered("'ŽLUŤOUČKÝ ΑΘΗΝΑ МОСКВА' | lower", data), "žluťoučký αθηνα москва");
  EXPECT_EQ(filtered("'Müller & Söhne, Łódź' | slug", data), "mueller-soehne-lodz");
  EXPECT_EQ(filtered("list | join: '+', 'n'", data), "a+b");
  EXPECT_EQ(filtered("name | initials", data), "AM");
  EXPECT_EQ(filtered("cjk | initials", data), "山太");
  EXPECT_EQ(filtered("cjk | truncate: 3", data), "山田…");
  EXPECT_EQ(filtered("long | truncate: 12", data), "The quick…");
  EXPECT_EQ(filtered("long | length", data), "19");
  EXPECT_EQ(filtered("'https://www.a.example/' | host", data), "a.example");
  EXPECT_THAT(filtered("list", data), HasSubstr("/list must be a text or a number, but is a list"));
}

TEST(Filters, InvoiceTotalsAreExact) {
  const auto totals = invoice_totals(json_of(R"({"lines": [
      {"quantity": 3, "unit_price": 0.1, "tax_percent": 19},
      {"quantity": 1, "unit_price": 1.005, "tax_percent": 7},
      {"quantity": 6, "unit_price": 1149.5, "discount_percent": 5, "tax_percent": 19}]})"));
  ASSERT_TRUE(totals.has_value());
  EXPECT_EQ(to_json(totals->at("net")), "6553.46");
  EXPECT_EQ(to_json(totals->at("taxes")),
            R"([{"percent":19,"net":6552.45,"tax":1244.97},{"percent":7,"net":1.01,"tax":0.07}])");
  EXPECT_EQ(to_json(totals->at("gross")), "7798.5");
  const auto wrong = invoice_totals(json_of(R"({"lines": [{"quantity": "x"}]})"));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().message, "/lines/0/quantity: must be a number");
}

// Sums of what is printed: with the decimals of the currency, unless the invoice says how many.
TEST(Filters, InvoiceTotalsHaveTheDecimalsOfTheirCurrency) {
  const auto totals = [](std::string_view more, std::string_view lines) {
    const auto sums = invoice_totals(json_of(fmt::format(R"({{{} "lines": {}}})", more, lines)));
    EXPECT_TRUE(sums.has_value());
    if (!sums) return std::string();
    return fmt::format("{} {} {} {}", to_json(sums->at("net")), to_json(sums->at("tax")),
                       to_json(sums->at("gross")), to_json(sums->at("decimals")));
  };
  const auto* yen =
      R"([{"unit_price": 105, "tax_percent": 8}, {"unit_price": 104, "tax_percent": 10}])";
  EXPECT_EQ(totals(R"("currency": "JPY",)", yen), "209 18 227 0");
  EXPECT_EQ(totals(R"("currency": "JPY", "decimals": 1,)", yen), "209 18.8 227.8 1");
  const auto* fils = R"([{"unit_price": 1.234, "tax_percent": 5}])";
  EXPECT_EQ(totals(R"("currency": "KWD",)", fils), "1.234 0.062 1.296 3");
  EXPECT_EQ(totals(R"("currency": "KWD", "decimals": 2,)", fils), "1.23 0.06 1.29 2");
  EXPECT_EQ(totals("", fils), "1.23 0.06 1.29 2");
  const std::string_view account = R"([{"unit_price": 1.23456, "tax_percent": 5}])";
  EXPECT_EQ(totals(R"("currency": "CLF",)", account), "1.2346 0.0617 1.2963 4");
  EXPECT_EQ(totals(R"("currency": "UYW",)", account), "1.2346 0.0617 1.2963 4");
}

TEST(Markdown, BlocksAndSpans) {
  EXPECT_EQ(markdown_to_html(
                "One\ntwo **b *i* b** `c<d`\n\n- x\n- y\n  more\n\n1. z\n\n## Head\n> q\n> r"),
            "<p>One\ntwo <strong>b <em>i</em> b</strong> "
            "<code>c&lt;d</code></p>\n<ul>\n<li>x</li>\n<li>y\nmore</li>\n</ul>\n"
            "<ol>\n<li>z</li>\n</ol>\n<h3>Head</h3>\n<blockquote><p>q\nr</p></blockquote>\n");
  EXPECT_EQ(markdown_to_html("a * b ** c *"), "<p>a * b ** c *</p>\n");
  EXPECT_EQ(markdown_to_html("**open *both"), "<p>**open *both</p>\n");
  EXPECT_EQ(markdown_to_html("a  \nb"), "<p>a<br>\nb</p>\n");
  EXPECT_EQ(markdown_to_html(R"(\*plain\*)"), "<p>*plain*</p>\n");
  EXPECT_EQ(markdown_to_html(""), "");
}

TEST(Charts, SayWhatIsWrong) {
  const auto drawn = [](std::string_view data) { return rendered("{{ data | chart }}", data); };
  EXPECT_THAT(drawn(R"({"type": "cake"})"), HasSubstr("/type must be bar, line or pie"));
  EXPECT_THAT(drawn(R"({"type": "bar", "labels": ["a", "b"], "series": [{"values": [1]}]})"),
              HasSubstr("/series/0/values must be a list of 2 numbers"));
  EXPECT_THAT(drawn(R"({"type": "pie", "labels": ["a"], "series": [{"values": [-1]}]})"),
              HasSubstr("must not be negative"));
}

// The schema of a report counts characters; what is not of ASCII has more bytes.
TEST(Charts, TakeTextsOfAnyScriptAndCutWhatHasNoRoom) {
  const auto times = [](int count, std::string_view text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  for (const auto* type : {"bar", "line", "pie"}) {
    const auto data = fmt::format(
        R"({{"type": "{}", "title": "{}", "labels": ["{}", "b"], "series": [{{"name": "{}", "values": [1, 2]}}]}})",
        type, times(200, "履"), times(60, "歴"), times(60, "ж"));
    const auto svg = rendered("{{ data | chart }}", data);
    EXPECT_THAT(svg, HasSubstr("<svg")) << svg;
    EXPECT_THAT(svg, HasSubstr("歴…</text>")) << type;
    EXPECT_THAT(svg, testing::Not(HasSubstr(times(30, "歴") + "</text>"))) << type;
    EXPECT_THAT(svg, HasSubstr(times(60, "歴") + " 1")) << "whole for those who cannot see it";
  }
  const auto legend = rendered(
      "{{ data | chart }}",
      fmt::format(
          R"({{"type": "bar", "labels": ["a"], "series": [{{"name": "{}", "values": [1]}}, {{"name": "short", "values": [2]}}]}})",
          times(120, "n")));
  EXPECT_THAT(legend, HasSubstr("n…</text>"));
  EXPECT_THAT(legend, HasSubstr(">short</text>"));
  EXPECT_THAT(rendered("{{ data | chart }}",
                       fmt::format(R"({{"type": "bar", "labels": ["{}"], "series": []}})",
                                   times(201, "ж"))),
              HasSubstr("/labels/0 must be a text of at most 200 characters"));
}

TEST(Charts, AreAccessibleEscapedAndDeterministic) {
  for (const auto* type : {"bar", "line", "pie"}) {
    const auto data =
        std::string(R"({"type": ")") + type +
        R"(", "title": "<T>", "unit": "kg", "labels": ["<a>", "b"], "series": [{"name": "s", "values": [1.5, 1000]}]})";
    const auto svg = rendered("{{ data | chart }}", data, {.language = "de"});
    EXPECT_THAT(svg, HasSubstr("role=\"img\""));
    EXPECT_THAT(
        svg, HasSubstr(
                 "<title>&lt;T&gt;</title><desc>s: &lt;a&gt; 1,5\u202Fkg, b 1.000\u202Fkg</desc>"));
    EXPECT_EQ(svg, rendered("{{ data | chart }}", data, {.language = "de"}));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
  }
  for (const auto* values : {"[0, 0]", "[-5, -1]", "[-3, 7]", "[0.000001, 999999999999]"}) {
    const auto svg =
        rendered("{{ data | chart }}",
                 std::string(R"({"type": "bar", "labels": ["a", "b"], "series": [{"values": )") +
                     values + "}]}");
    EXPECT_THAT(svg, HasSubstr("<svg"));
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
}

}  // namespace
}  // namespace millrace::templates
