// The best labels of texts, from C.
//
//   cc predict.c -o predict $(pkg-config --cflags --libs elias)
//   ./predict MODEL 'a text' 'another'
#include <elias/elias.h>
#include <stdio.h>

static int fail(const char* what) {
  fprintf(stderr, "predict: %s\n", what);
  return 2;
}

// A line a label, and an empty one behind each text.
static void print(const elias_model* model, const elias_predictions* found) {
  const uint64_t* offsets = elias_predictions_offsets(found);
  const uint32_t* labels = elias_predictions_labels(found);
  const float* scores = elias_predictions_scores(found);
  for (size_t text = 0; text < elias_predictions_rows(found); ++text) {
    for (uint64_t i = offsets[text]; i < offsets[text + 1]; ++i) {
      printf("%s\t%.9g\n", elias_label_name(model, labels[i], NULL), scores[i]);
    }
    printf("\n");
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return fail("give a model and texts");
  elias_model* model = NULL;
  if (elias_load(argv[1], NULL, &model) != ELIAS_OK) return fail(elias_last_error());

  const elias_predict_options options = {.size = sizeof options, .k = 3};
  elias_predictions* found = NULL;
  const char* const* texts = (const char* const*)(argv + 2);
  const size_t n = (size_t)argc - 2;
  const elias_status status = elias_predict(model, texts, NULL, n, &options, &found);
  if (status == ELIAS_OK) print(model, found);

  elias_predictions_free(found);
  elias_free(model);
  return status == ELIAS_OK ? 0 : fail(elias_last_error());
}
