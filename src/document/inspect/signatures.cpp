#include "document/inspect/signatures.h"

#include "layout/code_points.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace millrace::document {

namespace {

struct Signature {
  std::string_view rule;
  std::string_view detail;
  // Two halves that are joined when the program starts: scanners must not find the pattern in our
  // own source or binary.
  std::string_view first;
  std::string_view second;
};

// Found anywhere.
constexpr Signature kPatterns[] = {
    {"eicar_test_file", "the test file of virus scanners", "X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR",
     "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"},
    {"embedded_executable", "a Windows program within the document", "This program cannot be run",
     " in DOS mode"},
    {"embedded_executable", "a Windows program in base64 within the document", "TVqQAAMAAAAEA",
     "AAA//8AALg"},
    {"dropper_command", "a command that fetches and runs a program", "powershell -nop -w hidden",
     " -enc"},
    {"dropper_command", "a command that fetches and runs a program", "powershell.exe -nop -w hid",
     "den -e"},
    {"dropper_command", "a command that fetches and runs a program", "WScript.Shell\").Run",
     "(\"cmd"},
};

// Found where an embedded file begins.
constexpr std::pair<std::string_view, std::string_view> kProgramStarts[] = {
    {std::string_view("MZ"), "a Windows program"},
    {std::string_view("\x7f"
                      "ELF"),
     "a Linux program"},
    {std::string_view("\xca\xfe\xba\xbe"), "a Java or macOS program"},
    {std::string_view("\xcf\xfa\xed\xfe"), "a macOS program"},
    {std::string_view("#!"), "a script"},
    {std::string_view("L\0\0\0\x01\x14\x02\0", 8), "a Windows shortcut"},
};

constexpr std::string_view kProgramExtensions[] = {
    "exe", "com", "scr", "pif", "bat", "cmd", "ps1", "vbs", "vbe", "js",  "jse", "wsf", "wsh",
    "msi", "msp", "dll", "cpl", "hta", "lnk", "jar", "sh",  "reg", "iso", "img", "vhd", "chm"};

const std::vector<std::string>& patterns() {
  static const auto joined = [] {
    std::vector<std::string> list;
    for (const auto& signature : kPatterns) {
      list.push_back(std::string(signature.first).append(signature.second));
    }
    return list;
  }();
  return joined;
}

std::size_t longest_pattern() {
  static const auto longest = std::ranges::max(patterns(), {}, &std::string::size).size();
  return longest;
}

}  // namespace

void SignatureScan::add(std::string_view piece) {
  if (piece.empty()) return;
  if (!begun_ && place_ == SignaturePlace::embedded) {
    for (const auto& [start, what] : kProgramStarts) {
      if (piece.starts_with(start)) {
        findings_.refuse("embedded_executable", std::string("an embedded file is ").append(what));
      }
    }
  }
  begun_ = true;
  const auto keep = longest_pattern() - 1;
  if (!tail_.empty()) look(tail_ + std::string(piece.substr(0, keep)));
  look(piece);
  tail_.append(piece.substr(piece.size() - std::min(piece.size(), keep)));
  if (tail_.size() > keep) tail_.erase(0, tail_.size() - keep);
}

void SignatureScan::look(std::string_view bytes) {
  for (std::size_t i = 0; i < patterns().size(); ++i) {
    const auto& pattern = patterns()[i];
    if (memmem(bytes.data(), bytes.size(), pattern.data(), pattern.size()) != nullptr) {
      findings_.refuse(kPatterns[i].rule, kPatterns[i].detail);
    }
  }
}

void scan_signatures(std::string_view bytes, SignaturePlace place, Findings& findings) {
  SignatureScan(findings, place).add(bytes);
}

bool is_program_name(std::string_view name) {
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) name.remove_suffix(1);
  const auto dot = name.rfind('.');
  if (dot == name.npos) return false;
  const auto extension = layout::to_lower(name.substr(dot + 1));
  return std::ranges::find(kProgramExtensions, extension) != std::end(kProgramExtensions);
}

}  // namespace millrace::document
