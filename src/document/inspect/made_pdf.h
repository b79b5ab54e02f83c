// MadePdf: PDF files for tests, written by hand so that everything in them can be wrong. For tests
// only.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millrace::document {

inline std::string pdf_stream(std::string_view dictionary, std::string_view data) {
  return fmt::format("<< {} /Length {} >>\nstream\n", dictionary, data.size())
      .append(data)
      .append("\nendstream");
}

class MadePdf {
 public:
  // A catalog (1), a page tree (2) and a font (3); pages come after these.
  MadePdf() {
    set(1, "<< /Type /Catalog /Pages 2 0 R >>");
    set(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  }

  int add(std::string body) {
    const auto number = next_;
    set(number, std::move(body));
    return number;
  }
  MadePdf& set(int number, std::string body) {
    objects_[number] = std::move(body);
    next_ = std::max(next_, number + 1);
    return *this;
  }
  MadePdf& catalog(std::string_view extra) {
    return set(1, fmt::format("<< /Type /Catalog /Pages 2 0 R {} >>", extra));
  }

  // A page that shows a text; `extra` goes into its dictionary.
  MadePdf& page(std::string_view text = "Hello patient", std::string_view extra = {}) {
    const auto content =
        add(pdf_stream("", fmt::format("BT /F1 12 Tf 72 720 Td ({}) Tj ET", text)));
    return page_of(content, extra);
  }
  MadePdf& page_of(int content, std::string_view extra = {}) {
    const bool sized = extra.find("/MediaBox") != extra.npos;
    kids_ += fmt::format("{} 0 R ",
                         add(fmt::format("<< /Type /Page /Parent 2 0 R {} /Contents {} 0 R "
                                         "/Resources << /Font << /F1 3 0 R >> >> {} >>",
                                         sized ? "" : "/MediaBox [0 0 612 792]", content, extra)));
    ++pages_;
    return *this;
  }

  std::string bytes() const {
    auto objects = objects_;
    if (!objects.contains(2)) {
      objects[2] =
          fmt::format("<< /Type /Pages /Count {} /Kids [{}] >>", count.value_or(pages_), kids_);
    }
    std::string file = header;
    std::map<int, std::size_t> places;
    for (const auto& [number, body] : objects) {
      places[number] = file.size();
      file += fmt::format("{} 0 obj\n", number) + body + "\nendobj\n";
    }
    const auto begin = file.size();
    const auto last = objects.empty() ? 0 : objects.rbegin()->first;
    file += fmt::format("xref\n0 {}\n0000000000 65535 f \n", last + 1);
    for (int i = 1; i <= last; ++i) {
      const auto found = places.find(i);
      file += found == places.end() ? std::string("0000000000 65535 f \n")
                                    : fmt::format("{:010} 00000 n \n", found->second);
    }
    return file + fmt::format("trailer\n<< /Size {} /Root 1 0 R {} >>\nstartxref\n{}\n%%EOF\n",
                              last + 1, trailer, begin);
  }

  std::string header = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
  std::string trailer = {};
  std::optional<std::int64_t> count = {};

 private:
  std::map<int, std::string> objects_;
  std::string kids_;
  int next_ = 4;
  int pages_ = 0;
};

}  // namespace millrace::document
