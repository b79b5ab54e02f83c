// The blocks with a shape of their own: letterheads, forms, columns, signatures.
#include "samples/chance.h"
#include "samples/page/typesetter.h"

#include <algorithm>

namespace millrace::samples {

double Typesetter::emblem(Point at) {
  // A ring with a drop: enough to be taken for a crest.
  const double r = 17;
  const double cx = at.x + r;
  const double cy = at.y + r;
  const double k = r * 0.5523;
  page().curves.push_back({{{cx + r, cy},
                            {cx + r, cy + k},
                            {cx + k, cy + r},
                            {cx, cy + r},
                            {cx - k, cy + r},
                            {cx - r, cy + k},
                            {cx - r, cy},
                            {cx - r, cy - k},
                            {cx - k, cy - r},
                            {cx, cy - r},
                            {cx + k, cy - r},
                            {cx + r, cy - k},
                            {cx + r, cy}},
                           2.2});
  page().curves.push_back({{{cx, cy - 10},
                            {cx + 12, cy + 3},
                            {cx + 6, cy + 10},
                            {cx, cy + 10},
                            {cx - 6, cy + 10},
                            {cx - 12, cy + 3},
                            {cx, cy - 10}},
                           1.0,
                           false,
                           true});
  return 2 * r;
}

void Typesetter::place(const Letterhead& head) {
  const double left = document_.margin_pt;
  const double top = y_;
  double x = left;
  if (head.emblem && !head.centred) {
    x += emblem({left, top}) + 12;
  }
  const double aside_width = head.aside.empty() ? 0 : 170;
  const double room = width() - (x - left) - aside_width;
  const Align align = head.centred ? Align::centre : Align::left;
  double y = top;
  for (std::size_t i = 0; i < head.lines.size(); ++i) {
    const Style style = {.face = head.face,
                         .size_pt = i == 0 ? 16.0 : 9.5,
                         .bold = i == 0,
                         .grey = i == 0 ? 0.1 : 0.2,
                         .align = align};
    const MeasuredText text = letters_.measure(head.lines[i], style, room);
    put_lines(text, style, x, y, room);
    y += text.height() + (i == 0 ? 2 : 0);
  }
  next_block();
  double aside_y = top;
  const Style small = {.face = head.face, .size_pt = 8.5, .grey = 0.2};
  for (const std::string& line : head.aside) {
    const MeasuredText text = letters_.measure(line, small, aside_width);
    put_lines(text, small, page().width_pt - document_.margin_pt - aside_width + 12, aside_y,
              aside_width);
    aside_y += text.height();
  }
  if (!head.aside.empty()) next_block();
  y_ = std::max({y, aside_y, head.emblem && !head.centred ? top + 36 : top}) + 5;
  page().rules.push_back({{left, y_, left + width(), y_}, 1.1});
  y_ += head.after_pt;
}

void Typesetter::place(const Fields& fields) {
  const double column = width() / fields.columns;
  Style key_style = fields.style;
  key_style.bold = true;
  double key_width = 0;
  for (const auto& pair : fields.pairs) {
    key_width = std::max(key_width, letters_.width_of(pair.key, key_style));
  }
  key_width = std::min(key_width + 8, column * 0.55);
  const double pad = fields.boxed ? 6 : 0;
  const auto columns = static_cast<std::size_t>(fields.columns);
  const std::size_t rows = (fields.pairs.size() + columns - 1) / columns;
  const double row_height = fields.style.size_pt * 1.24 + 4;
  need(row_height * static_cast<double>(rows) + 2 * pad);
  const double top = y_;
  y_ += pad;
  for (std::size_t i = 0; i < fields.pairs.size(); i += columns) {
    double height = row_height;
    for (std::size_t k = 0; k < columns && i + k < fields.pairs.size(); ++k) {
      const auto& pair = fields.pairs[i + k];
      const double x = document_.margin_pt + pad + column * static_cast<double>(k);
      const double room = column - key_width - pad - 6;
      const MeasuredText key = letters_.measure(pair.key, key_style, key_width);
      put(key.lines[0], key_style, x, y_, key.ascent);
      const MeasuredText value = letters_.measure(pair.value.text(), fields.style, room);
      double y = y_;
      for (const MeasuredLine& line : value.lines) {
        put(line, fields.style, x + key_width, y, value.ascent);
        y += value.line_height;
      }
      height = std::max(height, value.height() + 4);
      take_facts(pair.value);
    }
    next_line();
    y_ += height;
  }
  if (fields.boxed) {
    const double left = document_.margin_pt;
    const double right = left + width();
    page().rules.push_back({{left, top, right, top}});
    page().rules.push_back({{left, y_, right, y_}});
    page().rules.push_back({{left, top, left, y_}});
    page().rules.push_back({{right, top, right, y_}});
  }
  y_ += fields.after_pt;
  next_block();
}

void Typesetter::place(const Checks& checks) {
  const double column = width() / checks.per_row;
  const double size = checks.style.size_pt * 0.85;
  const double row_height = checks.style.size_pt * 1.24 + 6;
  const auto per_row = static_cast<std::size_t>(checks.per_row);
  const std::size_t rows = (checks.boxes.size() + per_row - 1) / per_row;
  need(row_height * static_cast<double>(rows));
  for (std::size_t i = 0; i < checks.boxes.size(); ++i) {
    const Checkbox& check = checks.boxes[i];
    const double x = document_.margin_pt + column * static_cast<double>(i % per_row);
    const std::size_t row = i / per_row;
    const double y = y_ + row_height * static_cast<double>(row);
    const Rect box = {x, y + 2, x + size, y + 2 + size};
    page().rules.push_back({{box.x0, box.y0, box.x1, box.y0}, 0.8});
    page().rules.push_back({{box.x0, box.y1, box.x1, box.y1}, 0.8});
    page().rules.push_back({{box.x0, box.y0, box.x0, box.y1}, 0.8});
    page().rules.push_back({{box.x1, box.y0, box.x1, box.y1}, 0.8});
    if (check.checked) {
      page().rules.push_back({{box.x0 + 1.5, box.y0 + 1.5, box.x1 - 1.5, box.y1 - 1.5}, 1.3});
      page().rules.push_back({{box.x0 + 1.5, box.y1 - 1.5, box.x1 - 1.5, box.y0 + 1.5}, 1.3});
    }
    const MeasuredText label = letters_.measure(check.label, checks.style, column - size - 8);
    put(label.lines[0], checks.style, x + size + 5, y, label.ascent);
    page().checkboxes.push_back({check.label, check.checked, box});
    if (i % per_row + 1 == per_row) next_line();
  }
  y_ += row_height * static_cast<double>(rows) + checks.after_pt;
  next_block();
}

void Typesetter::place(const Columns& columns) {
  const double gutter = 22;
  const double column = (width() - gutter * (columns.count - 1)) / columns.count;
  struct Piece {
    MeasuredText text;
    const Paragraph* paragraph;
  };
  std::vector<Piece> pieces;
  double total = 0;
  for (const Paragraph& paragraph : columns.paragraphs) {
    pieces.push_back(
        {letters_.measure(paragraph.text.text(), paragraph.style, column - paragraph.indent_pt),
         &paragraph});
    total += pieces.back().text.height() + paragraph.after_pt;
  }
  need(60);
  const double top = y_;
  const double height = std::min(total / columns.count + 14, bottom_ - top);
  double deepest = top;
  int at = 0;
  double y = top;
  for (const Piece& piece : pieces) {
    const Style& style = piece.paragraph->style;
    for (std::size_t i = 0; i < piece.text.lines.size(); ++i) {
      // A heading does not stand alone at the foot of a column.
      const double wanted = piece.text.line_height * (style.bold ? 3 : 1);
      if (y + wanted > top + height && at + 1 < columns.count) {
        ++at;
        y = top;
        if (i > 0) next_block();
      }
      const double x = document_.margin_pt + at * (column + gutter) + piece.paragraph->indent_pt;
      put(piece.text.lines[i], style, x, y, piece.text.ascent);
      next_line();
      y += piece.text.line_height;
      deepest = std::max(deepest, y);
    }
    y += piece.paragraph->after_pt;
    take_facts(piece.paragraph->text);
    next_block();
  }
  y_ = deepest + columns.after_pt;
}

void Typesetter::place(const Signature& signature) {
  need(44);
  Chance chance(signature.seed);
  CurveItem curve;
  curve.width_pt = chance.between(0.9, 1.5);
  curve.blue = chance.happens(0.6);
  double x = document_.margin_pt + 6;
  const double base = y_ + 24;
  curve.points.push_back({x, base});
  for (int i = 0; i < chance.whole(6, 10); ++i) {
    const double step = chance.between(7, 16);
    curve.points.push_back({x + step * 0.4, base - chance.between(4, 22)});
    curve.points.push_back({x + step * 0.9, base + chance.between(-16, 12)});
    x += step;
    curve.points.push_back({x, base + chance.between(-5, 5)});
  }
  page().curves.push_back(std::move(curve));
  y_ += 38 + signature.after_pt;
}

}  // namespace millrace::samples
