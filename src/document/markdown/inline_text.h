// InlineText: one paragraph, heading or cell while it is put together.
//
// Takes text with any white space and marks (strong, emphasis, links) as a document's tags come,
// also when they do not match, and gives Markdown in which they do. Marks that Markdown could not
// show where they stand are left out; their text stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {

enum class InlineMark : std::uint8_t { strong, emphasis, strike, above, below };

class InlineText {
 public:
  enum class Place : std::uint8_t { paragraph, heading, cell };

  explicit InlineText(Place place = Place::paragraph) : place_(place) {}

  void text(std::string_view raw);
  void line_break();
  void code(std::string_view raw);
  void image(std::string_view alt, std::string_view url);
  void open(InlineMark mark);
  void close(InlineMark mark);
  void begin_link(std::string_view url);  // Ends one that is open.
  void end_link();

  bool empty() const { return out_.find_first_not_of(" \n\\") == std::string::npos; }
  std::size_t size() const { return out_.size(); }
  Place place() const { return place_; }
  // Closes what is open; afterwards this is empty, and what was open goes on in the next part.
  std::string take();
  void reset(Place place);  // Forgets everything, what is open too.

 private:
  struct OpenMark {
    InlineMark mark = {};
    std::size_t at = 0;
    bool in_link = false;
  };
  struct LastMark {  // What has been closed last, in case that what follows spoils it.
    InlineMark mark = {};
    std::size_t begin = 0;
    std::size_t end = std::string::npos;
  };

  void flush_blank();
  void before_text(char next);
  void wrap(const OpenMark& open);
  void finish_link();

  Place place_;
  std::string out_;
  bool blank_ = false;  // White space that waits for a text after it.
  std::vector<OpenMark> marks_;
  LastMark last_;
  std::string url_;
  std::size_t link_at_ = std::string::npos;
};

}  // namespace millrace::document
