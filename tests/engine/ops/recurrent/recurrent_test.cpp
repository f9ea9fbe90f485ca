#include "ops/recurrent/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"

namespace engine {
namespace {

enum class Kind { rnn_tanh, rnn_relu, lstm, gru };
constexpr Kind kinds[] = {Kind::rnn_tanh, Kind::rnn_relu, Kind::lstm, Kind::gru};
std::int64_t gates(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }

/// A network's arguments. The same shape gives the same numbers, rounded to 16 bits so that every
/// type holds them.
struct Arguments {
    Kind kind;
    RecurrentOptions options;
    Tensor x;
    TensorList hx, params;

    TensorList leaves() const {
        TensorList all{x};
        all.insert(all.end(), hx.begin(), hx.end());
        all.insert(all.end(), params.begin(), params.end());
        return all;
    }
    TensorList run() const {
        switch (kind) {
            case Kind::rnn_tanh:
                return rnn_tanh(x, hx[0], params, options);
            case Kind::rnn_relu:
                return rnn_relu(x, hx[0], params, options);
            case Kind::gru:
                return gru(x, hx[0], params, options);
            case Kind::lstm:
                break;
        }
        return lstm(x, hx, params, options);
    }
};

struct Types {
    DType x, state, weight;
};

constexpr std::int64_t cell_in = 3, cell_hidden = 4, cell_batch = 3, steps = 4;

Tensor leaf(const Shape& shape, DType dtype, std::uint32_t seed) {
    const Tensor low = random_tensor(shape, DType::f16, seed, -1, 1);
    return to(low, dtype).detach().set_requires_grad(true);
}

/// `flat`: the weights are views of one block of memory, which is cuDNN's layout.
Arguments arguments_for(Kind kind, const RecurrentOptions& options, const Types& types,
                        bool flat = false) {
    const std::int64_t directions = options.bidirectional ? 2 : 1;
    Arguments a{kind, options, {}, {}, {}};
    if (!options.batch_sizes.empty()) {
        std::int64_t rows = 0;
        for (const auto n : options.batch_sizes) rows += n;
        a.x = leaf({rows, cell_in}, types.x, 1);
    } else {
        a.x = leaf(options.batch_first ? Shape{cell_batch, steps, cell_in}
                                       : Shape{steps, cell_batch, cell_in},
                   types.x, 1);
    }
    for (std::uint32_t i = 0; i < (kind == Kind::lstm ? 2 : 1); ++i)
        a.hx.push_back(
            leaf({options.num_layers * directions, cell_batch, cell_hidden}, types.state, 2 + i));
    const std::int64_t rows = gates(kind) * cell_hidden;
    std::vector<Shape> shapes;
    for (std::int64_t i = 0; i < options.num_layers * directions; ++i) {
        shapes.push_back({rows, i < directions ? cell_in : cell_hidden * directions});
        shapes.push_back({rows, cell_hidden});
        if (options.has_biases) shapes.insert(shapes.end(), 2, Shape{rows});
    }
    std::int64_t all = 0, at = 0;
    for (const auto& shape : shapes) all += shape.numel();
    const Tensor numbers = leaf({all}, types.weight, 9);
    for (const auto& shape : shapes) {
        const Tensor part = reshape(narrow(numbers.detach(), 0, at, shape.numel()), shape);
        a.params.push_back((flat ? part : add(part, 0.0)).detach().set_requires_grad(true));
        at += shape.numel();
    }
    return a;
}

struct Outcome {
    TensorList outputs, gradients;
};
/// Forward in an f16 region, or without one; backward outside.
Outcome run(const Arguments& a, bool region) {
    Outcome out;
    {
        const AutocastRegion f16(here, region, DType::f16);
        const auto inside = f16.enter();
        out.outputs = a.run();
    }
    TensorList seeds;
    for (std::size_t i = 0; i < out.outputs.size(); ++i) {
        seeds.push_back(random_tensor(out.outputs[i].shape(), out.outputs[i].dtype(),
                                      static_cast<std::uint32_t>(30 + i)));
    }
    backward(out.outputs, seeds);
    for (const auto& t : a.leaves()) out.gradients.push_back(t.grad());
    return out;
}

std::vector<RecurrentOptions> every_form() {
    std::vector<RecurrentOptions> forms;
    for (const std::int64_t layers : {1, 2})
        for (const bool biases : {true, false})
            for (const bool both_ways : {false, true})
                for (const int layout : {0, 1, 2}) {
                    RecurrentOptions options;
                    options.has_biases = biases;
                    options.num_layers = layers;
                    options.bidirectional = both_ways;
                    options.batch_first = layout == 1;
                    if (layout == 2) options.batch_sizes = {3, 2, 2, 1};
                    forms.push_back(options);
                }
    return forms;
}

TEST(Recurrent, A21EveryFormInAnF16RegionEqualsThePureF16Run) {
    constexpr DType low = DType::f16, wide = DType::f32;
    for (const Kind kind : kinds)
        for (const auto& options : every_form()) {
            const Outcome pure = run(arguments_for(kind, options, {low, low, low}), false);
            int turn = 0;
            for (const DType x : {low, wide})
                for (const DType state : {low, wide})
                    for (const DType weight : {low, wide}) {
                        const Types types{x, state, weight};
                        const Arguments a = arguments_for(kind, options, types, turn++ % 2 == 1);
                        const Outcome got = run(a, true);
                        for (std::size_t i = 0; i < pure.outputs.size(); ++i) {
                            ASSERT_EQ(got.outputs[i].dtype(), low);
                            ASSERT_EQ(got.outputs[i].values(), pure.outputs[i].values());
                        }
                        for (std::size_t i = 0; i < pure.gradients.size(); ++i) {
                            ASSERT_EQ(got.gradients[i].dtype(), a.leaves()[i].dtype());
                            ASSERT_EQ(to(got.gradients[i], low).values(),
                                      pure.gradients[i].values());
                        }
                    }
        }
}

TEST(Recurrent, A5WeightsOfAnotherTypeAreAnErrorOutsideARegionAndFineInside) {
    for (const Kind kind : kinds) {
        const Arguments a = arguments_for(kind, {}, {DType::f32, DType::f32, DType::bf16});
        try {
            a.run();
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("f32"), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("bf16"), std::string::npos) << error.what();
        }
        const AutocastRegion region(here, true, DType::bf16);
        const auto inside = region.enter();
        EXPECT_EQ(a.run()[0].dtype(), DType::bf16);
    }
}

TEST(Recurrent, X2CellsAndModulesGiveF16AndTheInputsGradientItsType) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        const AutocastRegion region(here, true, DType::f16);
        const auto check = [&](const Tensor& x, const std::function<TensorList()>& call) {
            TensorList outputs;
            {
                const auto inside = region.enter();
                outputs = call();
            }
            for (const auto& y : outputs) EXPECT_EQ(y.dtype(), DType::f16);
            backward(sum(outputs[0]));
            EXPECT_EQ(x.grad().dtype(), dtype);
        };
        for (const std::int64_t layers : {1, 2})
            for (const bool both_ways : {false, true})
                for (const Kind kind : kinds) {
                    RecurrentOptions options;
                    options.num_layers = layers;
                    options.bidirectional = both_ways;
                    const Arguments a = arguments_for(kind, options, {dtype, dtype, DType::f32});
                    check(a.x, [&] { return a.run(); });
                }
        const auto cell = [&](std::int64_t rows, const auto& call) {
            const Tensor x = leaf({2, cell_in}, dtype, 1), h = leaf({2, cell_hidden}, dtype, 2);
            const CellWeights w{leaf({rows, cell_in}, DType::f32, 3),
                                leaf({rows, cell_hidden}, DType::f32, 4),
                                leaf({rows}, DType::f32, 5), leaf({rows}, DType::f32, 6)};
            check(x, [&]() -> TensorList { return call(x, h, w); });
        };
        using T = const Tensor&;
        using W = const CellWeights&;
        cell(cell_hidden, [](T x, T h, W w) -> TensorList { return {rnn_tanh_cell(x, h, w)}; });
        cell(cell_hidden, [](T x, T h, W w) -> TensorList { return {rnn_relu_cell(x, h, w)}; });
        cell(3 * cell_hidden, [](T x, T h, W w) -> TensorList { return {gru_cell(x, h, w)}; });
        cell(4 * cell_hidden, [](T x, T h, W w) { return lstm_cell(x, h, h, w); });
    }
}

TEST(Recurrent, ASequenceIsItsCellStepByStep) {
    RecurrentOptions options;
    const Arguments a = arguments_for(Kind::lstm, options, {DType::f64, DType::f64, DType::f64});
    const TensorList made = a.run();
    const CellWeights w{a.params[0], a.params[1], a.params[2], a.params[3]};
    Tensor h = reshape(a.hx[0], {cell_batch, cell_hidden}),
           c = reshape(a.hx[1], {cell_batch, cell_hidden});
    for (std::int64_t t = 0; t < steps; ++t) {
        const TensorList next =
            lstm_cell(reshape(narrow(a.x, 0, t, 1), {cell_batch, cell_in}), h, c, w);
        h = next[0];
        c = next[1];
        expect_close(reshape(narrow(made[0], 0, t, 1), {cell_batch, cell_hidden}), h, 1e-14);
    }
    expect_close(reshape(made[1], {cell_batch, cell_hidden}), h, 1e-14);
    expect_close(reshape(made[2], {cell_batch, cell_hidden}), c, 1e-14);
}

TEST(Recurrent, APackedSequenceIsEachSequenceAlone) {
    for (const Kind kind : kinds) {
        RecurrentOptions options;
        options.bidirectional = true;
        options.num_layers = 2;
        options.batch_sizes = {3, 2, 2, 1};  // lengths 4, 3, 1
        const Types types{DType::f64, DType::f64, DType::f64};
        const Arguments all = arguments_for(kind, options, types);
        const TensorList packed = all.run();
        const std::int64_t lengths[] = {4, 3, 1}, starts[] = {0, 3, 5, 7};
        for (std::int64_t r = 0; r < 3; ++r) {
            Arguments one = all;
            one.options.batch_sizes.clear();
            TensorList rows;
            for (std::int64_t t = 0; t < lengths[r]; ++t)
                rows.push_back(narrow(all.x, 0, starts[t] + r, 1));
            one.x = reshape(cat(rows, 0), {lengths[r], 1, cell_in});
            for (auto& h : one.hx) h = narrow(h, 1, r, 1);
            const TensorList alone = one.run();
            for (std::int64_t t = 0; t < lengths[r]; ++t) {
                expect_close(narrow(packed[0], 0, starts[t] + r, 1),
                             reshape(narrow(alone[0], 0, t, 1), {1, 2 * cell_hidden}), 1e-14);
            }
            for (std::size_t i = 1; i < packed.size(); ++i)
                expect_close(narrow(packed[i], 1, r, 1), alone[i], 1e-14);
        }
    }
}

TEST(Recurrent, DropoutFallsBetweenLayersInTrainingOnlyAndRepeatsItsMask) {
    RecurrentOptions options;
    options.num_layers = 2;
    options.dropout = 0.5;
    const Types types{DType::f64, DType::f64, DType::f64};
    const Tensor plain = arguments_for(Kind::gru, options, types).run()[0];
    options.train = true;
    EXPECT_THROW(arguments_for(Kind::gru, options, types).run(), Error);
    options.random = RandomStream(5, StreamId::dropout);
    const auto first = arguments_for(Kind::gru, options, types).run();
    const auto again = arguments_for(Kind::gru, options, types).run();
    EXPECT_EQ(first[0].values(), again[0].values());
    EXPECT_NE(first[0].values(), plain.values());
    // The states of the first layer do not change.
    const Tensor h_n = arguments_for(Kind::gru, {.num_layers = 2}, types).run()[1];
    expect_close(narrow(first[1], 0, 0, 1), narrow(h_n, 0, 0, 1), 1e-14);
    options.dropout = 1;
    options.num_layers = 1;  // there is nothing between layers
    EXPECT_NO_THROW(arguments_for(Kind::gru, options, types).run());
}

TEST(Recurrent, RefusesShapesCountsAndOrdersThatDoNotFit) {
    const Types types{DType::f32, DType::f32, DType::f32};
    const auto refused = [&](const std::function<void(Arguments&)>& change) {
        Arguments a = arguments_for(Kind::lstm, {}, types);
        change(a);
        EXPECT_THROW(a.run(), Error);
    };
    refused([](Arguments& a) { a.params.pop_back(); });
    refused([](Arguments& a) { a.params.push_back(a.params[0]); });  // a projection
    refused([](Arguments& a) { a.hx.pop_back(); });
    refused([](Arguments& a) { a.hx[1] = narrow(a.hx[1], 1, 0, 2); });
    refused([](Arguments& a) { a.x = narrow(a.x, 2, 0, 2); });
    refused([](Arguments& a) { a.x = narrow(a.x, 0, 0, 0); });
    refused([](Arguments& a) { a.x = reshape(a.x, {steps * cell_batch, cell_in}); });
    refused([](Arguments& a) { a.options.num_layers = 2; });
    for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{3, 4}, {3, 0}, {3, 2}})
        refused([&](Arguments& a) {
            a.x = leaf({7, cell_in}, DType::f32, 1);
            a.options.batch_sizes = sizes;
        });
    const Tensor x = leaf({2, cell_in}, DType::f32, 1), h = leaf({2, cell_hidden}, DType::f32, 2);
    const CellWeights w{leaf({cell_hidden, cell_in}, DType::f32, 3),
                        leaf({cell_hidden, cell_hidden}, DType::f32, 4),
                        {},
                        {}};
    EXPECT_NO_THROW(rnn_tanh_cell(x, h, w));
    EXPECT_THROW(gru_cell(x, h, w), Error);
    EXPECT_THROW(rnn_tanh_cell(narrow(x, 0, 0, 1), h, w), Error);
}

}  // namespace
}  // namespace engine
