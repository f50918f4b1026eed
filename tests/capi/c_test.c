// The C interface from C, every function of it: c_test MODEL TEXT OTHER, a model and two texts
// that it has words of. Prints what does not hold.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elias/elias.h"

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  printf("c_test: does not hold: %s (last error: %s)\n", what, elias_last_error());
  failures++;
}

enum { kCount = 3 };

static void test_names(const elias_model* model) {
  size_t length = 0;
  uint32_t found = 0;
  const uint32_t last = (uint32_t)elias_label_count(model) - 1;
  const char* name = elias_label_name(model, last, &length);
  expect(name != NULL && strlen(name) == length, "a name ends with a NUL");
  expect(elias_find_label(model, name, length, &found) == ELIAS_OK, "a name is found");
  expect(found == last, "a name is that of its label");
}

static void test_predictions(const elias_model* model, const char* const* texts) {
  elias_predict_options options = {.size = sizeof options, .k = 4};
  elias_predictions* all = NULL;
  elias_predictions* best = NULL;
  expect(elias_predict(model, texts, NULL, kCount, &options, &all) == ELIAS_OK, "predict");
  expect(elias_predictions_rows(all) == kCount, "a row a text");
  options.k = 1;
  options.candidates = elias_predictions_labels(all);
  options.candidate_count = 1;
  expect(elias_predict(model, texts, NULL, 1, &options, &best) == ELIAS_OK, "candidates");
  if (failures == 0) {
    const uint64_t* offsets = elias_predictions_offsets(all);
    const float* scores = elias_predictions_scores(all);
    expect(offsets[0] == 0 && offsets[1] == 4 && offsets[kCount] == 4 * kCount, "k labels a row");
    expect(scores[0] >= scores[1] && scores[0] <= 1 && scores[3] >= 0, "ranked probabilities");
    expect(elias_predictions_labels(best)[0] == elias_predictions_labels(all)[0],
           "only the candidate is predicted");
  }
  elias_predictions_free(best);
  elias_predictions_free(all);
}

static void test_vectors(const elias_model* model, const char* const* texts) {
  const size_t width = elias_vector_width(model);
  float* vectors = malloc(kCount * width * sizeof *vectors);
  expect(elias_member_count(model) == 1, "one member");
  expect(elias_embed(model, 0, texts, NULL, kCount, vectors) == ELIAS_OK, "embed");
  expect(memcmp(vectors, vectors + 2 * width, width * sizeof *vectors) != 0,
         "other texts have other vectors");
  free(vectors);
}

static void test_refusals(const elias_model* model) {
  const uint64_t offsets[] = {0, 0};
  elias_model* other = NULL;
  elias_predictions* none = NULL;
  float number = 0;
  expect(elias_load("/there/is/no/such", NULL, &other) == ELIAS_REFUSED, "no folder");
  expect(strstr(elias_last_error(), "/there/is/no/such") != NULL, "the sentence has the folder");
  expect(other == NULL, "no model");
  expect(elias_takes_texts(model) == 1, "a model of texts");
  expect(elias_feature_count(model) > 0, "features");
  expect(elias_predict_features(model, offsets, NULL, NULL, 1, NULL, &none) == ELIAS_REFUSED,
         "predict takes texts");
  expect(elias_embed_features(model, 0, offsets, NULL, NULL, 1, &number) == ELIAS_REFUSED,
         "embed takes texts");
}

int main(int argc, char** argv) {
  const elias_load_options options = {.size = sizeof options, .threads = 2};
  elias_model* model = NULL;
  if (argc != 4 || elias_load(argv[1], &options, &model) != ELIAS_OK) {
    printf("c_test: no model: %s\n", elias_last_error());
    return 1;
  }
  const char* const texts[kCount] = {argv[2], "", argv[3]};
  expect(strlen(elias_version()) >= strlen("0.0.0"), "a version");
  test_names(model);
  test_predictions(model, texts);
  test_vectors(model, texts);
  test_refusals(model);
  elias_free(model);
  return failures == 0 ? 0 : 1;
}
