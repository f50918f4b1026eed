// Large blocks that are freed are kept for the next of their size. The operators of a training step
// ask for the same few blocks again and again, and a fresh one costs more than most of them: the
// kernel clears its pages first.
#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

namespace elias {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

class KeptBlocks {
 public:
  /// A kept block of `size` bytes, or null.
  void* take(size_t size) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(size);
    if (found == kept_.end()) return nullptr;
    void* const block = found->second;
    kept_.erase(found);
    kept_bytes_ -= size;
    in_use_[block] = size;
    return block;
  }

  void add(void* block, size_t size) {
    const std::lock_guard lock(mutex_);
    in_use_[block] = size;
  }

  /// True if the block is kept, false if it is the caller's to free.
  bool keep(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(block);
    if (found == in_use_.end()) return false;
    const size_t size = found->second;
    in_use_.erase(found);
    if (kept_bytes_ + size > kMostKept) return false;
    kept_.emplace(size, block);
    kept_bytes_ += size;
    return true;
  }

 private:
  // The blocks of a step that are not held between steps; what is over goes back to the system.
  static constexpr size_t kMostKept = size_t{256} << 20;

  std::mutex mutex_;
  std::map<void*, size_t> in_use_;
  std::multimap<size_t, void*> kept_;  // by size
  size_t kept_bytes_ = 0;
};

// Lives as long as the process: buffers with static storage may be freed after everything else.
KeptBlocks& kept_blocks() {
  static auto* blocks = new KeptBlocks;
  return *blocks;
}

// Sanitizers find the use of freed memory only if it is freed.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeep = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kKeep = false;
#else
constexpr bool kKeep = true;
#endif
#else
constexpr bool kKeep = true;
#endif

void* fresh_block(size_t alignment, size_t size) {
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* allocate_aligned(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) throw std::bad_alloc();
  const bool large = bytes >= 2 * kHugePage;
  const size_t alignment = large ? kHugePage : kAlignment;
  // The size must be a multiple of the alignment, for which there may be no room in a size_t.
  const size_t whole = (bytes + alignment - 1) / alignment * alignment;
  if (whole < bytes) throw std::bad_alloc();
  if (!large) return fresh_block(alignment, whole);
  if (void* const kept = kKeep ? kept_blocks().take(whole) : nullptr) return kept;
  void* const memory = fresh_block(alignment, whole);
  // Only advice: a kernel that has no huge page to give gives small ones.
  (void)madvise(memory, whole, MADV_HUGEPAGE);
  if (kKeep) kept_blocks().add(memory, whole);
  return memory;
}

void free_aligned(void* memory) {
  // Small blocks are told apart by their alignment, nearly always; keep() knows for sure.
  const bool may_be_large = reinterpret_cast<uintptr_t>(memory) % kHugePage == 0;
  if (memory != nullptr && kKeep && may_be_large && kept_blocks().keep(memory)) return;
  std::free(memory);
}

}  // namespace elias
