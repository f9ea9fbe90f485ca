#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <tuple>

#include "kernels/attention_problem.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_array.h"
#include "kernels/library_fallback.h"

namespace kernels::test::attention {
namespace {

enum class Order { heads, positions };

/// The layout of a tensor in memory: the heads one after the other, or side by side in each
/// position, with as much unused memory between positions, as in the parts of a combined
/// projection.
struct Place {
    std::int64_t heads, rows, size;
    Order order;

    AttentionStrides strides() const {
        if (order == Order::heads) return {heads * rows * size, rows * size, size};
        return {rows * heads * size * 3, size, heads * size * 3};
    }
    std::int64_t elements(std::int64_t batch) const {
        return batch * heads * rows * size * (order == Order::heads ? 1 : 3);
    }
    std::int64_t at(std::int64_t dense) const {
        const AttentionStrides s = strides();
        const std::int64_t row = dense / size;
        return row / (rows * heads) * s.batch + row / rows % heads * s.head + row % rows * s.row +
               dense % size;
    }
};

Buffer placed(DType dtype, const std::vector<double>& values, std::int64_t batch,
              const Place& place) {
    Buffer out(dtype, place.elements(batch));
    for (std::size_t i = 0; i < values.size(); ++i)
        out.set(place.at(static_cast<std::int64_t>(i)), values[i]);
    return out;
}

std::vector<double> dense_values(const DeviceBuffer& on_device, std::size_t count,
                                 const Place& place) {
    const Buffer all = on_device.host();
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(all.get(place.at(static_cast<std::int64_t>(i))));
    return out;
}

Attention description(const Problem& p, AttentionPass pass, Order order) {
    const Sizes& s = p.s;
    Attention a;
    a.pass = pass;
    a.dtype = p.dtype;
    a.batch = s.batch;
    a.heads = s.heads;
    a.kv_heads = s.kv_heads;
    a.queries = s.queries;
    a.keys = s.keys;
    a.qk_size = s.qk_size;
    a.v_size = s.v_size;
    a.scale = static_cast<float>(s.scale);
    a.causal = s.causal;
    a.q = a.dq = Place{s.heads, s.queries, s.qk_size, order}.strides();
    a.k = a.dk = Place{s.kv_heads, s.keys, s.qk_size, order}.strides();
    a.v = a.dv = Place{s.kv_heads, s.keys, s.v_size, order}.strides();
    a.y = a.dy = Place{s.heads, s.queries, s.v_size, order}.strides();
    return a;
}

/// Which passes cuDNN is asked for. unless_faulty: the backward pass where no fault is known.
enum class AskedPasses { both, forward, none, unless_faulty };

struct NamedSizes {
    const char* name;
    Sizes sizes;
    AskedPasses asked = AskedPasses::both;
};

const NamedSizes attention_shapes[] = {
    {"causal", {2, 3, 3, 7, 7, 8, 8, true}},
    {"plain", {2, 3, 3, 7, 7, 8, 8, false}},
    {"two_sizes", {1, 2, 2, 33, 50, 16, 24}},
    {"one_query", {1, 2, 2, 1, 77, 64, 64}, AskedPasses::forward},
    {"one_query_of_two_examples", {2, 1, 1, 1, 77, 64, 64}, AskedPasses::forward},
    {"one_query_in_all", {1, 1, 1, 1, 77, 64, 64}, AskedPasses::none},
    {"one_key", {1, 2, 2, 77, 1, 64, 64}, AskedPasses::none},
    {"two_keys", {1, 2, 2, 77, 2, 64, 64}},
    {"grouped", {2, 6, 2, 5, 9, 16, 8}},
    {"one_kv_head", {1, 4, 1, 20, 20, 32, 32, true, 0.5}},
    {"one_head", {1, 1, 1, 128, 128, 128, 128, true, 0.125}},
    // Before 9.26 the gradients on Hopper are NaN for 64 keys beyond a multiple of 128.
    {"anti_aligned_64_keys",
     {1, 2, 2, 33, 64, 16, 16, false, 0.25, true},
     AskedPasses::unless_faulty},
    {"anti_aligned_192_keys",
     {1, 1, 1, 9, 192, 8, 8, false, 0.25, true},
     AskedPasses::unless_faulty},
    {"anti_aligned_128_keys", {1, 1, 1, 9, 128, 8, 8, false, 0.25, true}},
    {"anti_aligned_65_keys", {1, 1, 1, 9, 65, 8, 8, false, 0.25, true}},
    {"anti_aligned_causal", {1, 1, 1, 64, 64, 8, 8, true, 0.25, true}},
};

/// The simulated library has it, and no number of a version.
bool has_the_fault() {
    int major = 0, minor = 0;
    for (const cuda::LibraryInfo& library : cuda::libraries())
        if (library.name == "cuDNN") std::sscanf(library.version.c_str(), "%d.%d", &major, &minor);
    return cuda::device_info(cuda::current_device()).major == 9 && 100 * major + minor < 926;
}

void PrintTo(const NamedSizes& shape, std::ostream* out) { *out << shape.name; }

using AttentionCase = std::tuple<DType, Order, NamedSizes>;

/// The case's problem on the device.
class AttentionShape : public testing::TestWithParam<AttentionCase> {
protected:
    struct OnDevice {
        OnDevice(DType dtype, Order order, const Sizes& s)
            : problem(dtype, s),
              of_q{s.heads, s.queries, s.qk_size, order},
              of_k{s.kv_heads, s.keys, s.qk_size, order},
              of_v{s.kv_heads, s.keys, s.v_size, order},
              of_y{s.heads, s.queries, s.v_size, order},
              q(placed(dtype, problem.q, s.batch, of_q)),
              k(placed(dtype, problem.k, s.batch, of_k)),
              v(placed(dtype, problem.v, s.batch, of_v)),
              dy(placed(dtype, problem.dy, s.batch, of_y)),
              y(dtype, of_y.elements(s.batch)),
              dq(dtype, of_q.elements(s.batch)),
              dk(dtype, of_k.elements(s.batch)),
              dv(dtype, of_v.elements(s.batch)),
              logsumexp(DType::f32, s.batch * s.heads * s.queries) {}

        void check_forward(const Attention& a) const {
            const DeviceBuffer scratch = scratch_of(a);
            cuda::attention_forward(
                a, {q.as<void>(), k.as<void>(), v.as<void>(), y.as<void>(), logsumexp.as<float>()},
                scratch.as<void>(), {});
            expect_within(dense_values(y, problem.dy.size(), of_y), problem.y, "y");
            expect_within(logsumexp.host().values(), problem.logsumexp, "logsumexp");
        }
        void check_backward(const Attention& a) const {
            const DeviceBuffer scratch = scratch_of(a);
            cuda::attention_backward(
                a,
                {q.as<void>(), k.as<void>(), v.as<void>(), y.as<void>(), dy.as<void>(),
                 logsumexp.as<float>(), dq.as<void>(), dk.as<void>(), dv.as<void>()},
                scratch.as<void>(), {});
            expect_within(dense_values(dq, problem.q.size(), of_q), problem.dq, "dq");
            expect_within(dense_values(dk, problem.k.size(), of_k), problem.dk, "dk");
            expect_within(dense_values(dv, problem.v.size(), of_v), problem.dv, "dv");
        }
        static DeviceBuffer scratch_of(const Attention& a) {
            const auto bytes = cuda::attention_workspace(a);
            return {DType::u8, static_cast<std::int64_t>(bytes.value_or(0))};
        }

        const Problem problem;
        const Place of_q, of_k, of_v, of_y;
        const DeviceBuffer q, k, v, dy, y, dq, dk, dv, logsumexp;
    };

    /// Our rules refuse it: the library is not asked, so no fallback of its own is recorded.
    static void expect_refused(const Attention& a) {
        LibraryFallbacks fallbacks;
        const LibraryFallbackScope recorder(&fallbacks);
        EXPECT_FALSE(cuda::attention_workspace(a));
        EXPECT_TRUE(fallbacks.take().empty()) << "the library was asked";
    }
};

TEST_P(AttentionShape, AgreesWithDoubleOrIsRefusedByItsRule) {
    HALFTONE_NEEDS_CUDA();
    const auto& [dtype, order, shape] = GetParam();
    const OnDevice on_device(dtype, order, shape.sizes);
    const Attention forward = description(on_device.problem, AttentionPass::forward, order);
    const Attention backward = description(on_device.problem, AttentionPass::backward, order);
    const bool is_asked_backward = shape.asked == AskedPasses::both ||
                                   (shape.asked == AskedPasses::unless_faulty && !has_the_fault());
    if (!is_asked_backward) expect_refused(backward);
    if (shape.asked == AskedPasses::none) return expect_refused(forward);
    if (!cuda::attention_workspace(forward))
        GTEST_SKIP() << "no fused kernel for the forward pass on this device";
    on_device.check_forward(forward);
    if (!is_asked_backward) return;
    if (!cuda::attention_workspace(backward))
        GTEST_SKIP() << "no fused kernel for the backward pass on this device";
    on_device.check_backward(backward);
}

std::string name_of(const testing::TestParamInfo<AttentionCase>& info) {
    const auto& [dtype, order, shape] = info.param;
    return std::string(dtype == DType::f16 ? "f16" : "bf16") +
           (order == Order::heads ? "_heads_" : "_positions_") + shape.name;
}

INSTANTIATE_TEST_SUITE_P(CudaAttention, AttentionShape,
                         testing::Combine(testing::Values(DType::f16, DType::bf16),
                                          testing::Values(Order::heads, Order::positions),
                                          testing::ValuesIn(attention_shapes)),
                         name_of);

TEST(CudaAttention, HasNoKernelForWhatItsRulesLeaveOut) {
    HALFTONE_NEEDS_CUDA();
    const auto has = [](const auto& change) {
        Attention a = description(Problem(DType::f16, {1, 2, 2, 3, 3, 8, 8, true}),
                                  AttentionPass::forward, Order::heads);
        change(a);
        return cuda::attention_workspace(a).has_value();
    };
    if (!has([](Attention&) {})) GTEST_SKIP() << "no fused kernel on this device";
    EXPECT_FALSE(has([](Attention& a) { a.dtype = DType::f32; }));
    EXPECT_FALSE(has([](Attention& a) { a.keys = 4; }));  // causal
    EXPECT_FALSE(has([](Attention& a) { a.qk_size = 7; }));
    EXPECT_FALSE(has([](Attention& a) { a.kv_heads = 0; }));
    EXPECT_FALSE(has([](Attention& a) { a.q.row = 12; }));
    EXPECT_FALSE(has([](Attention& a) { a.k.head = 0; }));  // one head shared by all
    EXPECT_FALSE(has([](Attention& a) {
        a.pass = AttentionPass::backward;
        a.dk.row = 12;
    }));
}

}  // namespace
}  // namespace kernels::test::attention
