// ZIP archives in the shape of office files, or inside one.
#include "corpus.h"
#include "document/inspect/made_office.h"

namespace millrace::hostile {

using namespace document;

namespace {

constexpr std::uint64_t kMega = 1024 * 1024;

MadeZip docx() { return made_docx(docx_paragraph("text")); }

std::string with_entry(MadeEntry entry) {
  auto zip = docx();
  zip.entries.push_back(std::move(entry));
  return zip.bytes();
}

std::string with_embedded(std::string content) {
  auto zip = docx();
  return zip.add("word/embeddings/a.zip", std::move(content)).bytes();
}

// Deflate data of zeros with an honest size.
MadeEntry zeros(std::string name, std::uint64_t bytes) {
  return {.name = std::move(name),
          .packed_bytes = deflated_zeros(bytes, true),
          .declared_bytes = bytes,
          .crc = crc_of_zeros(bytes)};
}

// One kernel of zeros that many directory entries share.
std::string overlapping(int entries) {
  auto zip = docx();
  zip.entries.push_back(zeros("kernel", 8 * kMega));
  const auto honest = zip.bytes();
  const auto at = honest.find("PK\x01\x02");
  const auto last = honest.rfind("PK\x01\x02");
  const auto end = honest.rfind("PK\x05\x06");
  std::string file = honest.substr(0, at);
  std::string directory = honest.substr(at, end - at);
  for (int i = 0; i < entries; ++i) {
    auto copy = honest.substr(last, end - last);
    copy.replace(46, 6, fmt::format("k{:05}", i));
    directory += copy;
  }
  const auto count = little(zip.entries.size() + static_cast<std::size_t>(entries), 2);
  return file + directory + "PK\x05\x06" + little(0, 4) + count + count +
         little(directory.size(), 4) + little(file.size(), 4) + little(0, 2);
}

// More entries than the small directory end can say.
std::string many_parts(std::uint64_t count) {
  std::string file;
  std::string directory;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = fmt::format("word/p{}.xml", i);
    const auto offset = file.size();
    const auto common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(0, 12) +
                        little(name.size(), 2) + little(0, 2);
    file += "PK\x03\x04" + common + name;
    directory += "PK\x01\x02" + little(20, 2) + common + little(0, 2) + little(0, 4) +
                 little(0, 4) + little(offset, 4) + name;
  }
  const auto begin = file.size();
  const auto end64 = begin + directory.size();
  return file + directory + "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) +
         little(0, 8) + little(count, 8) + little(count, 8) + little(directory.size(), 8) +
         little(begin, 8) + "PK\x06\x07" + little(0, 4) + little(end64, 8) + little(1, 4) +
         "PK\x05\x06" + little(0, 4) + little(0xffff, 2) + little(0xffff, 2) +
         little(0xffffffff, 4) + little(0xffffffff, 4) + little(0, 2);
}

std::string nested(int depth, std::string inner) {
  for (int i = 0; i < depth; ++i) inner = MadeZip().add(fmt::format("{}.zip", i), inner).bytes();
  return inner;
}

// Sixteen archives of sixteen, three times over.
std::string tree_of_bombs() {
  auto inner = MadeZip{.entries = {zeros("z", 12 * kMega)}}.bytes();
  for (int level = 0; level < 2; ++level) {
    MadeZip zip;
    for (int i = 0; i < 16; ++i) zip.add(fmt::format("{}.zip", i), inner);
    inner = zip.bytes();
  }
  return inner;
}

}  // namespace

Corpus archives() {
  Corpus corpus;
  const auto add = [&](std::string name, std::string rule, std::function<std::string()> make) {
    corpus.push_back({.name = "zip: " + name,
                      .expect = Expect::refused,
                      .rule = std::move(rule),
                      .make = std::move(make)});
  };
  add("flat bomb of a gigabyte", "ratio",
      [] { return with_entry(zeros("word/media/a.bin", 1000 * kMega)); });
  add("body is a bomb", "ratio", [] {
    auto zip = docx();
    zip.entries[1] = zeros("word/document.xml", 200 * kMega);
    return zip.bytes();
  });
  add("many small bombs", "ratio", [] {
    auto zip = docx();
    const auto bomb = zeros("x", 15 * kMega);
    for (int i = 0; i < 60; ++i) {
      zip.entries.push_back(bomb);
      zip.entries.back().name = fmt::format("word/media/{}.bin", i);
    }
    return zip.bytes();
  });
  add("nested six deep", "archive_depth",
      [] { return with_embedded(nested(6, MadeZip().add("a", "b").bytes())); });
  add("nested without end, as a quine looks", "archive_depth",
      [] { return with_embedded(nested(40, "x")); });
  add("bomb in an archive in an archive", "",
      [] { return with_embedded(MadeZip{.entries = {zeros("z", 500 * kMega)}}.bytes()); });
  add("tree of bombs", "", [] { return with_embedded(tree_of_bombs()); });
  add("entries over one kernel", "", [] { return overlapping(100); });
  add("entries over one kernel, many", "", [] { return overlapping(5'000); });
  add("declares four gigabytes", "unpacked_bytes",
      [] { return with_entry({.name = "a", .content = "x", .declared_bytes = 0xfffffffe}); });
  add("declares little, has much", "zip_size", [] {
    auto entry = zeros("word/media/a.bin", 64 * kMega);
    entry.declared_bytes = 10;
    return with_entry(entry);
  });
  add("declares more than it has", "zip_size",
      [] { return with_entry({.name = "word/a.bin", .content = "x", .declared_bytes = 100}); });
  add("a hundred thousand parts", "", [] { return many_parts(100'000); });
  add("ten thousand and one parts", "", [] { return many_parts(10'001); });
  add("directory says two to the sixty-third entries", "", [] {
    auto bytes = many_parts(3);
    const auto at = bytes.find("PK\x06\x06");
    return bytes.replace(at + 24, 8, little(std::uint64_t{1} << 63, 8));
  });
  add("directory lies outside the file", "", [] {
    auto zip = docx();
    zip.directory_offset = 0x7fffffff;
    return zip.bytes();
  });
  for (const int count : {0, 1, 9, 9'999}) {
    add(fmt::format("directory counts {} entries", count), "", [count] {
      auto zip = docx();
      zip.count = static_cast<std::uint64_t>(count);
      return zip.bytes();
    });
  }
  const std::pair<const char*, std::string> names[] = {{"up and out", "../../etc/passwd"},
                                                       {"absolute", "/etc/passwd"},
                                                       {"drive", "C:\\x"},
                                                       {"zero byte", std::string("a\0b", 3)},
                                                       {"line end", "a\nb"},
                                                       {"very long", std::string(60'000, 'n')},
                                                       {"up in the middle", "word/../../x"},
                                                       {"empty", ""}};
  for (const auto& [what, name] : names) {
    add(fmt::format("name: {}", what), "archive_entry_name",
        [name] { return with_entry({.name = name, .content = "x"}); });
  }
  add("the same name twice", "zip_duplicate", [] {
    auto zip = docx();
    zip.add("word/document.xml", "<other/>");
    return zip.bytes();
  });
  add("encrypted entry", "encrypted",
      [] { return with_entry({.name = "a", .content = "x", .flags = 1}); });
  for (const int method : {1, 9, 12, 14, 93, 99}) {
    add(fmt::format("method {}", method), "zip_method", [method] {
      return with_entry(
          {.name = "a", .content = "x", .method = static_cast<std::uint16_t>(method)});
    });
  }
  add("local header with another name", "zip_structure", [] {
    return with_entry({.name = "word/good.xml", .content = "<a/>", .local_name = "word/evil.xml"});
  });
  add("entry is not where the directory says", "",
      [] { return with_entry({.name = "a", .content = "x", .header_offset = 3}); });
  add("entry lies outside the file", "",
      [] { return with_entry({.name = "a", .content = "x", .header_offset = 0xfffffff0}); });
  add("program before the archive", "", [] {
    auto zip = docx();
    zip.prefix = "MZ\x90";
    return zip.bytes();
  });
  add("junk behind the archive", "zip_structure", [] {
    auto zip = docx();
    zip.suffix = std::string(5'000, 'j');
    return zip.bytes();
  });
  add("two directories", "",
      [] { return docx().bytes() + made_docx(docx_paragraph("other")).bytes(); });
  add("wrong checksum", "damaged",
      [] { return with_entry({.name = "word/a.bin", .content = "x", .crc = 1}); });
  add("no deflate data", "damaged", [] {
    return with_entry(
        {.name = "word/a.bin", .packed_bytes = noise(3, 4'000), .declared_bytes = 9'000});
  });
  add("deflate data without an end", "damaged", [] {
    const auto data = deflated(noise(4, 9'000), true);
    return with_entry(
        {.name = "word/a.bin", .packed_bytes = data.substr(0, 4'000), .declared_bytes = 9'000});
  });
  return corpus;
}

}  // namespace millrace::hostile
