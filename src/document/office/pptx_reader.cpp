// PPTX: every slide a page, in the order of the presentation; titles are headings.
#include "document/office/package.h"
#include "document/office/text_builder.h"

#include <charconv>

namespace millrace::document {

namespace {

constexpr std::string_view kUsualPresentation = "ppt/presentation.xml";

struct SlideList final : XmlHandler {
  void start(std::string_view name, const XmlAttributes& attributes) override {
    links.note(attributes);
    if (name == "sldId") ids.emplace_back(links.id(attributes));
  }
  void end(std::string_view) override {}
  void text(std::string_view) override {}

  RelationshipIds links;
  std::vector<std::string> ids;
};

class SlideHandler final : public XmlHandler {
 public:
  explicit SlideHandler(TextBudget& budget) : builder_(budget) {}

  void start(std::string_view name, const XmlAttributes& attributes) override {
    if (name == "Fallback" || skipping_ > 0) {
      ++skipping_;
      return;
    }
    if (name == "sp") is_title_ = false;
    if (name == "ph") {
      const auto type = attributes.get("type");
      is_title_ = type == "title" || type == "ctrTitle";
    }
    if (name == "p") {
      builder_.begin_paragraph();
      if (is_title_ && builder_.in_paragraph()) builder_.paragraph().heading = 1;
    }
    if (name == "pPr" && builder_.in_paragraph()) {
      int level = 0;
      const auto text = attributes.get("lvl");
      std::from_chars(text.data(), text.data() + text.size(), level);
      if (level > 0) builder_.paragraph().list_level = level;
    }
    if (name == "t") in_text_ = true;
    if (name == "br") builder_.add("\n");
    if (name == "tbl") builder_.begin_table();
    if (name == "tr") builder_.begin_row();
    if (name == "tc") builder_.begin_cell();
  }

  void end(std::string_view name) override {
    if (skipping_ > 0) {
      --skipping_;
      return;
    }
    if (name == "t") in_text_ = false;
    if (name == "p") builder_.end_paragraph();
    if (name == "tc") builder_.end_cell();
    if (name == "tbl") builder_.end_table();
  }

  void text(std::string_view text) override {
    if (in_text_ && skipping_ == 0) builder_.add(text);
  }

  Result<void> state() override { return builder_.state(); }
  TextBuilder& builder() { return builder_; }

 private:
  TextBuilder builder_;
  std::uint32_t skipping_ = 0;
  bool in_text_ = false;
  bool is_title_ = false;
};

}  // namespace

Result<std::vector<Flow>> read_pptx(Package& package) {
  const auto part = main_part_of(package, kUsualPresentation);
  if (!package.has(part)) {
    return refuse("office_structure", "the presentation has no list of slides");
  }
  SlideList list;
  MR_TRY_VOID(package.read(part, list));
  MR_TRY(const auto links, relationships_of(package, part));
  if (list.ids.size() > package.limits().pages_max) {
    return refuse("page_count", "the presentation has more slides than are allowed");
  }
  std::vector<Flow> flows;
  for (const auto& id : list.ids) {
    const auto* target = links.target(id);
    if (target == nullptr || !package.has(*target)) {
      return refuse("office_structure", "a slide is missing");
    }
    SlideHandler slide(package.text());
    MR_TRY_VOID(package.read(*target, slide));
    flows.push_back(
        {.paper = Paper::slide, .blocks = slide.builder().take(), .fit_one_page = true});
  }
  return flows;
}

}  // namespace millrace::document
