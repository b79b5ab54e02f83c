// Where texts are cut, and what the chunks say of it. Rules: docs/chunking.md; criticisms of other
// chunkers are tests here.
#include "chunk/chunker_fixture.h"
#include "chunk/normalise.h"

namespace millrace::chunk {
namespace {

using testing::broken_promise;
using testing::chunks_of;
using testing::Kept;
using Path = std::vector<std::string>;
using Kinds = std::vector<BlockKind>;

constexpr ChunkOptions kSmall{.max_tokens = 200, .target_tokens = 150, .min_tokens = 40};

std::vector<std::string> slices(const Kept& kept) {
  std::vector<std::string> out;
  for (const auto& chunk : kept) out.push_back(chunk.slice);
  return out;
}

std::string repeat(std::string_view part, std::size_t count) {
  std::string out;
  for (; count > 0; --count) out += part;
  return out;
}

void expect_promises(std::string_view text, const Kept& kept, const ChunkOptions& options) {
  EXPECT_EQ(broken_promise(text, kept, options, ByteBound()), "");
}

TEST(Chunker, AnEmptyTextHasNoChunks) { EXPECT_TRUE(chunks_of("").empty()); }

// Rule 2: text before the first heading is content too.
TEST(Chunker, KeepsTextBeforeTheFirstHeading) {
  const auto text = repeat("Preamble. ", 10) + "\n# A\n" + repeat("Text. ", 20) + "\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].heading_path, Path{});
  EXPECT_EQ(kept[1].heading_path, Path{"A"});
  EXPECT_EQ(kept[1].prefix, "") << "its own heading stands in the slice";
}

TEST(Chunker, CutsAtSectionsAndTellsThePath) {
  const auto body = repeat("Some words here. ", 6) + "\n\n";
  const auto text = "# One\n\n" + body + "## Two ##\n\n" + body + "Three\n===\n\n" + body;
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[1].heading_path, (Path{"One", "Two"}));
  EXPECT_EQ(kept[1].prefix, "# One\n");
  EXPECT_EQ(kept[2].heading_path, Path{"Three"});
  EXPECT_EQ(kept[2].prefix, "");
  EXPECT_EQ(kept[2].block_kinds, (Kinds{BlockKind::heading, BlockKind::paragraph}));
}

// Rule 3: small siblings are joined; nothing is joined across a higher heading.
TEST(Chunker, JoinsSmallSiblingsButNotAcrossAHigherHeading) {
  const std::string text = "# P\n\n## A\n\na\n\n## B\n\nb\n\n# Q\n\n## C\n\nc\n";
  const auto kept = chunks_of(text, kSmall);
  EXPECT_EQ(slices(kept), (std::vector<std::string>{text}))
      << "# Q is no higher than # P: siblings";
  const std::string deep = "## A\n\na\n\n# Q\n\nq\n";
  EXPECT_EQ(slices(chunks_of(deep, kSmall)),
            (std::vector<std::string>{"## A\n\na\n\n", "# Q\n\nq\n"}));
}

TEST(Chunker, JoinedSectionsShareTheirCommonPath) {
  const auto body = repeat("Long enough text. ", 8) + "\n\n";
  const auto text = "# P\n\n" + body + "## A\n\na\n\n## B\n\nb\n\n# Q\n\n" + body;
  const auto kept = chunks_of(text, kSmall);
  ASSERT_EQ(kept.size(), 2U) << testing::all_of(kept);
  EXPECT_EQ(kept[0].heading_path, Path{"P"})
      << "A and B went back to P: nothing else may take them";
  EXPECT_EQ(kept[1].heading_path, Path{"Q"});
}

// Rule 8: duplicated headings are different sections; empty ones and only headings lose nothing.
TEST(Chunker, TellsSectionsOfOneTitleApart) {
  const auto body = repeat("Words and more. ", 10) + "\n\n";
  const auto text = "# Same\n\n" + body + "# Same\n\n" + body + "## Same\n\nx\n\n## Same\n\ny\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  ASSERT_GE(kept.size(), 2U);
  EXPECT_EQ(kept[0].heading_path, Path{"Same"});
  EXPECT_EQ(kept[0].slice, "# Same\n\n" + body);
}

TEST(Chunker, KeepsEmptySectionsAndDocumentsOfHeadingsOnly) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += std::string(1 + i % 6, '#') + " H" + std::to_string(i) + "\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  EXPECT_GT(kept.size(), 10U);
  for (const auto& chunk : kept) EXPECT_EQ(chunk.block_kinds, Kinds{BlockKind::heading});
  const auto empty = chunks_of("# A\n\n## B\n\ntext\n", kSmall);
  ASSERT_EQ(empty.size(), 1U);
  EXPECT_EQ(empty[0].heading_path, (Path{"A", "B"})) << "a bare heading does not widen the path";
}

// Rule 2: what only looks like a heading.
TEST(Chunker, EndsAQuoteAtEmptyLinesHoweverMany) {
  const auto kept = chunks_of(">\n>\n" + std::string(3000, '\n') + ">\n",
                              {.max_tokens = 1000, .target_tokens = 1000, .min_tokens = 10});
  ASSERT_GT(kept.size(), 1U);
  EXPECT_EQ(kept.back().block_kinds, std::vector{BlockKind::quote});
}

TEST(Chunker, DoesNotTakeCodeOrListsForHeadings) {
  const std::string text =
      "# Real\n\n```sh\n# no\n```\n\n~~~~\n# no\n~~~\n# no\n~~~~\n\n- item\n\n  ```\n  # no\n"
      "  ```\n  # inner\n\n> # quoted\n\n    # indented\n\n<div>\n# html\n</div>\n\n#hash\n";
  const auto kept = chunks_of(text, {.max_tokens = 2000, .target_tokens = 1500, .min_tokens = 0});
  ASSERT_EQ(kept.size(), 1U) << testing::all_of(kept);
  EXPECT_EQ(kept[0].heading_path, Path{"Real"});
  EXPECT_EQ(kept[0].block_kinds, (Kinds{BlockKind::heading, BlockKind::code, BlockKind::list,
                                        BlockKind::html, BlockKind::paragraph}));
}

// Rule 8: lists in lists with fences in them.
TEST(Chunker, ReadsFencesInNestedLists) {
  std::string text = "# T\n\n1. one\n   - two\n\n     ```py\n";
  for (int i = 0; i < 40; ++i) text += "     # line " + std::to_string(i) + "\n";
  text += "     ```\n\n   - three\n2. four\n\n# Next\n\n" + repeat("Text. ", 20) + "\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  EXPECT_EQ(kept.back().heading_path, Path{"Next"});
  const auto& second = kept[1];
  EXPECT_EQ(second.prefix, "# T\n     ```py\n");
  EXPECT_EQ(second.suffix, "     ```\n");
  for (const auto& chunk : kept) {
    if (chunk.heading_path != Path{"Next"}) EXPECT_EQ(chunk.heading_path, Path{"T"});
  }
}

// A line that leaves the item ends its fence, as CommonMark says.
TEST(Chunker, AFenceEndsWithItsListItem) {
  const auto text =
      "- item\n\n  ```\n  code\n\nno code\n\n# Head\n\n" + repeat("Text. ", 20) + "\n";
  const auto kept = chunks_of(text, {.max_tokens = 200, .target_tokens = 150, .min_tokens = 0});
  EXPECT_EQ(kept.back().heading_path, Path{"Head"});
}

// Rule 4: a long fence is opened again in the prefix and closed in the suffix, never in the slice.
TEST(Chunker, ReopensLongFences) {
  std::string text = "# Code\n\n````cpp\n";
  for (int i = 0; i < 100; ++i) text += "int x" + std::to_string(i) + " = 0;\n";
  text += "````\n\nAfter the code.\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  ASSERT_GT(kept.size(), 5U);
  EXPECT_EQ(kept[0].suffix, "````\n");
  EXPECT_EQ(kept[0].prefix, "");
  for (std::size_t i = 1; i + 1 < kept.size(); ++i) {
    EXPECT_EQ(kept[i].prefix, "# Code\n````cpp\n");
    EXPECT_TRUE(kept[i].slice.starts_with("int x")) << kept[i].slice;
    EXPECT_TRUE(kept[i].slice.ends_with("\n"));
  }
  EXPECT_EQ(kept.back().suffix, "");
}

// Rule 4 and 8: rows are kept whole, and every part of a long table has its header.
TEST(Chunker, RepeatsTheHeaderOfALongTable) {
  std::string text = "# T\n\nIntro.\n\n| id | name |\n|---:|------|\n";
  for (int i = 0; i < 10'000; ++i) text += "| " + std::to_string(i) + " | row. Of table |\n";
  text += "\nAfter.\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  ASSERT_GT(kept.size(), 1000U);
  for (std::size_t i = 1; i + 1 < kept.size(); ++i) {
    EXPECT_EQ(kept[i].prefix, "# T\n| id | name |\n|---:|------|\n");
    EXPECT_TRUE(kept[i].slice.starts_with("| ")) << kept[i].slice;
    EXPECT_TRUE(kept[i].slice.ends_with(" |\n") || i + 2 == kept.size()) << kept[i].slice;
  }
  const auto plain = chunks_of("a | b\n--- | ---\n1 | 2\n\ntext\n");
  EXPECT_EQ(plain[0].block_kinds, (Kinds{BlockKind::table, BlockKind::paragraph}));
}

TEST(Chunker, SaysWhenATableHeaderIsTooLongToRepeat) {
  const auto text = "|" + repeat(" column |", 20) + "\n|" + repeat("---|", 20) + "\n" +
                    repeat("|" + repeat(" x |", 20) + "\n", 10);
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  EXPECT_TRUE(kept.back().table_header_dropped);
  EXPECT_EQ(kept.back().prefix, "");
}

// Rule 8: one line of a megabyte; sentences are the places to cut.
TEST(Chunker, CutsAMegabyteOnOneLineAtSentences) {
  const auto text = repeat("This is a sentence of some length. ", 30'000);
  const auto kept = chunks_of(text);
  expect_promises(text, kept, {});
  for (const auto& chunk : kept) EXPECT_TRUE(chunk.slice.ends_with("length. "));
  EXPECT_LT(kept.size(), text.size() / 1400);
}

TEST(Chunker, CutsAMegabyteWithoutSentencesAtWordsAndWithoutWordsAtClusters) {
  const auto words = repeat("word ", 200'000);
  for (const auto& chunk : chunks_of(words)) EXPECT_TRUE(chunk.slice.ends_with("word "));
  const auto family = repeat("👩‍👩‍👧‍👦", 40'000);
  const auto kept = chunks_of(family);
  expect_promises(family, kept, {});
  for (const auto& chunk : kept) EXPECT_EQ(chunk.slice.size() % 25, 0U);
  const auto flags = repeat("🇩🇪", 100'000);
  for (const auto& chunk : chunks_of(flags)) EXPECT_EQ(chunk.slice.size() % 8, 0U);
  const auto endless = "a" + repeat("\u0301", 100'000);
  const auto cut = chunks_of(endless);
  expect_promises(endless, cut, {});
  for (const auto& chunk : cut) EXPECT_FALSE(is_continuation(chunk.slice[0]));
}

// Rule 8: RTL and NBSP pass unchanged and are no places to cut words.
TEST(Chunker, KeepsRightToLeftTextAndDoesNotCutAtNbsp) {
  const auto rtl = repeat("שלום עולם. مرحبا بالعالم؟ ", 50);
  const auto kept = chunks_of(rtl, kSmall);
  expect_promises(rtl, kept, kSmall);
  for (const auto& chunk : kept)
    EXPECT_TRUE(chunk.slice.ends_with(". ") || chunk.slice.ends_with("؟ "));
  const auto nbsp = repeat("10\u00a0mg\tx ", 60);
  for (const auto& chunk : chunks_of(nbsp, kSmall)) {
    EXPECT_FALSE(chunk.slice.starts_with("\u00a0"));
    EXPECT_FALSE(chunk.slice.ends_with("\u00a0"));
  }
}

TEST(Chunker, PrefersItemsOfAListToSentences) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "- Item one. And a second sentence.\n";
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  for (const auto& chunk : kept) EXPECT_TRUE(chunk.slice.starts_with("- Item"));
}

TEST(Chunker, PrefersBlocksToSentences) {
  const auto para = repeat("A sentence here. ", 7) + "\n\n";
  const auto kept = chunks_of(repeat(para, 6), kSmall);
  EXPECT_EQ(slices(kept), (std::vector<std::string>(6, para)));
}

// Rule 3: the prefix is in the budget; outermost headings go first, and it is told.
TEST(Chunker, DropsOutermostHeadingsThatHaveNoRoom) {
  const auto text =
      "# " + repeat("long ", 8) + "\n\n## Inner\n\n### Own\n\n" + repeat("Text. ", 90);
  const auto kept = chunks_of(text, kSmall);
  expect_promises(text, kept, kSmall);
  EXPECT_EQ(kept.back().prefix, "## Inner\n### Own\n");
  EXPECT_EQ(kept.back().headings_dropped, 1U);
  EXPECT_EQ(kept.back().heading_path.size(), 3U);
}

TEST(Chunker, CountsPages) {
  const auto body = repeat("Some text. ", 10) + "\n\n";
  const auto text = body + "<!-- page 2 -->\n\n" + body + "\f" + body + "<!-- Page 7 -->\n" + body;
  const auto kept = chunks_of(text, {.max_tokens = 200, .target_tokens = 100, .min_tokens = 20});
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_FALSE(kept[0].page_start.has_value());
  EXPECT_EQ(kept[1].page_start, 2U);
  EXPECT_EQ(kept[2].page_start, 3U);
  EXPECT_EQ(kept[3].page_start, 7U);
  const auto one = chunks_of(text, {.first_page = 1});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].page_start, 1U);
  EXPECT_EQ(one[0].page_end, 7U);
  const auto in_code = chunks_of("```\n<!-- page 9 -->\n```\n");
  EXPECT_FALSE(in_code[0].page_end.has_value());
}

// Rule 5: whole sentences, never of tables or code, never across a heading.
TEST(Chunker, OverlapsByWholeSentencesIfAsked) {
  ChunkOptions options = kSmall;
  options.overlap_tokens = 30;
  const auto text = repeat("Twenty bytes a time. ", 40) + "\n\n# H\n\n" + repeat("More text. ", 9);
  const auto kept = chunks_of(text, options);
  expect_promises(text, kept, options);
  EXPECT_EQ(kept[0].overlap, "");
  EXPECT_EQ(kept[1].overlap, "Twenty bytes a time. ");
  EXPECT_EQ(kept.back().overlap, "");
  const auto table = "| a |\n|---|\n" + repeat("| A cell. More. |\n", 60);
  for (const auto& chunk : chunks_of(table, options)) EXPECT_EQ(chunk.overlap_bytes, 0U);
  const auto code = "```\n" + repeat("A line. Another.\n", 60) + "```\n";
  for (const auto& chunk : chunks_of(code, options)) EXPECT_EQ(chunk.overlap_bytes, 0U);
}

TEST(Chunker, ReadsFrontMatterAsSuch) {
  const auto text = "---\ntitle: x\n---\n\nText\n---\n" + repeat("Body. ", 20);
  const auto kept = chunks_of(text, {.max_tokens = 200, .target_tokens = 150, .min_tokens = 0});
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept[0].block_kinds, Kinds{BlockKind::front_matter});
  EXPECT_EQ(kept.back().heading_path, Path{"Text"});
}

// Byte order mark and line ends are the normaliser's: the first heading is found then.
TEST(Chunker, FindsTheFirstHeadingBehindAByteOrderMark) {
  const auto kept = chunks_of(normalise("\ufeff# A\r\n\r\ntext\r\n"));
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].heading_path, Path{"A"});
  EXPECT_EQ(kept[0].slice, "# A\n\ntext\n");
}

TEST(Chunker, HandsOutBeforeTheTextEnds) {  // B-25
  std::size_t seen = 0;
  const ByteBound counter;
  auto chunker = Chunker::make({}, counter, [&](const Chunk&) {
    ++seen;
    return Result<void>();
  });
  ASSERT_TRUE(chunker.has_value());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(chunker->feed(repeat("endless ", 1000)).has_value());
    EXPECT_GE(seen + 3, static_cast<std::size_t>(i) * 8000 / 2048);
  }
}

TEST(Chunker, AnErrorOfTheSinkEndsTheWork) {
  const ByteBound counter;
  auto chunker = Chunker::make({}, counter, [](const Chunk&) -> Result<void> {
    return fail(ErrorKind::unavailable, "full");
  });
  ASSERT_TRUE(chunker.has_value());
  const auto fed = chunker->feed(repeat("word ", 1000));
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().kind, ErrorKind::unavailable);
}

TEST(Chunker, RefusesOptionsThatCannotBeKept) {
  const ByteBound counter;
  const auto refusal = [&](const ChunkOptions& options) {
    const auto checked = check_options(options, counter);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_TRUE(refusal({.max_tokens = 10}).starts_with("max_tokens must be from 64"));
  EXPECT_TRUE(refusal({.target_tokens = 5000}).starts_with("target_tokens must"));
  EXPECT_TRUE(refusal({.min_tokens = 1000}).starts_with("min_tokens must"));
  EXPECT_TRUE(refusal({.max_bytes = 3}).starts_with("max_bytes must"));
  EXPECT_TRUE(refusal({.prefix_share_percent = 90}).starts_with("prefix_share_percent must"));
  EXPECT_TRUE(refusal({.overlap_tokens = 400}).starts_with("overlap_tokens must"));
  EXPECT_EQ(refusal({}), "");
}

// A tokenizer that finds more in the whole than in its parts: the hard limit holds all the same.
TEST(Chunker, KeepsTheHardLimitWhenEstimatesAreTooLow) {
  const FunctionTokenCounter counter("odd@1", [](std::string_view text) {
    return text.size() / 4 + text.size() * text.size() / 20'000;
  });
  const auto text = repeat("A sentence. ", 3000);
  const ChunkOptions options{.max_tokens = 100, .target_tokens = 90, .min_tokens = 10};
  const auto kept = chunks_of(text, options, counter);
  EXPECT_EQ(broken_promise(text, kept, options, counter), "");
}

TEST(Chunker, NamesACounterThatCannotBeSatisfied) {
  const FunctionTokenCounter counter(
      "huge@1", [](std::string_view text) -> std::size_t { return text.empty() ? 0 : 1000; });
  const auto kept = testing::try_chunks(
      "text", {.max_tokens = 100, .target_tokens = 90, .min_tokens = 10}, counter);
  ASSERT_FALSE(kept.has_value());
  EXPECT_TRUE(kept.error().message.contains("huge@1")) << kept.error().message;
}

}  // namespace
}  // namespace millrace::chunk
