// Tensors: memory on a device, an element type and a shape.
//
// A Tensor owns its memory and cannot be copied by accident. Operators take views: ConstTensorView
// to read, TensorView to write, both cheap to pass by value, as std::span is to std::vector. A
// view's rows (the last dimension) are contiguous; consecutive rows lie stride() elements apart, so
// that a range of rows or columns of a matrix is a view too, without a copy.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/errors.h"
#include "ops/device.h"
#include "ops/dtype.h"
#include "ops/shape.h"

namespace elias {

class Tensor;

/// Elements to read. An empty view (`!view`) stands for an optional operand that is not given.
class ConstTensorView {
 public:
  ConstTensorView() = default;
  ConstTensorView(const Tensor& tensor);  // NOLINT(google-explicit-constructor): as span of vector
  /// `data` [shape] in the caller's memory on the CPU, of which the caller keeps care.
  template <typename T>
  ConstTensorView(const T* data, Shape shape)
      : ConstTensorView(Device::kCpu, kDTypeOf<T>, shape, shape.rank() ? shape[-1] : 1, data) {}

  explicit operator bool() const { return shape_.rank() > 0; }

  Device device() const { return device_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }

  /// As a matrix: rows() rows of width() elements, stride() elements from one to the next.
  int64_t rows() const { return shape_.rows(); }
  int64_t width() const { return shape_[-1]; }
  int64_t stride() const { return stride_; }
  bool contiguous() const { return stride_ == width() || rows() <= 1; }

  /// The first element; T must be the element type.
  template <typename T>
  const T* data() const {
    ELIAS_ASSERT(dtype_ == kDTypeOf<T>);
    return static_cast<const T*>(data_);
  }
  const void* bytes() const { return data_; }
  /// All elements of a contiguous view in CPU memory.
  template <typename T>
  std::span<const T> span() const {
    ELIAS_ASSERT(device_ == Device::kCpu && contiguous());
    return {data<T>(), static_cast<size_t>(shape_.elements())};
  }

  /// Entries [begin, end) of the first dimension.
  ConstTensorView slice(int64_t begin, int64_t end) const;
  /// Entries [begin, end) of the last dimension.
  ConstTensorView columns(int64_t begin, int64_t end) const;
  /// The same elements in another shape; the view must be contiguous.
  ConstTensorView reshaped(Shape shape) const;

 protected:
  ConstTensorView(Device device, DType dtype, Shape shape, int64_t stride, const void* data)
      : data_(data), shape_(shape), stride_(stride), device_(device), dtype_(dtype) {}

  const void* data_ = nullptr;
  Shape shape_;
  int64_t stride_ = 1;
  Device device_ = Device::kCpu;
  DType dtype_ = DType::kFloat32;
};

/// Elements to write.
class TensorView : public ConstTensorView {
 public:
  TensorView() = default;
  TensorView(Tensor& tensor);  // NOLINT(google-explicit-constructor): as span of vector
  template <typename T>
  requires(!std::is_const_v<T>) TensorView(T* data, Shape shape) : ConstTensorView(data, shape) {}

  template <typename T>
  T* data() const {
    return const_cast<T*>(ConstTensorView::data<T>());
  }
  void* bytes() const { return const_cast<void*>(data_); }
  template <typename T>
  std::span<T> span() const {
    const auto elements = ConstTensorView::span<T>();
    return {const_cast<T*>(elements.data()), elements.size()};
  }

  TensorView slice(int64_t begin, int64_t end) const;
  TensorView columns(int64_t begin, int64_t end) const;
  TensorView reshaped(Shape shape) const;

 private:
  explicit TensorView(const ConstTensorView& view) : ConstTensorView(view) {}
};

/// Owns its elements: zero at first, contiguous, 64-byte aligned.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType dtype, Device device = Device::kCpu);
  /// What was moved from is as if never given: `!tensor`.
  Tensor(Tensor&& other) noexcept
      : memory_(std::move(other.memory_)),
        shape_(std::exchange(other.shape_, Shape())),
        dtype_(other.dtype_),
        device_(other.device_) {}
  Tensor& operator=(Tensor&& other) noexcept {
    memory_ = std::move(other.memory_);
    shape_ = std::exchange(other.shape_, Shape());
    dtype_ = other.dtype_;
    device_ = other.device_;
    return *this;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  explicit operator bool() const { return shape_.rank() > 0; }
  Device device() const { return device_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

  /// The elements in CPU memory.
  template <typename T>
  std::span<T> span() {
    return view().span<T>();
  }
  template <typename T>
  std::span<const T> span() const {
    return view().span<T>();
  }

  TensorView view() { return *this; }
  ConstTensorView view() const { return *this; }

 private:
  friend class ConstTensorView;

  std::shared_ptr<std::byte> memory_;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
  Device device_ = Device::kCpu;
};

/// A copy of the elements on `device`, contiguous; none of a view that is not given.
Tensor copy_to(Device device, ConstTensorView from);

/// Copies elements, between devices if need be. Shapes and types must be equal.
void copy(ConstTensorView from, TensorView to);

}  // namespace elias
