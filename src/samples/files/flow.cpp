#include "samples/files/flow.h"

#include <sstream>
#include <variant>

namespace millrace::samples {
namespace {

class FlowMaker {
 public:
  Flow finish() && {
    for (Fact& fact : flow_.facts) fact.page = 1;
    return std::move(flow_);
  }

  void operator()(const Paragraph& paragraph) {
    std::istringstream lines(paragraph.text.text());
    std::string line;
    std::string marker = paragraph.marker.empty() ? "" : paragraph.marker + " ";
    while (std::getline(lines, line)) {
      add({marker + line}, paragraph.style.bold);
      marker.clear();
    }
    take(paragraph.text);
    // Items of a list and a title with its text belong together.
    if (paragraph.after_pt > 3) end_block();
  }

  void operator()(const Table& table) {
    end_block();
    if (table.titles) {
      std::vector<std::string> titles;
      for (const Column& column : table.columns) titles.push_back(column.title);
      add(std::move(titles), true);
    }
    for (const TableRow& row : table.rows) {
      std::vector<std::string> cells;
      std::string text;
      for (const Prose& cell : row.cells) {
        cells.push_back(cell.text());
        take(cell);
        if (!cell.empty()) text += (text.empty() ? "" : " ") + cell.text();
      }
      add(std::move(cells), row.bold);
      for (Fact fact : row.facts) {
        fact.text = text;
        flow_.facts.push_back(std::move(fact));
      }
    }
    end_block();
  }

  void operator()(const Fields& fields) {
    for (const auto& pair : fields.pairs) {
      add({pair.key + " " + pair.value.text()}, false);
      take(pair.value);
    }
    end_block();
  }

  void operator()(const Checks& checks) {
    for (const Checkbox& box : checks.boxes) {
      add({(box.checked ? "[x] " : "[ ] ") + box.label}, false);
    }
    end_block();
  }

  void operator()(const Columns& columns) {
    for (const Paragraph& paragraph : columns.paragraphs) (*this)(paragraph);
    end_block();
  }

  void operator()(const Letterhead& head) {
    for (std::size_t i = 0; i < head.lines.size(); ++i) add({head.lines[i]}, i == 0);
    for (const std::string& line : head.aside) add({line}, false);
    end_block();
  }

  void operator()(const Rule&) {}
  void operator()(const Gap&) { end_block(); }
  void operator()(const Signature&) {}
  void operator()(const PageBreak&) { end_block(); }

 private:
  void add(std::vector<std::string> cells, bool bold) {
    flow_.lines.push_back({std::move(cells), bold});
  }
  void end_block() {
    if (!flow_.lines.empty()) flow_.lines.back().ends_block = true;
  }
  void take(const Prose& prose) {
    flow_.facts.insert(flow_.facts.end(), prose.facts().begin(), prose.facts().end());
  }

  Flow flow_ = {};
};

std::string joined(const FlowLine& line) {
  std::string text;
  for (const std::string& cell : line.cells) {
    if (!cell.empty()) text += (text.empty() ? "" : " ") + cell;
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string word;
  std::string result;
  std::size_t column = 0;
  while (words >> word) {
    if (column > 0 && column + 1 + word.size() > width) {
      result += '\n';
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

}  // namespace

Flow flow_of(const Document& document) {
  FlowMaker maker;
  for (const Block& block : document.blocks) std::visit(maker, block);
  return std::move(maker).finish();
}

std::string reading_text(const Flow& flow) { return wrapped_text(flow, std::string::npos / 2); }

std::string wrapped_text(const Flow& flow, std::size_t width) {
  std::string text;
  for (const FlowLine& line : flow.lines) {
    text += wrapped(joined(line), width);
    text += line.ends_block ? "\n\n" : "\n";
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace millrace::samples
