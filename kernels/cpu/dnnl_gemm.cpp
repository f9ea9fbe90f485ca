#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "cpu/dnnl_common.h"
#include "cpu/dnnl_ops.h"
#include "cpu/gemm_scratch.h"
#include "cpu/gemm_tiled.h"
#include "kernels/device.h"
#include "kernels/parallel.h"
#include "kernels/thread_context.h"

namespace kernels::cpu {
namespace {

struct Product {
    dnnl::primitive primitive;
    Arguments arguments;  ///< empty: no implementation
    std::string route{};
    dnnl::primitive pack{};  ///< b into the primitive's order
    Arguments pack_arguments{};
    std::size_t packed_bytes = 0;  ///< 0: the primitive takes b as it is
};

struct ProductShape {
    DType in, out;
    std::int64_t batch, m, n, k;
    std::array<std::int64_t, 3> a, b, c;  ///< strides of batch, row and column
    bool bias, packs;
    float alpha, beta;

    ShapeKey key() const {
        return {{static_cast<std::int64_t>(in) * 16 + static_cast<std::int64_t>(out) * 256 +
                     (bias ? 1 : 0) + (packs ? 2 : 0),
                 batch, m, n, k, a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], threads(),
                 std::bit_cast<std::int32_t>(alpha), std::bit_cast<std::int32_t>(beta)}};
    }
};

memory::desc strided(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                     const std::array<std::int64_t, 3>& strides) {
    if (batch == 1) return {{rows, cols}, data_type(dtype), {strides[1], strides[2]}};
    return {{batch, rows, cols}, data_type(dtype), {strides[0], strides[1], strides[2]}};
}

dnnl::primitive_attr product_attributes(const ProductShape& shape) {
    dnnl::primitive_attr attributes = user_scratchpad();
    dnnl::post_ops after;
#if DNNL_VERSION_MAJOR >= 3
    if (shape.alpha != 1) after.append_eltwise(algorithm::eltwise_linear, shape.alpha, 0.f);
#else
    if (shape.alpha != 1) after.append_eltwise(1.f, algorithm::eltwise_linear, shape.alpha, 0.f);
#endif
    if (shape.beta != 0) after.append_sum(shape.beta);
    attributes.set_post_ops(after);
    return attributes;
}

void add_pack(Product& product, const memory::desc& plain, const memory::desc& packed) {
    if (packed == plain) return;
    product.packed_bytes = packed.get_size();
    product.pack = made([&] {
        return dnnl::reorder({dnnl_engine(), plain, dnnl_engine(), packed});
    });
    product.pack_arguments = {{DNNL_ARG_FROM, unbound(plain)}, {DNNL_ARG_TO, unbound(packed)}};
}

Product make_product(const ProductShape& shape) {
    using Desc = dnnl::matmul::primitive_desc;
    const memory::desc a = strided(shape.in, shape.batch, shape.m, shape.k, shape.a);
    const memory::desc plain_b = strided(shape.in, shape.batch, shape.k, shape.n, shape.b);
    const memory::desc b =
        shape.packs ? memory::desc({shape.k, shape.n}, data_type(shape.in), memory::format_tag::any)
                    : plain_b;
    const memory::desc c = strided(shape.out, shape.batch, shape.m, shape.n, shape.c);
    const memory::desc bias =
        shape.bias ? strided(shape.out, shape.batch > 1 ? -1 : 1, 1, shape.n, {shape.n, shape.n, 1})
                   : memory::desc();
    const auto desc = optimized<Desc>([&] {
#if DNNL_VERSION_MAJOR >= 3
        return skip_reference(shape.bias
                                  ? Desc(dnnl_engine(), a, b, bias, c, product_attributes(shape))
                                  : Desc(dnnl_engine(), a, b, c, product_attributes(shape)));
#else
        const auto product =
            shape.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
        return skip_reference(Desc(product, product_attributes(shape), dnnl_engine()));
#endif
    });
    if (!desc) return {};
    Product product{made([&] { return dnnl::matmul(*desc); }),
                    {{DNNL_ARG_SRC, unbound(a)},
                     {DNNL_ARG_WEIGHTS, unbound(desc->weights_desc())},
                     {DNNL_ARG_DST, unbound(c)},
                     {DNNL_ARG_SCRATCHPAD, unbound(desc->scratchpad_desc())}}};
    if (shape.packs) add_pack(product, plain_b, desc->weights_desc());
    if (shape.bias) product.arguments[DNNL_ARG_BIAS] = unbound(bias);
    product.route = desc->impl_info_str();
    return product;
}

/// oneDNN copies parts of a row-major b into blocks of its own, and again for each block of rows.
/// From this size on it is faster to copy b as a whole first: by 1 to 10 % on Zen 5, f32 and bf16.
/// AMX multiplies bf16 so fast that the copy pays off later: on Sapphire Rapids it doubles the time
/// of 512 to 1024 rows, and saves 6 % (oneDNN 2.6) to 20 % (oneDNN 3.7) from 4096 rows of a large b
/// on. A function of the shape and the processor alone, because the order of the sums may depend on
/// it (dnnl_ops.h).
bool packing_is_faster(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                       bool transposed) {
    static const bool has_amx = info().amx_bf16;
    if (transposed) return false;
    if (has_amx && dtype == DType::bf16) return m >= 4096 && n * k >= std::int64_t{1} << 23;
    return m >= 512 && m * n * k >= std::int64_t{1} << 30;
}

bool packs_b(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
             const GemmOptions& options, PackB pack) {
    if (options.batch != 1 || pack == PackB::never) return false;
    return pack == PackB::always ||
           packing_is_faster(a.dtype, c.rows, c.cols, a.cols, b.transposed);
}

/// b in the order that the primitive takes.
const void* packed_b(Product& product, const void* b) {
    if (product.packed_bytes == 0) return b;
    void* packed = scratch_bytes(Scratch::library_weights, product.packed_bytes);
    bind(product.pack_arguments[DNNL_ARG_FROM], b);
    bind(product.pack_arguments[DNNL_ARG_TO], packed);
    run(product.pack, product.pack_arguments);
    return packed;
}

/// One name for the pieces of a call.
void name_use(const std::string& route) {
    auto* const used = plan_uses();
    if (used == nullptr) return;
    std::string name = "oneDNN " + route;
    if (used->empty() || used->back() != name) used->push_back(std::move(name));
}

bool multiply(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
              const GemmOptions& options, PackB pack) {
    const auto strides = [](const auto& matrix, std::int64_t batch, bool transposed) {
        return transposed ? std::array{batch, std::int64_t{1}, matrix.ld}
                          : std::array{batch, matrix.ld, std::int64_t{1}};
    };
    const ProductShape shape{.in = a.dtype,
                             .out = c.dtype,
                             .batch = options.batch,
                             .m = c.rows,
                             .n = c.cols,
                             .k = a.cols,
                             .a = strides(a, options.stride_a, a.transposed),
                             .b = strides(b, options.stride_b, b.transposed),
                             .c = strides(c, options.stride_c, false),
                             .bias = options.bias != nullptr,
                             .packs = packs_b(c, a, b, options, pack),
                             .alpha = static_cast<float>(options.alpha),
                             .beta = static_cast<float>(options.beta)};
    const ThreadLimit limit(shape.batch * shape.m * shape.n * shape.k);
    thread_local ShapeCache<Product> cache;
    Product& product = cache.get(shape.key(), [&] { return make_product(shape); });
    if (product.arguments.empty()) return false;
    bind(product.arguments[DNNL_ARG_SRC], a.data);
    bind(product.arguments[DNNL_ARG_WEIGHTS], packed_b(product, b.data));
    bind(product.arguments[DNNL_ARG_DST], c.data);
    if (shape.bias) bind(product.arguments[DNNL_ARG_BIAS], options.bias);
    run(product.primitive, product.arguments);
    name_use(product.route);
    // Not oneDNN's own relu, which turns a NaN into 0.
    if (options.relu) clamp_at_zero(c, options.batch, options.stride_c);
    return true;
}

/// Columns of c that one call of oneDNN computes: it walks long rows of c from end to end, so that
/// of 33,000 columns, each of them a row of b in memory, none is in the cache when the next rows
/// need it. Pieces are faster by 4 to 16 % on Zen 5, f32 and bf16, from 5,000 columns on, and
/// slower for few rows. Not where c is read: if the last, shorter piece has no implementation, the
/// caller computes all of c anew.
std::int64_t columns_at_once(const Matrix& c, const ConstMatrix& b, const GemmOptions& options) {
    constexpr std::int64_t min_rows = 512, piece = 2048;
    const bool in_pieces = options.batch == 1 && options.beta == 0 && b.transposed &&
                           c.rows >= min_rows && c.cols >= 2 * piece;
    return in_pieces ? piece : c.cols;
}

/// Whether a product that adds to c has other bits than one with a bias: below AVX-512, oneDNN sums
/// f32 in blocks of k and adds c before the last blocks, but a bias after all of them.
bool bias_comes_late(DType dtype) {
    static const bool sums_in_blocks = !info().avx512f;
    return sums_in_blocks && dtype == DType::f32;
}

/// Writes the bias into each row of c.
void fill_rows(const Matrix& c, const GemmOptions& options) {
    const auto item = static_cast<std::int64_t>(size_of(c.dtype));
    const std::int64_t bytes = c.cols * item;
    auto* const first = static_cast<std::byte*>(c.data);
    parallel_for(options.batch * c.rows, std::max<std::int64_t>(1, 65536 / bytes),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                         const std::int64_t row =
                             i / c.rows * options.stride_c + i % c.rows * c.ld;
                         std::memcpy(first + row * item, options.bias,
                                     static_cast<std::size_t>(bytes));
                     }
                 });
}

}  // namespace

bool dnnl_gemm(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
               const GemmOptions& options, PackB pack) {
    if (!dnnl_supports(a.dtype) || c.rows == 0 || c.cols == 0 || a.cols == 0) return false;
    // oneDNN adds the bias first.
    if (options.alpha != 1 && options.bias) return false;
    if (options.batch != 1 && (options.stride_a == 0 || options.stride_b == 0)) return false;
    if (options.bias && options.beta == 0 && bias_comes_late(a.dtype)) {
        fill_rows(c, options);
        GemmOptions added = options;
        added.bias = nullptr;
        added.beta = 1;
        return multiply(c, a, b, added, pack);
    }
    const std::int64_t step = columns_at_once(c, b, options);
    if (step == c.cols) return multiply(c, a, b, options, pack);
    const auto moved = [](const void* data, DType dtype, std::int64_t elements) {
        return static_cast<const std::byte*>(data) +
               elements * static_cast<std::int64_t>(size_of(dtype));
    };
    for (std::int64_t first = 0; first < c.cols; first += step) {
        const std::int64_t count = std::min(step, c.cols - first);
        Matrix c_piece{const_cast<std::byte*>(moved(c.data, c.dtype, first)), c.dtype, c.rows,
                       count, c.ld};
        ConstMatrix b_piece = b;
        b_piece.data = moved(b.data, b.dtype, first * b.ld);
        b_piece.cols = count;
        GemmOptions own = options;
        if (own.bias != nullptr) own.bias = moved(own.bias, c.dtype, first);
        if (!multiply(c_piece, a, b_piece, own, pack)) return false;
    }
    return true;
}

}  // namespace kernels::cpu
