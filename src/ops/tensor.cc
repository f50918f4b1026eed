#include "ops/tensor.h"

namespace elias {

ConstTensorView::ConstTensorView(const Tensor& tensor)
    : ConstTensorView(tensor.device_, tensor.dtype_, tensor.shape_,
                      tensor.shape_.rank() ? tensor.shape_[-1] : 1, tensor.memory_.get()) {}

ConstTensorView ConstTensorView::slice(int64_t begin, int64_t end) const {
  if (rank() == 0 || begin < 0 || begin > end || end > shape_[0]) {
    throw InputError("entries {} to {} are not in a tensor of {}", begin, end, shape_.text());
  }
  if (rank() == 1) return columns(begin, end);
  ConstTensorView part = *this;
  part.shape_ = shape_.with(0, end - begin);
  const int64_t rows_per_entry = shape_[0] == 0 ? 0 : rows() / shape_[0];
  part.data_ = static_cast<const std::byte*>(data_) +
               begin * rows_per_entry * stride_ * static_cast<int64_t>(size_of(dtype_));
  return part;
}

ConstTensorView ConstTensorView::columns(int64_t begin, int64_t end) const {
  if (rank() == 0 || begin < 0 || begin > end || end > width()) {
    throw InputError("columns {} to {} are not in a tensor of {}", begin, end, shape_.text());
  }
  ConstTensorView part = *this;
  part.shape_ = shape_.with(-1, end - begin);
  part.data_ = static_cast<const std::byte*>(data_) + begin * static_cast<int64_t>(size_of(dtype_));
  return part;
}

ConstTensorView ConstTensorView::reshaped(Shape shape) const {
  if (rank() == 0)
    throw InputError("a tensor that is not given cannot be seen as {}", shape.text());
  if (!contiguous() || shape.elements() != shape_.elements() || shape.rank() == 0) {
    throw InputError("a {}tensor of {} cannot be seen as {}", contiguous() ? "" : "not contiguous ",
                     shape_.text(), shape.text());
  }
  ConstTensorView other = *this;
  other.shape_ = shape;
  other.stride_ = shape[-1];
  return other;
}

TensorView::TensorView(Tensor& tensor) : ConstTensorView(tensor) {}

TensorView TensorView::slice(int64_t begin, int64_t end) const {
  return TensorView(ConstTensorView::slice(begin, end));
}

TensorView TensorView::columns(int64_t begin, int64_t end) const {
  return TensorView(ConstTensorView::columns(begin, end));
}

TensorView TensorView::reshaped(Shape shape) const {
  return TensorView(ConstTensorView::reshaped(shape));
}

Tensor::Tensor(Shape shape, DType dtype, Device device)
    : memory_(allocate(device, static_cast<size_t>(shape.elements()) * size_of(dtype))),
      shape_(shape),
      dtype_(dtype),
      device_(device) {}

Tensor copy_to(Device device, ConstTensorView from) {
  if (!from) return {};
  Tensor to(from.shape(), from.dtype(), device);
  copy(from, to);
  return to;
}

void copy(ConstTensorView from, TensorView to) {
  if (!from || !to) throw InputError("cannot copy: one of the tensors is not given");
  if (from.shape() != to.shape() || from.dtype() != to.dtype()) {
    throw InputError("cannot copy {} {} to {} {}", name_of(from.dtype()), from.shape().text(),
                     name_of(to.dtype()), to.shape().text());
  }
  const auto element = size_of(from.dtype());
  const bool whole = from.contiguous() && to.contiguous();
  const int64_t pieces = whole ? 1 : from.rows();
  const size_t bytes = static_cast<size_t>(from.shape().elements()) * element /
                       static_cast<size_t>(pieces == 0 ? 1 : pieces);
  const auto* source = static_cast<const std::byte*>(from.bytes());
  auto* target = static_cast<std::byte*>(to.bytes());
  for (int64_t piece = 0; piece < pieces; ++piece) {
    copy_bytes(to.device(), target + piece * to.stride() * static_cast<int64_t>(element),
               from.device(), source + piece * from.stride() * static_cast<int64_t>(element),
               bytes);
  }
}

}  // namespace elias
