#include "failnth/allocations.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace millrace::test {
namespace {

struct Trap {
  bool counting = false;
  bool sprung = false;
  std::size_t count = 0;
  std::size_t nth = 0;
  std::ptrdiff_t live = 0;
};

thread_local constinit Trap trap;

bool is_the_one() {
  if (!trap.counting || ++trap.count != trap.nth) return false;
  trap.sprung = true;
  return true;
}

void* aligned(std::size_t alignment, std::size_t size) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), size) != 0) return nullptr;
  return memory;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (is_the_one()) throw std::bad_alloc();
  if (size == 0) size = 1;
  void* memory =
      alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? std::malloc(size) : aligned(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  ++trap.live;
  return memory;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  --trap.live;
  std::free(memory);
}

}  // namespace

void fail_allocation(std::size_t nth) {
  trap.count = 0;
  trap.nth = nth;
  trap.sprung = false;
  trap.counting = true;
}

bool stop_failing() {
  trap.counting = false;
  return trap.sprung;
}

std::size_t allocations_counted() { return trap.count; }
std::ptrdiff_t allocations_live() { return trap.live; }

Untouched::Untouched() : was_counting_(trap.counting) { trap.counting = false; }
Untouched::~Untouched() { trap.counting = was_counting_; }

}  // namespace millrace::test

// Asio takes the memory of coroutines from here and keeps it for the next one.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return millrace::test::is_the_one() ? nullptr : millrace::test::aligned(alignment, size);
}

// NOLINTBEGIN(misc-new-delete-overloads): all that the library calls end here.
void* operator new(std::size_t size) { return millrace::test::allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return millrace::test::allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { millrace::test::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { millrace::test::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { millrace::test::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  millrace::test::give_back(memory);
}
// NOLINTEND(misc-new-delete-overloads)
