// Between tensors and safetensors files: what model files and checkpoints share.
#pragma once

#include <initializer_list>
#include <string>

#include "data/io/safetensors.h"
#include "ops/tensor.h"

namespace elias {

/// To write a contiguous tensor in CPU memory, which must stay until then.
StoredTensor stored(ConstTensorView tensor);

/// The tensor `name` where it lies in the file, which must outlive the view. Throws InputError,
/// naming file and tensor, if there is none, or of a type or rank that tensors do not have.
ConstTensorView view_of(const SafetensorsFile& file, const std::string& name);

/// The same; also refuses other types and shapes than the given. A size of -1 fits any.
ConstTensorView view_of(const SafetensorsFile& file, const std::string& name, DType dtype,
                        std::initializer_list<int64_t> shape);
ConstTensorView view_of(const SafetensorsFile& file, const std::string& name, DType dtype,
                        Shape shape);

/// Throws InputError, naming file and tensor, if there is none of that shape, and of F32, F16 or
/// BF16.
void require_floats(const SafetensorsFile& file, const std::string& name, const Shape& shape);

/// Copies the tensor `name` to float32 memory of its shape. The same errors, and one if a value is
/// infinite or no number.
void copy_floats(const SafetensorsFile& file, const std::string& name, TensorView to);

}  // namespace elias
