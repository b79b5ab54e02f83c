// Random templates: whatever they are, they are refused with a place or render, and no value
// changes the markup around it. A failing seed becomes a test of its own.
#include "base/random.h"

#include "template/template_testing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace millrace::templates {
namespace {

constexpr std::uint64_t kSeed = 20'260'304;

constexpr auto kPieces = std::to_array<std::string_view>({
    "<p>",
    "</p>",
    "<a href=\"",
    "\">",
    "</a>",
    "<b title='",
    "'>",
    "text ",
    "{{ x }}",
    "{{ x | upper }}",
    "{{ x | link }}",
    "{{ x | slug }}",
    "{% if x %}",
    "{% else %}",
    "{% endif %}",
    "{% for y in list %}",
    "{% endfor %}",
    "{{ y }}",
    "mailto:",
    "https://a/",
    "#",
    "<p style=\"",
    "color: ",
    ";",
    "'",
    "\"",
    "<!-- ",
    " -->",
    "{# c #}",
    "{{ x | truncate: 3 }}",
    "<td",
    ">",
    " class=\"a",
    "{% let z = x | lower %}",
    "{{ z }}",
    "<img src=\"",
    "{{",
    "}}",
    "{%",
    "%}",
    "<",
    "&amp;",
    "url(",
    ")",
    "/*",
    "*/",
    "\\",
    "\n",
});

std::string some_template(Random& random) {
  std::string out;
  const auto count = random.below(14);
  for (std::uint64_t i = 0; i < count; ++i) out += kPieces[random.below(kPieces.size())];
  return out;
}

// The letters that markup is made of, and nothing else.
std::string skeleton(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out),
                       [](char c) { return std::string_view("<>\"'").contains(c); });
  return out;
}

TEST(RandomTemplates, NoValueChangesTheMarkup) {
  SeededRandom random(kSeed);
  int rendered_count = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto source = some_template(random);
    const auto markup = round % 8 == 0 ? Markup::css : Markup::html;
    const auto with = [&](std::string_view x) {
      return rendered(source, fmt::format(R"({{"x": {0}, "list": [{0}, {0}]}})", json_quote(x)),
                      {.markup = markup});
    };
    const auto plain = with("word");
    if (plain.starts_with("error: ")) {
      ASSERT_THAT(plain, testing::StartsWith("error: page.html:")) << source;
      ASSERT_EQ(plain.find('\n'), std::string::npos) << source;
      continue;
    }
    ++rendered_count;
    for (const std::string_view hostile : {"\"><script>x</script>", "' onload='x", "javascript:x",
                                           "*/}</style><b>", "\\", "{{ x }}{% if %}"}) {
      ASSERT_EQ(skeleton(with(hostile)), skeleton(plain)) << source << " with " << hostile;
    }
  }
  EXPECT_GT(rendered_count, 500);  // Otherwise nothing was tested.
}

// Any change of a byte in a template that ships is refused, or renders; it never does anything
// else.
TEST(RandomTemplates, DamagedFilesAreRefusedOrRender) {
  SeededRandom random(kSeed);
  const auto folder =
      read_template_folder(std::filesystem::path(MILLRACE_SOURCE_DIR) / "templates/report");
  ASSERT_TRUE(folder.has_value());
  for (int round = 0; round < 400; ++round) {
    auto damaged = *folder;
    auto file =
        std::next(damaged.begin(), static_cast<std::ptrdiff_t>(random.below(damaged.size())));
    for (int i = 0; i < 3; ++i) {
      const auto at = random.below(file->second.size());
      if (random.below(2) == 0) {
        file->second.erase(at, 1 + random.below(8));
      } else {
        file->second.insert(at, std::string(kPieces[random.below(kPieces.size())]));
      }
      if (file->second.empty()) break;
    }
    const auto loaded = Template::load("report", damaged);
    if (!loaded) {
      ASSERT_THAT(loaded.error().message, testing::StartsWith("report/")) << file->first;
      ASSERT_EQ(loaded.error().kind, ErrorKind::invalid_argument);
    }
  }
}

}  // namespace
}  // namespace millrace::templates
