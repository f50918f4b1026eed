#include "train/settings_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <type_traits>

#include "model/model_folder.h"

namespace elias {
namespace {

using Place = Setting::Place;

template <auto Member>
Place at(Settings& settings) {
  return &(settings.*Member);
}

template <auto Stage, auto Member>
Place at(Settings& settings) {
  return &(settings.*Stage.*Member);
}

constexpr double kManySteps = 1e9;  // bounds that only catch slips of the keyboard
constexpr double kMostLabels = 1e8;
constexpr double kHighestRate = 10;
constexpr double kNoBound = 1e6;

using S = Settings;
// What others are derived from stands before them: where two runs differ, the cause is named.
constexpr Setting kSettings[] = {
    {"method", at<&S::method>,
     "elias: search, then rank; ova: rank all labels; glas: embed labels, and find the nearest"},
    {"seed", at<&S::seed>, "of all random choices", 0, 9e15},

    {"words_low", at<&S::words_low>, "shortest word n-gram; 0: none", 0, 100},
    {"words_high", at<&S::words_high>, "longest word n-gram", 0, 100, -1},
    {"opening", at<&S::opening>,
     "words at the start of a text that are features of their own too; 0: none", 0, kManySteps, -1},
    {"characters_low", at<&S::characters_low>, "shortest character n-gram; 0: none", 0, 100, -1},
    {"characters_high", at<&S::characters_high>, "longest character n-gram", 0, 100, -1},
    {"min_df", at<&S::min_df>, "texts a term must be in: a count, or a share below 1", 1e-9,
     kManySteps, 0},
    {"sublinear_tf", at<&S::sublinear_tf>, "1 + ln(tf) in place of tf"},

    {"encoder", at<&S::encoder>, "of points: a bag of embeddings, or a transformer"},
    {"pooling", at<&S::pooling>, "of a transformer's hidden states: that of [CLS], or the mean"},
    {"max_length", at<&S::max_length>,
     "tokens of a text that a transformer reads, [CLS] and [SEP] among them", 3, 65536, 0},
    {"activations", at<&S::activations>,
     "GiB that a transformer may keep of a batch; what needs more is computed twice", 0.01, 1000},
    {"width", at<&S::width>, "D, of a point's vector", 1, 65536, 0},
    {"max_features", at<&S::max_features>, "terms of each kind that are kept: the most frequent", 1,
     kMostLabels, 0},
    {"layers", at<&S::layers>, "residual layers after the bag of embeddings", 0, 64},
    {"dropout", at<&S::dropout>, "rate, on a point's vector", 0, 0.99, -1},
    {"word_dropout", at<&S::word_dropout>, "rate at which features are left out", 0, 0.99, -1},
    {"normalisation", at<&S::normalisation>,
     "of the sum of a point's embeddings: by a layer norm, or by one length of all columns of "
     "weights"},
    {"activation", at<&S::activation>, "of that sum"},

    {"labels_per_cluster", at<&S::labels_per_cluster>,
     "at most so many, where clusters are derived", 1, kMostLabels},
    {"clusters", at<&S::clusters>, "C, of labels", 1, kMostLabels, 0, true},
    {"beam", at<&S::beam>, "b, clusters searched for a point", 1, kMostLabels, 0},
    {"shortlist", at<&S::shortlist>, "K, labels scored for a point", 1, kMostLabels, 0},
    {"edges", at<&S::edges>, "kappa, labels a cluster may hold", 1, kMostLabels, 0},
    {"alpha", at<&S::alpha>, "scale of cluster scores", 0.01, kNoBound},
    {"beta", at<&S::beta>, "scale of edge scores", 0.01, kMostLabels, 0},
    {"extra_clusters", at<&S::extra_clusters>,
     "clusters beyond the beam in training: those of the true labels, then random ones", 0,
     kNoBound},
    {"kept_clusters", at<&S::kept_clusters>,
     "best clusters every label keeps an edge to; 0: rare labels may be in none", 0, 1000},
    {"informed_edges", at<&S::informed_edges>,
     "edges start from what stage 1 found, not at random"},
    {"keep_classifiers", at<&S::keep_classifiers>,
     "stage 2 goes on with the label classifiers of stage 1"},
    {"keep_warm_classifiers", at<&S::keep_warm_classifiers>,
     "stage 1 goes on with the label classifiers of the epochs before it"},
    {"label_start", at<&S::label_start>, "initial values of the label classifiers"},

    {"index", at<&S::index>,
     "of glas and ova: exact scores all labels, hnsw those that a graph of neighbours leads to"},
    {"neighbours", at<&S::neighbours>, "of each label that joins the graph of hnsw", 2, 1000},
    {"ef_construction", at<&S::ef_construction>, "labels looked among for these", 1, kNoBound},
    {"ef", at<&S::ef>, "labels that a search through the graph keeps: recall against time", 1,
     kMostLabels, 0},

    {"logit_loss", at<&S::logit_loss>,
     "labels the classifiers learn to reject beside the loss on p"},
    {"lambda", at<&S::lambda>, "weight of the shortlist loss", 0, kNoBound},
    {"gamma", at<&S::gamma>, "power of the shortlist score in the final score", 0, 10, -1},
    {"loss", at<&S::loss>,
     "of glas: a drawn label of a point against those that others drew, or ova: all labels"},
    {"margin", at<&S::margin>, "by which its drawn label is to be nearer than others", 0, 2, -1},
    {"mined", at<&S::mined>,
     "of the labels that others drew, the nearest that count for a point; 0: all", 0, kMostLabels,
     -1},
    {"scale", at<&S::scale>,
     "at which the length that all labels share starts, where it is learned", 0.01, kNoBound, 0},
    {"regulariser", at<&S::regulariser>,
     "what keeps the directions of label classifiers apart, or near those of labels alike"},
    {"regulariser_weight", at<&S::regulariser_weight>, "weight of the regulariser's loss", 0,
     kNoBound, -1},
    {"regularised", at<&S::regularised>,
     "whose directions: all labels that points of a batch have, or the one that each draws"},
    {"similarity", at<&S::similarity>,
     "how alike two labels are, by the points of each and of both: for glas and laplacian"},

    {"held_out", at<&S::held_out>,
     "training points kept apart to choose by, where no --dev is given", 0, kManySteps, -1},
    {"batch", at<&S::batch>, "points a step", 1, kNoBound, 0},
    {"stage1_epochs", at<&S::stage1_epochs>,
     "epochs with fixed clusters; for ova and glas: all epochs", 1, kNoBound, 0},
    {"stage2_epochs", at<&S::stage2_epochs>, "epochs in which the index is learned", 0, kNoBound,
     -1},
    {"warm_epochs", at<&S::warm_epochs>,
     "epochs before stage 1, which clusters labels by what they learned; 0: none", 0, kNoBound, -1},
    {"stage1_encoder_rate", at<&S::stage1_rates, &Rates::encoder>, "learning rate at its peak",
     1e-9, kHighestRate, 0},
    {"stage1_clusters_rate", at<&S::stage1_rates, &Rates::clusters>, "likewise", 1e-9, kHighestRate,
     0},
    {"stage1_labels_rate", at<&S::stage1_rates, &Rates::labels>, "likewise", 1e-9, kHighestRate, 0},
    {"stage2_encoder_rate", at<&S::stage2_rates, &Rates::encoder>, "likewise", 1e-9, kHighestRate,
     0},
    {"stage2_clusters_rate", at<&S::stage2_rates, &Rates::clusters>, "likewise", 1e-9, kHighestRate,
     0},
    {"stage2_labels_rate", at<&S::stage2_rates, &Rates::labels>, "likewise", 1e-9, kHighestRate, 0},
    {"stage2_edges_rate", at<&S::stage2_rates, &Rates::edges>, "likewise", 1e-9, kHighestRate, 0},
    {"accumulation", at<&S::accumulation>,
     "batches a step of clusters, edges, and labels where these go by blocks", 1, 1000},
    {"weight_decay", at<&S::weight_decay>, "weight decay of AdamW", 0, 1},
    {"schedule", at<&S::schedule>,
     "what warm-up and decay of encoder and labels go over: each stage, or all as one"},
    {"warm_up", at<&S::warm_up>, "share of the steps in which rates rise", 0, 1},
    {"average_from", at<&S::average_from>,
     "share of the last stage after which weights are averaged; 1: never", 0, 1},
    {"averages", at<&S::averages>, "averages taken an epoch", 1, kNoBound},
    {"evaluate_every", at<&S::evaluate_every>, "epochs from one evaluation to the next", 1,
     kNoBound, 0},
    {"patience", at<&S::patience>,
     "evaluations of the last stage without a gain after which it ends; 0: it never ends early", 0,
     kNoBound},
    {"bf16", at<&S::bf16>, "products of layers, clusters and labels in bfloat16"},

    {"ranker", at<&S::ranker>, "what the sparse ranker sees of a point; off: there is none"},
    {"ranker_words", at<&S::ranker_words>, "words of a point that the ranker sees, the largest", 1,
     1e9},
    {"ranker_top", at<&S::ranker_top>,
     "labels of a point that the ranker learns to tell apart, and ranks", 1, kMostLabels},
    {"ranker_folds", at<&S::ranker_folds>,
     "folds of training points, whose labels models find that did not see them; 0: none", 0,
     kMostFolds},
    {"ranker_loss", at<&S::ranker_loss>, "loss of the ranker's classifiers"},
    {"ranker_cost", at<&S::ranker_cost>,
     "weight of the ranker's loss beside the squares of its weights", 1e-6, kNoBound},
    {"ranker_positive_weight", at<&S::ranker_positive_weight>,
     "weight of points that have the label beside those it was found for in error", 1e-3, 1e3},
    {"ranker_tolerance", at<&S::ranker_tolerance>,
     "how near to its solution a classifier's training ends", 1e-6, 10},
    {"ranker_passes", at<&S::ranker_passes>,
     "passes over the points of a label in the ranker's training, at most", 1, 1e6},
    {"ranker_least_weight", at<&S::ranker_least_weight>,
     "smaller weights of the ranker are dropped", 0, kNoBound},
    {"ranker_dropped", at<&S::ranker_dropped>,
     "share of the squares of a label's weights that goes with the smallest of them", 0, 1, -1},
    {"ranker_most_weights", at<&S::ranker_most_weights>,
     "weights of a label in the ranker, the largest; 0: all", 0, 1e9},
    {"mix", at<&S::mix>,
     "of the scores of search and ranker: learned is a probability, product and tree the paper's"},

    {"ensemble", at<&S::ensemble>, "members, each with clusters of its own", 1, kMostMembers},
    {"fusion", at<&S::fusion>,
     "of the members' scores: their mean, the mean of 1 / rank, or learned"},
};

constexpr std::string_view kRegularisedLabels[] = {"batch", "drawn"};
constexpr std::string_view kMethods[] = {"elias", "ova", "glas"};
constexpr std::string_view kEmbeddingLosses[] = {"margin", "softmax", "ova", "auto"};
constexpr std::string_view kNormalisations[] = {"layer", "weight", "auto"};
constexpr std::string_view kPoolingChoices[] = {"first", "mean", "auto"};
constexpr std::string_view kBagActivations[] = {"relu", "linear"};
constexpr std::string_view kIndexChoices[] = {"exact", "hnsw", "auto"};
constexpr std::string_view kLogitLosses[] = {"none", "shortlist", "all", "auto"};
constexpr std::string_view kLabelStarts[] = {"prior", "published"};
constexpr std::string_view kSchedules[] = {"stages", "one", "auto"};
constexpr std::string_view kRankerChoices[] = {"off", "words", "vector", "both"};

}  // namespace

std::span<const Setting> all_settings() { return kSettings; }
std::span<const std::string_view> names_of(const Method*) { return kMethods; }
std::span<const std::string_view> names_of(const LogitLoss*) { return kLogitLosses; }
std::span<const std::string_view> names_of(const LabelStart*) { return kLabelStarts; }
std::span<const std::string_view> names_of(const Schedule*) { return kSchedules; }
std::span<const std::string_view> names_of(const EmbeddingLoss*) { return kEmbeddingLosses; }
std::span<const std::string_view> names_of(const Normalisation*) { return kNormalisations; }
std::span<const std::string_view> names_of(const BagActivation*) { return kBagActivations; }
std::span<const std::string_view> names_of(const PoolingChoice*) { return kPoolingChoices; }
std::span<const std::string_view> names_of(const IndexChoice*) { return kIndexChoices; }
std::span<const std::string_view> names_of(const Regulariser*) { return kRegulariserNames; }
std::span<const std::string_view> names_of(const RegularisedLabels*) { return kRegularisedLabels; }
std::span<const std::string_view> names_of(const Similarity*) { return kSimilarityNames; }
std::span<const std::string_view> names_of(const RankerChoice*) { return kRankerChoices; }
std::span<const std::string_view> names_of(const RankerLoss*) { return kRankerLossNames; }
std::span<const std::string_view> names_of(const MixKind*) { return kMixNames; }
std::span<const std::string_view> names_of(const FusionKind*) { return kFusionNames; }

std::string allowed_values(const Setting& setting) {
  Settings settings;
  const std::string values = std::visit(
      [&](auto* place) -> std::string {
        using T = std::remove_pointer_t<decltype(place)>;
        if constexpr (std::is_same_v<T, bool>) {
          return "true or false";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return "bag, the folder of a transformer, or new:layers=4,width=256,heads=4";
        } else if constexpr (std::is_enum_v<T>) {
          return fmt::format("{}", fmt::join(names_of(place), " or "));
        } else {
          const char* kind = setting.power_of_two          ? "a power of two"
                             : std::is_floating_point_v<T> ? "a number"
                                                           : "a whole number";
          return fmt::format("{} from {} to {}", kind, setting.low, setting.high);
        }
      },
      setting.place(settings));
  return setting.open ? values + ", or auto" : values;
}

}  // namespace elias
