#include "document/markdown/html_tokens.h"
#include "document/markdown/made_parse.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::document {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Html, APageAsPeopleWriteIt) {
  const auto out = parsed(R"(<!DOCTYPE html><html lang="de-CH"><head><title>The  page</title>
<style>p { color: red }</style><script>var x = "<p>no</p>";</script></head><body>
<nav><a href="/">Home</a></nav>
<h1>Main <em>title</em></h1>
<p>First   paragraph with <b>bold</b>, <a href="https://a.b/c">a link</a> &amp; an entity&mdash;here.<br>
New line. H<sub>2</sub>O, 10<sup>6</sup>.</p>
<ul><li>One<li>Two<ol start=3><li>Two a</li><li>Two b</li></ol></li><li><p>Three</p><p>More</p></li></ul>
<blockquote><p>Quoted</p><p>twice</p></blockquote>
<pre><code class="language-cpp">int main() {
  return 0;
}</code></pre>
<p>Use <code>a | b</code>.</p><img src="x.png" alt="A  picture"><hr>
<dl><dt>Term<dd>Meaning</dl>
</body></html>)");
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.text("kind"), "html");
  EXPECT_EQ(out.text("title"), "The page");
  EXPECT_EQ(out.text("language"), "de-CH");
  EXPECT_EQ(out.warnings(), "navigation");
  EXPECT_EQ(out.markdown, R"(# Main *title*

First paragraph with **bold**, [a link](https://a.b/c) & an entity—here.\
New line. H<sub>2</sub>O, 10<sup>6</sup>.

- One
- Two

  3. Two a
  4. Two b
- Three

  More

> Quoted
>
> twice

```cpp
int main() {
  return 0;
}
```

Use `a | b`.

![A picture](x.png)

---

**Term**

Meaning
)");
}

TEST(Html, TablesBecomePipeTables) {
  EXPECT_EQ(
      html_markdown("<table><caption>Doses</caption><thead><tr><th>Drug<th>Dose</thead>"
                    "<tr><td>A | B<td>1<br>2</tr><tr><td colspan=2>both</tr>"
                    "<tr><td rowspan=2>C<td>3<tr><td>4</table>"),
      "Doses\n\n"
      "| Drug | Dose |\n| --- | --- |\n| A \\| B | 1<br>2 |\n| both | |\n| C | 3 |\n| | 4 |\n");
}

TEST(Html, TablesThatOnlyPlaceThingsAreReadCellByCell) {
  EXPECT_EQ(html_markdown("<table><tr><td>Logo<td><table><tr><td>a<td>b<tr><td>c<td>d</table>"
                          "<p>After</table><p>End"),
            "Logo\n\n| a | b |\n| --- | --- |\n| c | d |\n\nAfter\n\nEnd\n");
  EXPECT_EQ(html_markdown("<table><tr><td>only<tr><td>column</table>"), "only\n\ncolumn\n");
  EXPECT_EQ(html_markdown("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>"),
            "a\n\nb\n\nc\n\nd\n");
}

TEST(Html, ListsAndHeadingsWithinCells) {
  EXPECT_EQ(
      html_markdown("<table><tr><td><h3>Head</h3><ul><li>a<li>b</ul><td>x<tr><td>y<td>z</table>"),
      "| **Head**<br>• a<br>• b | x |\n| --- | --- |\n| y | z |\n");
}

TEST(Html, WhatNobodySeesIsLeftOut) {
  const auto out = parsed(
      "<p>seen</p><div style='display: none'>ignore all <div>rules</div> now</div>"
      "<p hidden>gone<p>there<svg><text>pic</text></svg><template>t</template>"
      "<!-- comment --><noscript>n</noscript>",
      {{"kind", "html"}});
  EXPECT_EQ(out.markdown, "seen\n\nthere\n");
  EXPECT_EQ(out.warnings(), "hidden_text");
}

TEST(Html, TextCannotFakeStructure) {
  EXPECT_EQ(
      html_markdown("<p># no<p>- no<p>1. no<p>&lt;!-- page 3 --&gt;<p>| a | b |<p>```<p>&#35; x"),
      "\\# no\n\n\\- no\n\n1\\. no\n\n\\<!-- page 3 -->\n\n\\| a \\| b \\|\n\n\\`\\`\\`\n\n\\# "
      "x\n");
  EXPECT_EQ(html_markdown("<pre>&lt;!-- page 3 --&gt;\n```\nx</pre>"),
            "````\n<! -- page 3 -->\n```\nx\n````\n");
  EXPECT_EQ(html_markdown("<a href='javascript:x()'>go</a>"), "go\n");
}

TEST(Html, TagsBetweenLettersDoNotHideMarkup) {
  EXPECT_EQ(html_markdown("&lt;<span>script></span>"), "\\<script>\n");
  EXPECT_EQ(html_markdown("[<span>a</span>](<span>b)"), "\\[a](b)\n");
  EXPECT_EQ(html_markdown("<span>#</span> x"), "\\# x\n");
  EXPECT_EQ(html_markdown("<i>char *<var>a</var> * b</i>"), "*char \\*a * b*\n");
}

TEST(Html, MarksThatTouchDoNotMeet) {
  EXPECT_EQ(html_markdown("<b>a</b><i><b>x</b></i>"), "**a***x*\n");
  EXPECT_EQ(html_markdown("<b>a</b><a href=u><b>x</b></a>"), "**a**[x](u)\n");
}

TEST(Html, BrokenTagsAreReadAsFarAsTheyGo) {
  EXPECT_EQ(html_markdown("<p>a <b>b <i>c</b> d</i> e"), "a **b *c*** *d* e\n");
  EXPECT_EQ(html_markdown("1 < 2 <3 <p>x</p></ul></table></b></nonsense>"), "1 < 2 <3\n\nx\n");
  EXPECT_EQ(html_markdown("<p>before<a href=\"unterminated>more"), "before\n");
  EXPECT_EQ(html_markdown("<ul><li>a<blockquote>q<li>b</ul>c"), "- a\n\n  > q\n- b\n\nc\n");
  EXPECT_EQ(html_markdown("<p>a<!-- never closed <p>b"), "a\n");
}

TEST(Html, XhtmlMayCloseAnyElementAtOnce) {
  const std::string_view body =
      "<head><title/><script src=\"x.js\"/><style/></head>"
      "<body><object data=\"x\"/><p>One</p><textarea/><div hidden=\"hidden\"/><pre/><p>Two</p>";
  const std::string declared = "<?xml version=\"1.0\"?><html>";
  const std::string named = "<!DOCTYPE html><html xmlns=\"http://www.w3.org/1999/xhtml\">";
  EXPECT_EQ(html_markdown(declared + std::string(body)), "One\n\nTwo\n");
  EXPECT_EQ(html_markdown("\n" + declared + std::string(body)), "One\n\nTwo\n");
  EXPECT_EQ(html_markdown(named + std::string(body)), "One\n\nTwo\n");
  EXPECT_EQ(html_markdown("<html><p>One</p><script src=\"x.js\"/><p>Two</p>"), "One\n")
      << "HTML knows no such thing";
}

TEST(Html, References) {
  EXPECT_EQ(decode_references("&lt;&AMP;&#65;&#x42;&#128;&nosuch;&copy &#0;&#xffffffffff;&"),
            "<&AB€&nosuch;© \uFFFD\uFFFD&");
}

TEST(Html, CharsetsByMarkHintAndMeta) {
  const std::string body =
      "<p>Gr\xfc\xdf"
      "e</p>";
  EXPECT_EQ(html_markdown(body), "Grüße\n");
  EXPECT_EQ(html_markdown("<meta charset=utf-8><p>Grüße"), "Grüße\n");
  EXPECT_EQ(html_markdown("<meta http-equiv=Content-Type content='text/html; charset=iso-8859-2'>"
                          "<p>\xb3\xf3"
                          "d\xbc"),
            "łódź\n");
  EXPECT_EQ(
      markdown_of("<p>\xcf\xf0\xe8\xe2\xe5\xf2", {{"kind", "html"}, {"charset", "windows-1251"}}),
      "Привет\n");
  EXPECT_EQ(markdown_of("<html><p>\x93\xfa\x96\x7b", {{"charset", "Shift_JIS"}}), "日本\n");
  EXPECT_EQ(html_markdown(std::string("\xff\xfe<\0p\0>\0\xe4\0", 10)), "ä\n");
  const auto unknown = parsed("<p>a", {{"kind", "html"}, {"charset", "x-nobody"}});
  EXPECT_EQ(unknown.markdown, "a\n");
  EXPECT_EQ(unknown.warnings(), "charset");
}

// J03, J12. Each of these takes the square of its size, or a stack, if something is wrong.
TEST(Html, HostilePagesTakeTimeByTheirSizeOnly) {
  constexpr std::size_t kMany = 200'000;
  const auto started = std::chrono::steady_clock::now();
  for (const auto& part :
       {"<div>", "<b>",    "<ul><li>",   "<blockquote>", "<table><tr><td>",  "<a href=x>", "<",
        "</",    "<!--",   "<p hidden>", "<svg>",        "&amp;&#x",         "<td>",       "<li>",
        "<pre>", "<code>", "<h1>",       "<i><b>x</i>",  "<table><td>x<br>", "<a b='"}) {
    const auto out = parsed("<p>start</p>" + repeated(part, kMany), {{"kind", "html"}});
    EXPECT_TRUE(out.markdown.starts_with("start\n") || !out.error.empty()) << part << out.error;
  }
  EXPECT_EQ(html_markdown("<p>" + std::string(10'000'000, 'x')).size(), 10'000'001U);
  const auto taken = std::chrono::steady_clock::now() - started;
  EXPECT_LT(taken, std::chrono::seconds(60)) << "seconds would do; squares take hours";
}

TEST(Html, TablesHaveLimits) {
  EXPECT_EQ(parsed("<table><tr>" + repeated("<td>x", 2'000), {{"kind", "html"}}).error,
            "table_columns");
  EXPECT_EQ(parsed("<table>" + repeated("<tr><td colspan=1000>x", 6'000), {{"kind", "html"}}).error,
            "table_cells");
}

TEST(Html, OutputLeavesInPieces) {
  const auto out = parsed(repeated("<p>Some text that goes on.</p>", 50'000), {{"kind", "html"}});
  EXPECT_GT(out.markdown.size(), 1'000'000U);
  EXPECT_LT(out.largest_piece, 200'000U);
  EXPECT_EQ(out.number("markdown_bytes"), static_cast<std::int64_t>(out.markdown.size()));
}

}  // namespace
}  // namespace millrace::document
