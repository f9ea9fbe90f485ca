#include "kernels/layer_norm.h"

#include "kernels/device_array.h"
#include "kernels/elementwise.h"
#include "kernels/layer_norm_problem.h"
#include "kernels/targets.h"

// The kernels of the single steps are the reference, bit for bit.
namespace kernels::test {
namespace {

constexpr Array absent_array{nullptr, DType::f32, 0};

struct Types {
    DType x, sum;
};
const std::vector<Types> all_types = {{DType::f32, DType::f32},
                                      {DType::f16, DType::f32},
                                      {DType::bf16, DType::f32},
                                      {DType::f16, DType::f16},
                                      {DType::bf16, DType::bf16}};
/// The last is longer than the rows that one f32 sum of the parameters' gradients takes up.
const std::vector<std::pair<std::int64_t, std::int64_t>> sizes_of_rows = {
    {0, 3}, {1, 1}, {3, 31}, {4, 32}, {7, 33}, {2, 3001}, {300, 20}, {2100, 48}};

struct AddLayerNormProblem {
    AddLayerNormProblem(const Types& types_, const LayerNormShape& shape_)
        : types(types_),
          shape(shape_),
          n(shape.rows * shape.cols),
          x(random_buffer(types.x, n, 1)),
          around(random_buffer(types.sum, n, 2, 0.5, 2)),
          weight(random_buffer(DType::f32, shape.cols, 3, 1, 0.3)),
          bias(random_buffer(DType::f32, shape.cols, 4)),
          dy(random_buffer(types.sum, n, 5)),
          beside(random_buffer(types.sum, n, 6)) {}
    Types types;
    LayerNormShape shape;
    std::int64_t n;
    Buffer x, around, weight, bias, dy, beside;
};

struct AddLayerNormForward {
    explicit AddLayerNormForward(const AddLayerNormProblem& p)
        : sum(p.types.sum, p.n),
          y(p.types.sum, p.n),
          mean(DType::f32, p.shape.rows),
          rstd(DType::f32, p.shape.rows) {}
    Buffer sum, y, mean, rstd;
};

AddLayerNormForward in_one(const AddLayerNormProblem& p) {
    AddLayerNormForward out(p);
    cpu::add_layer_norm_forward(out.sum, out.y, out.mean, out.rstd, p.x, p.around, p.weight, p.bias,
                                p.shape, {});
    return out;
}

AddLayerNormForward in_two(const AddLayerNormProblem& p) {
    AddLayerNormForward out(p);
    Buffer wide(p.types.sum, p.n);
    cpu::cast(wide, p.x, {});
    cpu::binary(out.sum, wide, p.around, BinaryOp::add, {});
    cpu::layer_norm_forward(out.y, out.mean, out.rstd, out.sum, p.weight, p.bias, p.shape, {});
    return out;
}

struct Backward {
    explicit Backward(const AddLayerNormProblem& p)
        : dsum(p.types.sum, p.n),
          dx(p.types.x, p.n),
          dweight(DType::f32, p.shape.cols),
          dbias(DType::f32, p.shape.cols) {}
    Buffer dsum, dx, dweight, dbias;
};

Backward in_one(const AddLayerNormProblem& p, const AddLayerNormForward& saved, bool has_beside,
                bool parameters) {
    Backward out(p);
    const bool narrow = p.types.x != p.types.sum;
    cpu::add_layer_norm_backward({out.dsum, narrow ? out.dx.array() : absent_array,
                                  parameters ? out.dweight.array() : absent_array,
                                  parameters ? out.dbias.array() : absent_array},
                                 has_beside ? p.beside.view() : ConstArray(absent_array), p.dy,
                                 saved.sum, p.weight, saved.mean, saved.rstd, p.shape, {});
    return out;
}

Backward in_two(const AddLayerNormProblem& p, const AddLayerNormForward& saved, bool has_beside,
                bool parameters) {
    Backward out(p);
    cpu::layer_norm_backward(out.dsum, parameters ? out.dweight.array() : absent_array,
                             parameters ? out.dbias.array() : absent_array, p.dy, saved.sum,
                             p.weight, saved.mean, saved.rstd, p.shape, {});
    if (has_beside) cpu::binary(out.dsum, p.beside, out.dsum, BinaryOp::add, {});
    if (p.types.x != p.types.sum) cpu::cast(out.dx, out.dsum, {});
    return out;
}

template <class F>
void for_each_problem(const F& f) {
    for (const Types& types : all_types)
        for (const auto& [rows, cols] : sizes_of_rows) {
            SCOPED_TRACE(testing::Message()
                         << static_cast<int>(types.x) << " beside " << static_cast<int>(types.sum)
                         << ", " << rows << " x " << cols);
            f(AddLayerNormProblem(types, {rows, cols}));
        }
}

TEST(AddLayerNorm, HasTheBitsOfASumAndItsNorm) {
    on_every_target([] {
        for_each_problem([](const AddLayerNormProblem& p) {
            const AddLayerNormForward one = in_one(p), two = in_two(p);
            EXPECT_EQ(one.sum.bytes(), two.sum.bytes());
            EXPECT_EQ(one.y.bytes(), two.y.bytes());
            EXPECT_EQ(one.mean.bytes(), two.mean.bytes());
            EXPECT_EQ(one.rstd.bytes(), two.rstd.bytes());
        });
    });
}

TEST(AddLayerNorm, HasTheBitsOfTheGradientsOfBoth) {
    on_every_target([] {
        for_each_problem([](const AddLayerNormProblem& p) {
            const AddLayerNormForward saved = in_two(p);
            for (const bool beside : {false, true})
                for (const bool parameters : {false, true}) {
                    const Backward one = in_one(p, saved, beside, parameters);
                    const Backward two = in_two(p, saved, beside, parameters);
                    EXPECT_EQ(one.dsum.bytes(), two.dsum.bytes());
                    EXPECT_EQ(one.dx.bytes(), two.dx.bytes());
                    EXPECT_EQ(one.dweight.bytes(), two.dweight.bytes());
                    EXPECT_EQ(one.dbias.bytes(), two.dbias.bytes());
                }
        });
    });
}

TEST(AddLayerNorm, GivesTheSameBitsForEveryThreadCount) {
    const AddLayerNormProblem p({DType::bf16, DType::f32}, {3000, 100});
    const AddLayerNormForward expected = in_one(p);
    const Backward gradients = in_one(p, expected, true, true);
    with_threads([&](int) {
        EXPECT_EQ(in_one(p).y.bytes(), expected.y.bytes());
        const Backward again = in_one(p, expected, true, true);
        EXPECT_EQ(again.dx.bytes(), gradients.dx.bytes());
        EXPECT_EQ(again.dweight.bytes(), gradients.dweight.bytes());
    });
}

TEST(AddLayerNorm, KeepsANaNOrAnInfinityToItsRow) {
    AddLayerNormProblem p({DType::f16, DType::f32}, {3, 40});
    p.x.set(3, static_cast<double>(nan));
    p.around.set(41, static_cast<double>(infinity));
    const AddLayerNormForward out = in_one(p);
    EXPECT_TRUE(std::isnan(out.y.get(0)));
    EXPECT_TRUE(std::isnan(out.y.get(41)));  // inf / inf
    EXPECT_TRUE(std::isfinite(out.y.get(80)));
}

using ResultBytes = std::vector<std::vector<unsigned char>>;

ResultBytes bytes_of_all(std::initializer_list<const DeviceBuffer*> buffers) {
    ResultBytes out;
    for (const DeviceBuffer* each : buffers) {
        const Buffer host = each->host();
        out.emplace_back(host.bytes().begin(), host.bytes().end());
    }
    return out;
}

/// Both passes on the device, by one kernel each or by the single steps.
ResultBytes both_passes(const AddLayerNormProblem& p, bool in_one, bool has_beside,
                        bool parameters) {
    const DeviceBuffer x(p.x), around(p.around), weight(p.weight), bias(p.bias), dy(p.dy),
        beside(p.beside);
    const DeviceBuffer sum(p.types.sum, p.n), y(p.types.sum, p.n), mean(DType::f32, p.shape.rows),
        rstd(DType::f32, p.shape.rows), dsum(p.types.sum, p.n), dx(p.types.x, p.n),
        dweight(DType::f32, p.shape.cols), dbias(DType::f32, p.shape.cols);
    const Array of_weight = parameters ? dweight.array() : absent_array;
    const Array of_bias = parameters ? dbias.array() : absent_array;
    const bool narrow = p.types.x != p.types.sum;
    if (in_one) {
        cuda::add_layer_norm_forward(sum, y, mean, rstd, x, around, weight, bias, p.shape, {});
        cuda::add_layer_norm_backward(
            {dsum, narrow ? dx.array() : absent_array, of_weight, of_bias},
            has_beside ? beside.array() : absent_array, dy, sum, weight, mean, rstd, p.shape, {});
    } else {
        const DeviceBuffer wide(p.types.sum, p.n);
        cuda::cast(wide, x, {});
        cuda::binary(sum, wide, around, BinaryOp::add, {});
        cuda::layer_norm_forward(y, mean, rstd, sum, weight, bias, p.shape, {});
        cuda::layer_norm_backward(dsum, of_weight, of_bias, dy, sum, weight, mean, rstd, p.shape,
                                  {});
        if (has_beside) cuda::binary(dsum, beside, dsum, BinaryOp::add, {});
        if (narrow) cuda::cast(dx, dsum, {});
    }
    return bytes_of_all({&sum, &y, &mean, &rstd, &dsum, &dx, &dweight, &dbias});
}

TEST(CudaAddLayerNorm, HasTheBitsOfASumAndItsNormAndOfTheirGradients) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types)
        for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {0, 3}, {1, 1}, {4, 32}, {7, 33}, {2, 3001}, {40, 20}}) {
            SCOPED_TRACE(testing::Message()
                         << static_cast<int>(types.x) << " beside " << static_cast<int>(types.sum)
                         << ", " << rows << " x " << cols);
            const AddLayerNormProblem p(types, {rows, cols});
            EXPECT_EQ(both_passes(p, true, true, true), both_passes(p, false, true, true));
            EXPECT_EQ(both_passes(p, true, false, false), both_passes(p, false, false, false));
        }
}

}  // namespace
}  // namespace kernels::test
