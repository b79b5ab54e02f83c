// Normaliser: the bytes of a parse as they are stored, hashed and chunked (B-06, B-07).
//
// Flow: bytes of any origin are fed in pieces of any size; `out` grows by what is final. The rules
// are a version, kNormalVersion, because the hash of the result means something only with them:
//   - a byte order mark at the very beginning is dropped;
//   - what is not UTF-8 becomes U+FFFD, one for each maximal part of a sequence;
//   - CR LF and CR become LF; NUL becomes U+FFFD;
//   - NFC. After 256 combining marks on one character U+034F is put in, which ends the reach of
//     composition, so that endless marks need bounded memory (as UAX #15 does after 30).
// Applied to its own result it changes nothing. Threading: one thread. Memory: about 2 KiB.
#pragma once

#include "chunk/unicode.h"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace millrace::chunk {

inline constexpr std::string_view kNormalVersion = "normal/1";

class Normaliser {
 public:
  // Appends to `out`; what the next piece may still change is kept back.
  void feed(std::string_view piece, std::string& out);
  // Appends the rest. The Normaliser can be used for another text then.
  void finish(std::string& out);

 private:
  static constexpr std::size_t kMarksMax = 256;
  struct Mark {
    char32_t c;
    unsigned char combining_class;
  };
  class Writer;

  void take_bytes(std::string_view text, Writer& out);
  std::size_t take_plain(std::string_view text, Writer& out);  // Says how many bytes it took.
  void take(char32_t c, Properties properties, Writer& out);
  void take_decomposed(char32_t c, Properties properties, Writer& out);
  void take_mark(char32_t c, unsigned char combining_class, Writer& out);
  void begin_segment(char32_t c, Writer& out);
  void open_base();
  static void sort_marks(std::span<Mark> marks);
  void compose();
  void write_segment(Writer& out);
  void flush(Writer& out);

  // A segment: one character and the marks behind it, decomposed as soon as there is a mark.
  bool has_base_ = false;
  bool open_ = false;  // The base was decomposed.
  char32_t base_ = 0;
  std::array<Mark, kMarksMax + 8> marks_{};
  std::size_t mark_count_ = 0;

  std::array<char, 4> tail_{};  // An unfinished UTF-8 sequence.
  std::size_t tail_size_ = 0;
  bool at_begin_ = true;
  bool after_cr_ = false;
};

std::string normalise(std::string_view text);

}  // namespace millrace::chunk
