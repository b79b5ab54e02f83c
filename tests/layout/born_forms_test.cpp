// Check boxes of generated forms with a text layer, as they are read, held against their truth.
#include "document/op.h"
#include "samples/classes.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace millrace::document {
namespace {

class NoSink final : public OpSink {
 public:
  Result<void> write(std::span<const std::byte>) override { return ok(); }
  void progress(int, int) override {}
};

int file_of(const std::string& bytes) {
  const int fd = ::memfd_create("form", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  return fd;
}

// Label → ticked.
std::map<std::string, bool> boxes_read(const std::string& bytes, std::size_t page) {
  const OpFiles files{.fds = {file_of(bytes)}};
  NoSink sink;
  const auto answer = read({{"kind", "pdf"}, {"page", page}}, files, sink);
  ::close(files.fds.front());
  EXPECT_TRUE(answer.has_value()) << (answer.has_value() ? "" : answer.error().message);
  std::map<std::string, bool> out;
  if (!answer.has_value()) return out;
  EXPECT_EQ(answer->at("source").as_string(), "text");
  const auto& map = answer->at("page").as_object();
  for (const auto& box : map.at("checkboxes").as_array()) {
    std::string label;
    for (auto i = box.at("label").at(0).to_number<std::size_t>();
         i <= box.at("label").at(1).to_number<std::size_t>(); ++i) {
      label += (label.empty() ? "" : " ");
      label += map.at("words").at(i).at("text").as_string();
    }
    out.emplace(label, box.at("checked").as_bool());
  }
  return out;
}

TEST(BornForms, AllTheirBoxesAreReadWithLabelAndState) {
  std::size_t boxes = 0;
  std::size_t ticked = 0;
  for (const std::uint64_t seed : {881U, 882U, 883U, 884U}) {
    for (const int index : {5, 12}) {  // The forms among them.
      const auto sample = samples::make_sample("born", seed, index);
      ASSERT_TRUE(sample.has_value()) << sample.error().message;
      for (std::size_t page = 0; page < sample->truth.pages.size(); ++page) {
        std::map<std::string, bool> truth;
        for (const auto& box : sample->truth.pages[page].checkboxes) {
          truth.emplace(box.label, box.checked);
          ++boxes;
          ticked += box.checked ? 1 : 0;
        }
        EXPECT_EQ(boxes_read(sample->bytes, page + 1), truth)
            << seed << ' ' << sample->truth.file << " page " << page + 1;
      }
    }
  }
  // Twelve on each form, and both states among them.
  EXPECT_EQ(boxes, 96U);
  EXPECT_GT(ticked, 10U);
  EXPECT_LT(ticked, 80U);
}

// Pages of other kinds have lines, tables and frames too, and no box.
TEST(BornForms, OtherDocumentsHaveNone) {
  for (const int index : {0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13}) {
    const auto sample = samples::make_sample("born", 881, index);
    ASSERT_TRUE(sample.has_value());
    for (std::size_t page = 1; page <= sample->truth.pages.size(); ++page) {
      EXPECT_TRUE(boxes_read(sample->bytes, page).empty()) << sample->truth.file;
    }
  }
}

}  // namespace
}  // namespace millrace::document
