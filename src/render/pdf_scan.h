// PdfScan: reads a PDF as it streams by and remembers what is needed to add to it.
//
// Flow: pieces of the browser's PDF go through feed() on their way to the sink; finish() then says
// how many pages there are and where the trailer points. It knows the lexical rules of PDF
// (strings, comments, streams by their length), so that text of the document which looks like an
// object is not taken for one. The bytes come from a browser that was fed by strangers: memory is
// bounded (by anchors and pages), nothing is decompressed, and whatever Chromium does not write is
// an error.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::render {

struct PdfShape {
  std::uint64_t bytes = 0;
  std::uint64_t page_count = 0;
  std::uint64_t object_count = 0;  // /Size of the trailer: the first free object number.
  std::uint64_t root_object = 0;
  std::uint64_t xref_offset = 0;
  // On which page links within the document lead, counted from 1; of the first thousand names.
  std::map<std::string, int> anchors = {};
};

class PdfScan {
 public:
  void feed(std::string_view piece);
  // internal: it is not a whole PDF of the known kind, and why.
  Result<PdfShape> finish();

 private:
  enum class State {
    plain,
    token,
    name,
    comment,
    text,
    text_escape,
    hex,
    open_angle,
    close_angle,
    stream_line,
    stream_body
  };

  void plain(char c);
  void end_token();
  void on_name();
  void on_word();
  void on_number(std::uint64_t value);
  void on_value();  // Of a kind that is of no interest.
  void end_object();
  void begin_array();
  void note_destinations();
  void find_anchors();
  void begin_dictionary();
  void complain(const char* why);

  State state_ = State::plain;
  std::string word_;  // Of a token or name; at most kWordMax characters are kept.
  int text_depth_ = 0;
  std::uint64_t stream_left_ = 0;
  const char* complaint_ = nullptr;

  // The object under way.
  int dictionaries_ = 0;
  int arrays_ = 0;
  std::string key_;       // Whose value comes next; only in the outermost dictionary.
  std::string last_key_;  // Whose value was the last number.
  std::string type_;
  std::uint64_t length_ = 0;
  bool has_length_ = false;
  std::uint64_t count_ = 0;
  bool has_parent_ = false;
  bool in_trailer_ = false;
  bool at_xref_offset_ = false;
  bool ended_ = false;  // The xref offset has been read.

  // Named destinations: an object of nothing but names with arrays "[page 0 R /XYZ …]", to which
  // the catalog refers. Pages are told by their objects, which come in the order of the pages.
  std::uint64_t number_ = 0;         // The last but one outside of everything: "7 0 obj".
  std::uint64_t generation_ = 0;     // The last.
  std::uint64_t object_ = 0;         // The one under way.
  std::uint64_t entries_ = 0;        // Of its outermost dictionary.
  std::string array_key_;            // Whose array is open.
  std::uint64_t array_numbers_ = 0;  // That it has had so far.
  std::uint64_t array_first_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> destinations_;  // Of the object under way.
  std::map<std::uint64_t, std::vector<std::pair<std::string, std::uint64_t>>> tables_;
  std::vector<std::uint64_t> pages_;
  std::uint64_t catalog_table_ = 0;

  PdfShape shape_;
  std::uint64_t declared_pages_ = 0;  // /Count of the root of the page tree.
  std::uint64_t page_trees_ = 0;
};

}  // namespace millrace::render
