#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>

namespace elias {

void* allocate_aligned(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) throw std::bad_alloc();
  constexpr size_t kHugePage = size_t{2} << 20;
  const bool large = bytes >= 2 * kHugePage;
  const size_t alignment = large ? kHugePage : kAlignment;
  // The size must be a multiple of the alignment, for which there may be no room in a size_t.
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* memory = whole < bytes ? nullptr : std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  // Only advice: a kernel that has no huge page to give gives small ones.
  if (large) (void)madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

void free_aligned(void* memory) { std::free(memory); }

}  // namespace elias
