// What keeps label embeddings from learning training points by heart (GLaS, section 3.2).
//
// Of R labels, those that a batch's points have or drew, with embeddings V [R, D] of unit length, G
// = V V', and U [R, R] how alike they are (head/label_similarity.h); sums go over pairs of
// different labels:
//
//   glas        sum (G - U)^2 / R^2            labels that share points lie near each other, others
//                                              do not (eq. 3)
//   spreadout   sum G^2 / R^2                  all labels lie apart (eq. 2)
//   laplacian   sum U |v - v'|^2 / R^2         labels that share points lie near each other (eq. 4)
//
// For unit vectors glas is the sum of the other two, up to a constant. And with the vectors of the
// batch's points, phi [N, D]:
//
//   gravity     sum (phi V')^2 / (N R)         no label is near all points (Krichene et al. 2019)
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "data/csr.h"
#include "ops/context.h"
#include "ops/tensor.h"

namespace elias {

/// kAuto stands for one that is still to be chosen.
enum class Regulariser : uint8_t { kNone, kGlas, kSpreadout, kLaplacian, kGravity, kAuto };
inline constexpr std::array<std::string_view, 6> kRegulariserNames = {
    "none", "glas", "spreadout", "laplacian", "gravity", "auto"};

/// True of those that ask how alike labels are.
constexpr bool needs_similarity(Regulariser kind) {
  return kind == Regulariser::kGlas || kind == Regulariser::kLaplacian;
}

/// The loss of glas, spreadout or laplacian, and dv [R, D] += weight times its gradient, v taken as
/// free vectors. u [R, R] is 0 on its diagonal; spreadout needs none.
double regularise_labels(const Context& context, Regulariser kind, float weight, ConstTensorView v,
                         ConstTensorView u, TensorView dv);

/// The loss of gravity, and weight times its gradients added to dphi [N, D] and dv [R, D].
double add_gravity(const Context& context, float weight, ConstTensorView phi, ConstTensorView v,
                   TensorView dphi, TensorView dv);

/// The same for classifiers of any length, W [L, D], whose directions alone are regularised: those
/// of the labels [R], rising, and for gravity those of phi [N, D] too. Sets drows [R, D], the
/// weighted gradient of these rows of W; gravity adds to dphi. U [L x L] is for glas and laplacian.
double regularise_directions(const Context& context, Regulariser kind, float weight,
                             ConstTensorView phi, ConstTensorView w, const Csr& similarity,
                             std::span<const int32_t> labels, TensorView dphi, TensorView drows);

}  // namespace elias
