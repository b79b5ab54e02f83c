// Limits: how much of anything a document may have. One table for all operations that read one.
//
// Every number is checked while something is counted, not after it has been unpacked. A document
// over a limit is refused with the rule beside it; nothing is cut off silently.
#pragma once

#include <cstddef>
#include <cstdint>

namespace millrace::document {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

struct Limits {
  // The file and what it unpacks to.
  std::uint64_t file_bytes_max = 256 * kMiB;  // file_too_large
  std::uint64_t unpacked_bytes_max =
      1024 * kMiB;                // unpacked_bytes: all streams or entries together
  std::uint64_t ratio_max = 100;  // ratio: unpacked to packed
  // Blank pages and empty tables pack better than 1:100; below this size nobody is hurt by them.
  std::uint64_t ratio_floor_bytes = 16 * kMiB;

  // Pages and pixels.
  std::uint32_t pages_max = 5'000;             // page_count
  std::uint64_t pixels_max = 100'000'000;      // pixels: of one page, frame or image in a page
  double page_side_pt_max = 20'000;            // page_size
  std::uint32_t image_frames_max = 5'000;      // page_count
  std::uint32_t image_segments_max = 100'000;  // image_segments: chunks, markers, blocks of a file

  // Archives: office files, and archives inside them.
  std::uint32_t archive_entries_max = 10'000;    // archive_entries
  std::uint32_t archive_depth_max = 3;           // archive_depth
  std::size_t entry_name_bytes_max = 512;        // archive_entry_name
  std::uint64_t embedded_bytes_max = 64 * kMiB;  // embedded_size: a file in a file, held in memory

  // XML.
  std::uint32_t xml_depth_max = 256;             // xml_depth
  std::uint64_t xml_token_bytes_max = 4 * kMiB;  // xml_token: a tag or comment without an end
  std::uint64_t xml_elements_max = 20'000'000;   // xml_elements

  // PDF.
  std::uint32_t pdf_objects_max = 1'000'000;  // pdf_objects
  std::uint32_t pdf_tree_depth_max = 64;      // pdf_page_tree, and of names and fields
  std::uint32_t pdf_filters_max = 4;          // pdf_filters: of one stream
  std::uint64_t pdf_visits_max = 5'000'000;   // pdf_complexity: objects looked at for all pages
  std::uint64_t pdf_content_bytes_max = 64 * kMiB;  // pdf_content: of one page
  // pdf_content too: a page with every form as often as it is drawn, forms within forms, and states
  // that are saved and not yet restored. Renderers pay for each of them.
  std::uint64_t pdf_drawn_bytes_max = 256 * kMiB;
  std::uint32_t pdf_forms_depth_max = 32;
  std::uint32_t pdf_saved_states_max = 10'000;

  // Text of office and text files.
  std::uint64_t text_bytes_max = 64 * kMiB;   // text_bytes
  std::uint32_t table_columns_max = 1'024;    // table_columns
  std::uint64_t table_cells_max = 5'000'000;  // table_cells

  // What is said about a file.
  std::uint32_t findings_max = 100;  // More flags are left out; refusals are not.
};

}  // namespace millrace::document
