// Memory that is kept from batch to batch.
#pragma once

#include "ops/tensor.h"

namespace elias {

/// A view of `shape` of the tensor's memory, which is made anew only if it is too little, or of
/// another type; with whatever was left there.
TensorView room(Tensor& tensor, Shape shape, DType dtype = DType::kFloat32);

}  // namespace elias
