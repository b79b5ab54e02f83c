#include "chunk/outline.h"

#include <utility>

namespace millrace::chunk {

void Outline::pass(Marks::Heading heading) {
  while (!headings_.empty() && headings_.back().level >= heading.level) headings_.pop_back();
  headings_.push_back(std::move(heading));
}

void Outline::pass(Marks::Fence fence) {
  fence_.reset();
  if (fence.opens) fence_ = std::move(fence);
}

void Outline::pass(Marks::Table table) {
  table_.reset();
  if (table.opens) table_ = std::move(table);
}

}  // namespace millrace::chunk
