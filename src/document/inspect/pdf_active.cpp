#include "document/inspect/pdf_active.h"

#include "document/inspect/signatures.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace millrace::document {

namespace {

constexpr std::uint32_t kDepthMax = 100;

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
  const auto subtype = names_.of(dictionary.getKey("/Subtype"));
  if (std::ranges::find(kMedia, subtype) != std::end(kMedia)) {
    findings_.flag("pdf_rich_media", "films, sounds or models within the document");
  }
}

void PdfActive::check_additional(QPDFObjectHandle owner, QPDFObjectHandle actions) {
  const auto type = names_.of(owner.getKey("/Type"));
  const bool whole = type == "/Page" || type == "/Catalog" || type == "/Pages";
  if (actions.isIndirect() && !triggers_seen_.emplace(actions.getObjGen(), whole).second) return;
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
    if (!all.isDictionary() || was_looked_at(all)) continue;
    for (const auto& [platform, file] : all.getDictAsMap()) add_files(file);
  }
  for (const auto* key : {"/F", "/UF"}) {
    auto name = specification.getKey(key);
    if (!name.isString() || was_looked_at(name)) continue;
    if (is_program_name(name.getUTF8Value())) {
      findings_.refuse("embedded_executable", "an embedded file has the name of a program");
    }
  }
}

void PdfActive::add_files(QPDFObjectHandle value) {
  if (value.isStream()) files_.insert(value.getObjGen());
  if (!value.isArray() || was_looked_at(value)) return;
  for (auto item : value.getArrayAsVector()) {
    if (item.isStream()) files_.insert(item.getObjGen());
  }
}

// Each object once for each trigger, whatever leads to it: chains may be in circles, or share what
// follows.
void PdfActive::follow(QPDFObjectHandle action, Trigger trigger) {
  if (!action.isDictionary()) return;  // An array is a place to show.
  std::vector<QPDFObjectHandle> open{action};
  while (!open.empty()) {
    auto next = open.back();
    open.pop_back();
    if (next.isIndirect() && !followed_.emplace(next.getObjGen(), trigger).second) continue;
    if (next.isArray()) {
      for (const auto& item : next.getArrayAsVector()) open.push_back(item);
    } else if (next.isDictionary()) {
      judge(next, trigger);
      open.push_back(next.getKey("/Next"));
    }
  }
}

bool PdfActive::was_looked_at(QPDFObjectHandle object) {
  return object.isIndirect() && !looked_at_.insert(object.getObjGen()).second;
}

void PdfActive::judge(QPDFObjectHandle action, Trigger trigger) {
  const auto kind = names_.of(action.getKey("/S"));
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
