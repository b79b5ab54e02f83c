#include "document/inspect/pdf_active.h"

#include "document/inspect/signatures.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace millrace::document {

namespace {

constexpr std::uint32_t kDepthMax = 100;
constexpr std::size_t kChainMax = 1'000;

std::string name_of(QPDFObjectHandle value) {
  return value.isName() ? value.getName() : std::string();
}

}  // namespace

void PdfActive::check_catalog() {
  auto root = pdf_.getRoot();
  follow(root.getKey("/OpenAction"), Trigger::by_itself);
  auto names = root.getKey("/Names");
  if (names.isDictionary() && !names.getKey("/JavaScript").isNull()) {
    findings_.active("pdf_javascript", "scripts that run when the document is opened");
  }
  if (!root.getKey("/Collection").isNull()) {
    findings_.flag("pdf_portfolio", "the document is a collection of files");
  }
}

void PdfActive::check(QPDFObjectHandle object, std::uint32_t depth) {
  if (depth > kDepthMax) return;
  if (object.isStream()) object = object.getDict();
  if (object.isDictionary()) {
    check_dictionary(object);
    for (const auto& [key, value] : object.getDictAsMap()) {
      if (!value.isIndirect()) check(value, depth + 1);
    }
  } else if (object.isArray()) {
    for (const auto& item : object.getArrayAsVector()) {
      if (!item.isIndirect()) check(item, depth + 1);
    }
  }
}

void PdfActive::check_dictionary(QPDFObjectHandle dictionary) {
  judge(dictionary, Trigger::by_hand);
  auto additional = dictionary.getKey("/AA");
  if (additional.isDictionary()) check_additional(dictionary, additional);
  if (!dictionary.getKey("/XFA").isNull()) findings_.flag("pdf_xfa", "the document is an XFA form");
  if (dictionary.getKey("/EF").isDictionary()) check_file(dictionary);
  static constexpr std::string_view kMedia[] = {"/RichMedia", "/3D", "/Movie", "/Screen", "/Sound"};
  const auto subtype = name_of(dictionary.getKey("/Subtype"));
  if (std::ranges::find(kMedia, subtype) != std::end(kMedia)) {
    findings_.flag("pdf_rich_media", "films, sounds or models within the document");
  }
}

void PdfActive::check_additional(QPDFObjectHandle owner, QPDFObjectHandle actions) {
  const auto type = name_of(owner.getKey("/Type"));
  const bool whole = type == "/Page" || type == "/Catalog" || type == "/Pages";
  for (const auto& [key, action] : actions.getDictAsMap()) {
    // Of a page or the document everything happens by itself; of an annotation what happens with
    // its page. The rest waits for a pointer or a key.
    static constexpr std::string_view kWithPage[] = {"/PO", "/PC", "/PV", "/PI"};
    const bool itself = whole || std::ranges::find(kWithPage, key) != std::end(kWithPage);
    follow(action, itself ? Trigger::by_itself : Trigger::by_hand);
  }
}

void PdfActive::check_file(QPDFObjectHandle specification) {
  findings_.flag("pdf_embedded_file", "a file within the document");
  // By platform; /RF: lists of names and files that belong to it.
  for (const auto* files : {"/EF", "/RF"}) {
    auto all = specification.getKey(files);
    if (!all.isDictionary()) continue;
    for (const auto& [platform, file] : all.getDictAsMap()) add_files(file);
  }
  for (const auto* key : {"/F", "/UF"}) {
    auto name = specification.getKey(key);
    if (name.isString() && is_program_name(name.getUTF8Value())) {
      findings_.refuse("embedded_executable", "an embedded file has the name of a program");
    }
  }
}

void PdfActive::add_files(QPDFObjectHandle value) {
  if (value.isStream()) files_.insert(value.getObjGen());
  if (!value.isArray()) return;
  for (auto item : value.getArrayAsVector()) {
    if (item.isStream()) files_.insert(item.getObjGen());
  }
}

void PdfActive::follow(QPDFObjectHandle action, Trigger trigger) {
  std::vector<QPDFObjectHandle> open{action};
  std::set<QPDFObjGen> seen;
  for (std::size_t steps = 0; !open.empty() && steps < kChainMax; ++steps) {
    auto next = open.back();
    open.pop_back();
    if (next.isIndirect() && !seen.insert(next.getObjGen()).second) continue;
    if (!next.isDictionary()) continue;
    judge(next, trigger);
    auto more = next.getKey("/Next");
    if (more.isDictionary()) open.push_back(more);
    if (more.isArray()) {
      for (const auto& item : more.getArrayAsVector()) open.push_back(item);
    }
  }
}

void PdfActive::judge(QPDFObjectHandle action, Trigger trigger) {
  const auto kind = name_of(action.getKey("/S"));
  const bool itself = trigger == Trigger::by_itself;
  if (kind == "/JavaScript" || !action.getKey("/JS").isNull()) {
    if (itself) {
      findings_.active("pdf_javascript", "scripts that run when the document is opened");
    } else {
      findings_.flag("pdf_javascript", "scripts that run when something is clicked or typed");
    }
  } else if (kind == "/Launch") {
    findings_.active("pdf_launch", "an action that starts a program");
  } else if (kind == "/SubmitForm" || kind == "/ImportData" || kind == "/GoToR" ||
             kind == "/GoToE") {
    if (itself) {
      findings_.active("pdf_remote_action",
                       "an action that reaches out when the document is opened");
    } else {
      findings_.flag("pdf_remote_action", "an action that sends data or opens another document");
    }
  } else if (kind == "/Rendition") {
    findings_.flag("pdf_rich_media", "films, sounds or models within the document");
  }
}

}  // namespace millrace::document
