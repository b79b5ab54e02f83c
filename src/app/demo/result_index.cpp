#include "app/demo/result_index.h"

#include "app/bench/svg.h"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <fmt/format.h>

namespace millrace::app {
namespace {

std::string row_of(const IndexEntry& entry) {
  const auto folder = boost::urls::encode(entry.file, boost::urls::unreserved_chars);
  std::string links;
  std::string picture;
  for (const auto& [kind, name] : entry.outputs) {
    if (kind == "picture") {
      picture =
          fmt::format("<a href=\"{0}/{1}\"><img src=\"{0}/{1}\" alt=\"page 1\"></a>", folder, name);
      continue;
    }
    links += fmt::format("<a href=\"{}/{}\">{}</a> ", folder, name, escape_xml(kind));
  }
  return fmt::format(
      "<tr><td>{}</td><td><b>{}</b><br><span class=\"{}\">{}</span><br>{}</td><td>{}</td></tr>\n",
      picture, escape_xml(entry.file), escape_xml(entry.state), escape_xml(entry.state),
      escape_xml(entry.rules), links);
}

}  // namespace

std::string result_index(const std::vector<IndexEntry>& entries) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Millrace: the "
      "documents of the demo</title>\n<style>body{font:15px/1.5 sans-serif;margin:2rem "
      "auto;max-width:60rem}table{border-collapse:collapse;width:100%}td{border-top:1px solid "
      "#ddd;padding:.6rem;vertical-align:top}img{height:9rem;border:1px solid "
      "#ccc}.completed{color:#176f2c}.partial{color:#8a6100}.rejected,.failed{color:#a01717}"
      "</style></head><body>\n<h1>What became of the documents</h1>\n<table>\n";
  for (const auto& entry : entries) out += row_of(entry);
  return out + "</table></body></html>\n";
}

}  // namespace millrace::app
