#include "models/layer_run.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/similarity.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/dropout.h"
#include "ops/pointwise/piecewise.h"
#include "ops/pointwise/rounding.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

/// Activations, dropout, functions of one value, and merges.
namespace engine::network {
namespace {

using Function = Tensor (*)(const Tensor&);

Tensor plain_elu(const Tensor& x) { return elu(x); }
Tensor plain_celu(const Tensor& x) { return celu(x); }
Tensor plain_softplus(const Tensor& x) { return softplus(x); }
Tensor plain_leaky_relu(const Tensor& x) { return leaky_relu(x); }

struct NamedActivation {
    Function run;
    const Op* op;
};

const NamedActivation& activation(const std::string& word) {
    static const std::map<std::string, NamedActivation, std::less<>> all = {
        {"relu", {relu, &relu_op}},
        {"gelu", {gelu, &gelu_op}},
        {"silu", {silu, &silu_op}},
        {"sigmoid", {sigmoid, &sigmoid_op}},
        {"tanh", {tanh, &tanh_op}},
        {"leaky_relu", {plain_leaky_relu, &leaky_relu_op}},
        {"elu", {plain_elu, &elu_op}},
        {"selu", {selu, &selu_op}},
        {"celu", {plain_celu, &celu_op}},
        {"hardswish", {hardswish, &hardswish_op}},
        {"relu6", {relu6, &relu6_op}},
        {"hardsigmoid", {hardsigmoid, &hardsigmoid_op}},
        {"mish", {mish, &mish_op}},
        {"softsign", {softsign, &softsign_op}},
        {"softplus", {plain_softplus, &softplus_op}},
        {"log_sigmoid", {log_sigmoid, &log_sigmoid_op}}};
    return all.find(word)->second;
}

/// f(x, dim)
template <typename F>
LayerRun along_dim(F f, const Op& op, TypePass::Gives gives = TypePass::Gives::widest) {
    return {.make = [f](const LayerSetup& setup) {
        return gives_one([f, dim = setup.dimension("dim")](const Tensor& x) { return f(x, dim); });
    }, .types = calls(op, gives)};
}

/// The dimensions before the batch's, or none if there is no batch: dropout takes its numbers for the
/// rest of the shape and uses them again at each of their places.
std::vector<int> dims_before_batch(const TensorType& type) {
    std::vector<int> dims;
    for (int dim = 0; dim < type.rank(); ++dim) {
        if (type.sizes[static_cast<std::size_t>(dim)] == batch_size) return dims;
        dims.push_back(dim);
    }
    return {};
}

LayerFunction make_dropout(const LayerSetup& setup) {
    return gives_one([p = setup.arguments().number("p"), before = dims_before_batch(setup.input())](const Tensor& x, LayerPass& pass) {
        if (!pass.training || p == 0) return x;
        std::int64_t runs = 1;
        for (const int dim : before) runs *= x.size(dim);
        const LayerDraw drawn = pass.draw(x.numel());
        return dropout(x, p, drawn.source, drawn.offset, runs);
    });
}

/// A layer that drops, by an operation on its value and factors like it.
LayerTypeFunction drops(const Op& op, bool by_factors) {
    return [&op, by_factors](const LayerTypes& layer) {
        const ValueType& x = layer.in.front();
        if (layer.arguments().number("p") == 0) return ValueTypes{x};
        if (!by_factors) return ValueTypes{layer.call(op, {x})};
        // One for each part.
        ValueType factors;
        factors.type = x.type;
        return ValueTypes{layer.call(op, {x, factors})};
    };
}

/// Drops parts of x: each place of its first `dims` dimensions.
LayerRun drops_parts(int dims) {
    return {.make = [dims](const LayerSetup& setup) {
        return gives_one([p = setup.arguments().number("p"), dims](const Tensor& x, LayerPass& pass) {
            if (!pass.training || p == 0) return x;
            const LayerDraw drawn = pass.draw(dims == 1 ? x.size(0) : x.size(0) * x.size(1));
            return dropout_parts(x, dims, p, drawn.source, drawn.offset);
        });
    }, .types = drops(mul_op, true), .draws = true};
}

// Merges.

template <typename F>
LayerRun folds(F f, const Op& op) {
    return {.make = [f](const LayerSetup&) {
        return gives_one([f](const TensorList& in) {
            Tensor out = f(in[0], in[1]);
            for (std::size_t i = 2; i < in.size(); ++i) out = f(out, in[i]);
            return out;
        });
    }, .types = [&op](const LayerTypes& layer) {
        ValueType out = layer.in.front();
        for (const ValueType& each : layer.in.subspan(1)) out = layer.call(op, {out, each});
        return ValueTypes{out};
    }};
}

/// Sizes of 1 grown to the others', all but those of `joined`; -1: none.
TensorList broadcast(const TensorList& in, int rank, int joined) {
    Shape common;
    for (int dim = 0; dim < rank; ++dim) common.push_back(1);
    for (const Tensor& each : in)
        for (int dim = 0; dim < each.rank(); ++dim) {
            std::int64_t& size = common[rank - each.rank() + dim];
            size = size == 1 ? each.size(dim) : size;
        }
    TensorList out;
    for (const Tensor& each : in) {
        Shape shape = common;
        const int own = joined - (rank - each.rank());
        if (joined >= 0) shape[joined] = own >= 0 ? each.size(own) : 1;
        out.push_back(each.shape() == shape ? each : expand(each, shape));
    }
    return out;
}

int highest_rank(const GraphLayer& layer) {
    int rank = 0;
    for (std::size_t i = 0; i < layer.node.inputs.size(); ++i) rank = std::max(rank, layer.input(i).rank());
    return rank;
}

/// The types of broadcast().
ValueTypes broadcast_types(const LayerTypes& layer, int rank, int joined) {
    const auto size_at = [&](std::size_t input, int dim) {
        const TensorType& type = layer.input(input);
        const int own = dim - (rank - type.rank());
        return own >= 0 ? type.sizes[static_cast<std::size_t>(own)] : Size{1};
    };
    const auto grows = [&](std::size_t input) {
        if (layer.input(input).rank() < rank) return true;
        for (int dim = 0; dim < rank; ++dim)
            for (std::size_t other = 0; other < layer.in.size(); ++other)
                if (dim != joined && size_at(input, dim) == Size{1} && size_at(other, dim) != Size{1}) return true;
        return false;
    };
    ValueTypes out;
    for (std::size_t i = 0; i < layer.in.size(); ++i) out.push_back(grows(i) ? layer.call(expand_op, {layer.in[i]}) : layer.in[i]);
    return out;
}

ValueTypes concat_types(const LayerTypes& layer) {
    const int rank = highest_rank(layer);
    return {layer.pass.call(cat_op, broadcast_types(layer, rank, layer.dimension("dim", rank)))};
}

ValueTypes stack_types(const LayerTypes& layer) {
    ValueTypes parts = broadcast_types(layer, highest_rank(layer), -1);
    for (ValueType& each : parts) each = layer.call(reshape_op, {each});
    return {layer.pass.call(cat_op, parts)};
}

LayerFunction make_concat(const LayerSetup& setup) {
    const int rank = highest_rank(setup);
    return gives_one([rank, dim = setup.dimension("dim", rank)](const TensorList& in) { return cat(broadcast(in, rank, dim), dim); });
}

LayerFunction make_stack(const LayerSetup& setup) {
    const int rank = highest_rank(setup);
    return gives_one([rank, dim = setup.dimension("dim", rank + 1)](const TensorList& in) { return stack(broadcast(in, rank, -1), dim); });
}

LayerFunction make_cosine_similarity(const LayerSetup& setup) {
    return gives_one([dim = setup.dimension("dim", highest_rank(setup))](const TensorList& in) { return cosine_similarity(in[0], in[1], dim); });
}

}  // namespace

LayerRun run_ReLU() { return runs(relu, relu_op); }
LayerRun run_GELU() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([f = setup.arguments().word("approximate") == "tanh" ? gelu_tanh : gelu](const Tensor& x) { return f(x); });
    }, .types = calls(gelu_op)};
}
LayerRun run_SiLU() { return runs(silu, silu_op); }
LayerRun run_Sigmoid() { return runs(sigmoid, sigmoid_op); }
LayerRun run_Tanh() { return runs(tanh, tanh_op); }
LayerRun run_LeakyReLU() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([slope = setup.arguments().number("negative_slope")](const Tensor& x) { return leaky_relu(x, slope); });
    }, .types = calls(leaky_relu_op)};
}
LayerRun run_ELU() { return runs(plain_elu, elu_op); }
LayerRun run_SELU() { return runs(selu, selu_op); }
LayerRun run_CELU() { return runs(plain_celu, celu_op); }
LayerRun run_Hardswish() { return runs(hardswish, hardswish_op); }
LayerRun run_Hardsigmoid() { return runs(hardsigmoid, hardsigmoid_op); }
LayerRun run_ReLU6() { return runs(relu6, relu6_op); }
LayerRun run_Mish() { return runs(mish, mish_op); }
LayerRun run_Softplus() { return runs(plain_softplus, softplus_op); }
LayerRun run_Softsign() { return runs(softsign, softsign_op); }
LayerRun run_LogSigmoid() { return runs(log_sigmoid, log_sigmoid_op); }
LayerRun run_Softmax() {
    return along_dim([](const Tensor& x, int dim) { return softmax(x, dim); }, softmax_op);
}
LayerRun run_LogSoftmax() {
    return along_dim([](const Tensor& x, int dim) { return log_softmax(x, dim); }, log_softmax_op);
}
LayerRun run_Activation() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([f = activation(setup.arguments().word("word")).run](const Tensor& x) { return f(x); });
    }, .types = [](const LayerTypes& layer) {
        return ValueTypes{layer.call(*activation(layer.arguments().word("word")).op, {layer.in.front()})};
    }};
}
LayerRun run_Identity() {
    return {.make = [](const LayerSetup&) { return gives_one([](const Tensor& x) { return x; }); }, .types = [](const LayerTypes& layer) { return ValueTypes{layer.in.front()}; }, .view = true};
}
LayerRun run_Dropout() { return {.make = make_dropout, .types = drops(dropout_op, false), .draws = true}; }
LayerRun run_Dropout1d() { return drops_parts(2); }
LayerRun run_Dropout2d() { return drops_parts(2); }
LayerRun run_Dropout3d() { return drops_parts(2); }
LayerRun run_DropPath() { return drops_parts(1); }
LayerRun run_Scale() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([a = setup.arguments().number("a")](const Tensor& x) { return mul(x, a); });
    }, .types = [](const LayerTypes& layer) {
        ValueType number;
        number.has_dims = false;
        number.is_number = true;
        return ValueTypes{layer.call(mul_op, {layer.in.front(), number})};
    }};
}
LayerRun run_Abs() { return runs(abs, abs_op); }
LayerRun run_Square() { return runs(square, square_op); }
LayerRun run_Sqrt() { return runs(sqrt, sqrt_op); }
LayerRun run_Exp() { return runs(exp, exp_op); }
LayerRun run_Log() { return runs(log, log_op); }
LayerRun run_Clamp() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([low = setup.arguments().number("min"), high = setup.arguments().number("max")](const Tensor& x) { return clamp(x, low, high); });
    }, .types = [](const LayerTypes& layer) { return ValueTypes{layer.pass.call_made_of(clamp_op, layer.in.front(), {&maximum_op, &minimum_op})}; }};
}
LayerRun run_Normalize() {
    return along_dim([](const Tensor& x, int dim) { return normalize(x, 2, dim); }, normalize_op, TypePass::Gives::f32_in_region);
}
LayerRun run_CosineSimilarity() { return {.make = make_cosine_similarity, .types = calls(cosine_similarity_op)}; }
LayerRun run_Add() {
    return folds([](const Tensor& a, const Tensor& b) { return add(a, b); }, add_op);
}
LayerRun run_Sub() {
    return folds([](const Tensor& a, const Tensor& b) { return sub(a, b); }, sub_op);
}
LayerRun run_Mul() {
    return folds([](const Tensor& a, const Tensor& b) { return mul(a, b); }, mul_op);
}
LayerRun run_Div() {
    return folds([](const Tensor& a, const Tensor& b) { return div(a, b); }, div_op);
}
LayerRun run_Maximum() {
    return folds([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, maximum_op);
}
LayerRun run_Minimum() {
    return folds([](const Tensor& a, const Tensor& b) { return minimum(a, b); }, minimum_op);
}
LayerRun run_MatMul() {
    LayerRun run = folds([](const Tensor& a, const Tensor& b) { return matmul(a, b); }, matmul_op);
    run.casts_first = true;
    return run;
}
LayerRun run_Concat() { return {.make = make_concat, .types = concat_types}; }
LayerRun run_Stack() { return {.make = make_stack, .types = stack_types}; }
LayerRun run_Where() {
    return {.make = [](const LayerSetup&) {
        return gives_one([](const TensorList& in) { return where(not_equal(in[0], Tensor::zeros({}, in[0].dtype(), in[0].device())), in[1], in[2]); });
    }, .types = [](const LayerTypes& layer) {
        ValueType zero;
        zero.type = layer.in[0].type;
        zero.has_dims = false;
        layer.call(ne_op, {layer.in[0], zero});
        return ValueTypes{layer.call(where_op, {layer.in[1], layer.in[2]})};  // the condition decides about no type
    }};
}

}  // namespace engine::network
