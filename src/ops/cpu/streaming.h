// Storing past the caches. A common store reads the line it writes to from memory first: for a
// result too large to stay in the cache that is a third of an operator's traffic, for nothing.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "ops/tensor.h"

namespace elias::cpu {

/// Results of more bytes than this are too large for the cache: at first the size of the last
/// level. Tests lower it.
int64_t& streaming_threshold();

/// Whether an operator stores `result` past the caches: if it is too large for them, is none of
/// the operands, whose lines are there already, and all its rows are aligned.
bool streams(const TensorView& result, std::initializer_list<ConstTensorView> operands);

/// Makes stores past the caches visible to other threads. To be called by the thread that made
/// them, before its chunk of work ends.
void finish_streaming();

}  // namespace elias::cpu
