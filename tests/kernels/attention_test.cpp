#include <gtest/gtest.h>

#include "kernels/attention_problem.h"
#include "kernels/device_array.h"

namespace kernels::test {
namespace {

using attention::Problem;
using attention::Sizes;

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

std::vector<double> dense(const DeviceBuffer& on_device, std::size_t count, const Place& place) {
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

/// Computes both passes of a problem on the device. False: the device has no kernel for it.
bool check(DType dtype, const Sizes& s, Order order) {
    const Problem p(dtype, s);
    const Place of_q{s.heads, s.queries, s.qk_size, order},
        of_k{s.kv_heads, s.keys, s.qk_size, order}, of_v{s.kv_heads, s.keys, s.v_size, order},
        of_y{s.heads, s.queries, s.v_size, order};
    const DeviceBuffer q(placed(dtype, p.q, s.batch, of_q)), k(placed(dtype, p.k, s.batch, of_k)),
        v(placed(dtype, p.v, s.batch, of_v)), dy(placed(dtype, p.dy, s.batch, of_y));
    const DeviceBuffer y(dtype, of_y.elements(s.batch)), dq(dtype, of_q.elements(s.batch)),
        dk(dtype, of_k.elements(s.batch)), dv(dtype, of_v.elements(s.batch));
    const DeviceBuffer logsumexp(DType::f32, s.batch * s.heads * s.queries);
    const auto scratch = [](const Attention& a) {
        const auto bytes = cuda::attention_workspace(a);
        return std::make_unique<DeviceBuffer>(DType::u8,
                                              static_cast<std::int64_t>(bytes.value_or(0)));
    };

    const Attention forward = description(p, AttentionPass::forward, order);
    if (!cuda::attention_workspace(forward)) return false;
    cuda::attention_forward(
        forward, {q.as<void>(), k.as<void>(), v.as<void>(), y.as<void>(), logsumexp.as<float>()},
        scratch(forward)->as<void>(), {});
    expect_within(dense(y, p.dy.size(), of_y), p.y, "y");
    expect_within(logsumexp.host().values(), p.logsumexp, "logsumexp");

    const Attention backward = description(p, AttentionPass::backward, order);
    if (!cuda::attention_workspace(backward)) return false;
    cuda::attention_backward(backward,
                             {q.as<void>(), k.as<void>(), v.as<void>(), y.as<void>(), dy.as<void>(),
                              logsumexp.as<float>(), dq.as<void>(), dk.as<void>(), dv.as<void>()},
                             scratch(backward)->as<void>(), {});
    expect_within(dense(dq, p.q.size(), of_q), p.dq, "dq");
    expect_within(dense(dk, p.k.size(), of_k), p.dk, "dk");
    expect_within(dense(dv, p.v.size(), of_v), p.dv, "dv");
    return true;
}

const Sizes shapes[] = {
    {2, 3, 3, 7, 7, 8, 8, true},
    {2, 3, 3, 7, 7, 8, 8, false},
    {1, 2, 2, 33, 50, 16, 24},
    {1, 2, 2, 1, 77, 64, 64},
    {1, 2, 2, 77, 1, 64, 64},
    {2, 6, 2, 5, 9, 16, 8},
    {1, 4, 1, 20, 20, 32, 32, true, 0.5},
    {1, 1, 1, 128, 128, 128, 128, true, 0.125},
};

TEST(CudaAttention, AgreesWithDoubleInItsResultsAndGradients) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Sizes& s : shapes)
            for (const Order order : {Order::heads, Order::positions}) {
                SCOPED_TRACE(testing::Message()
                             << "dtype " << static_cast<int>(dtype) << " " << s.heads << "/"
                             << s.kv_heads << " heads " << s.queries << "x" << s.keys << " sizes "
                             << s.qk_size << "/" << s.v_size << (s.causal ? " causal" : ""));
                if (!check(dtype, s, order)) GTEST_SKIP() << "no fused kernel on this device";
            }
}

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
}  // namespace kernels::test
