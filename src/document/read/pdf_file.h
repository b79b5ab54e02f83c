// PdfFile: pages of a PDF: the words of their text layer, what they consist of, their pixels.
//
// Coordinates are those of the page as it is shown: its CropBox, turned by its /Rotate, from the
// top left. Poppler does the work; only pdf_file.cpp and pdf_page_output.h know it. One thread.
#pragma once

#include "base/result.h"
#include "document/bounded/limits.h"
#include "document/bounded/mapped_file.h"
#include "document/read/page_ink.h"
#include "document/read/picture.h"
#include "layout/raw_page.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace millrace::document {

struct PdfWord {
  std::string text;
  layout::Box box = {};   // Points.
  int direction_deg = 0;  // How the text runs, as a clockwise turn from left to right.
  double font_size_pt = 0;
  bool bold = false;
  bool fixed_width = false;
};

struct PdfPageContent {
  double width_pt = 0;  // As shown.
  double height_pt = 0;
  int rotate_deg = 0;  // Its /Rotate.
  std::vector<PdfWord> words = {};
  double image_share = 0;  // Of the page, that its images cover, at most 1.
  double image_dpi = 0;    // Of the largest one; 0 when there is none.
  int images = 0;
  int drawings = 0;                        // Paths that are filled or drawn.
  int visible_chars = 0;                   // Of its text, drawn so that they can be seen,
  int invisible_chars = 0;                 // and not: those that somebody's recognition has left.
  bool one_image = false;                  // Nothing to be seen but one image that covers the page.
  std::vector<layout::Box> pictures = {};  // Where images lie.
  PageInk ink = {};
};

// A check box or a radio button of the form that comes with the file.
struct PdfField {
  layout::Box box = {};  // Points.
  bool checked = false;  // As the page shows it.
};

struct PdfPageSize {
  double width_pt = 0;  // As shown.
  double height_pt = 0;
  int rotate_deg = 0;  // Its /Rotate.
};

class PdfFile {
 public:
  static Result<PdfFile> open(MappedFile file, const Limits& limits = {});
  ~PdfFile();
  PdfFile(PdfFile&&) noexcept;
  PdfFile& operator=(PdfFile&&) noexcept;

  std::uint32_t page_count() const;
  std::string title() const;  // As its properties have it, UTF-8; empty when they do not.
  // not_found when there is no such page; counted from 1.
  Result<PdfPageSize> size(std::uint32_t page);
  Result<PdfPageContent> content(std::uint32_t page);

  // Those that can be seen.
  std::vector<PdfField> fields(std::uint32_t page);

  // The page's only image as it is stored, turned as it is shown; nothing when it has to be
  // rendered after all.
  Result<std::optional<Picture>> stored_image(std::uint32_t page, const PdfPageContent& content);
  // Rendered at this resolution, or less when it would be too many pixels.
  Result<Picture> render(std::uint32_t page, double dpi);
  Result<ColourPicture> render_colour(std::uint32_t page, double dpi);

  // Loads what Poppler shares between files, before anybody forks.
  static void warm_up();

 private:
  struct State;
  explicit PdfFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace millrace::document
