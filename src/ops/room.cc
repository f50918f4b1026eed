#include "ops/room.h"

namespace elias {

TensorView room(Tensor& tensor, Shape shape, DType dtype) {
  const int64_t elements = shape.elements();
  if (!tensor || tensor.dtype() != dtype || tensor.shape().elements() < elements) {
    tensor = Tensor();  // first, so that old and new are never held together
    tensor = Tensor({elements}, dtype);
  }
  return tensor.view().reshaped({tensor.shape().elements()}).slice(0, elements).reshaped(shape);
}

}  // namespace elias
