// Secret<T> and Phi<T>: values that do not get into logs, metrics or traces by accident.
//
// Neither has a formatter, a stream operator, a comparison or a conversion, so that a line which
// would print one does not compile; LogValue refuses them too. reveal() marks every place that
// needs the real thing. A Secret opens something (a key, a token, a password); a Phi says something
// about a person (a name, a text of a page, an answer of a model).
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

template <class T>
class Phi {
 public:
  Phi() = default;
  explicit Phi(T value) : value_(std::move(value)) {}

  const T& reveal() const { return value_; }

 private:
  T value_;
};

}  // namespace millrace
