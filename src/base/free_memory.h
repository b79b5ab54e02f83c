#pragma once

namespace millrace {

// Gives pages that are free inside the heap back to the system: the allocator does so by itself
// only at the heap's end. Takes a millisecond; for after a burst, not for every day.
void return_free_memory();

}  // namespace millrace
