#include "document/markdown/charset.h"

#include "document/markdown/html_tokens.h"
#include "document/office/charset_guess.h"
#include "document/office/text_encoding.h"
#include "layout/code_points.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iconv.h>
#include <iterator>

namespace millrace::document {
namespace {

constexpr std::size_t kPrescanBytes = 4'096;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Charset {
  std::string_view label;  // Without anything but letters and digits.
  std::string_view name;   // For people.
  const char* iconv_name;  // Null: ours.
};

// Labels as pages and mails use them. The older one of two that differ little stands for its
// superset, as it does in browsers: gb2312 is read as gb18030, iso-8859-1 as windows-1252.
constexpr Charset kCharsets[] = {
    {"utf8", "utf-8", nullptr},
    {"unicode11utf8", "utf-8", nullptr},
    {"utf16", "utf-16le", nullptr},
    {"utf16le", "utf-16le", nullptr},
    {"utf16be", "utf-16be", nullptr},
    {"usascii", "windows-1252", nullptr},
    {"ascii", "windows-1252", nullptr},
    {"iso88591", "windows-1252", nullptr},
    {"latin1", "windows-1252", nullptr},
    {"windows1252", "windows-1252", nullptr},
    {"cp1252", "windows-1252", nullptr},
    {"iso88592", "iso-8859-2", "ISO-8859-2"},
    {"latin2", "iso-8859-2", "ISO-8859-2"},
    {"iso88593", "iso-8859-3", "ISO-8859-3"},
    {"iso88594", "iso-8859-4", "ISO-8859-4"},
    {"iso88595", "iso-8859-5", "ISO-8859-5"},
    {"iso88596", "iso-8859-6", "ISO-8859-6"},
    {"iso88597", "iso-8859-7", "ISO-8859-7"},
    {"iso88598", "iso-8859-8", "ISO-8859-8"},
    {"iso88598i", "iso-8859-8", "ISO-8859-8"},
    {"iso88599", "windows-1254", "CP1254"},
    {"iso885910", "iso-8859-10", "ISO-8859-10"},
    {"iso885913", "iso-8859-13", "ISO-8859-13"},
    {"iso885914", "iso-8859-14", "ISO-8859-14"},
    {"iso885915", "iso-8859-15", "ISO-8859-15"},
    {"iso885916", "iso-8859-16", "ISO-8859-16"},
    {"windows1250", "windows-1250", "CP1250"},
    {"cp1250", "windows-1250", "CP1250"},
    {"windows1251", "windows-1251", "CP1251"},
    {"cp1251", "windows-1251", "CP1251"},
    {"windows1253", "windows-1253", "CP1253"},
    {"windows1254", "windows-1254", "CP1254"},
    {"windows1255", "windows-1255", "CP1255"},
    {"windows1256", "windows-1256", "CP1256"},
    {"windows1257", "windows-1257", "CP1257"},
    {"windows1258", "windows-1258", "CP1258"},
    {"koi8r", "koi8-r", "KOI8-R"},
    {"koi8u", "koi8-u", "KOI8-U"},
    {"ibm866", "ibm866", "IBM866"},
    {"cp866", "ibm866", "IBM866"},
    {"ibm437", "ibm437", "IBM437"},
    {"ibm850", "ibm850", "IBM850"},
    {"macintosh", "macintosh", "MACINTOSH"},
    {"tis620", "windows-874", "CP874"},
    {"windows874", "windows-874", "CP874"},
    {"gb2312", "gb18030", "GB18030"},
    {"gbk", "gb18030", "GB18030"},
    {"gb18030", "gb18030", "GB18030"},
    {"big5", "big5", "BIG5-HKSCS"},
    {"shiftjis", "shift_jis", "CP932"},
    {"sjis", "shift_jis", "CP932"},
    {"windows31j", "shift_jis", "CP932"},
    {"eucjp", "euc-jp", "EUC-JP"},
    {"iso2022jp", "iso-2022-jp", "ISO-2022-JP"},
    {"euckr", "euc-kr", "CP949"},
    {"ksc56011987", "euc-kr", "CP949"},
};

const Charset* find_charset(std::string_view label) {
  std::string key;
  for (const char c : layout::to_lower(label.substr(0, 64))) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) key += c;
  }
  const auto* found = std::ranges::find(kCharsets, std::string_view(key), &Charset::label);
  return found == std::end(kCharsets) ? nullptr : found;
}

// One per charset and process; children find here what their parent has loaded.
iconv_t converter_of(const Charset& charset) {
  static std::array<iconv_t, std::size(kCharsets)> opened = {};
  auto& converter = opened[static_cast<std::size_t>(&charset - kCharsets)];
  if (converter == nullptr) converter = iconv_open("UTF-8", charset.iconv_name);
  return converter;
}

bool is_open(iconv_t converter) { return converter != reinterpret_cast<iconv_t>(-1); }

std::optional<std::string> convert(std::string_view bytes, const Charset& charset) {
  const auto converter = converter_of(charset);
  if (!is_open(converter)) return std::nullopt;
  iconv(converter, nullptr, nullptr, nullptr, nullptr);  // As if it were new.
  std::string out;
  std::array<char, 16 * 1024> piece;
  auto* in = const_cast<char*>(bytes.data());  // iconv only reads it.
  auto left = bytes.size();
  while (left > 0) {
    auto* to = piece.data();
    auto room = piece.size();
    const auto converted = iconv(converter, &in, &left, &to, &room);
    const int error = errno;
    out.append(piece.data(), piece.size() - room);
    if (converted != static_cast<std::size_t>(-1) || error == E2BIG) continue;
    out += kReplacement;
    if (left == 0 || error == EINVAL) break;  // The last character is cut off.
    ++in;
    --left;
  }
  return out;
}

std::optional<TextEncoding> encoding_of(const Charset& charset) {
  if (charset.name == "utf-8") return TextEncoding::utf8;
  if (charset.name == "utf-16le") return TextEncoding::utf16_le;
  if (charset.name == "utf-16be") return TextEncoding::utf16_be;
  if (charset.name == "windows-1252") return TextEncoding::latin1;
  return std::nullopt;
}

std::string valid_utf8(std::string text) {
  if (layout::is_utf8(text)) return text;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto decoded = layout::decode_at(text, at);
    if (decoded.valid)
      out.append(text, at, decoded.bytes);
    else
      out += kReplacement;
    at += decoded.bytes;
  }
  return out;
}

DecodedText made_of(std::string_view bytes, TextEncoding encoding) {
  return {.text = valid_utf8(to_utf8(bytes, encoding)),
          .encoding = std::string(to_string(encoding))};
}

std::optional<TextEncoding> marked_encoding(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) return TextEncoding::utf8;
  if (bytes.starts_with("\xff\xfe")) return TextEncoding::utf16_le;
  if (bytes.starts_with("\xfe\xff")) return TextEncoding::utf16_be;
  return std::nullopt;
}

// encoding="…" of an XML declaration.
std::string xml_charset(std::string_view bytes) {
  const auto head = bytes.substr(0, std::min(bytes.find("?>"), kPrescanBytes));
  const auto at = head.find("encoding");
  const auto open = at == head.npos ? at : head.find_first_of("\"'", at);
  if (open == head.npos) return {};
  const auto close = head.find(head[open], open + 1);
  return close == head.npos ? std::string() : std::string(head.substr(open + 1, close - open - 1));
}

}  // namespace

void warm_up_charsets() {
  guess_charset("\xcf\xf0\xe8\xe2\xe5\xf2");
  for (const auto& charset : kCharsets) {
    if (charset.iconv_name != nullptr) converter_of(charset);
  }
}

bool is_known_charset(std::string_view label) {
  const auto* charset = find_charset(label);
  return charset != nullptr && (charset->iconv_name == nullptr || is_open(converter_of(*charset)));
}

std::optional<std::string> decode(std::string_view bytes, std::string_view label) {
  const auto* charset = find_charset(label);
  if (charset == nullptr) return std::nullopt;
  if (const auto encoding = encoding_of(*charset)) return made_of(bytes, *encoding).text;
  return convert(bytes, *charset);
}

std::optional<DecodedText> decode_text(std::string_view bytes, std::string_view label) {
  if (const auto marked = marked_encoding(bytes)) return made_of(bytes, *marked);
  const auto* charset = label.empty() ? nullptr : find_charset(label);
  const bool unknown = !label.empty() && charset == nullptr;
  const auto ours = charset == nullptr ? std::nullopt : encoding_of(*charset);
  // Hardly any text of another charset is UTF-8 by chance, and many labels were never true. One in
  // escape sequences is ASCII all through; in UTF-16 every other byte of a Western text is 0.
  const bool escaped =
      charset != nullptr && charset->name == "iso-2022-jp" && bytes.contains('\x1b');
  const bool believed = ours == TextEncoding::utf8 || ours == TextEncoding::latin1;
  if (!escaped && layout::is_utf8(bytes) && (believed || is_plain(bytes))) {
    auto out = made_of(bytes, TextEncoding::utf8);
    out.label_unknown = unknown;
    return out;
  }
  if (ours == TextEncoding::latin1) return made_of(bytes, TextEncoding::latin1);
  if (charset != nullptr && !ours.has_value()) {
    if (auto text = convert(bytes, *charset)) {
      return DecodedText{.text = *std::move(text), .encoding = std::string(charset->name)};
    }
  }
  const auto wide = detect_encoding(bytes);
  const bool is_wide = wide == TextEncoding::utf16_le || wide == TextEncoding::utf16_be;
  const auto* const guess =
      is_wide || !is_plain(bytes) ? nullptr : find_charset(guess_charset(bytes));
  std::optional<DecodedText> out;
  if (guess != nullptr && !encoding_of(*guess).has_value()) {
    if (auto text = convert(bytes, *guess)) {
      out = DecodedText{.text = *std::move(text), .encoding = std::string(guess->name)};
    }
  }
  if (!out.has_value() && wide.has_value()) out = made_of(bytes, *wide);
  if (!out.has_value()) return std::nullopt;
  out->label_unknown = unknown;
  // Who says UTF-8 and writes something else is not believed.
  out->label_wrong = ours == TextEncoding::utf8 || (ours.has_value() && !is_wide);
  out->guessed = !is_wide || !ours.has_value();
  return out;
}

std::string html_charset(std::string_view bytes) {
  if (bytes.starts_with("<?xml")) {
    if (auto charset = xml_charset(bytes); !charset.empty()) return charset;
  }
  HtmlTokens tokens(bytes.substr(0, kPrescanBytes));
  for (;;) {
    const auto token = tokens.next();
    if (token.kind == HtmlToken::Kind::end_of_text) return {};
    if (token.kind != HtmlToken::Kind::start || token.name != "meta") continue;
    if (auto charset = token.attribute("charset"); !charset.empty()) return charset;
    if (layout::to_lower(token.attribute("http-equiv")) != "content-type") continue;
    const auto content = layout::to_lower(token.attribute("content"));
    const auto at = content.find("charset=");
    if (at == std::string::npos) continue;
    auto charset = content.substr(at + 8);
    charset.resize(std::min(charset.find_first_of(" ;\"'"), charset.size()));
    return charset;
  }
}

}  // namespace millrace::document
