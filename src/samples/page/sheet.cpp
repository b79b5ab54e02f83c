#include "samples/page/sheet.h"

namespace millrace::samples {

std::string SheetPage::text() const {
  std::string text;
  const TextItem* before = nullptr;
  for (const TextItem& item : items) {
    if (item.words.empty()) continue;
    if (before != nullptr) {
      text += item.block != before->block ? "\n\n" : item.line != before->line ? "\n" : " ";
    }
    for (std::size_t i = 0; i < item.words.size(); ++i) {
      if (i > 0) text += ' ';
      text += item.words[i].text;
    }
    before = &item;
  }
  return text;
}

}  // namespace millrace::samples
