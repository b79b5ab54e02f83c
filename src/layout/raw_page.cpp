#include "layout/raw_page.h"

#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace millrace::layout {
namespace {

struct Piece {
  std::string text;
  std::size_t first = 0;  // Character of the whole at which it begins.
  std::size_t last = 0;   // And ends, not included.
};

struct Pieces {
  std::vector<Piece> pieces;
  std::size_t characters = 0;
};

Pieces cut(std::string_view text) {
  Pieces out;
  bool open = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = decode_at(text, at);
    at += decoded.bytes;
    if (is_control(decoded.code)) continue;
    if (is_space(decoded.code)) {
      open = false;
    } else {
      if (!open) out.pieces.push_back({.text = {}, .first = out.characters});
      open = true;
      append_utf8(out.pieces.back().text, decoded.code);
      out.pieces.back().last = out.characters + 1;
    }
    ++out.characters;
  }
  return out;
}

Point between(Point a, Point b, double share) {
  return {.x = a.x + (b.x - a.x) * share, .y = a.y + (b.y - a.y) * share};
}

Quad slice(const Quad& quad, double from, double to) {
  return {between(quad[0], quad[1], from), between(quad[0], quad[1], to),
          between(quad[3], quad[2], to), between(quad[3], quad[2], from)};
}

Box sorted(const Box& box) {
  return {.x0 = std::min(box.x0, box.x1),
          .y0 = std::min(box.y0, box.y1),
          .x1 = std::max(box.x0, box.x1),
          .y1 = std::max(box.y0, box.y1)};
}

std::optional<double> rounded_confidence(std::optional<double> conf) {
  if (!conf || !std::isfinite(*conf)) return std::nullopt;
  return std::round(std::clamp(*conf, 0.0, 1.0) * 10'000) / 10'000;
}

RawWord part_of(const RawWord& word, Piece piece, std::size_t characters) {
  const auto from = static_cast<double>(piece.first) / static_cast<double>(characters);
  const auto to = static_cast<double>(piece.last) / static_cast<double>(characters);
  RawWord part{.text = std::move(piece.text), .conf = word.conf};
  if (word.poly) {
    part.poly = rounded(slice(*word.poly, from, to));
    part.box = bounds(*part.poly);
  } else {
    part.box = word.box;
    part.box.x0 = word.box.x0 + word.box.width() * from;
    part.box.x1 = word.box.x0 + word.box.width() * to;
  }
  part.box = rounded(part.box);
  return part;
}

bool is_finite(const Box& box) {
  return std::isfinite(box.x0) && std::isfinite(box.y0) && std::isfinite(box.x1) &&
         std::isfinite(box.y1);
}

}  // namespace

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (auto& piece : cut(text).pieces) words.push_back(std::move(piece.text));
  return words;
}

Result<RawPage> to_raw_page(PageInfo info, const Frame& frame, std::vector<RawWord> words) {
  MR_TRY_VOID(check_frame(frame));
  RawPage page{.info = std::move(info)};
  page.words.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& word = words[i];
    if (word.poly) word.box = bounds(*word.poly);
    if (!is_finite(word.box)) {
      return fail(
          ErrorKind::invalid_argument,
          fmt::format("page {}: words[{}] has a box that is not finite", page.info.page, i));
    }
    if (!is_visible(frame, word.box)) continue;
    if (word.poly) word.poly = to_page(frame, *word.poly);
    word.box = word.poly ? bounds(*word.poly) : to_page(frame, word.box);
    page.words.push_back(std::move(word));
  }
  return page;
}

Result<RawPage> clean(RawPage page, const PageLimits& limits) {
  MR_TRY_VOID(check_info(page.info, limits));
  RawPage out{.info = std::move(page.info)};
  out.words.reserve(std::min(page.words.size(), limits.words_max));
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    auto& word = page.words[i];
    word.box = rounded(sorted(word.box));
    word.conf = rounded_confidence(word.conf);
    auto [pieces, characters] = cut(word.text);
    if (out.words.size() + pieces.size() > limits.words_max) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("page {} has more words than the limit of {}", out.info.page,
                              limits.words_max));
    }
    for (auto& piece : pieces) {
      if (piece.text.size() > limits.word_bytes_max) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("page {}: words[{}] is longer than the limit of {} bytes",
                                out.info.page, i, limits.word_bytes_max));
      }
      out.words.push_back(part_of(word, std::move(piece), characters));
    }
  }
  return out;
}

}  // namespace millrace::layout
