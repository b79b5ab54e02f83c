#include "chunk/normalise.h"

#include "chunk/unicode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace millrace::chunk {
namespace {

constexpr char32_t kByteOrderMark = 0xfeff;
constexpr char32_t kGraphemeJoiner = 0x34f;
constexpr char32_t kFirstComposed = 0xc0;  // Of the characters that are made of others.
constexpr std::size_t kInsertedMax = 16;   // Marks that are sorted one by one.

constexpr std::uint64_t repeat(unsigned char byte) { return 0x0101010101010101ULL * byte; }

// A bit in every byte that is zero. Bytes above a found one may be reported wrongly: enough to
// know whether there is any.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - repeat(1)) & ~word & repeat(0x80);
}

// How many bytes at the beginning are ASCII other than NUL and CR.
std::size_t plain_run(std::string_view text) {
  std::size_t i = 0;
  for (; i + 16 <= text.size(); i += 16) {
    std::uint64_t words[2];
    std::memcpy(words, text.data() + i, 16);
    const auto odd = (words[0] | words[1]) & repeat(0x80);
    const auto special = zero_bytes(words[0]) | zero_bytes(words[1]) |
                         zero_bytes(words[0] ^ repeat('\r')) | zero_bytes(words[1] ^ repeat('\r'));
    if ((odd | special) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80 && text[i] != '\r' &&
         text[i] != '\0') {
    ++i;
  }
  return i;
}

}  // namespace

void Normaliser::open_base() {
  if (open_ || !has_base_) return;
  open_ = true;
  if (base_ < kFirstComposed) return;
  // Left parts first: what stands to the right of the innermost base are marks, in order.
  std::array<char32_t, 8> right{};
  std::size_t count = 0;
  while (const auto* step = decomposition_of(base_)) {
    // A vowel sign of class 0 ends the reach of marks: what it is part of stays whole.
    if (step->second != 0 && properties_of(step->second).combining_class() == 0) break;
    if (step->second != 0) right[count++] = step->second;
    base_ = step->first;
  }
  while (count > 0) {
    const auto c = right[--count];
    marks_[mark_count_++] = {c, properties_of(c).combining_class()};
  }
}

// By class, those of one class as they came.
void Normaliser::sort_marks(std::span<Mark> marks) {
  if (marks.size() > kInsertedMax) {
    // Nobody writes so many, but a text may: each class is counted, then takes its place.
    std::array<std::uint16_t, 256> place{};
    for (const auto& mark : marks) ++place[mark.combining_class];
    std::uint16_t next = 0;
    for (auto& count : place) next += std::exchange(count, next);
    std::array<Mark, kMarksMax + 8> sorted;
    for (const auto& mark : marks) sorted[place[mark.combining_class]++] = mark;
    std::copy_n(sorted.begin(), marks.size(), marks.begin());
    return;
  }
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const auto moved = marks[i];
    std::size_t to = i;
    for (; to > 0 && marks[to - 1].combining_class > moved.combining_class; --to) {
      marks[to] = marks[to - 1];
    }
    marks[to] = moved;
  }
}

void Normaliser::flush(std::string& out) {
  if (mark_count_ == 0) {
    if (has_base_) append_utf8(out, base_);
    has_base_ = open_ = false;
    return;
  }
  const auto marks = std::span(marks_).first(mark_count_);
  sort_marks(marks);
  std::size_t kept = 0;
  unsigned char last_class = 0;
  for (const auto& mark : marks) {
    const bool blocked = kept > 0 && last_class >= mark.combining_class;
    const auto composite = has_base_ && !blocked ? composite_of(base_, mark.c) : 0;
    if (composite != 0) {
      base_ = composite;
      continue;
    }
    last_class = mark.combining_class;
    marks[kept++] = mark;
  }
  if (has_base_) append_utf8(out, base_);
  for (std::size_t i = 0; i < kept; ++i) append_utf8(out, marks[i].c);
  has_base_ = open_ = false;
  mark_count_ = 0;
}

void Normaliser::begin_segment(char32_t c, std::string& out) {
  flush(out);
  has_base_ = true;
  base_ = c;
}

void Normaliser::take_mark(char32_t c, unsigned char combining_class, std::string& out) {
  open_base();
  if (mark_count_ >= kMarksMax) {
    begin_segment(kGraphemeJoiner, out);
    open_ = true;
  }
  marks_[mark_count_++] = {c, combining_class};
}

// `c` is its own decomposition.
void Normaliser::take_decomposed(char32_t c, std::string& out) {
  const auto properties = properties_of(c);
  const auto combining_class = properties.combining_class();
  if (combining_class != 0) return take_mark(c, combining_class, out);
  // A character of class 0 that composes does so only with the base itself, and only if all marks
  // between them have gone into it.
  if (properties.nfc_maybe() && has_base_) {
    if (mark_count_ > 0) {
      std::string made;
      flush(made);
      const auto first = decode(made);
      const auto composite = first.size == made.size() ? composite_of(first.c, c) : 0;
      if (composite == 0) out += made;
      has_base_ = true;
      base_ = composite != 0 ? composite : c;
      return;
    }
    if (const auto composite = composite_of(base_, c); composite != 0) {
      base_ = composite;
      open_ = false;
      return;
    }
  }
  begin_segment(c, out);
}

void Normaliser::take(char32_t c, std::string& out) {
  const auto properties = properties_of(c);
  if (properties.nfc_plain()) return begin_segment(c, out);
  // What is neither plain nor excluded is a mark or a letter that joins: nothing is made of others.
  if (!properties.nfc_no()) return take_decomposed(c, out);
  // A few characters decompose, in several steps, into two at most per step.
  std::array<char32_t, 8> waiting{};
  std::size_t count = 0;
  waiting[count++] = c;
  while (count > 0) {
    const auto next = waiting[--count];
    const auto* step = decomposition_of(next);
    if (step == nullptr) {
      take_decomposed(next, out);
      continue;
    }
    if (step->second != 0) waiting[count++] = step->second;
    waiting[count++] = step->first;
  }
}

std::size_t Normaliser::take_ascii(std::string_view piece, std::string& out) {
  const auto size = plain_run(piece);
  if (size == 0) return 0;
  // Nothing in ASCII changes what is before it, but a mark may follow the last character.
  flush(out);
  out.append(piece.data(), size - 1);
  has_base_ = true;
  base_ = static_cast<unsigned char>(piece[size - 1]);
  return size;
}

// Characters beyond ASCII that nothing before or after them changes, but for a mark at the end.
std::size_t Normaliser::take_plain(std::string_view text, std::string& out) {
  std::size_t size = 0;
  Decoded last{};
  while (size < text.size() && static_cast<unsigned char>(text[size]) >= 0x80) {
    const auto decoded = decode(text.substr(size));
    if (!decoded.valid || !properties_of(decoded.c).nfc_plain()) break;
    if (at_begin_ && size == 0 && decoded.c == kByteOrderMark) break;
    size += decoded.size;
    last = decoded;
  }
  if (size == 0) return 0;
  flush(out);
  out.append(text.data(), size - last.size);
  has_base_ = true;
  base_ = last.c;
  return size;
}

// What is no character: NUL, and bytes that are not UTF-8.
std::size_t Normaliser::take_broken(std::string_view text, std::string& out) {
  std::size_t size = 0;
  std::size_t count = 0;
  while (size < text.size()) {
    const auto decoded = decode(text.substr(size));
    if (decoded.valid && decoded.c != 0) break;
    size += decoded.size;
    ++count;
  }
  if (count == 0) return 0;
  flush(out);
  for (; count > 1; --count) out += kReplacementUtf8;
  has_base_ = true;
  base_ = kReplacement;
  return size;
}

std::size_t Normaliser::take_line_end(std::string_view text, std::string& out) {
  if (text.front() != '\r') return 0;
  begin_segment('\n', out);
  after_cr_ = true;
  return 1;
}

std::size_t Normaliser::take_one(std::string_view text, std::string& out) {
  const auto decoded = decode(text);
  if (!at_begin_ || decoded.c != kByteOrderMark) take(decoded.c, out);
  return decoded.size;
}

void Normaliser::take_bytes(std::string_view text, std::string& out) {
  while (!text.empty()) {
    if (after_cr_) {
      after_cr_ = false;
      if (text.front() == '\n') {
        text.remove_prefix(1);
        continue;
      }
    }
    const bool high = static_cast<unsigned char>(text.front()) >= 0x80;
    auto size = high ? take_plain(text, out) : take_ascii(text, out);
    if (size == 0 && !high) size = take_line_end(text, out);
    if (size == 0) size = take_broken(text, out);
    if (size == 0) size = take_one(text, out);
    text.remove_prefix(size);
    at_begin_ = false;
  }
}

void Normaliser::feed(std::string_view piece, std::string& out) {
  while (tail_size_ > 0 && !piece.empty()) {
    std::array<char, 8> joined{};
    std::memcpy(joined.data(), tail_.data(), tail_size_);
    joined[tail_size_] = piece.front();
    const std::string_view text(joined.data(), tail_size_ + 1);
    piece.remove_prefix(1);
    tail_size_ = unfinished_tail(text);
    std::memcpy(tail_.data(), text.data() + (text.size() - tail_size_), tail_size_);
    take_bytes(text.substr(0, text.size() - tail_size_), out);
  }
  const auto tail = unfinished_tail(piece);
  take_bytes(piece.substr(0, piece.size() - tail), out);
  if (tail > 0) {
    std::memcpy(tail_.data(), piece.data() + (piece.size() - tail), tail);
    tail_size_ = tail;
  }
}

void Normaliser::finish(std::string& out) {
  take_bytes({tail_.data(), tail_size_}, out);
  flush(out);
  *this = Normaliser();
}

std::string normalise(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  Normaliser normaliser;
  normaliser.feed(text, out);
  normaliser.finish(out);
  return out;
}

}  // namespace millrace::chunk
