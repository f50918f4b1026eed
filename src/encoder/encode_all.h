// The vectors of many points, without noise: as in prediction.
#pragma once

#include <cstddef>
#include <functional>

#include "data/csr.h"
#include "encoder/bag.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// Calls use(begin, phi) for one piece of the rows of `features` [N x V] after the other: phi [n,
/// D] of the rows from `begin` on, valid during the call.
void encode_all(const Context& context, const BagWeights<ConstTensorView>& weights,
                const Csr& features,
                const std::function<void(size_t begin, ConstTensorView phi)>& use);

}  // namespace elias
