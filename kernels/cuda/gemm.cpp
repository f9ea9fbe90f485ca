#include "kernels/gemm.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/autotuner.h"
#include "cuda/gemm_finish.h"
#include "cuda/matmul_plans.h"
#include "cuda/native.h"
#include "cuda/per_device.h"
#include "cuda/workspace.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/device_error.h"
#include "kernels/thread_context.h"
#include "kernels/reduce.h"
#include "shared/gemm_sums.h"

namespace kernels::cuda {
namespace {

/// More shapes than a training run has; a sweep over shapes drops the oldest.
constexpr std::size_t max_plans = 512;

/// One for each device, since a race and a trial wait for theirs with the mutex held.
struct Library {
    std::mutex mutex;  // of all below, and of a plan while it is put on a stream
    lt::Handle handle = nullptr;
    lt::PlanCache plans{max_plans};
};

lt::Handle handle_of(Library& lib) {
    if (!lib.handle) lt::check(lt::table().create(&lib.handle), "cublasLtCreate");
    return lib.handle;
}

lt::DataType type_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return lt::DataType::f64;
        case DType::f16:
            return lt::DataType::f16;
        case DType::bf16:
            return lt::DataType::bf16;
        default:
            return lt::DataType::f32;
    }
}

lt::ComputeType choose_compute_type(DType dtype, bool tf32) {
    if (dtype == DType::f64) return lt::ComputeType::f64;
    return dtype == DType::f32 && tf32 ? lt::ComputeType::tf32 : lt::ComputeType::f32;
}

std::int64_t pointer_alignment(const void* data) {
    const auto address = reinterpret_cast<std::uintptr_t>(data) | 256;
    return static_cast<std::int64_t>(address & (~address + 1));
}

/// A row-major matrix is its transpose in columns. A single row may come with any ld.
lt::Operand operand(const ConstMatrix& m, std::int64_t stride) {
    const std::int64_t memory_rows = m.transposed ? m.cols : m.rows;
    const std::int64_t memory_cols = m.transposed ? m.rows : m.cols;
    return {memory_cols, memory_rows,  std::max(m.ld, memory_cols),
            stride,      m.transposed, pointer_alignment(m.data)};
}

/// The library's a is our b: c^T = b^T a^T.
lt::Epilogue choose_epilogue(const GemmOptions& options) {
    if (options.sums_of_a) return lt::Epilogue::sums_of_b;
    if (options.sums_of_b) return lt::Epilogue::sums_of_a;
    if (options.relu) return options.bias ? lt::Epilogue::relu_bias : lt::Epilogue::relu;
    return options.bias ? lt::Epilogue::bias : lt::Epilogue::none;
}

/// The vector that the epilogue reads or writes beside c.
const void* epilogue_vector(const GemmOptions& options) {
    if (options.sums_of_a) return options.sums_of_a;
    return options.sums_of_b ? options.sums_of_b : options.bias;
}

/// c^T = b^T a^T, in columns.
lt::Product make_product(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                         const GemmOptions& options, Stream stream) {
    lt::Product product;
    product.in = type_of(a.dtype);
    product.out = type_of(c.dtype);
    product.compute = choose_compute_type(a.dtype, stream.tf32);
    product.a = operand(b, options.stride_b);
    product.b = operand(a, options.stride_a);
    product.d = operand({c.data, c.dtype, c.rows, c.cols, c.ld}, options.stride_c);
    product.batch = options.batch;
    product.epilogue = choose_epilogue(options);
    const void* vector = epilogue_vector(options);
    product.bias_alignment = vector ? pointer_alignment(vector) : 0;
    product.choice = plan_choice();
    product.device = current_device();
    return product;
}

/// Whether n elements on the host, f32 or 16 bits, are all NaN.
bool all_nan(const unsigned char* data, DType dtype, std::int64_t n) {
    const auto value_at = [&](std::int64_t i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, data + static_cast<std::size_t>(i) * size_of(dtype), size_of(dtype));
        if (dtype == DType::f32) return std::bit_cast<float>(bits);
        const auto low = static_cast<std::uint16_t>(bits);
        return dtype == DType::f16 ? to_float(Half{low}) : to_float(BFloat16{low});
    };
    for (std::int64_t i = 0; i < n; ++i)
        if (!std::isnan(value_at(i))) return false;
    return true;
}

/// Whether the library's relu keeps NaN, which it does not document: lost NaNs would hide an
/// overflow from the gradient check. Each chosen algorithm is tried once, with NaN as alpha, which
/// makes every sum NaN. Waits; nothing is tried while the stream is captured.
bool relu_keeps_nan(lt::Plan& plan, lt::Handle handle, const lt::Plan::Call& call, const Matrix& c,
                    Stream stream) {
    if (plan.keeps_nan || capturing(stream)) return plan.keeps_nan.value_or(false);
    lt::Plan::Call trial = call;
    trial.alpha = std::numeric_limits<double>::quiet_NaN();
    plan.run(handle, trial);
    std::vector<unsigned char> row(static_cast<std::size_t>(c.cols) * size_of(c.dtype));
    copy_to_host(row.data(), c.data, row.size(), stream);
    plan.keeps_nan = all_nan(row.data(), c.dtype, c.cols);
    return *plan.keeps_nan;
}

/// Bytes from c's first element to its last.
std::size_t bytes_of(const Matrix& c, const GemmOptions& options) {
    const std::int64_t elements =
        (options.batch - 1) * options.stride_c + (c.rows - 1) * c.ld + c.cols;
    return static_cast<std::size_t>(elements) * size_of(c.dtype);
}

/// The algorithms write where the product will be written again, by the one that is then chosen.
/// Where c is added to, they add to something of its size. One whose relu loses NaN cannot win.
void settle_plan(lt::Plan& plan, lt::Handle handle, const lt::Product& product,
                 const lt::Plan::Call& call, const Matrix& c, const GemmOptions& options,
                 Stream stream) {
    std::optional<RaceMemory> instead;
    const auto run = [&](std::size_t offer) {
        return runs([&] {
            lt::Plan::Call trial = call;
            if (call.beta != 0) {
                if (!instead) instead.emplace(bytes_of(c, options));
                trial.d = instead->data();
            }
            plan.choose(offer);
            if (options.relu && !relu_keeps_nan(plan, handle, call, c, stream)) return false;
            plan.run(handle, trial);
            return true;
        });
    };
    if (const auto stored = stored_winner(product.text(), "cuBLASLt"))
        plan.restore(handle, *stored);
    const auto winner = select_algorithm({product.text(), "cuBLASLt", plan.names(), run}, stream);
    plan.choose(winner.value_or(0));
    if (winner) plan.settle(*winner);
}

/// False: the library cannot, and nothing was done but that c may have changed where beta is 0.
/// `scratch` has room for min_workspace.
bool run_product(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                 const GemmOptions& options, void* scratch, Stream stream) {
    const lt::Product product = make_product(c, a, b, options, stream);
    void* native = native_stream(stream);
    Library& lib = one_per_device<Library>(product.device);
    const std::lock_guard lock(lib.mutex);
    const lt::Handle handle = handle_of(lib);
    lt::Plan& plan =
        lib.plans.get(product.key(), [&] { return lt::Plan(handle, product, min_workspace); });
    if (!plan.found()) return false;
    const lt::Plan::Call call{b.data,        a.data,       c.data,  epilogue_vector(options),
                              options.alpha, options.beta, scratch, native};
    if (product.choice.measured && !plan.settled())
        settle_plan(plan, handle, product, call, c, options, stream);
    if (options.relu && !relu_keeps_nan(plan, handle, call, c, stream)) return false;
    plan.run(handle, call);
    count_launch();
    if (auto* const used = plan_uses()) used->push_back(plan.words());
    return true;
}

[[noreturn]] void refuse(const Matrix& c, const ConstMatrix& a) {
    throw DeviceError("cuBLASLt has no algorithm for a product of (" + std::to_string(c.rows) +
                      ", " + std::to_string(a.cols) + ") and (" + std::to_string(a.cols) + ", " +
                      std::to_string(c.cols) + ")");
}

/// f32 and f64: the sums are stored in c unrounded, so that the finishing step rounds as a single
/// pass would.
void product_then_finish(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                         const GemmOptions& options, Stream stream) {
    GemmOptions bare = options;
    bare.bias = nullptr;
    bare.relu = false;
    if (!run_product(c, a, b, bare, workspace(min_workspace, stream), stream)) refuse(c, a);
    GemmOptions rest = options;
    rest.beta = 1;
    if (options.bias || options.relu) gemm_finish(c, nullptr, rest, stream);
}

/// 16 bits: sums go to f32 scratch first, so that c is rounded once.
void product_in_scratch(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                        const GemmOptions& options, Stream stream) {
    WorkspaceParts parts;
    parts.take(min_workspace);
    const auto bytes = static_cast<std::size_t>(options.batch * c.rows * c.cols) * sizeof(float);
    const std::size_t start = parts.take(bytes);
    auto* scratch = static_cast<std::byte*>(workspace(parts.total(), stream));
    const Matrix sums{scratch + start, DType::f32, c.rows, c.cols, c.cols};
    GemmOptions bare = options;
    bare.stride_c = c.rows * c.cols;
    bare.beta = 0;
    bare.bias = nullptr;
    bare.relu = false;
    if (!run_product(sums, a, b, bare, scratch, stream)) refuse(c, a);
    gemm_finish(c, sums.data, options, stream);
}

/// With the bias at most by the library, relu by a kernel of ours.
void product_then_relu(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
                       const GemmOptions& options, Stream stream) {
    GemmOptions product = options, relu{.batch = options.batch, .stride_c = options.stride_c};
    product.relu = false;
    relu.beta = 1;
    relu.relu = true;
    // The library has no bias for f64.
    const bool plain = c.dtype == DType::f64 && options.bias != nullptr;
    if (!plain && run_product(c, a, b, product, workspace(min_workspace, stream), stream)) {
        if (options.relu) gemm_finish(c, nullptr, relu, stream);
        return;
    }
    if (c.dtype == DType::f64 || c.dtype == DType::f32)
        product_then_finish(c, a, b, options, stream);
    else
        product_in_scratch(c, a, b, options, stream);
}

/// Whether the library may do all of it at once.
bool is_one_call(const Matrix& c, const ConstMatrix& a, const GemmOptions& options) {
    if (c.dtype == DType::f64 || options.batch != 1 || options.beta != 0) return false;
    const bool sums = options.sums_of_a || options.sums_of_b;
    if (!sums) return options.relu;
    const bool both = options.sums_of_a && options.sums_of_b;
    return !both && !options.bias && !options.relu && c.dtype == a.dtype;
}

}  // namespace

void gemm(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options, Stream stream) {
    assert(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols && a.dtype == b.dtype);
    if (c.rows == 0 || c.cols == 0 || options.batch == 0) return;
    if (a.cols == 0 || options.alpha == 0) return gemm_finish(c, nullptr, options, stream);
    if (is_one_call(c, a, options) &&
        run_product(c, a, b, options, workspace(min_workspace, stream), stream))
        return;
    GemmOptions rest = options;
    rest.sums_of_a = rest.sums_of_b = nullptr;
    product_then_relu(c, a, b, rest, stream);
    for_each_operand_sum(c, a, b, options,
                         [&](Array sums, ConstArray of, std::int64_t k, std::int64_t n) {
                             reduce(sums, of, 1, k, n, ReduceOp::sum, stream);
                         });
}

}  // namespace kernels::cuda
