// ReLU, slow and obvious.
#pragma once

#include <vector>

namespace elias::reference {

template <typename T>
std::vector<T> relu(std::vector<T> x) {
  for (T& value : x) {
    if (value < 0) value = 0;
  }
  return x;
}

// dx of dy, with the y of the forward pass.
template <typename T>
std::vector<T> relu_backward(std::vector<T> dy, const std::vector<T>& y) {
  for (size_t i = 0; i < dy.size(); ++i) {
    if (!(y[i] > 0)) dy[i] = 0;
  }
  return dy;
}

}  // namespace elias::reference
