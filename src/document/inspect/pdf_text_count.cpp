#include "document/inspect/pdf_text_count.h"

#include "document/bounded/refusal.h"
#include "document/inspect/content_tokens.h"
#include "document/inspect/pdf_streams.h"

#include <string>
#include <vector>

namespace millrace::document {

namespace {

constexpr std::uint32_t kFormsDepthMax = 16;

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
  std::uint64_t total = 0;
  for (auto& stream : streams) {
    if (!stream.isStream()) continue;
    MR_TRY(const auto chars, count_stream(stream, page.resources, 0));
    total += chars;
  }
  return total;
}

Result<std::uint64_t> PdfTextCount::count_stream(QPDFObjectHandle stream,
                                                 QPDFObjectHandle resources, std::uint32_t depth) {
  const auto id = stream.getObjGen();
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second;
  if (depth > kFormsDepthMax || !open_.insert(id).second) return 0;
  std::uint64_t chars = 0;
  std::uint64_t bytes = 0;
  bool wide = false;
  std::set<std::string, std::less<>> drawn;
  ContentTokens tokens([&](const ContentTokens::Operation& operation) {
    if (shows_text(operation.name)) {
      chars += wide ? operation.string_bytes / 2 : operation.string_bytes;
    } else if (operation.name == "Tf") {
      wide = has_wide_codes(resources, operation.last_name);
    } else if (operation.name == "Do" && drawn.size() < 1'000) {
      drawn.emplace(operation.last_name);
    }
  });
  MR_TRY_VOID(filters_of(stream, limits_));
  MR_TRY_VOID(pipe_counted(stream, budget_, [&](std::string_view piece) -> Result<void> {
    bytes += piece.size();
    if (bytes > limits_.pdf_content_bytes_max) {
      return refuse("pdf_content", "the content of a page is too large");
    }
    tokens.add(piece);
    return ok();
  }));
  tokens.finish();
  auto objects =
      resources.isDictionary() ? resources.getKey("/XObject") : QPDFObjectHandle::newNull();
  for (const auto& name : drawn) {
    if (!objects.isDictionary()) break;
    auto form = objects.getKey(name);
    if (!form.isStream() || !form.getDict().getKey("/Subtype").isNameAndEquals("/Form")) continue;
    auto own = form.getDict().getKey("/Resources");
    MR_TRY(const auto inner, count_stream(form, own.isDictionary() ? own : resources, depth + 1));
    chars += inner;
  }
  open_.erase(id);
  known_.emplace(id, chars);
  return chars;
}

}  // namespace millrace::document
