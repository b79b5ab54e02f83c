#include "base/secret.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace millrace {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

TEST(Secret, CannotBePrintedButRevealed) {
  static_assert(!fmt::is_formattable<Secret<std::string>>::value);
  static_assert(!Streamable<Secret<std::string>>);
  static_assert(!std::is_convertible_v<Secret<std::string>, std::string>);
  EXPECT_EQ(Secret<std::string>("hunter2").reveal(), "hunter2");
}

}  // namespace
}  // namespace millrace
