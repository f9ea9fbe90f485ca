#include "cuda/cublas_lt_api.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/dtype.h"
#include "simt/libraries.h"
#include "simt/queue.h"
#include "simt/work_counts.h"

// The simulated device's cuBLASLt. Throws where NVIDIA's would reject the call or silently compute
// something wrong.
namespace kernels::cuda::lt {

struct Context {};
struct DescOpaque {
    ComputeType compute;
    DataType scale;
    Operation a = Operation::none, b = Operation::none;
    Epilogue epilogue = Epilogue::none;
    const void* bias = nullptr;
};
struct LayoutOpaque {
    DataType type;
    std::int64_t rows, cols, ld;
    std::int32_t batch = 1;
    std::int64_t stride = 0;
};
struct PreferenceOpaque {
    std::uint64_t workspace = 0;
    std::uint32_t schemes = 7, alignment[4] = {256, 256, 256, 256};
};

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(std::string("simulated cuBLASLt: ") + what);
}

template <typename T>
void read(T& value, const void* data, std::size_t bytes) {
    require(bytes == sizeof(T), "an attribute of the wrong size");
    std::memcpy(&value, data, sizeof(T));
}

double load(const void* data, DataType type, std::int64_t i) {
    switch (type) {
        case DataType::f64:
            return static_cast<const double*>(data)[i];
        case DataType::f32:
            return static_cast<double>(static_cast<const float*>(data)[i]);
        case DataType::f16:
            return static_cast<double>(to_float(static_cast<const Half*>(data)[i]));
        case DataType::bf16:
            return static_cast<double>(to_float(static_cast<const BFloat16*>(data)[i]));
    }
    return 0;
}

void store(void* data, DataType type, std::int64_t i, double value) {
    switch (type) {
        case DataType::f64:
            static_cast<double*>(data)[i] = value;
            break;
        case DataType::f32:
            static_cast<float*>(data)[i] = static_cast<float>(value);
            break;
        case DataType::f16:
            static_cast<Half*>(data)[i] = to_half(static_cast<float>(value));
            break;
        case DataType::bf16:
            static_cast<BFloat16*>(data)[i] = to_bfloat16(static_cast<float>(value));
            break;
    }
}

bool has_relu(Epilogue epilogue) {
    return epilogue == Epilogue::relu || epilogue == Epilogue::relu_bias;
}
bool has_bias(Epilogue epilogue) {
    return epilogue == Epilogue::bias || epilogue == Epilogue::relu_bias;
}
bool has_sums(Epilogue epilogue) {
    return epilogue == Epilogue::sums_of_a || epilogue == Epilogue::sums_of_b;
}

std::size_t bytes_of(DataType type) {
    return type == DataType::f64 ? 8 : type == DataType::f32 ? 4 : 2;
}

/// op(matrix) of one product, dense row-major, in the accumulation type.
template <typename S>
std::vector<S> taken(const void* data, const LayoutOpaque& l, Operation op, std::int64_t block) {
    std::vector<S> out(static_cast<std::size_t>(l.rows * l.cols));
    for (std::int64_t col = 0; col < l.cols; ++col)
        for (std::int64_t row = 0; row < l.rows; ++row) {
            const std::int64_t to = op == Operation::none ? row * l.cols + col : col * l.rows + row;
            out[static_cast<std::size_t>(to)] =
                static_cast<S>(load(data, l.type, block * l.stride + col * l.ld + row));
        }
    return out;
}

struct Multiplication {
    DescOpaque desc;
    LayoutOpaque la, lb, ld;
    const void *a, *b;
    void* d;
    double alpha, beta;
    bool relu_keeps_nan;
    int algorithm;

    /// A batch that shares one matrix reads it once.
    static std::int64_t bytes(const LayoutOpaque& l) {
        const std::int64_t matrices = l.stride == 0 ? 1 : l.batch;
        return matrices * l.rows * l.cols * static_cast<std::int64_t>(bytes_of(l.type));
    }
    template <typename S>
    void run_block(std::int64_t block) const {
        const std::int64_t m = ld.rows, n = ld.cols;
        const std::int64_t k = desc.a == Operation::none ? la.cols : la.rows;
        const auto left = taken<S>(a, la, desc.a, block), right = taken<S>(b, lb, desc.b, block);
        std::vector<S> sums(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < m; ++i) {
            std::fill(sums.begin(), sums.end(), S(0));
            for (std::int64_t p = 0; p < k; ++p) {
                const S factor = left[static_cast<std::size_t>(i * k + p)];
                const S* row = right.data() + p * n;
                for (std::int64_t j = 0; j < n; ++j)
                    sums[static_cast<std::size_t>(j)] += factor * row[j];
            }
            for (std::int64_t j = 0; j < n; ++j)
                finish(sums[static_cast<std::size_t>(j)], block, i, j);
        }
        if (desc.epilogue == Epilogue::sums_of_a) put_sums(left, m, k, k, 1);
        if (desc.epilogue == Epilogue::sums_of_b) put_sums(right, n, k, 1, n);
    }
    /// `count` sums of k terms; the first terms of two lie `next` apart, two terms of one `step`.
    template <typename S>
    void put_sums(const std::vector<S>& of, std::int64_t count, std::int64_t k, std::int64_t next,
                  std::int64_t step) const {
        for (std::int64_t i = 0; i < count; ++i) {
            S sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
                sum += of[static_cast<std::size_t>(i * next + p * step)];
            store(const_cast<void*>(desc.bias), ld.type, i, static_cast<double>(sum));
        }
    }
    template <typename S>
    void finish(S sum, std::int64_t block, std::int64_t i, std::int64_t j) const {
        const std::int64_t at = block * ld.stride + j * ld.ld + i;
        S value = static_cast<S>(alpha) * sum;
        if (beta != 0) value += static_cast<S>(beta) * static_cast<S>(load(d, ld.type, at));
        if (has_bias(desc.epilogue)) value += static_cast<S>(load(desc.bias, ld.type, i));
        if (has_relu(desc.epilogue)) {
            const bool passes = value > 0 || (relu_keeps_nan && std::isnan(value));
            if (!passes) value = 0;
        }
        store(d, ld.type, at, static_cast<double>(value));
    }
    void run() const {
        simt::run_algorithm(algorithm);
        simt::count_bytes("cublasLtMatmul", bytes(la) + bytes(lb) + (beta != 0 ? bytes(ld) : 0),
                          bytes(ld));
        for (std::int64_t block = 0; block < ld.batch; ++block) {
            if (desc.scale == DataType::f64)
                run_block<double>(block);
            else
                run_block<float>(block);
        }
    }
};

Status create(Handle* handle) {
    static Context only;
    *handle = &only;
    return success;
}

Status desc_create(Desc* desc, ComputeType compute, DataType scale) {
    require((compute == ComputeType::f64) == (scale == DataType::f64), "scale and compute type");
    *desc = new DescOpaque{compute, scale};
    return success;
}
Status desc_destroy(Desc desc) { return delete desc, success; }
Status desc_set(Desc desc, DescAttribute attribute, const void* data, std::size_t bytes) {
    switch (attribute) {
        case DescAttribute::trans_a:
            return read(desc->a, data, bytes), success;
        case DescAttribute::trans_b:
            return read(desc->b, data, bytes), success;
        case DescAttribute::epilogue:
            return read(desc->epilogue, data, bytes), success;
        case DescAttribute::bias_pointer:
            return read(desc->bias, data, bytes), success;
    }
    return not_supported;
}

Status layout_create(Layout* layout, DataType type, std::uint64_t rows, std::uint64_t cols,
                     std::int64_t ld) {
    *layout = new LayoutOpaque{type, static_cast<std::int64_t>(rows),
                               static_cast<std::int64_t>(cols), ld};
    require(rows > 0 && cols > 0 && ld >= (*layout)->rows, "a layout's extents");
    return success;
}
Status layout_destroy(Layout layout) { return delete layout, success; }
Status layout_set(Layout layout, LayoutAttribute attribute, const void* data, std::size_t bytes) {
    if (attribute == LayoutAttribute::batch_count) return read(layout->batch, data, bytes), success;
    return read(layout->stride, data, bytes), success;
}

Status preference_create(Preference* preference) {
    return *preference = new PreferenceOpaque, success;
}
Status preference_destroy(Preference preference) { return delete preference, success; }
Status preference_set(Preference preference, PreferenceAttribute attribute, const void* data,
                      std::size_t bytes) {
    switch (attribute) {
        case PreferenceAttribute::workspace_bytes:
            return read(preference->workspace, data, bytes), success;
        case PreferenceAttribute::reduction_schemes:
            return read(preference->schemes, data, bytes), success;
        default:
            return read(preference->alignment[static_cast<int>(attribute) -
                                              static_cast<int>(PreferenceAttribute::alignment_a)],
                        data, bytes),
                   success;
    }
}

constexpr std::size_t number_at = 4;  // of an algorithm's words

/// The algorithm contains the problem that it was chosen for, and its number.
Status heuristic(Handle, Desc desc, Layout a, Layout b, Layout c, Layout, Preference preference,
                 int wanted, HeuristicResult* results, int* found) {
    simt::count_plan();
    *found = 0;
    require(a->type == b->type && a->batch == c->batch && b->batch == c->batch,
            "operands disagree");
    const bool wide = c->type == DataType::f32 || c->type == DataType::f64;
    const bool stable = preference->schemes == reduce_in_compute_type;
    require(stable || (wide && preference->schemes == (reduce_in_compute_type | reduce_in_place)),
            "sums may be put together in 16 bits");
    const Epilogue epilogue = desc->epilogue;
    require(epilogue == Epilogue::none || epilogue == Epilogue::relu || desc->bias != nullptr,
            "an epilogue's vector without its address");
    require(!has_sums(epilogue) || c->batch == 1, "sums of the operands of a batch");
    const simt::LibrarySettings settings = simt::library_settings();
    const bool supported = (!has_bias(epilogue) || settings.bias_epilogue) &&
                           (!has_relu(epilogue) || settings.relu_epilogue) &&
                           (!has_sums(epilogue) || settings.sums_epilogue);
    if (epilogue != Epilogue::none && (desc->compute == ComputeType::f64 || !supported))
        return not_supported;
    const std::vector<int> offered = simt::algorithms_offered(stable);
    *found = std::min(wanted, static_cast<int>(offered.size()));
    for (int i = 0; i < *found; ++i) {
        HeuristicResult& result = results[i] = {};
        result.workspace_bytes = static_cast<std::size_t>(preference->workspace);
        std::memcpy(result.algorithm.data, preference->alignment, sizeof(preference->alignment));
        result.algorithm.data[number_at] =
            static_cast<std::uint64_t>(offered[static_cast<std::size_t>(i)]);
    }
    return success;
}

Status algorithm_get(const Algorithm* algorithm, AlgorithmPart part, void* out, std::size_t bytes,
                     std::size_t* written) {
    if (part != AlgorithmPart::id) return not_supported;
    require(bytes == sizeof(std::uint32_t), "a part of the wrong size");
    const auto number = static_cast<std::uint32_t>(algorithm->data[number_at]);
    std::memcpy(out, &number, sizeof(number));
    return *written = sizeof(number), success;
}

/// As the real one, accepts an algorithm that the heuristic does not name at present. What it holds
/// of its problem has to be this one's.
Status algorithm_check(Handle, Desc desc, Layout a, Layout b, Layout c, Layout,
                       const Algorithm* algorithm, HeuristicResult* result) {
    require(a->type == b->type && a->batch == c->batch && desc, "operands disagree");
    const std::vector<int> known = simt::algorithms_known();
    const auto number = static_cast<int>(algorithm->data[number_at]);
    if (std::find(known.begin(), known.end(), number) == known.end()) return not_supported;
    *result = {};
    result->algorithm = *algorithm;
    result->workspace_bytes = 1000;
    return success;
}

void require_aligned(const void* data, std::uint32_t alignment) {
    require(reinterpret_cast<std::uintptr_t>(data) % alignment == 0, "an operand is not aligned");
}

Status matmul(Handle, Desc desc, const void* alpha, const void* a, Layout la, const void* b,
              Layout lb, const void* beta, const void* c, Layout, void* d, Layout ld,
              const Algorithm* algorithm, void* workspace, std::size_t, void* stream) {
    require(c == d, "c is updated in place");
    require_aligned(workspace, 256);
    std::uint32_t alignment[4];
    std::memcpy(alignment, algorithm->data, sizeof(alignment));
    require_aligned(a, alignment[0]);
    require_aligned(b, alignment[1]);
    require_aligned(d, std::max(alignment[3], static_cast<std::uint32_t>(bytes_of(ld->type))));
    if (has_bias(desc->epilogue) || has_sums(desc->epilogue))
        require_aligned(desc->bias, alignment[3]);
    const bool wide = desc->scale == DataType::f64;
    const auto scale = [&](const void* value) {
        return wide ? *static_cast<const double*>(value)
                    : static_cast<double>(*static_cast<const float*>(value));
    };
    const int number = static_cast<int>(algorithm->data[number_at]);
    if (simt::fails(number)) return not_supported;
    const bool relu_keeps_nan = simt::library_settings().relu_keeps_nan;
    const Multiplication all{*desc,          *la,   *lb, *ld, a, b, d, scale(alpha), scale(beta),
                             relu_keeps_nan, number};
    simt::enqueue("cublasLtMatmul", {stream}, [all] { all.run(); });
    return success;
}

const char* status_name(Status status) {
    return status == not_supported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_?";
}

}  // namespace

const Table& table() {
    static const Table only{create,
                            matmul,
                            heuristic,
                            desc_create,
                            desc_destroy,
                            desc_set,
                            layout_create,
                            layout_destroy,
                            layout_set,
                            preference_create,
                            preference_destroy,
                            preference_set,
                            algorithm_get,
                            algorithm_check,
                            status_name};
    return only;
}

}  // namespace kernels::cuda::lt
