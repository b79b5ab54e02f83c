// Secret<T>: a value that does not get into logs by accident. It has no formatter, no stream
// operator and no comparison; reveal() marks every place that needs the real thing.
#pragma once

#include <utility>

namespace millrace {

template <class T>
class Secret {
 public:
  Secret() = default;
  explicit Secret(T value) : value_(std::move(value)) {}

  const T& reveal() const { return value_; }

 private:
  T value_;
};

}  // namespace millrace
