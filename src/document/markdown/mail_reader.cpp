// E-mails: who wrote to whom, the text (plain where there is one, else HTML), and a list of what is
// attached. Attachments are not opened.
#include "document/bounded/refusal.h"
#include "document/markdown/charset.h"
#include "document/markdown/escape.h"
#include "document/markdown/mime.h"
#include "document/markdown/readers.h"
#include "layout/code_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace millrace::document {
namespace {

constexpr int kDepthMax = 8;
constexpr std::size_t kPartsMax = 1'000;
constexpr std::size_t kAttachmentsShown = 200;

struct Attachment {
  std::string name;
  std::string type;
  std::uint64_t size_bytes = 0;
};

struct Part {
  MimeHeaders headers;
  std::string_view body;
  MimeValue type;
  std::string encoding;

  static Part of(std::string_view bytes) {
    Part part;
    part.headers = MimeHeaders::take(bytes);
    part.body = bytes;
    part.type = parse_mime_value(part.headers.get("content-type"));
    if (part.type.value.empty()) part.type.value = "text/plain";
    part.encoding = layout::to_lower(part.headers.get("content-transfer-encoding"));
    return part;
  }
  bool is_multipart() const { return type.value.starts_with("multipart/"); }
};

class MailReader {
 public:
  explicit MailReader(ReadContext& context) : context_(context) {}

  Result<void> run(std::string_view bytes) {
    const auto message = Part::of(bytes);
    write_head(message.headers);
    MR_TRY_VOID(read(message, 0));
    write_attachments();
    return context_.out.state();
  }

 private:
  void write_head(const MimeHeaders& headers) {
    auto& out = context_.out;
    const auto subject = clean_title(decode_header(headers.get("subject")));
    context_.report.title = subject;
    if (!subject.empty()) out.heading(1, escaped(subject));
    struct Shown {
      std::string_view field;
      std::string_view label;
    };
    static constexpr Shown kShown[] = {
        {"from", "From"}, {"to", "To"}, {"cc", "Cc"}, {"date", "Date"}, {"reply-to", "Reply-To"}};
    out.begin_list();
    for (const auto& [field, label] : kShown) {
      constexpr std::size_t kValueMax = 4'000;
      auto value = decode_header(headers.get(field));
      if (value.empty()) continue;
      if (value.size() > kValueMax) {
        value.resize(kValueMax);
        while (!value.empty() && !layout::is_utf8(value)) value.pop_back();
        value += " …";
      }
      out.begin_item("-");
      out.paragraph(fmt::format("**{}:** {}", label, escaped(value)));
    }
    out.end_list();
  }

  // What to take of a part: of one that is shown in another form only what hangs on it.
  enum class Take { all, attachments };

  Result<void> read(const Part& part, int depth, Take take = Take::all) {
    if (depth > kDepthMax) {
      context_.report.warn("depth", "parts within parts were left out");
      return ok();
    }
    if (part.is_multipart()) return read_parts(part, depth, take);
    const auto disposition = parse_mime_value(part.headers.get("content-disposition"));
    auto name = std::string(disposition.parameter("filename"));
    if (name.empty()) name = part.type.parameter("name");
    const bool plain = part.type.value == "text/plain";
    const bool html = part.type.value == "text/html";
    const bool marked = disposition.value == "attachment";
    if (take == Take::attachments) {
      // The text once more, in whatever form; an invitation is more than that. What the text shows
      // by its id, a logo, is part of it.
      const bool again = part.type.value.starts_with("text/") &&
                         part.type.value != "text/calendar" && name.empty();
      const bool shown_in_it = !part.headers.get("content-id").empty();
      if (!marked && (again || shown_in_it)) return ok();
    }
    if (marked || !(plain || html) || take == Take::attachments) {
      attachments_.push_back({.name = clean_title(name),
                              .type = clean_title(part.type.value),
                              .size_bytes = decoded_size(part.body, part.encoding)});
      return ok();
    }
    return read_text(part, html);
  }

  Result<void> read_parts(const Part& part, int depth, Take take) {
    const auto found =
        split_multipart(part.body, part.type.parameter("boundary"), kPartsMax - parts_);
    if (found.empty()) {
      context_.report.warn("mime", "a message in parts has none");
      if (take == Take::attachments) return ok();
      Part text = part;
      text.type = {.value = "text/plain"};
      return read_text(text, false);
    }
    parts_ += found.size();
    if (parts_ >= kPartsMax) context_.report.warn("parts", "the message has too many parts");
    std::vector<Part> parts;
    for (const auto bytes : found) parts.push_back(Part::of(bytes));
    const bool alternative = part.type.value == "multipart/alternative";
    if (!alternative || take == Take::attachments) {
      for (const auto& one : parts) MR_TRY_VOID(read(one, depth + 1, take));
      return ok();
    }
    // The same in several forms: plain text if it says something, else the last, which is the
    // richest.
    const auto plain = std::ranges::find_if(parts, [](const Part& one) {
      return one.type.value == "text/plain" &&
             decode_transfer(one.body, one.encoding).find_first_not_of(" \t\r\n") !=
                 std::string::npos;
    });
    const auto html = std::ranges::find_if(
        parts, [](const Part& one) { return one.type.value == "text/html" || one.is_multipart(); });
    const auto chosen = plain != parts.end() ? plain : html != parts.end() ? html : parts.end() - 1;
    for (auto one = parts.begin(); one != parts.end(); ++one) {
      const bool shown = one == chosen;
      MR_TRY_VOID(read(*one, depth + 1, shown ? Take::all : Take::attachments));
    }
    return ok();
  }

  Result<void> read_text(const Part& part, bool html) {
    auto bytes = decode_transfer(part.body, part.encoding);
    text_bytes_ += bytes.size();
    if (text_bytes_ > context_.limits.text_bytes_max) {
      return refuse("text_bytes", "the message has more text than is allowed");
    }
    auto label = std::string(part.type.parameter("charset"));
    if (label.empty() && html) label = html_charset(bytes);
    auto decoded = decode_text(bytes, label);
    if (!decoded.has_value()) {
      context_.report.warn("no_text", "a part that says to be text is none");
      return ok();
    }
    if (decoded->label_unknown) context_.report.warn("charset", "a charset is not known");
    bytes.clear();
    // What a part says of pages and titles is not the message's.
    ParseReport inner;
    ReadContext context{.out = context_.out, .report = inner, .limits = context_.limits};
    if (html) return read_html(decoded->text, context);
    auto& text = decoded->text;
    std::ranges::replace(text, '\f', '\n');
    if (layout::to_lower(part.type.parameter("format")) == "flowed") text = unflowed(text);
    return read_plain_text(text, context);
  }

  // Lines that end with a blank go on in the next (RFC 3676).
  static std::string unflowed(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      auto line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      const bool goes_on = line.ends_with(' ') && line != "-- " && !text.starts_with('>');
      if (line.starts_with(' ')) line.remove_prefix(1);
      out.append(line);
      if (!goes_on) out += '\n';
    }
    return out;
  }

  void write_attachments() {
    if (attachments_.empty()) return;
    auto& out = context_.out;
    out.heading(2, "Attachments");
    out.begin_list();
    std::size_t shown = 0;
    for (const auto& attachment : attachments_) {
      if (++shown > kAttachmentsShown) break;
      const auto name =
          attachment.name.empty() ? std::string("without a name") : escaped(attachment.name);
      out.begin_item("-");
      out.paragraph(
          fmt::format("{} ({}, {} bytes)", name, escaped(attachment.type), attachment.size_bytes));
    }
    out.end_list();
    context_.report.warn("attachments", "attachments were not opened");
  }

  ReadContext& context_;
  std::vector<Attachment> attachments_;
  std::size_t parts_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

Result<void> read_mail(std::string_view bytes, ReadContext& context) {
  return MailReader(context).run(bytes);
}

}  // namespace millrace::document
