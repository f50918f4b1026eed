// Vectors, as those of `elias embed`.
#include <algorithm>

#include "base/errors.h"
#include "base/readable.h"
#include "capi/error.h"
#include "capi/handles.h"
#include "capi/points.h"
#include "encoder/encode_all.h"

namespace elias {
namespace {

constexpr size_t kPointsAPart = 4096;

void embed(const elias_model& model, size_t member, const CallersPoints& points, float* vectors) {
  if (const size_t members = model.model.members().size(); member >= members) {
    throw InputError("member {}: the model has {}, the first is 0: give one of them", member,
                     counted(members, "member"));
  }
  if (points.rows() > 0) required(vectors, "vectors");
  EncoderRoom room;
  float* out = vectors;
  for (size_t begin = 0; begin < points.rows(); begin += kPointsAPart) {
    const Points part = points.read(begin, std::min(begin + kPointsAPart, points.rows()));
    encode_all(model.context, model.encoder(member), room, part, [&](size_t, ConstTensorView phi) {
      for (int64_t i = 0; i < phi.rows(); ++i) {
        out = std::copy_n(phi.data<float>() + i * phi.stride(), phi.width(), out);
      }
    });
  }
}

}  // namespace
}  // namespace elias

elias_status elias_embed(const elias_model* model, size_t member, const char* const* texts,
                         const size_t* lengths, size_t n, float* vectors) {
  return elias::guarded([&] {
    const elias_model& asked = elias::required(model, "model");
    elias::embed(asked, member, elias::CallersTexts(asked, texts, lengths, n), vectors);
  });
}

elias_status elias_embed_features(const elias_model* model, size_t member, const uint64_t* offsets,
                                  const uint32_t* columns, const float* values, size_t n,
                                  float* vectors) {
  return elias::guarded([&] {
    const elias_model& asked = elias::required(model, "model");
    elias::embed(asked, member, elias::CallersFeatures(asked, offsets, columns, values, n),
                 vectors);
  });
}
