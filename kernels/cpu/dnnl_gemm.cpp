#include <array>
#include <bit>

#include "cpu/dnnl_cache.h"
#include "cpu/dnnl_common.h"
#include "cpu/dnnl_ops.h"
#include "cpu/gemm_tiled.h"
#include "kernels/parallel.h"
#include "kernels/plan_use.h"

namespace kernels::cpu {
namespace {

struct Product {
    dnnl::primitive primitive;
    Arguments arguments;  ///< empty: no implementation
    std::string route{};
};

struct ProductShape {
    DType in, out;
    std::int64_t batch, m, n, k;
    std::array<std::int64_t, 3> a, b, c;  ///< strides of batch, row and column
    bool bias;
    float alpha, beta;

    ShapeKey key() const {
        return {{static_cast<std::int64_t>(in) * 16 + static_cast<std::int64_t>(out) * 256 +
                     (bias ? 1 : 0),
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

Product make_product(const ProductShape& shape) {
    using Desc = dnnl::matmul::primitive_desc;
    const memory::desc a = strided(shape.in, shape.batch, shape.m, shape.k, shape.a);
    const memory::desc b = strided(shape.in, shape.batch, shape.k, shape.n, shape.b);
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
    Product product{dnnl::matmul(*desc),
                    {{DNNL_ARG_SRC, unbound(a)},
                     {DNNL_ARG_WEIGHTS, unbound(b)},
                     {DNNL_ARG_DST, unbound(c)},
                     {DNNL_ARG_SCRATCHPAD, unbound(desc->scratchpad_desc())}}};
    if (shape.bias) product.arguments[DNNL_ARG_BIAS] = unbound(bias);
    product.route = desc->impl_info_str();
    return product;
}

}  // namespace

bool dnnl_gemm(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
               const GemmOptions& options) {
    if (!dnnl_supports(a.dtype) || c.rows == 0 || c.cols == 0 || a.cols == 0) return false;
    // oneDNN adds the bias first.
    if (options.alpha != 1 && options.bias) return false;
    if (options.batch != 1 && (options.stride_a == 0 || options.stride_b == 0)) return false;
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
                             .alpha = static_cast<float>(options.alpha),
                             .beta = static_cast<float>(options.beta)};
    const ThreadLimit limit(shape.batch * shape.m * shape.n * shape.k);
    thread_local ShapeCache<Product> cache;
    Product& product = cache.get(shape.key(), [&] { return make_product(shape); });
    if (product.arguments.empty()) return false;
    bind(product.arguments[DNNL_ARG_SRC], a.data);
    bind(product.arguments[DNNL_ARG_WEIGHTS], b.data);
    bind(product.arguments[DNNL_ARG_DST], c.data);
    if (shape.bias) bind(product.arguments[DNNL_ARG_BIAS], options.bias);
    run(product.primitive, product.arguments);
    if (auto* const used = plan_uses()) used->push_back("oneDNN " + product.route);
    // Not oneDNN's own relu, which turns a NaN into 0.
    if (options.relu) clamp_at_zero(c, options.batch, options.stride_c);
    return true;
}

}  // namespace kernels::cpu
