#include "chunk/normalise.h"

#include "chunk/unicode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace millrace::chunk {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr char32_t kGraphemeJoiner = 0x34f;
constexpr char32_t kFirstComposed = 0xc0;  // Of the characters that are made of others.
constexpr std::size_t kInsertedMax = 16;   // Marks that are sorted one by one.

constexpr std::uint64_t repeat(unsigned char byte) { return 0x0101010101010101ULL * byte; }

// A bit in every byte that is zero. Bytes above a found one may be reported wrongly: enough to
// know whether there is any.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - repeat(1)) & ~word & repeat(0x80);
}

// Whether the 16 bytes are ASCII other than NUL and CR.
bool are_plain(const char* bytes) {
  std::uint64_t words[2];
  std::memcpy(words, bytes, 16);
  const auto odd = (words[0] | words[1]) & repeat(0x80);
  const auto special = zero_bytes(words[0]) | zero_bytes(words[1]) |
                       zero_bytes(words[0] ^ repeat('\r')) | zero_bytes(words[1] ^ repeat('\r'));
  return (odd | special) == 0;
}

// What bytes become that need no look at the next one: ASCII stays, NUL and what begins no sequence
// is replaced. CR and bytes that may begin a sequence have size 0.
struct Single {
  std::array<char, 4> bytes{};
  std::uint8_t size = 0;
};
constexpr std::array<Single, 256> make_singles() {
  std::array<Single, 256> out{};
  for (unsigned byte = 0; byte < out.size(); ++byte) {
    const bool broken = byte == 0 || utf8::sequence_size(static_cast<unsigned char>(byte)) == 0;
    if (broken) {
      out[byte] = {{kReplacementUtf8[0], kReplacementUtf8[1], kReplacementUtf8[2]}, 3};
    } else if (byte < 0x80 && byte != '\r') {
      out[byte] = {{static_cast<char>(byte)}, 1};
    }
  }
  return out;
}
constexpr auto kSingles = make_singles();

}  // namespace

// The end of a text, written through a pointer: there is something to write for every character.
class Normaliser::Writer {
 public:
  Writer(std::string& text, std::size_t expected) : text_(text) {
    const auto size = text_.size();
    text_.resize(size + expected + kRoom);
    place(size);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { text_.resize(static_cast<std::size_t>(to_ - text_.data())); }

  // Where up to kRoom bytes can be written.
  static constexpr std::size_t kRoom = 4 * (kMarksMax + 9);
  char* room() {
    if (to_ > last_) {
      const auto size = static_cast<std::size_t>(to_ - text_.data());
      text_.resize(size + size / 2 + kRoom);
      place(size);
    }
    return to_;
  }
  void written(char* end) { to_ = end; }
  // Takes the last character back, which is not the first of the text.
  char32_t take_back() {
    auto* begin = to_ - 1;
    while (is_continuation(*begin)) --begin;
    const auto c = decode({begin, to_}).c;
    to_ = begin;
    return c;
  }

 private:
  void place(std::size_t size) {
    to_ = text_.data() + size;
    last_ = text_.data() + (text_.size() - kRoom);
  }

  std::string& text_;
  char* to_ = nullptr;
  char* last_ = nullptr;  // From here on there is not enough room.
};

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
  if (std::ranges::is_sorted(marks, {}, &Mark::combining_class)) return;
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

void Normaliser::compose() {
  if (mark_count_ == 1) {
    const auto composite = has_base_ ? composite_of(base_, marks_[0].c) : 0;
    if (composite == 0) return;
    base_ = composite;
    mark_count_ = 0;
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
  mark_count_ = kept;
}

void Normaliser::write_segment(Writer& out) {
  auto* to = out.room();
  if (has_base_) to = put_utf8(to, base_);
  for (std::size_t i = 0; i < mark_count_; ++i) to = put_utf8(to, marks_[i].c);
  out.written(to);
  has_base_ = open_ = false;
  mark_count_ = 0;
}

void Normaliser::flush(Writer& out) {
  if (mark_count_ > 0) compose();
  if (has_base_ || mark_count_ > 0) write_segment(out);
}

void Normaliser::begin_segment(char32_t c, Writer& out) {
  flush(out);
  has_base_ = true;
  base_ = c;
}

void Normaliser::take_mark(char32_t c, unsigned char combining_class, Writer& out) {
  open_base();
  if (mark_count_ >= kMarksMax) {
    begin_segment(kGraphemeJoiner, out);
    open_ = true;
  }
  marks_[mark_count_++] = {c, combining_class};
}

// `c` is its own decomposition.
void Normaliser::take_decomposed(char32_t c, Properties properties, Writer& out) {
  const auto combining_class = properties.combining_class();
  if (combining_class != 0) return take_mark(c, combining_class, out);
  // A character of class 0 that composes does so only with the base itself, and only if all marks
  // between them have gone into it.
  if (properties.nfc_maybe() && has_base_) {
    if (mark_count_ > 0) compose();
    if (const auto composite = mark_count_ == 0 ? composite_of(base_, c) : 0; composite != 0) {
      base_ = composite;
      open_ = false;
      return;
    }
    write_segment(out);  // Composed, and not to be again: its marks had their turn.
  }
  begin_segment(c, out);
}

void Normaliser::take(char32_t c, Properties properties, Writer& out) {
  // What is neither plain nor excluded is a mark or a letter that joins: nothing is made of others.
  if (!properties.nfc_no()) return take_decomposed(c, properties, out);
  // A few characters decompose, in several steps, into two at most per step.
  std::array<char32_t, 8> waiting{};
  std::size_t count = 0;
  waiting[count++] = c;
  while (count > 0) {
    const auto next = waiting[--count];
    const auto* step = decomposition_of(next);
    if (step == nullptr) {
      take_decomposed(next, properties_of(next), out);
      continue;
    }
    if (step->second != 0) waiting[count++] = step->second;
    waiting[count++] = step->first;
  }
}

// Characters that nothing before or after them changes, but for a mark behind the last one; line
// ends; and what is no character. The first one is such; nothing waits to be written.
std::size_t Normaliser::take_plain(std::string_view text, Writer& out) {
  const auto* at = text.data();
  const auto* const end = at + text.size();
  while (at < end) {
    auto* to = out.room();
    if (end - at >= 16 && are_plain(at)) {
      std::memcpy(to, at, 16);
      out.written(to + 16);
      at += 16;
      continue;
    }
    // Up to here one byte after the other: what is odd comes in crowds.
    const auto* const stop = at + std::min<std::ptrdiff_t>(end - at, 16);
    const Single* single = nullptr;
    for (; at < stop; ++at) {
      single = &kSingles[static_cast<unsigned char>(*at)];
      if (single->size == 0) break;
      std::memcpy(to, single->bytes.data(), 4);
      to += single->size;
    }
    if (at < stop && *at == '\r') {
      *to++ = '\n';
      ++at;
      after_cr_ = at == end;
      if (at < end && *at == '\n') ++at;
    } else if (at < stop) {
      const auto decoded = decode({at, end});
      const bool plain = properties_of(decoded.c).nfc_plain();
      if (!plain) {
        out.written(to);
        break;
      }
      to = put_utf8(to, decoded.c);
      at += decoded.size;
    }
    out.written(to);
  }
  return static_cast<std::size_t>(at - text.data());
}

void Normaliser::take_bytes(std::string_view text, Writer& out) {
  // All of them: what is normal has none there, and stays as it is when it comes again.
  while (at_begin_ && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) return;
  at_begin_ = false;
  if (std::exchange(after_cr_, false) && text.starts_with('\n')) text.remove_prefix(1);
  while (!text.empty()) {
    const auto decoded = decode(text);
    const auto properties = properties_of(decoded.c);
    if (properties.nfc_plain()) {
      flush(out);
      text.remove_prefix(take_plain(text, out));
      has_base_ = true;
      base_ = out.take_back();
    } else {
      take(decoded.c, properties, out);
      text.remove_prefix(decoded.size);
    }
  }
}

void Normaliser::feed(std::string_view piece, std::string& text) {
  Writer out(text, piece.size());
  while (tail_size_ > 0 && !piece.empty()) {
    std::array<char, 8> joined{};
    std::memcpy(joined.data(), tail_.data(), tail_size_);
    joined[tail_size_] = piece.front();
    const std::string_view begun(joined.data(), tail_size_ + 1);
    piece.remove_prefix(1);
    tail_size_ = unfinished_tail(begun);
    std::memcpy(tail_.data(), begun.data() + (begun.size() - tail_size_), tail_size_);
    take_bytes(begun.substr(0, begun.size() - tail_size_), out);
  }
  const auto tail = unfinished_tail(piece);
  take_bytes(piece.substr(0, piece.size() - tail), out);
  if (tail > 0) {
    std::memcpy(tail_.data(), piece.data() + (piece.size() - tail), tail);
    tail_size_ = tail;
  }
}

void Normaliser::finish(std::string& text) {
  {
    Writer out(text, tail_size_);
    take_bytes({tail_.data(), tail_size_}, out);
    flush(out);
  }
  *this = Normaliser();
}

std::string normalise(std::string_view text) {
  std::string out;
  Normaliser normaliser;
  normaliser.feed(text, out);
  normaliser.finish(out);
  return out;
}

}  // namespace millrace::chunk
