#include "base/secret.h"

#include "base/log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace millrace {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

// J07: what must not be printed does not compile.
template <class T>
constexpr bool kept_back() {
  return !fmt::is_formattable<T>::value && !Streamable<T> &&
         !std::is_convertible_v<T, std::string> && !std::is_constructible_v<LogValue, T> &&
         !std::is_constructible_v<LogValue, const T&>;
}

TEST(Secret, CannotBePrintedOrLoggedButRevealed) {
  static_assert(kept_back<Secret<std::string>>());
  static_assert(kept_back<Secret<int>>());
  EXPECT_EQ(Secret<std::string>("hunter2").reveal(), "hunter2");
}

TEST(Phi, CannotBePrintedOrLoggedButRevealed) {
  static_assert(kept_back<Phi<std::string>>());
  static_assert(kept_back<Phi<int>>());
  static_assert(!std::is_convertible_v<Phi<std::string>, Secret<std::string>>);
  EXPECT_EQ(Phi<std::string>("Jane Doe").reveal(), "Jane Doe");
}

}  // namespace
}  // namespace millrace
