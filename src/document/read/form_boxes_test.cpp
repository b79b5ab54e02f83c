// Check boxes of PDFs that bring their text: drawn with lines, printed as signs, fields of forms.
#include "document/inspect/made_inspection.h"
#include "document/inspect/made_pdf.h"
#include "document/op.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace millrace::document {
namespace {

class NoSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte>) override { return ok(); }
  void progress(int, int) override {}
};

json::Object page_of(const std::string& bytes, std::string_view mode = "text") {
  OpFiles files{.fds = {memory_fd(bytes)}};
  NoSink sink;
  const auto answer = read({{"kind", "pdf"}, {"mode", mode}, {"page", 1}}, files, sink);
  ::close(files.fds.front());
  EXPECT_TRUE(answer.has_value()) << (answer.has_value() ? "" : answer.error().message);
  if (!answer.has_value()) return {};
  EXPECT_EQ(answer->at("source").as_string(), "text");
  return answer->at("page").as_object();
}

// "+label" for one that is ticked, "-label" for one that is not, in the order of the page.
std::vector<std::string> boxes_of(const json::Object& page) {
  std::vector<std::string> out;
  for (const auto& box : page.at("checkboxes").as_array()) {
    std::string one = box.at("checked").as_bool() ? "+" : "-";
    if (!box.at("label").is_null()) {
      const auto first = box.at("label").at(0).to_number<std::size_t>();
      const auto last = box.at("label").at(1).to_number<std::size_t>();
      for (auto i = first; i <= last; ++i) {
        if (i > first) one += ' ';
        one += page.at("words").at(i).at("text").as_string();
      }
    }
    out.push_back(one);
  }
  return out;
}

using Texts = std::vector<std::string>;

// Text at a place, in the font F1 (Helvetica) or another one.
std::string text(double x, double y, std::string_view words, double size = 10,
                 std::string_view font = "F1") {
  return fmt::format("BT /{} {} Tf {} {} Td ({}) Tj ET\n", font, size, x, y, words);
}

// A page of this content; `fonts` are more entries of its fonts' dictionary.
std::string pdf_with(const std::string& content, std::string_view fonts = {},
                     std::string_view extra = {}) {
  MadePdf pdf;
  const auto stream = pdf.add(pdf_stream("", content));
  return pdf
      .page_of(stream, fmt::format("/Resources << /Font << /F1 3 0 R {} >> >> {}", fonts, extra))
      .bytes();
}

Texts drawn(const std::string& content, std::string_view fonts = {}) {
  return boxes_of(page_of(pdf_with(content, fonts)));
}

constexpr double kX = 72;
constexpr double kY = 700;
constexpr double kSide = 9;

// Ways in which writers of PDFs draw a square of this side with its lower left corner here.
std::string square(int way, double x, double y, double side = kSide) {
  const double r = x + side;
  const double t = y + side;
  switch (way) {
    case 0:
      return fmt::format("0.8 w {} {} {} {} re S\n", x, y, side, side);
    case 1:  // Four lines, each by itself.
      return fmt::format(
          "0.8 w {0} {1} m {2} {1} l S {0} {3} m {2} {3} l S {0} {1} m {0} {3} l S "
          "{2} {1} m {2} {3} l S\n",
          x, y, r, t);
    case 2:  // Bars, as word processors do.
      return fmt::format(
          "{0} {1} {2} 0.5 re f {0} {3} {2} 0.5 re f {0} {1} 0.5 {2} re f {4} {1} "
          "0.5 {2} re f\n",
          x, y, side, t - 0.5, r - 0.5);
    case 3:  // What lies between two squares.
      return fmt::format("{} {} {} {} re {} {} {} {} re f*\n", x, y, side, side, x + 0.7, y + 0.7,
                         side - 1.4, side - 1.4);
    case 4: {  // Round corners.
      const double c = 1.6;
      return fmt::format(
          "0.7 w {0} {2} m {1} {2} l {1} {2} {3} {2} {3} {4} c {3} {5} l {3} {5} {3} {6} {1} {6} c "
          "{0} {6} l {0} {6} {7} {6} {7} {5} c {7} {4} l {7} {4} {7} {2} {0} {2} c s\n",
          x + c, r - c, y, r, y + c, t - c, t, x);
    }
    default:  // Tinted, as fields are.
      return fmt::format("q 0.9 0.93 1 rg {0} {1} {2} {2} re f Q 0.5 w {0} {1} {2} {2} re S\n", x,
                         y, side);
  }
}
constexpr int kWays = 6;

// Ways of ticking it.
std::string tick(int way, double x, double y, double side = kSide) {
  const auto at = [&](double fx, double fy) {
    return fmt::format("{} {}", x + fx * side, y + fy * side);
  };
  switch (way) {
    case 0:  // Two strokes.
      return fmt::format("1.2 w {} m {} l S {} m {} l S\n", at(.15, .15), at(.85, .85),
                         at(.15, .85), at(.85, .15));
    case 1:  // A hook in one stroke.
      return fmt::format("1.2 w {} m {} l {} l S\n", at(.2, .5), at(.4, .2), at(.85, .85));
    case 2:  // A hook that leaves the box.
      return fmt::format("1.2 w {} m {} l {} l S\n", at(.2, .5), at(.4, .2), at(1.3, 1.4));
    case 3:  // A hook as an area with round edges.
      return fmt::format("{} m {} {} {} c {} {} {} c f\n", at(.2, .5), at(.3, .1), at(.5, .2),
                         at(.85, .85), at(.4, .4), at(.3, .3), at(.2, .5));
    case 4:  // A letter.
      return text(x + 0.16 * side, y + 0.14 * side, "X", side);
    case 5:  // A sign.
      return text(x + 0.12 * side, y + 0.14 * side, "4", side, "Z");
    default:  // A smaller square.
      return fmt::format("{} {} {} {} re f\n", x + .28 * side, y + .28 * side, .44 * side,
                         .44 * side);
  }
}
constexpr int kTicks = 7;
constexpr auto kZapf = "/Z << /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>";

TEST(DrawnForms, EveryWayOfDrawingABoxIsOne) {
  for (int way = 0; way < kWays; ++way) {
    const auto label = text(kX + 14, kY + 1, "Needs an interpreter");
    EXPECT_EQ(drawn(square(way, kX, kY) + label), (Texts{"-Needs an interpreter"})) << way;
    for (int how = 0; how < kTicks; ++how) {
      EXPECT_EQ(drawn(square(way, kX, kY) + tick(how, kX, kY) + label, kZapf),
                (Texts{"+Needs an interpreter"}))
          << way << " ticked as " << how;
    }
  }
}

TEST(DrawnForms, HaveTheirBoxesWhereTheyStand) {
  const auto page = page_of(pdf_with(square(0, kX, kY) + text(kX + 14, kY + 1, "Smoker")));
  const auto& box = page.at("checkboxes").at(0).at("bbox").as_array();
  EXPECT_NEAR(box.at(0).to_number<double>() * 612, kX, 0.2);
  EXPECT_NEAR(box.at(1).to_number<double>() * 792, 792 - kY - kSide, 0.2);
  EXPECT_NEAR(box.at(2).to_number<double>() * 612, kX + kSide, 0.2);
  EXPECT_NEAR(box.at(3).to_number<double>() * 792, 792 - kY, 0.2);
}

TEST(DrawnForms, OfARowShareItsLine) {
  const auto content = square(0, kX, kY) + text(kX + 14, kY + 1, "Yes") + square(0, kX + 40, kY) +
                       tick(0, kX + 40, kY) + text(kX + 54, kY + 1, "No") +
                       square(0, kX + 200, kY) + text(kX + 214, kY + 1, "Not known");
  EXPECT_EQ(drawn(content), (Texts{"-Yes", "+No", "-Not known"}));
}

// As browsers print theirs: white on a coloured square. And a frame that is a white square on a
// black one.
TEST(DrawnForms, MayBeDarkWithWhiteOnThem) {
  const auto word = text(kX + 14, kY + 1, "Smoker");
  const auto blue = fmt::format("0 0.46 1 rg {} {} 9 9 re f\n", kX, kY);
  EXPECT_EQ(drawn(blue + "1 G " + tick(1, kX, kY) + "0 g " + word), (Texts{"+Smoker"}));
  EXPECT_EQ(drawn(blue + "1 g " + tick(3, kX, kY) + "0 g " + word), (Texts{"+Smoker"}));
  EXPECT_EQ(drawn(blue + "1 g " + tick(5, kX, kY) + "0 g " + word, kZapf), (Texts{"+Smoker"}));
  const auto frame =
      fmt::format("0 g {} {} 9 9 re f 1 g {} {} 7.6 7.6 re f\n", kX, kY, kX + 0.7, kY + 0.7);
  EXPECT_EQ(drawn(frame + "0 g " + word), (Texts{"-Smoker"}));
  EXPECT_EQ(drawn(frame + "0 g " + tick(1, kX, kY) + word), (Texts{"+Smoker"}));
  // A figure in white is none.
  EXPECT_TRUE(drawn(blue + "1 g " + text(kX + 2, kY + 2, "7", 8) + "0 g " + word).empty());
}

// A cell whose lines go on, squares side by side for the figures of a date, a figure in a square, a
// legend, a bullet, an ornament without words, a frame much higher than its word, white lines.
TEST(DrawnForms, AreNeitherTablesNorDatesNorLegends) {
  const auto word = text(kX + 14, kY + 1, "Word");
  const auto cell = fmt::format("0.5 w {0} {1} 9 9 re S {2} {1} 200 9 re S\n", kX, kY, kX + 9);
  EXPECT_TRUE(drawn(cell + word).empty()) << "cell";
  const auto grid =
      fmt::format("0.5 w {0} {1} m {2} {1} l S {0} {3} m {2} {3} l S {0} {1} 9 9 re S\n", kX, kY,
                  kX + 300, kY + 9);
  EXPECT_TRUE(drawn(grid + word).empty()) << "grid";
  std::string date;
  for (int i = 0; i < 6; ++i) date += square(0, kX + i * kSide, kY);
  EXPECT_TRUE(drawn(date + text(kX + 70, kY + 1, "born")).empty()) << "date";
  EXPECT_TRUE(drawn(square(0, kX, kY) + text(kX + 2, kY + 2, "7", 8) + word).empty()) << "figure";
  EXPECT_TRUE(drawn(fmt::format("q 0.2 0.4 0.7 rg {0} {1} 9 9 re B Q\n", kX, kY) + word).empty())
      << "legend";
  EXPECT_TRUE(drawn(fmt::format("{} {} 9 9 re f\n", kX, kY) + word).empty()) << "bullet";
  EXPECT_TRUE(drawn(square(0, kX, kY) + text(kX, kY + 60, "Word")).empty()) << "ornament";
  EXPECT_TRUE(drawn(square(0, kX, kY - 10, 30) + text(kX + 35, kY + 1, "Word", 8)).empty())
      << "frame";
  EXPECT_TRUE(drawn("1 G " + square(0, kX, kY) + word).empty()) << "white";
}

// A file of a thousand forms costs what it has lines, not their square.
TEST(DrawnForms, OfManyLinesAreBounded) {
  std::string content = text(kX, kY, "Map");
  for (int i = 0; i < 40'000; ++i) {
    content +=
        fmt::format("{} {} m {} {} l S\n", i % 600, i / 600 % 700, i % 600 + 9, i / 600 % 700);
  }
  EXPECT_TRUE(drawn(content).empty());
}

// --- Signs ---

constexpr auto kToUnicode = R"(/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /T def 1 begincodespacerange <00> <FF> endcodespacerange
3 beginbfchar <6F> <F06F> <FE> <F0FE> <A8> <F0A8> endbfchar endcmap end end)";

TEST(FormSigns, OfSymbolFontsAreBoxes) {
  EXPECT_EQ(drawn(text(kX, kY, "o", 10, "Z") + text(kX + 14, kY, "Smoker"), kZapf),
            (Texts{"-Smoker"}));
  // As the places of the font, and as private numbers that a map gives them.
  constexpr auto kWide = "/FirstChar 0 /LastChar 255 /Widths [";
  std::string widths;
  for (int i = 0; i < 256; ++i) widths += "890 ";
  const auto font = fmt::format(
      "<< /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+Wingdings-Regular "
      "/Encoding /WinAnsiEncoding {} {}]",
      kWide, widths);
  const auto content = text(kX, kY, "\\250", 10, "W") + text(kX + 14, kY, "Smoker") +
                       text(kX, kY - 20, "\\376", 10, "W") + text(kX + 14, kY - 20, "Diabetes");
  EXPECT_EQ(drawn(content, "/W " + font + ">>"), (Texts{"-Smoker", "+Diabetes"}));
  MadePdf pdf;
  const auto map = pdf.add(pdf_stream("", kToUnicode));
  const auto stream = pdf.add(pdf_stream("", content));
  pdf.page_of(
      stream,
      fmt::format("/Resources << /Font << /F1 3 0 R /W {} /ToUnicode {} 0 R >> >> >>", font, map));
  EXPECT_EQ(boxes_of(page_of(pdf.bytes())), (Texts{"-Smoker", "+Diabetes"}));
}

TEST(FormSigns, AreWordsByThemselvesWithoutASpace) {
  const auto page =
      page_of(pdf_with(text(kX, kY, "o", 10, "Z") + text(kX + 7.8, kY, "Smoker"), kZapf));
  EXPECT_EQ(boxes_of(page), (Texts{"-Smoker"}));
  EXPECT_EQ(page.at("words").as_array().size(), 2U);
}

// --- Fields ---

struct Field {
  double x = kX;
  double y = kY;
  bool on = false;
  std::string more = {};  // Of its dictionary.
  bool draws = true;      // It brings its appearance.
  int flags = 4;
};

// A form with these fields over a page of this content.
std::string form_of(const std::string& content, const std::vector<Field>& fields,
                    std::string_view extra = {}) {
  MadePdf pdf;
  const auto look = [&](bool on) {
    return pdf.add(pdf_stream(
        fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << {} >> >>",
                    kZapf),
        square(0, 0.5, 0.5, 8) + (on ? tick(5, 0.5, 0.5, 8) : std::string())));
  };
  const auto yes = look(true);
  const auto off = look(false);
  std::string list;
  for (const auto& field : fields) {
    const auto appearance = field.draws
                                ? fmt::format("/AP << /N << /Yes {} 0 R /Off {} 0 R >> >> /AS /{}",
                                              yes, off, field.on ? "Yes" : "Off")
                                : std::string();
    const auto number =
        pdf.add(fmt::format("<< /Type /Annot /Subtype /Widget /FT /Btn /T (f{}) /V /{} /F {} /Rect "
                            "[{} {} {} {}] {} {} >>",
                            list.size(), field.on ? "Yes" : "Off", field.flags, field.x, field.y,
                            field.x + 9, field.y + 9, appearance, field.more));
    list += fmt::format("{} 0 R ", number);
  }
  const auto stream = pdf.add(pdf_stream("", content));
  pdf.page_of(stream, fmt::format("/Annots [{}] {}", list, extra));
  pdf.catalog(fmt::format("/AcroForm << /Fields [{}] >>", list));
  return pdf.bytes();
}

const std::string kSmoker = text(kX + 14, kY + 1, "Smoker");

TEST(FormFields, SayWhatIsTicked) {
  EXPECT_EQ(boxes_of(page_of(form_of(kSmoker, {{.on = true}}))), (Texts{"+Smoker"}));
  EXPECT_EQ(boxes_of(page_of(form_of(kSmoker, {{.on = false}}))), (Texts{"-Smoker"}));
  // By its value, where it has no appearance.
  EXPECT_EQ(boxes_of(page_of(form_of(kSmoker, {{.on = true, .draws = false}}))),
            (Texts{"+Smoker"}));
  EXPECT_EQ(boxes_of(page_of(form_of(kSmoker, {{.on = false, .draws = false}}))),
            (Texts{"-Smoker"}));
}

TEST(FormFields, OfChoicesAreReadAsBoxes) {
  const auto content = kSmoker + text(kX + 114, kY + 1, "Used to");
  const std::vector<Field> radio = {{.on = false, .more = "/Ff 49152"},
                                    {.x = kX + 100, .on = true, .more = "/Ff 49152"}};
  EXPECT_EQ(boxes_of(page_of(form_of(content, radio))), (Texts{"-Smoker", "+Used to"}));
}

TEST(FormFields, AreThereWithoutALabelAndWithOneInFront) {
  const auto front = text(kX, kY + 1, "Smoker");
  EXPECT_EQ(boxes_of(page_of(form_of(front, {{.x = kX + 42, .on = true}}))), (Texts{"+Smoker"}));
  EXPECT_EQ(boxes_of(page_of(form_of(front, {{.x = 400, .y = 300, .on = true}}))), (Texts{"+"}));
}

TEST(FormFields, ThatNobodySeesOrThatAreNoChoiceAreNone) {
  EXPECT_TRUE(boxes_of(page_of(form_of(kSmoker, {{.on = true, .flags = 2}}))).empty()) << "hidden";
  EXPECT_TRUE(boxes_of(page_of(form_of(kSmoker, {{.on = true, .flags = 32}}))).empty())
      << "no view";
  EXPECT_TRUE(boxes_of(page_of(form_of(kSmoker, {{.more = "/Ff 65536", .draws = false}}))).empty())
      << "push button";
}

TEST(FormFields, StandWhereTheyAreShownOnATurnedPage) {
  for (const int rotate : {0, 90, 180, 270}) {
    const auto page = page_of(form_of(kSmoker, {{.on = true}}, fmt::format("/Rotate {}", rotate)));
    EXPECT_EQ(boxes_of(page), (Texts{"+Smoker"})) << rotate;
    const auto& box = page.at("checkboxes").at(0).at("bbox").as_array();
    EXPECT_NEAR(box.at(0).to_number<double>() * 612, kX, 1) << rotate;
    EXPECT_NEAR(box.at(3).to_number<double>() * 792, 792 - kY, 1) << rotate;
  }
}

TEST(FormFields, MakeNoDifferenceToWhetherATextIsBelieved) {
  const auto letter = text(kX, 600, "The patient takes Metformin twice daily and feels well.");
  const auto page = page_of(form_of(letter + kSmoker, {{.on = true}}), "auto");
  EXPECT_EQ(boxes_of(page), (Texts{"+Smoker"}));
}

// --- Whole forms with their truth ---

// Drawn boxes and fields at random, several in a row, each with what is true of it.
TEST(FormBoxes, OfRandomFormsAreAllFoundWithLabelAndState) {
  const Texts words = {
      "Interpreter",       "Wheelchair access", "Hearing aid", "Glasses",     "Smoker",
      "Diabetes mellitus", "Vegetarian meals",  "Home visit",  "First visit", "None"};
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 dice(seed);
    const auto below = [&dice](unsigned end) { return static_cast<int>(dice() % end); };
    const bool fields = seed % 3 == 0;
    const int way = below(kWays);
    const double size = 8 + below(5);
    const int columns = 1 + below(3);
    std::string content = text(kX, 750, "Admission form of the hospital", 14);
    std::vector<Field> listed;
    Texts truth;
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < columns; ++column) {
        const double x = kX + 160 * column;
        const double y = 700 - 24 * row;
        const bool on = below(2) == 0;
        const auto& label = words[static_cast<std::size_t>(below(10))];
        if (fields) {
          listed.push_back({.x = x, .y = y, .on = on, .draws = below(2) == 0});
        } else {
          content += square(way, x, y, size * 0.85);
          if (on) content += tick(below(4), x, y, size * 0.85);
        }
        content += text(x + 14, y + 1, label, size);
        truth.push_back((on ? "+" : "-") + label);
      }
    }
    const auto bytes = fields ? form_of(content, listed) : pdf_with(content);
    auto found = boxes_of(page_of(bytes));
    // How rows and columns are read is not the point here.
    std::ranges::sort(found);
    std::ranges::sort(truth);
    EXPECT_EQ(found, truth) << "seed " << seed << ", drawn as " << way;
  }
}

}  // namespace
}  // namespace millrace::document
