// The algorithm for a product is asked of cuBLASLt once for each shape and kept: asking takes
// longer than many a product, and the same algorithm gives the same bits.
#include "ops/product/cublas.cuh"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "ops/cuda/cuda.cuh"

namespace elias::cuda {
namespace {

constexpr size_t kWorkspaceBytes = size_t{32} << 20;

void check_blas(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw InputError("cuBLASLt reports: {}", cublasLtGetStatusString(status));
}

cublasLtHandle_t handle() {
  static const cublasLtHandle_t only = [] {
    cublasLtHandle_t made = nullptr;
    check_blas(cublasLtCreate(&made));
    return made;
  }();
  return only;
}

// One is enough: products follow each other in the stream.
void* workspace() {
  static void* const only = take_memory(kWorkspaceBytes);
  return only;
}

cublasLtEpilogue_t epilogue_of(const Product& product) {
  if (product.bias != nullptr) {
    return product.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  }
  return product.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

// The largest power of two up to 256 that divides the address.
uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data) | 256;
  return static_cast<uint32_t>(address & (~address + 1));
}

/// A product's description, which lives in place and needs no care. cuBLASLt reads it only, but
/// does not say so.
class Description {
 public:
  explicit Description(const Product& product) {
    check_blas(cublasLtMatmulDescInit(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, product.a_op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, product.b_op);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(product));
    if (product.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
    const auto& [m, n, k] = std::tie(product.m, product.n, product.k);
    init(a, product.type, product.a_op, m, k, product.a_stride);
    init(b, product.type, product.b_op, k, n, product.b_stride);
    init(d, product.d_type, CUBLAS_OP_N, m, n, product.d_stride);
  }

  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t a{}, b{}, d{};

 private:
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_blas(cublasLtMatmulDescSetAttribute(&operation, attribute, &value, sizeof(value)));
  }

  // op(matrix) is rows x columns.
  static void init(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t type, cublasOperation_t op,
                   int64_t rows, int64_t columns, int64_t stride) {
    if (op == CUBLAS_OP_T) std::swap(rows, columns);
    // The stride of a single column says nothing, but must not be less than its length.
    check_blas(cublasLtMatrixLayoutInit(&layout, type, rows, columns, std::max(stride, rows)));
  }
};

cublasLtMatmulAlgo_t ask_for_algorithm(const Product& product, Description& description) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  check_blas(cublasLtMatmulPreferenceInit(&preference));
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    check_blas(cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof(value)));
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product.a));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product.b));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(product.d));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(product.d));
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  check_blas(cublasLtMatmulAlgoGetHeuristic(handle(), &description.operation, &description.a,
                                            &description.b, &description.d, &description.d,
                                            &preference, 1, &best, &found));
  if (found == 0) {
    throw InputError("cuBLASLt has no algorithm for a product of {} x {} x {}", product.m,
                     product.n, product.k);
  }
  return best.algo;
}

cublasLtMatmulAlgo_t algorithm_for(const Product& product, Description& description) {
  const auto key = std::tuple(
      product.m, product.n, product.k, product.type, product.a_stride, product.a_op,
      product.b_stride, product.b_op, product.d_type, product.d_stride, epilogue_of(product),
      product.beta, alignment_of(product.a), alignment_of(product.b), alignment_of(product.d));
  static std::mutex mutex;
  static std::map<std::remove_const_t<decltype(key)>, cublasLtMatmulAlgo_t> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(key);
  if (is_new) {
    try {
      place->second = ask_for_algorithm(product, description);
    } catch (...) {
      known.erase(place);
      throw;
    }
  }
  return place->second;
}

}  // namespace

void multiply(const Product& product) {
  Description description(product);
  const cublasLtMatmulAlgo_t algorithm = algorithm_for(product, description);
  const float alpha = 1;
  check_blas(cublasLtMatmul(handle(), &description.operation, &alpha, product.a, &description.a,
                            product.b, &description.b, &product.beta, product.d, &description.d,
                            product.d, &description.d, &algorithm, workspace(), kWorkspaceBytes,
                            stream()));
}

}  // namespace elias::cuda
