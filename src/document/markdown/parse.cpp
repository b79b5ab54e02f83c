// parse: a document → Markdown through the sink, and what is known of it.
//
// {"op":"parse","kind":"auto","file_name":"a.md","charset":"iso-8859-2","ocr":"never|auto",
//  "ocr_pages_max":20,"languages":["eng"]} →
// {"schema":"parse/1","parser":"builtin","parser_version":"2","kind":"pdf","markdown_bytes":812,
//  "page_count":3,…}
//
// A second file may hold pages that were recognised already, one spatial/1 page per line: they
// stand in for pages without a text layer.
#include "document/bounded/mapped_file.h"
#include "document/bounded/refusal.h"
#include "document/markdown/charset.h"
#include "document/markdown/document_kind.h"
#include "document/markdown/readers.h"
#include "document/op.h"
#include "document/read/request.h"
#include "layout/page_json.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include <map>

namespace millrace::document {
namespace {

constexpr std::string_view kParser = "builtin";
constexpr std::string_view kParserVersion = "2";
constexpr double kOcrPagesMax = 5'000;
constexpr double kOcrPagesDefault = 20;  // A second each: more belong into tasks of their own.

struct ParseRequest {
  std::string kind;
  std::string file_name;
  std::string charset;
  bool ocr = false;
  std::uint32_t ocr_pages_max = 0;
  json::Array languages;
};

Result<ParseRequest> parse_request(const json::Object& request) {
  ParseRequest out;
  MR_TRY(out.kind, string_member(request, "kind", "auto"));
  MR_TRY(out.file_name, string_member(request, "file_name"));
  MR_TRY(out.charset, string_member(request, "charset"));
  MR_TRY(const auto ocr, string_member(request, "ocr", "never"));
  if (ocr != "never" && ocr != "auto") {
    return fail(ErrorKind::invalid_argument, "ocr must be never or auto");
  }
  out.ocr = ocr == "auto";
  MR_TRY(const auto pages,
         number_member(request, "ocr_pages_max", 0, kOcrPagesMax, kOcrPagesDefault));
  out.ocr_pages_max = static_cast<std::uint32_t>(pages);
  MR_TRY(const auto languages, languages_member(request));
  for (const auto& language : languages) out.languages.emplace_back(language);
  if (out.kind != "auto" && !is_document_kind(out.kind)) {
    return fail(ErrorKind::invalid_argument,
                "kind must be auto, pdf, image, html, markdown, text, mail, docx, odt, pptx, odp, "
                "xlsx or ods");
  }
  return out;
}

// Pages by recognition: those that the caller brought, then our own, as many as are allowed.
class Recognition {
 public:
  Recognition(const ParseRequest& asked, std::string kind, const OpFiles& files, OpSink& sink)
      : asked_(asked), kind_(std::move(kind)), files_(files), sink_(sink) {}

  Result<void> take_lines(std::string_view rest) {
    for (std::size_t number = 1; !rest.empty(); ++number) {
      const auto end = std::min(rest.find('\n'), rest.size());
      const auto line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) continue;
      const auto page = layout::parse_page_json(line);
      if (!page.has_value()) {
        return fail_with_context(fmt::format("pages, line {}", number), page.error());
      }
      if (!lines_.emplace(page->info.page, line).second) {
        return fail(ErrorKind::invalid_argument,
                    fmt::format("pages, line {}: page {} comes twice", number, page->info.page));
      }
    }
    return ok();
  }

  Result<std::optional<layout::PageMap>> page(std::uint32_t number) {
    if (const auto found = lines_.find(number); found != lines_.end()) {
      MR_TRY(auto map, layout::parse_page_json(found->second));
      return map;
    }
    if (!asked_.ocr || used_ >= asked_.ocr_pages_max) return std::nullopt;
    ++used_;
    const json::Object request{{"op", "read"},
                               {"kind", kind_},
                               {"page", number},
                               {"mode", "ocr"},
                               {"languages", asked_.languages}};
    MR_TRY(const auto answer, read(request, files_, sink_));
    MR_TRY(auto map, layout::page_from_json(answer.at("page")));
    if (map.words.empty()) return std::nullopt;
    return map;
  }

 private:
  const ParseRequest& asked_;
  std::string kind_;
  const OpFiles& files_;
  OpSink& sink_;
  std::map<std::uint32_t, std::string_view> lines_;
  std::uint32_t used_ = 0;
};

Result<std::string> text_of(std::string_view bytes, const ParseRequest& asked, bool html,
                            ReadContext& context) {
  if (bytes.size() > context.limits.text_bytes_max) {
    return refuse("text_bytes", "the document has more text than is allowed");
  }
  const bool declares = html || bytes.starts_with("<?xml");
  const auto label = asked.charset.empty() && declares ? html_charset(bytes) : asked.charset;
  auto decoded = decode_text(bytes, label);
  if (!decoded.has_value()) return refuse("unsupported_type", "the file is no text");
  context.report.encoding = decoded->encoding;
  if (decoded->label_unknown) context.report.warn("charset", "the charset is not known");
  if (decoded->label_wrong) context.report.warn("charset", "the text is not in its charset");
  if (decoded->guessed) {
    context.report.warn("charset_guess", "nobody says the charset; read as " + decoded->encoding);
  }
  return std::move(decoded->text);
}

Result<void> read_kind(const ParseRequest& asked, std::string_view kind, std::string_view bytes,
                       const OpFiles& files, OpSink& sink, ReadContext& context) {
  if (kind == "pdf" || kind == "image") {
    Recognition recognition(asked, std::string(kind), files, sink);
    std::optional<MappedFile> lines;
    if (files.fds.size() > 1) {
      MR_TRY(lines, MappedFile::open(files.fds[1]));
      MR_TRY_VOID(recognition.take_lines(lines->bytes()));
    }
    const PageSource source = [&](std::uint32_t page) { return recognition.page(page); };
    if (kind == "pdf") return read_pdf_file(files.fds[0], source, context);
    // What an image file consists of is known to `inspect`.
    MR_TRY(const auto inspected, inspect({{"op", "inspect"}}, files, sink));
    if (inspected.at("verdict") == "refused") {
      const auto& finding = inspected.at("findings").as_array().at(0).as_object();
      return refuse(finding.at("rule").as_string(), std::string(finding.at("detail").as_string()));
    }
    const auto pages = inspected.at("page_count").to_number<std::uint32_t>();
    return read_pictures(pages, source, context);
  }
  if (kind == "mail") return read_mail(bytes, context);
  if (kind == "html" || kind == "markdown" || kind == "text") {
    MR_TRY(const auto text, text_of(bytes, asked, kind == "html", context));
    if (kind == "html") return read_html(text, context);
    return kind == "markdown" ? read_markdown(text, context) : read_plain_text(text, context);
  }
  return read_office_file(kind, bytes, context);
}

}  // namespace

Result<json::Object> parse(const json::Object& request, const OpFiles& files, OpSink& sink) {
  MR_TRY(const auto asked, parse_request(request));
  if (files.fds.empty()) return fail(ErrorKind::invalid_argument, "there must be a file");
  const Limits limits;
  MR_TRY(const auto file, MappedFile::open(files.fds[0], limits));
  if (file.bytes().empty()) return refuse("empty", "the file has no bytes");
  auto kind = asked.kind;
  if (kind == "auto") {
    MR_TRY(kind, document_kind(file.bytes(), asked.file_name, !asked.charset.empty()));
  }
  MarkdownWriter out(sink);
  ParseReport report;
  ReadContext context{.out = out, .report = report, .limits = limits};
  MR_TRY_VOID(read_kind(asked, kind, file.bytes(), files, sink, context));
  MR_TRY_VOID(out.finish());
  json::Object result{{"schema", "parse/1"},
                      {"parser", kParser},
                      {"parser_version", kParserVersion},
                      {"kind", kind},
                      {"markdown_bytes", out.bytes()}};
  for (const auto& member : report.to_json()) result[member.key()] = member.value();
  return result;
}

}  // namespace millrace::document
