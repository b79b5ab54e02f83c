#include "document/inspect/pdf_streams.h"

#include "document/bounded/refusal.h"
#include "document/inspect/image_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <qpdf/Pipeline.hh>
#include <set>

namespace millrace::document {

namespace {

constexpr std::size_t kDictionaryWithin = 4'096;  // How far before its data a dictionary is read.

// The text between "obj" and "stream", or as much of it as is near and behind `after`.
std::string_view dictionary_before(std::string_view bytes, std::size_t at, std::size_t after) {
  const auto begin = std::max(after, at - std::min(at, kDictionaryWithin));
  const auto text = bytes.substr(begin, at - begin);
  const auto object = text.rfind(" obj");
  return object == text.npos ? text : text.substr(object);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Images are judged by their size; decoders stop when they have all rows. A stream that claims to
// be an image and more is none.
bool is_plain_image(std::string_view dictionary) {
  return dictionary.find("/Image") != dictionary.npos &&
         dictionary.find("ObjStm") == dictionary.npos && dictionary.find("XRef") == dictionary.npos;
}

class RawStreams {
 public:
  RawStreams(std::string_view bytes, const Limits& limits)
      : bytes_(bytes), limits_(limits), budget_(limits, bytes.size()) {}

  Result<void> count_all() {
    constexpr std::string_view kKeyword = "stream";
    std::size_t after = 0;  // Of the last one: every byte is looked at once.
    for (auto at = bytes_.find(kKeyword); at != bytes_.npos;
         at = bytes_.find(kKeyword, at + kKeyword.size())) {
      if (at >= 3 && bytes_.substr(at - 3, 3) == "end") continue;
      auto data = at + kKeyword.size();
      while (data < bytes_.size() && (bytes_[data] == '\r' || bytes_[data] == '\n')) ++data;
      const auto dictionary = dictionary_before(bytes_, at, std::min(after, at));
      after = data;
      if (count_of(dictionary, "Decode") > 4 * std::size_t{limits_.pdf_filters_max}) {
        return refuse("pdf_filters", "a stream has too many filters");
      }
      const auto packed = bytes_.substr(data);
      if (!is_zlib_header(packed) || is_plain_image(dictionary)) continue;
      const auto filters = std::max<std::size_t>(1, count_of(dictionary, "/FlateDecode"));
      MR_TRY(const auto consumed, count(packed, filters));
      at = data + consumed - std::min(consumed, kKeyword.size());
    }
    return ok();
  }

 private:
  // Answers with the packed bytes that were data beyond doubt.
  Result<std::uint64_t> count(std::string_view packed, std::size_t filters) {
    Result<void> outcome = ok();
    std::string kept;  // Packed again inside: bounded by the floor, a bomb does not need more.
    std::uint64_t total = 0;
    const auto result =
        inflate_bytes(packed, Packing::zlib, [&](std::string_view piece, std::uint64_t consumed) {
          total += piece.size();
          outcome = budget_.add(piece.size());
          if (outcome.has_value()) outcome = budget_.check_ratio(consumed, total);
          if (outcome.has_value() && filters > 1) {
            if (kept.size() + piece.size() > limits_.ratio_floor_bytes) {
              outcome = refuse("ratio", "a stream that is packed twice is too large");
            }
            kept += piece;
          }
          return outcome.has_value();
        });
    if (!outcome.has_value()) return fail(outcome.error());
    if (filters > 1 && is_zlib_header(kept)) MR_TRY_VOID(count(kept, filters - 1));
    return result.end == InflateEnd::complete ? result.packed_bytes : 0;
  }

  std::string_view bytes_;
  const Limits& limits_;
  UnpackBudget budget_;
};

// Not an exception of the standard library: qpdf catches those and goes on.
struct StopPiping {};

class TakerPipeline final : public Pipeline {
 public:
  explicit TakerPipeline(const StreamTaker& take) : Pipeline("taker", nullptr), take_(take) {}

  void write(unsigned char const* data, size_t size) override {
    buffer_.append(reinterpret_cast<const char*>(data), size);
    if (buffer_.size() >= kPieceBytes) flush();
  }
  void finish() override { flush(); }
  const Result<void>& outcome() const { return outcome_; }

 private:
  // Some filters write byte by byte.
  static constexpr std::size_t kPieceBytes = std::size_t{64} * 1024;

  void flush() {
    if (buffer_.empty()) return;
    outcome_ = take_(buffer_);
    buffer_.clear();
    if (!outcome_.has_value()) throw StopPiping();
  }

  std::string buffer_;
  const StreamTaker& take_;
  Result<void> outcome_ = ok();
};

}  // namespace

Result<void> count_raw_streams(std::string_view bytes, const Limits& limits) {
  return RawStreams(bytes, limits).count_all();
}

Result<bool> pipe_stream(QPDFObjectHandle stream, Unpack unpack, const StreamTaker& take) {
  TakerPipeline pipeline(take);
  try {
    const auto level = unpack == Unpack::yes ? qpdf_dl_specialized : qpdf_dl_none;
    bool attempted = false;
    const bool done = stream.pipeStreamData(&pipeline, &attempted, 0, level, true);
    return done && (attempted || unpack == Unpack::no);
  } catch (const StopPiping&) {
    return fail(pipeline.outcome().error());
  }
}

Result<bool> pipe_counted(QPDFObjectHandle stream, UnpackBudget& budget, const StreamTaker& take) {
  auto length = stream.getDict().getKey("/Length");
  const auto declared = length.isInteger() ? std::max(0LL, length.getIntValue()) : 0LL;
  const auto packed = static_cast<std::uint64_t>(declared);
  std::uint64_t total = 0;
  return pipe_stream(stream, Unpack::yes, [&](std::string_view piece) -> Result<void> {
    total += piece.size();
    MR_TRY_VOID(budget.add(piece.size()));
    MR_TRY_VOID(budget.check_ratio(packed, total));
    return take(piece);
  });
}

Result<std::vector<std::string>> filters_of(QPDFObjectHandle stream, const Limits& limits) {
  auto filter = stream.getDict().getKey("/Filter");
  std::vector<std::string> names;
  if (filter.isName()) names.push_back(filter.getName());
  if (filter.isArray()) {
    const auto count = filter.getArrayNItems();
    if (count > static_cast<int>(limits.pdf_filters_max)) {
      return refuse("pdf_filters",
                    fmt::format("a stream has more than {} filters", limits.pdf_filters_max));
    }
    for (int i = 0; i < count; ++i) {
      auto item = filter.getArrayItem(i);
      names.push_back(item.isName() ? item.getName() : std::string());
    }
  }
  return names;
}

Result<void> check_object_streams(QPDF& pdf, UnpackBudget& budget, const Limits& limits) {
  std::set<int> numbers;
  for (const auto& [id, entry] : pdf.getXRefTable()) {
    if (entry.getType() == 2) numbers.insert(entry.getObjStreamNumber());
  }
  const auto table = pdf.getXRefTable();
  for (const auto number : numbers) {
    const auto own = table.find(QPDFObjGen(number, 0));
    if (own != table.end() && own->second.getType() == 2) {
      return refuse("pdf_structure", "an object stream within an object stream");
    }
    auto stream = pdf.getObject(number, 0);
    if (!stream.isStream()) continue;  // qpdf reads its objects as null.
    MR_TRY_VOID(filters_of(stream, limits));
    MR_TRY_VOID(pipe_counted(stream, budget, [](std::string_view) { return ok(); }));
  }
  return ok();
}

Result<void> check_image(QPDFObjectHandle stream, const Limits& limits) {
  auto dictionary = stream.getDict();
  const auto number = [&](const char* key) -> std::uint64_t {
    auto value = dictionary.getKey(key);
    return value.isInteger() ? static_cast<std::uint64_t>(std::max(0LL, value.getIntValue())) : 0;
  };
  const ImageSize declared{number("/Width"), number("/Height")};
  if (declared.width != 0 && declared.height != 0) MR_TRY_VOID(check_size(declared, limits));
  MR_TRY(const auto filters, filters_of(stream, limits));
  if (filters.empty()) return ok();
  const auto& codec = filters.back();
  const bool is_jpeg = codec == "/DCTDecode" || codec == "/DCT";
  if (!is_jpeg && codec != "/JPXDecode" && codec != "/JBIG2Decode") return ok();
  // Headers stand at the beginning; cameras may put much before them.
  std::string head;
  constexpr std::size_t kHeadBytes = std::size_t{256} * 1024;
  const auto piped = pipe_stream(stream, Unpack::no, [&](std::string_view piece) -> Result<void> {
    head += piece.substr(0, kHeadBytes - std::min(kHeadBytes, head.size()));
    if (head.size() >= kHeadBytes) return fail(ErrorKind::cancelled, "enough");
    return ok();
  });
  if (!piped.has_value() && piped.error().kind != ErrorKind::cancelled) return fail(piped.error());
  const auto size = is_jpeg                 ? jpeg_size(head)
                    : codec == "/JPXDecode" ? jpeg2000_size(head)
                                            : jbig2_size(head);
  if (!size.has_value()) return ok();  // Decoders will not get far either.
  return check_size(*size, limits);
}

}  // namespace millrace::document
