// Memory for numeric arrays: 64-byte aligned (a cache line, an AVX-512 register, a tile row), and
// on huge pages where it is large: rows looked up at random otherwise wait for the page table as
// much as for the data.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace elias {

inline constexpr size_t kAlignment = 64;

/// Memory for `count` elements of `size` bytes, not set. Throws std::bad_alloc.
void* allocate_aligned(size_t count, size_t size);
void free_aligned(void* memory);

/// `size` elements of a trivial type, set to zero. Moves, does not copy, does not grow.
template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate_aligned(size, sizeof(T)))),
        size_(size) {
    std::uninitialized_value_construct_n(data_.get(), size_);
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return data_ ? size_ : 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<T> span() { return {data(), size()}; }
  std::span<const T> span() const { return {data(), size()}; }

 private:
  struct Free {
    void operator()(T* data) const { free_aligned(data); }
  };
  std::unique_ptr<T[], Free> data_;
  size_t size_ = 0;
};

}  // namespace elias
