#include "encoder/phi.h"

#include "ops/room.h"
#include "ops/rows/dropout.h"
#include "ops/rows/unit_rows.h"

namespace elias {
namespace {

bool drops(const std::optional<PhiNoise>& noise) { return noise && noise->dropout > 0; }

DropoutKey key_of(const PhiNoise& noise) {
  return {.seed = noise.seed, .stream = phi_dropout_stream(noise.step)};
}

}  // namespace

ConstTensorView PhiEnd::forward(const Context& context, ConstTensorView h,
                                const std::optional<PhiNoise>& noise, bool unit) {
  phi_ = h;
  if (drops(noise)) {
    const TensorView dropped = room(dropped_, h.shape());
    dropout(context, phi_, noise->dropout, key_of(*noise), dropped);
    phi_ = dropped;
  }
  if (unit) {
    const TensorView of_unit_length = room(unit_, h.shape());
    unit_rows(context, phi_, of_unit_length, room(lengths_, {h.rows()}));
    phi_ = of_unit_length;
  }
  return phi_;
}

void PhiEnd::backward(const Context& context, const std::optional<PhiNoise>& noise, bool unit,
                      TensorView dphi) {
  ELIAS_ASSERT(phi_.shape() == dphi.shape());
  if (unit) unit_rows_backward(context, dphi, phi_, room(lengths_, {dphi.rows()}), dphi);
  if (drops(noise)) dropout(context, dphi, noise->dropout, key_of(*noise), dphi);
}

}  // namespace elias
