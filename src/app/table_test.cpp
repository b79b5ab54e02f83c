#include "app/table.h"

#include <gtest/gtest.h>

namespace millrace::app {
namespace {

Terminal pipe() { return {.width = 0}; }

TEST(TableTest, AlignsColumnsByTheirWidestCell) {
  Table table({left("queue"), right("ready")});
  table.add({"default", 12});
  table.add({"ai", 1234567});
  EXPECT_EQ(table.render(pipe()),
            "queue        ready\n"
            "default         12\n"
            "ai       1 234 567\n");
}

TEST(TableTest, CutsTheWidestColumnToTheTerminal) {
  Table table({left("id"), left("message")});
  table.add({"a", "a very long message that does not fit"});
  Terminal narrow{.width = 20};
  EXPECT_EQ(table.render(narrow),
            "id  message\n"
            "a   a very long mes~\n");
}

TEST(TableTest, NeverCutsIds) {
  const std::string id = "01890000-0000-7000-8000-000000000001";
  Table table({left("job"), left("message")});
  table.add({id, "a message of some length"});
  EXPECT_EQ(table.render({.width = 50}),
            "job                                   message\n" + id + "  a message o~\n");
}

TEST(TableTest, TakesControlCharactersOutOfCells) {
  Table table({left("error")});
  table.add({std::string("\x1b[2Jgone\nnext\xff")});
  EXPECT_EQ(table.render(pipe()), "error\n?[2Jgone next?\n");
}

TEST(TableTest, ColoursDoNotCountAsWidth) {
  Terminal colourful{.out_tty = true, .color = true, .width = 80};
  Table table({left("s"), left("x")});
  table.add({Cell("ok", Style::green), "1"});
  EXPECT_EQ(table.render(colourful), "\x1b[1ms\x1b[0m   \x1b[1mx\x1b[0m\n\x1b[32mok\x1b[0m  1\n");
}

TEST(TerminalTest, CutsBetweenEscapeSequences) {
  EXPECT_EQ(cut_to_width("\x1b[31mabcdef\x1b[0m", 4, false), "\x1b[31mabc~\x1b[0m");
  EXPECT_EQ(cut_to_width("\x1b[31mabc\x1b[0m", 3, false), "\x1b[31mabc\x1b[0m");
  EXPECT_EQ(cut_to_width("éèêë", 3, true), "éè…");
}

TEST(TerminalTest, CountsForPeople) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(3.25), "3.2");
  EXPECT_EQ(short_count(9994), "9994");
  EXPECT_EQ(short_count(12345), "12.3k");
  EXPECT_EQ(short_count(2'500'000), "2.5M");
  EXPECT_EQ(group_digits(-1234), "-1 234");
  EXPECT_EQ(display_width("é\x1b[31mx\x1b[0m"), 2U);
}

TEST(TerminalTest, NeverColoursWhenAskedNotTo) {
  EXPECT_FALSE(Terminal::detect({{"NO_COLOR", "1"}, {"TERM", "xterm"}}).color);
  EXPECT_TRUE(Terminal::detect({{"LANG", "C.UTF-8"}}).unicode);
  EXPECT_FALSE(Terminal::detect({{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}}).unicode);
}

}  // namespace
}  // namespace millrace::app
