#include "document/markdown/draft_writer.h"

#include "document/markdown/escape.h"
#include "document/markdown/text_blocks.h"
#include "layout/code_points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace millrace::document {
namespace {

constexpr double kHeadingGrowth = 1.15;  // Times the size of the body.
constexpr double kSameSize = 1.06;
constexpr std::size_t kHeadingBytesMax = 200;
constexpr std::size_t kHeadingLinesMax = 3;
constexpr std::size_t kBoldHeadingBytesMax = 90;
constexpr std::size_t kHeadingSizesMax = 5;
constexpr double kIndent =
    0.012;  // Of the page's width: what begins so much further right is set in.
constexpr double kShortLine = 0.8;  // Of its block's width: a line that ends before is the last.
constexpr std::size_t kRunningShown = 20;

double rounded_size(double size_pt) { return std::round(size_pt * 2) / 2; }

std::size_t count_letters(std::string_view text) {
  std::size_t letters = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = layout::decode_at(text, at);
    if (layout::is_letter(decoded.code)) ++letters;
    at += decoded.bytes;
  }
  return letters;
}

bool ends_sentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with(':') || text.ends_with('!') || text.ends_with('?') ||
         text.ends_with("”") || text.ends_with(')');
}

bool begins_upper(std::string_view text) {
  return !text.empty() && layout::is_upper(layout::decode_at(text, 0).code);
}

bool is_text_kind(layout::BlockKind kind) {
  return kind == layout::BlockKind::text || kind == layout::BlockKind::heading ||
         kind == layout::BlockKind::list;
}

class DraftWriter {
 public:
  DraftWriter(const LetterSizes& sizes, ReadContext& context)
      : sizes_(sizes), context_(context), out_(context.out) {}

  void write(const PageDraft& page) {
    out_.page(page.page);
    indents_.clear();
    recognised_ = page.recognised;
    width_pt_ = page.width_pt > 0 ? page.width_pt : 600;
    for (const auto& block : page.blocks) {
      if (block.kind == layout::BlockKind::header || block.kind == layout::BlockKind::footer) {
        note_running(block);
      } else if (block.kind == layout::BlockKind::table) {
        end_paragraph();
        end_code();
        end_lists();
        write_table(block);
      } else {
        write_lines(block);
      }
    }
    end_paragraph();
    end_code();
    end_lists();
  }

 private:
  void note_running(const PageDraftBlock& block) {
    std::string text;
    for (const auto& line : block.lines) text.append(text.empty() ? "" : " ").append(line.text);
    text = clean_title(text);
    std::string shape;
    for (const char c : text) {
      if (c < '0' || c > '9') shape += c;
    }
    if (count_letters(shape) < 3) return;  // A page number.
    auto& shown = context_.report.running_text;
    if (shown.size() < kRunningShown && running_.insert(shape).second) shown.push_back(text);
  }

  void write_table(const PageDraftBlock& block) {
    TableRows rows;
    for (const auto& row : block.rows) {
      auto& cells = rows.emplace_back();
      for (const auto& cell : row) cells.push_back(escaped(cell));
    }
    out_.table(rows);
  }

  // -- lines --

  bool is_heading(const PageDraftBlock& block, std::size_t at) const {
    const auto& line = block.lines[at];
    if (line.text.size() > kHeadingBytesMax || count_letters(line.text) < 2) return false;
    if (recognised_ || line.size_pt <= 0) {
      return block.kind == layout::BlockKind::heading && block.lines.size() <= kHeadingLinesMax;
    }
    if (line.fixed && !sizes_.body_is_fixed) return false;
    if (sizes_.is_heading_size(line.size_pt)) return true;
    // As large as the text, but bold and alone: only where the text around it is not.
    const bool as_large = line.size_pt * kSameSize >= sizes_.body_pt;
    if (!line.bold || !as_large || line.text.size() > kBoldHeadingBytesMax) return false;
    if (line.text.ends_with('.') || line.text.ends_with(',') || list_marker_of(line.text).bullet) {
      return false;
    }
    const bool alone_below = at + 1 == block.lines.size() || !block.lines[at + 1].bold;
    return at == 0 && alone_below;
  }

  struct Item {
    bool bullet = false;
    ListMarker marker = {};
  };
  static Item list_marker_of(std::string_view text) {
    auto marker = list_marker(text);
    return {.bullet = marker.marker == "-", .marker = std::move(marker)};
  }

  // Ends before the right edge of its block.
  bool is_short(const DraftTextLine& line) const {
    return line.x1 - left_ < kShortLine * (right_ - left_);
  }

  void write_lines(const PageDraftBlock& block) {
    end_paragraph();
    left_ = 1;
    right_ = 0;
    for (const auto& line : block.lines) {
      left_ = std::min(left_, line.x0);
      right_ = std::max(right_, line.x1);
    }
    std::size_t headings = 0;
    for (std::size_t i = 0; i < block.lines.size(); ++i) headings += is_heading(block, i) ? 1 : 0;
    const bool too_many = headings > kHeadingLinesMax && headings * 2 > block.lines.size();
    for (std::size_t i = 0; i < block.lines.size(); ++i) {
      const auto& line = block.lines[i];
      if (!too_many && is_heading(block, i)) {
        write_heading_line(line);
        continue;
      }
      end_heading();
      if (line.fixed && !sizes_.body_is_fixed) {
        add_code(line);
        continue;
      }
      end_code();
      add_line(block, i);
    }
    end_heading();
  }

  void write_heading_line(const DraftTextLine& line) {
    end_code();
    end_paragraph();
    end_lists();
    const bool goes_on = !heading_.empty() && heading_bold_ == line.bold &&
                         std::abs(heading_size_ - line.size_pt) < 0.6;
    if (!goes_on) end_heading();
    heading_.add(line.text);
    heading_size_ = line.size_pt;
    heading_bold_ = line.bold;
  }
  void end_heading() {
    if (heading_.empty()) return;
    const int level = recognised_ || heading_size_ <= 0 ? 2 : sizes_.level_of(heading_size_);
    out_.heading(level, escaped(heading_.take()));
  }

  // Where a line begins stays visible: columns of typewriter letters are 0.6 of their size wide.
  void add_code(const DraftTextLine& line) {
    end_paragraph();
    end_lists();
    if (code_.empty()) {
      code_left_ = line.x0;
    } else if (line.y0 - code_bottom_ > 0.9 * (line.y1 - line.y0)) {
      code_ += '\n';
    }
    const double letter = 0.6 * std::max(line.size_pt, 1.0F) / width_pt_;
    const auto blanks = std::clamp((line.x0 - code_left_) / letter, 0.0, 60.0);
    code_.append(static_cast<std::size_t>(std::lround(blanks)), ' ').append(line.text).append("\n");
    code_bottom_ = line.y1;
  }
  void end_code() {
    if (code_.empty()) return;
    out_.code(code_);
    code_.clear();
  }

  void add_line(const PageDraftBlock& block, std::size_t at) {
    const auto& line = block.lines[at];
    const auto item = list_marker_of(line.text);
    // A number at the start of a line may be part of a sentence that goes on.
    const bool in_sentence = at > 0 && !item.bullet && !paragraph_.empty() &&
                             !ends_sentence(block.lines[at - 1].text) && !in_item_;
    if (item.marker && !in_sentence) {
      end_paragraph();
      begin_item(item.marker, line.x0);
      paragraph_.add(item.marker.rest.substr(
          std::min(item.marker.rest.find_first_not_of(" \t"), item.marker.rest.size())));
      return;
    }
    if (!indents_.empty() && paragraph_.empty()) {
      // Behind an item: set in under it, or the list is over.
      if (left_ < indents_.back() + kIndent / 2) end_lists();
    } else if (in_item_ && line.x0 < indents_.back() - kIndent) {
      end_paragraph();
      end_lists();
    }
    if (at > 0 && !paragraph_.empty() && starts_paragraph(block, at)) end_paragraph();
    paragraph_.add(line.text);
  }

  // Set in, or behind a last line that leaves room.
  bool starts_paragraph(const PageDraftBlock& block, std::size_t at) const {
    const auto& line = block.lines[at];
    const auto& above = block.lines[at - 1];
    const bool set_in = !in_item_ && line.x0 > left_ + kIndent && above.x0 < left_ + kIndent / 2 &&
                        line.x0 < left_ + 6 * kIndent;
    if (set_in && begins_upper(line.text)) return true;
    return is_short(above) && ends_sentence(above.text) && begins_upper(line.text);
  }

  void begin_item(const ListMarker& marker, float x0) {
    while (!indents_.empty() && indents_.back() > x0 + kIndent / 2) {
      indents_.pop_back();
      out_.end_list();
    }
    if (indents_.empty() || indents_.back() < x0 - kIndent / 2) {
      indents_.push_back(x0);
      out_.begin_list();
    }
    out_.begin_item(marker.marker);
    in_item_ = true;
  }
  void end_lists() {
    for (std::size_t i = 0; i < indents_.size(); ++i) out_.end_list();
    indents_.clear();
    in_item_ = false;
  }
  void end_paragraph() {
    if (paragraph_.empty()) return;
    out_.paragraph(escaped(paragraph_.take()));
  }

  const LetterSizes& sizes_;
  ReadContext& context_;
  MarkdownWriter& out_;
  bool recognised_ = false;
  double width_pt_ = 600;
  float left_ = 0;  // Edges of the block that is being written.
  float right_ = 0;
  LineJoiner paragraph_;
  LineJoiner heading_;
  float heading_size_ = 0;
  bool heading_bold_ = false;
  std::string code_;
  float code_left_ = 0;
  float code_bottom_ = 0;
  std::vector<float> indents_;  // Where the markers of the open lists stand.
  bool in_item_ = false;
  std::set<std::string> running_;
};

}  // namespace

LetterSizes LetterSizes::of(const std::vector<PageDraft>& pages) {
  std::map<double, std::size_t> letters;  // By size.
  std::size_t all = 0;
  std::size_t fixed = 0;
  for (const auto& page : pages) {
    for (const auto& block : page.blocks) {
      if (!is_text_kind(block.kind)) continue;
      for (const auto& line : block.lines) {
        if (line.size_pt <= 0) continue;
        letters[rounded_size(line.size_pt)] += line.text.size();
        all += line.text.size();
        fixed += line.fixed ? line.text.size() : 0;
      }
    }
  }
  LetterSizes out;
  if (letters.empty()) return out;
  const auto most =
      std::ranges::max_element(letters, {}, [](const auto& one) { return one.second; });
  out.body_pt = most->first;
  out.body_is_fixed = fixed * 2 > all;
  for (auto at = letters.rbegin(); at != letters.rend(); ++at) {
    if (!out.is_heading_size(at->first)) break;
    if (!out.headings.empty() && out.headings.back() <= at->first * kSameSize) continue;
    if (out.headings.size() < kHeadingSizesMax) out.headings.push_back(at->first);
  }
  return out;
}

bool LetterSizes::is_heading_size(double size_pt) const {
  return body_pt > 0 && size_pt >= kHeadingGrowth * body_pt;
}

int LetterSizes::level_of(double size_pt) const {
  int level = 1;
  for (const auto heading : headings) {
    if (rounded_size(size_pt) * kSameSize >= heading) return level;
    ++level;
  }
  return std::min(level, 6);
}

Result<void> write_drafts(const std::vector<PageDraft>& pages, ReadContext& context) {
  const auto sizes = LetterSizes::of(pages);
  DraftWriter writer(sizes, context);
  for (const auto& page : pages) {
    writer.write(page);
    MR_TRY_VOID(context.out.state());
  }
  return context.out.state();
}

}  // namespace millrace::document
