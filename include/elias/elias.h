// Elias from C, and from every language that can call C: load a model that `elias fit` wrote, and
// ask it for labels.
//
//   #include <elias/elias.h>
//
//   elias_model* model = NULL;
//   elias_predictions* found = NULL;
//   const char* texts[] = {"fast clustering of vectors with numpy"};
//   if (elias_load("model", NULL, &model) != ELIAS_OK ||
//       elias_predict(model, texts, NULL, 1, NULL, &found) != ELIAS_OK) {
//     fprintf(stderr, "%s\n", elias_last_error());
//     exit(1);
//   }
//   const uint32_t* labels = elias_predictions_labels(found);
//   const float* scores = elias_predictions_scores(found);
//   for (uint64_t i = 0; i < elias_predictions_offsets(found)[1]; ++i) {
//     printf("%s %g\n", elias_label_name(model, labels[i], NULL), scores[i]);
//   }
//   elias_predictions_free(found);
//   elias_free(model);
//
// Predictions are those of `elias predict`, to the bit, whatever the number of threads.
//
// ERRORS. What can fail returns an elias_status, and elias_last_error() has the reason: one
// sentence with the place, the value and what to do. The text belongs to the calling thread, as
// errno does, so there is nothing to pass around and nothing to free; a language that moves its own
// threads between those of the system (Go) must hold on to one for both calls. A call that fails
// leaves the caller's handles and numbers as they were; only vectors may be written in part. Wrong
// arguments, NULL among them, are errors like any other, and no C++ exception leaves the library.
// What it cannot see is its caller's to keep: that arrays are as long as it is told, and handles
// not freed yet.
//
// MEMORY. What the library returns is freed by the library: a model by elias_free, predictions by
// elias_predictions_free, which may outlive their model. Either takes NULL. What the caller
// passes is read during the call and never kept.
//
// THREADS. Any number of threads may use one model at the same time, until one of them frees it. A
// call spreads its points over the threads of the model, which calls share one after the other: a
// program with threads of its own loads the model with `threads` = 1, and its calls go side by
// side.
//
// ABI. A program that was linked against this header runs with every later library of the same
// soname, libelias.so.0. Handles are opaque. Structs of options begin with their size, by which the
// library tells which fields its caller knew: write
//
//   elias_predict_options options = {.size = sizeof options, .k = 10};
//
// Fields that are left zero have their defaults, and new ones come at the end.
#ifndef ELIAS_ELIAS_H
#define ELIAS_ELIAS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ELIAS_API __attribute__((visibility("default")))
#else
#define ELIAS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct elias_model elias_model;
typedef struct elias_predictions elias_predictions;

typedef enum elias_status {
  ELIAS_OK = 0,
  ELIAS_REFUSED = 1,  // an argument, a file or a text is not as it must be, or memory is short
  ELIAS_BUG = 2       // a fault of the library: please report it
} elias_status;

// The version of the library, "0.1.0".
ELIAS_API const char* elias_version(void);

// Why the last call of this thread that failed did; "" if none has. Valid until the next that does.
ELIAS_API const char* elias_last_error(void);

// --- models --------------------------------------------------------------------------------------

typedef struct elias_load_options {
  size_t size;       // sizeof(elias_load_options)
  uint32_t threads;  // 0: one for each processor
  uint32_t exact;    // 1: score every label, also where there is a graph of neighbours to search
} elias_load_options;

// Opens the model in a folder. Every byte is verified; weights are mapped, not read, so that
// processes share them. `options` may be NULL.
ELIAS_API elias_status elias_load(const char* folder, const elias_load_options* options,
                                  elias_model** model);

ELIAS_API void elias_free(elias_model* model);

// Figures of a model; 0 if it is NULL.
ELIAS_API size_t elias_label_count(const elias_model* model);    // labels are 0 ... count - 1
ELIAS_API int elias_takes_texts(const elias_model* model);       // 1; 0 if it takes features
ELIAS_API size_t elias_feature_count(const elias_model* model);  // features are 0 ... count - 1
ELIAS_API size_t elias_vector_width(const elias_model* model);   // floats a vector of elias_embed
ELIAS_API size_t elias_member_count(const elias_model* model);   // more than 1: an ensemble

// The name of a label, in UTF-8 and with a NUL behind it; its bytes without that go to `length`,
// unless that is NULL. Valid until the model is freed. Returns NULL on failure.
ELIAS_API const char* elias_label_name(const elias_model* model, uint32_t label, size_t* length);

// The label of that name, of `length` bytes. That there is none is ELIAS_REFUSED.
ELIAS_API elias_status elias_find_label(const elias_model* model, const char* name, size_t length,
                                        uint32_t* label);

// --- predictions ---------------------------------------------------------------------------------

#define ELIAS_THRESHOLDS_OF_MODEL (-1.0)

typedef struct elias_predict_options {
  size_t size;  // sizeof(elias_predict_options)
  size_t k;     // labels a point at most; 0: 5, or with a threshold 100

  // Only labels with this probability or a higher one: over 0, at most 1. ELIAS_THRESHOLDS_OF_MODEL
  // takes those that `elias threshold` chose. 0: all that are found, at most k.
  double threshold;

  // Only these labels, in any order. NULL: all labels.
  const uint32_t* candidates;
  size_t candidate_count;
} elias_predict_options;

// The best labels of n texts in UTF-8. Text i has lengths[i] bytes, NULs among them if it likes;
// where `lengths` is NULL it ends at its first NUL. `options` may be NULL. One call with many texts
// is faster than many calls.
ELIAS_API elias_status elias_predict(const elias_model* model, const char* const* texts,
                                     const size_t* lengths, size_t n,
                                     const elias_predict_options* options,
                                     elias_predictions** predictions);

// The same for a model that was trained on features. Row i holds columns[j] = values[j] for
// offsets[i] <= j < offsets[i + 1], in any order; repeats are added up. Rows are scaled to unit
// length, as in training.
ELIAS_API elias_status elias_predict_features(const elias_model* model, const uint64_t* offsets,
                                              const uint32_t* columns, const float* values,
                                              size_t n, const elias_predict_options* options,
                                              elias_predictions** predictions);

// Predictions are a sparse matrix by rows: those of point i are at the places from offsets[i] on
// and before offsets[i + 1], best first; of equal scores the lower label. A point can have fewer
// than k. NULL (or 0) if `predictions` is NULL; otherwise valid until they are freed.
ELIAS_API size_t elias_predictions_rows(const elias_predictions* predictions);
ELIAS_API const uint64_t* elias_predictions_offsets(const elias_predictions* predictions);
ELIAS_API const uint32_t* elias_predictions_labels(const elias_predictions* predictions);
ELIAS_API const float* elias_predictions_scores(const elias_predictions* predictions);

ELIAS_API void elias_predictions_free(elias_predictions* predictions);

// --- vectors -------------------------------------------------------------------------------------

// The vectors of n texts by the encoder of a member of the model, 0 for the first, as `elias embed`
// has them: n rows of elias_vector_width(model) floats, which the caller has room for.
ELIAS_API elias_status elias_embed(const elias_model* model, size_t member,
                                   const char* const* texts, const size_t* lengths, size_t n,
                                   float* vectors);

// The same for a model that was trained on features.
ELIAS_API elias_status elias_embed_features(const elias_model* model, size_t member,
                                            const uint64_t* offsets, const uint32_t* columns,
                                            const float* values, size_t n, float* vectors);

#ifdef __cplusplus
}
#endif

#endif
