#include "document/inspect/pdf_text_count.h"

#include "document/bounded/refusal.h"
#include "document/inspect/content_tokens.h"
#include "document/inspect/pdf_streams.h"

#include <algorithm>
#include <string>
#include <vector>

namespace millrace::document {

namespace {

constexpr std::size_t kNamesMax = 10'000;  // Of forms that one stream draws.

bool has_wide_codes(QPDFObjectHandle resources, std::string_view font) {
  if (!resources.isDictionary()) return false;
  auto fonts = resources.getKey("/Font");
  if (!fonts.isDictionary()) return false;
  auto entry = fonts.getKey(std::string(font));
  return entry.isDictionary() && entry.getKey("/Subtype").isNameAndEquals("/Type0");
}

bool shows_text(std::string_view name) {
  return name == "Tj" || name == "TJ" || name == "'" || name == "\"";
}

}  // namespace

Result<std::uint64_t> PdfTextCount::count(const PdfPage& page) {
  auto object = page.object;
  auto contents = object.getKey("/Contents");
  std::vector<QPDFObjectHandle> streams;
  if (contents.isStream()) streams.push_back(contents);
  if (contents.isArray()) streams = contents.getArrayAsVector();
  Counted total;
  for (auto& stream : streams) {
    if (!stream.isStream()) continue;
    MR_TRY(const auto counted, count_stream(stream, page.resources, 0));
    total.chars += counted.chars;
    total.drawn_bytes += counted.drawn_bytes;
    MR_TRY_VOID(check_drawn(total));
  }
  return total.chars;
}

Result<void> PdfTextCount::check_drawn(const Counted& counted) const {
  if (counted.drawn_bytes <= limits_.pdf_drawn_bytes_max) return ok();
  return refuse("pdf_content", "a page draws too much");
}

Result<PdfTextCount::Counted> PdfTextCount::count_own(QPDFObjectHandle stream,
                                                      QPDFObjectHandle resources,
                                                      std::map<std::string, std::uint64_t>& drawn) {
  Counted counted;
  bool wide = false;
  std::uint32_t saved = 0;
  std::uint32_t saved_most = 0;
  ContentTokens tokens([&](const ContentTokens::Operation& operation) {
    if (shows_text(operation.name)) {
      counted.chars += wide ? operation.string_bytes / 2 : operation.string_bytes;
    } else if (operation.name == "Tf") {
      wide = has_wide_codes(resources, operation.last_name);
    } else if (operation.name == "q") {
      saved_most = std::max(saved_most, ++saved);
    } else if (operation.name == "Q") {
      saved -= saved > 0 ? 1 : 0;
    } else if (operation.name == "Do" && drawn.size() < kNamesMax) {
      ++drawn[std::string(operation.last_name)];
    }
  });
  MR_TRY_VOID(filters_of(stream, limits_));
  MR_TRY_VOID(pipe_counted(stream, budget_, [&](std::string_view piece) -> Result<void> {
    counted.drawn_bytes += piece.size();
    if (counted.drawn_bytes > limits_.pdf_content_bytes_max) {
      return refuse("pdf_content", "the content of a page is too large");
    }
    tokens.add(piece);
    if (saved_most > limits_.pdf_saved_states_max) {
      return refuse("pdf_content", "a page saves its state too often");
    }
    return ok();
  }));
  tokens.finish();
  return counted;
}

Result<PdfTextCount::Counted> PdfTextCount::count_stream(QPDFObjectHandle stream,
                                                         QPDFObjectHandle resources,
                                                         std::uint32_t depth) {
  const auto id = stream.getObjGen();
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second;
  if (depth > limits_.pdf_forms_depth_max) return refuse("pdf_content", "forms within forms");
  // A form that draws itself: renderers stop there too.
  if (!open_.insert(id).second) return Counted{};
  std::map<std::string, std::uint64_t> drawn;
  MR_TRY(auto counted, count_own(stream, resources, drawn));
  auto objects =
      resources.isDictionary() ? resources.getKey("/XObject") : QPDFObjectHandle::newNull();
  for (const auto& [name, times] : drawn) {
    if (!objects.isDictionary()) break;
    auto form = objects.getKey(name);
    if (!form.isStream() || !form.getDict().getKey("/Subtype").isNameAndEquals("/Form")) continue;
    auto own = form.getDict().getKey("/Resources");
    MR_TRY(const auto inner, count_stream(form, own.isDictionary() ? own : resources, depth + 1));
    counted.chars += inner.chars * times;
    counted.drawn_bytes += inner.drawn_bytes * times;  // Both are below 2^32: no overflow.
    MR_TRY_VOID(check_drawn(counted));
  }
  open_.erase(id);
  known_.emplace(id, counted);
  return counted;
}

}  // namespace millrace::document
