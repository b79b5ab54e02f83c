// PDFs that millrace-document writes, as the tools of others see them: sound by qpdf, and with the
// words of the page, each once, by pdftotext.
#include "base/file.h"
#include "base/json.h"
#include "document/inspect/made_pdf.h"
#include "program.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace millrace::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::ranges::sort(words);
  return words;
}

class SearchablePdf : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    return folder_.write(name, content).string();
  }
  static RunResult run(const std::string& request, std::vector<std::string> files) {
    files.insert(files.begin(), {MILLRACE_DOCUMENT_PROGRAM, "--run", request});
    auto result = run_command(files);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  // The page as it is recognised.
  static json::Object read(const std::string& kind, const std::string& path) {
    const auto result = run(fmt::format(R"({{"op":"read","kind":"{}","page":1}})", kind), {path});
    auto answer = parse_json_object(result.err).value();
    EXPECT_EQ(answer.at("source"), "ocr") << result.err;
    return answer;
  }
  std::string assemble(const std::string& kind, const std::string& path, const json::Value& page) {
    const auto lines = file("pages", to_json(page) + "\n");
    return run(fmt::format(R"({{"op":"assemble","kind":"{}","title":"A letter"}})", kind),
               {path, lines})
        .out;
  }
  static void expect_sound(const std::string& path, const json::Object& read) {
    const auto checked = run_command({"qpdf", "--check", path});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("No syntax or stream encoding errors found"));
    std::string words;
    for (const auto& word : read.at("page").at("words").as_array()) {
      words.append(word.at("text").as_string()).append(" ");
    }
    EXPECT_EQ(words_in(run_command({"pdftotext", "-enc", "UTF-8", path, "-"}).out),
              words_in(words));
  }

  TempFolder folder_;
};

TEST_F(SearchablePdf, OfAPictureAndOfAScanThatBringsWordsIsSoundAndHasEachWordOnce) {
  const auto printed = file(
      "printed.pdf",
      document::MadePdf().page("The patient takes Metformin twice daily and feels well.").bytes());
  const auto picture =
      file("picture.png",
           run(R"({"op":"image","kind":"pdf","page":1,"width_px_max":1700})", {printed}).out);
  const auto seen = read("image", picture);
  const auto first = file("first.pdf", assemble("image", picture, seen.at("page")));
  expect_sound(first, seen);

  // It is a scan with invisible words now: it is read again, and they make room.
  const auto again = read("pdf", first);
  const auto second = file("second.pdf", assemble("pdf", first, again.at("page")));
  expect_sound(second, again);
}

}  // namespace
}  // namespace millrace::test
