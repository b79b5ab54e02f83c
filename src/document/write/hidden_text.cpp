#include "document/write/hidden_text.h"

#include <algorithm>
#include <exception>
#include <qpdf/Pl_String.hh>
#include <qpdf/QPDFTokenizer.hh>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::document {
namespace {

constexpr std::uint32_t kDepthMax = 12;  // Forms in forms; those deeper down stay as they are.

bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// The operators of content, one after the other; passes on what is not hidden.
//
// Showing text moves the place where the next text begins. Text that can be seen and follows hidden
// text right away would move, so hidden text is dropped only once an operator has come that sets
// the place anew.
class ShownContent final : public QPDFObjectHandle::TokenFilter {
 public:
  explicit ShownContent(TextLook look) : hidden_(look.hidden), always_seen_(look.always_seen) {}

  bool dropped() const { return dropped_; }
  const std::map<std::string, bool>& forms() const { return forms_; }

  void handleToken(QPDFTokenizer::Token const& token) override {
    using Tokens = QPDFTokenizer;
    const auto type = token.getType();
    if (type == Tokens::tt_eof) return;
    operation_ += token.getRawValue();
    if (type == Tokens::tt_name) name_ = token.getValue();
    if (type == Tokens::tt_integer || type == Tokens::tt_real) {
      if (numbers_.size() < 2) numbers_.push_back(token.getRawValue());
      integer_ = type == Tokens::tt_integer ? token.getValue() : std::string();
    }
    if (type != Tokens::tt_word) return;
    take(token.getValue());
    operation_.clear();
    numbers_.clear();
    name_.clear();
    integer_.clear();
  }

  void handleEOF() override {
    drop();
    write(operation_);
  }

 private:
  void take(std::string_view name) {
    if (is_any(name, {"Tj", "TJ"})) {
      if (!hides()) {
        keep();
      } else {
        hide(" ");
        return;
      }
    } else if (is_any(name, {"'", "\""})) {
      drop();  // These begin a line.
      if (hides()) {
        hide(without_text(name));
        return;
      }
    } else if (is_any(name, {"Td", "TD", "Tm", "T*", "BT", "ET"})) {
      drop();
    }
    follow(name);
    if (is_open_) {
      with_ += operation_;
      without_ += operation_;
    } else {
      write(operation_);
    }
  }

  // What the operator sets besides showing its text.
  std::string without_text(std::string_view name) const {
    if (name == "'" || numbers_.size() < 2) return " T* ";
    return " " + numbers_[0] + " Tw " + numbers_[1] + " Tc T* ";
  }

  void follow(std::string_view name) {
    if (name == "q") saved_.push_back(hidden_);
    if (name == "Q" && !saved_.empty()) {
      hidden_ = saved_.back();
      saved_.pop_back();
    }
    if (name == "Tr" && !integer_.empty()) hidden_ = integer_ == "3";
    if (name == "Do") {
      const auto [form, first] = forms_.try_emplace(name_, hidden_);
      if (!first) form->second = form->second && hidden_;
    }
  }

  void hide(std::string_view rest) {
    is_open_ = true;
    with_ += operation_;
    without_ += rest;
  }
  void drop() {
    if (!is_open_) return;
    dropped_ = true;
    write(without_);
    close();
  }
  void keep() {
    if (!is_open_) return;
    write(with_);
    close();
  }
  void close() {
    is_open_ = false;
    with_.clear();
    without_.clear();
  }

  bool hides() const { return hidden_ && !always_seen_; }

  bool hidden_;  // In this mode what is shown is not seen.
  bool always_seen_;
  std::vector<bool> saved_;
  std::map<std::string, bool> forms_;
  bool dropped_ = false;
  // Of the operation that is being read.
  std::string operation_;
  std::vector<std::string> numbers_;
  std::string name_;
  std::string integer_;
  // From hidden text on: what comes out when it stays, and when it goes.
  bool is_open_ = false;
  std::string with_;
  std::string without_;
};

// Several streams, or that of a form, as those of a page.
QPDFObjectHandle page_of(QPDFObjectHandle contents) {
  auto page = QPDFObjectHandle::newDictionary();
  page.replaceKey("/Contents", contents);
  return page;
}

// Letters of a Type 3 font are drawings, which no mode hides (ISO 32000-1, 9.3.6). Content that can
// use one is not asked where it does.
bool may_show_drawings(QPDFObjectHandle resources) {
  const auto is_drawn = [](QPDFObjectHandle font) {
    return font.isDictionary() && font.getKey("/Subtype").isNameAndEquals("/Type3");
  };
  if (!resources.isDictionary()) return false;
  auto fonts = resources.getKey("/Font");
  if (fonts.isDictionary()) {
    for (auto& [name, font] : fonts.getDictAsMap()) {
      if (is_drawn(font)) return true;
    }
  }
  auto states = resources.getKey("/ExtGState");  // These may set a font as well.
  if (!states.isDictionary()) return false;
  for (auto& [name, state] : states.getDictAsMap()) {
    if (!state.isDictionary()) continue;
    auto font = state.getKey("/Font");
    if (font.isArray() && font.getArrayNItems() > 0 && is_drawn(font.getArrayItem(0))) return true;
  }
  return false;
}

}  // namespace

void HiddenText::remove_from(QPDFPageObjectHelper& page) {
  try {
    auto object = page.getObjectHandle();
    const auto resources = page.getAttribute("/Resources", false);
    const auto contents = object.getKey("/Contents");
    const TextLook look{.always_seen = may_show_drawings(resources)};
    ShownContent shown(look);
    page_of(contents).filterPageContents(&shown);
    const auto forms = replaced_forms(resources, shown.forms(), 0);
    if (shown.dropped()) object.replaceKey("/Contents", late_stream(contents, look));
    if (forms.empty()) return;
    auto own = page.getAttribute("/Resources", true);
    auto drawn = own.getKey("/XObject").shallowCopy();
    for (const auto& [name, form] : forms) drawn.replaceKey(name, form);
    own.replaceKey("/XObject", drawn);
  } catch (const std::exception&) {
    return;  // It keeps what it has.
  }
}

HiddenText::Replaced HiddenText::replaced_forms(QPDFObjectHandle resources, const Forms& forms,
                                                std::uint32_t depth) {
  Replaced out;
  auto drawn = resources.isDictionary() ? resources.getKey("/XObject") : resources;
  if (!drawn.isDictionary() || depth >= kDepthMax) return out;
  for (const auto& [name, hidden] : forms) {
    auto form = drawn.getKey(name);
    if (!form.isStream() || !form.getDict().getKey("/Subtype").isNameAndEquals("/Form")) continue;
    if (auto other = replaced(form, hidden, depth + 1)) out.emplace(name, *std::move(other));
  }
  return out;
}

std::optional<QPDFObjectHandle> HiddenText::replaced(QPDFObjectHandle form, bool hidden,
                                                     std::uint32_t depth) {
  const auto [known, first] = known_.try_emplace({form.getObjGen(), hidden});
  if (!first) return known->second;
  auto dictionary = form.getDict();
  auto resources = dictionary.getKey("/Resources");
  // Without resources of its own it takes those of whoever draws it: fonts that are not known here.
  const TextLook look{.hidden = hidden,
                      .always_seen = !resources.isDictionary() || may_show_drawings(resources)};
  ShownContent shown(look);
  page_of(form).filterPageContents(&shown);
  const auto inner = replaced_forms(resources, shown.forms(), depth);
  if (!shown.dropped() && inner.empty()) return std::nullopt;
  auto other = late_stream(form, look);
  for (const auto& key : dictionary.getKeys()) {
    if (is_any(key, {"/Length", "/Filter", "/DecodeParms"})) continue;
    other.getDict().replaceKey(key, dictionary.getKey(key));
  }
  if (!inner.empty()) {
    auto own = resources.shallowCopy();
    auto drawn = own.getKey("/XObject").shallowCopy();
    for (const auto& [name, object] : inner) drawn.replaceKey(name, object);
    own.replaceKey("/XObject", drawn);
    other.getDict().replaceKey("/Resources", own);
  }
  known->second = other;
  return other;
}

QPDFObjectHandle HiddenText::late_stream(QPDFObjectHandle contents, TextLook look) {
  auto page = page_of(contents);
  return streams_->add(pdf_, streams_, [page, look]() mutable -> Result<std::string> {
    std::string bytes;
    Pl_String taken("content", nullptr, bytes);
    ShownContent shown(look);
    page.filterPageContents(&shown, &taken);
    return bytes;
  });
}

}  // namespace millrace::document
