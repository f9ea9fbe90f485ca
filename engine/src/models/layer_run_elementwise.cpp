#include "models/layer_run.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/similarity.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
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

Function activation(const std::string& word) {
    static const std::map<std::string, Function, std::less<>> functions = {
        {"relu", relu},           {"gelu", gelu},       {"silu", silu},
        {"sigmoid", sigmoid},     {"tanh", tanh},       {"leaky_relu", plain_leaky_relu},
        {"elu", plain_elu},       {"selu", selu},       {"celu", plain_celu},
        {"hardswish", hardswish}, {"relu6", relu6},     {"hardsigmoid", hardsigmoid},
        {"mish", mish},           {"softsign", softsign}, {"softplus", plain_softplus},
        {"log_sigmoid", log_sigmoid}};
    return functions.find(word)->second;
}

/// f(x, dim)
template <typename F>
LayerRun along_dim(F f) {
    return {.make = [f](const LayerSetup& setup) {
        return gives_one([f, dim = setup.dimension("dim")](const Tensor& x) { return f(x, dim); });
    }};
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

/// Drops parts of x: each place of its first `dims` dimensions.
LayerRun drops_parts(int dims) {
    return {.make = [dims](const LayerSetup& setup) {
        return gives_one([p = setup.arguments().number("p"), dims](const Tensor& x, LayerPass& pass) {
            if (!pass.training || p == 0) return x;
            const LayerDraw drawn = pass.draw(dims == 1 ? x.size(0) : x.size(0) * x.size(1));
            return dropout_parts(x, dims, p, drawn.source, drawn.offset);
        });
    }, .draws = true};
}

// Merges.

template <typename F>
LayerRun folds(F f) {
    return {.make = [f](const LayerSetup&) {
        return gives_one([f](const TensorList& in) {
            Tensor out = f(in[0], in[1]);
            for (std::size_t i = 2; i < in.size(); ++i) out = f(out, in[i]);
            return out;
        });
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

int highest_rank(const LayerSetup& setup) {
    int rank = 0;
    for (std::size_t i = 0; i < setup.node.inputs.size(); ++i) rank = std::max(rank, setup.input(i).rank());
    return rank;
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

LayerRun run_ReLU() { return runs(relu); }
LayerRun run_GELU() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([f = setup.arguments().word("approximate") == "tanh" ? gelu_tanh : gelu](const Tensor& x) { return f(x); });
    }};
}
LayerRun run_SiLU() { return runs(silu); }
LayerRun run_Sigmoid() { return runs(sigmoid); }
LayerRun run_Tanh() { return runs(tanh); }
LayerRun run_LeakyReLU() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([slope = setup.arguments().number("negative_slope")](const Tensor& x) { return leaky_relu(x, slope); });
    }};
}
LayerRun run_ELU() { return runs(plain_elu); }
LayerRun run_SELU() { return runs(selu); }
LayerRun run_CELU() { return runs(plain_celu); }
LayerRun run_Hardswish() { return runs(hardswish); }
LayerRun run_Hardsigmoid() { return runs(hardsigmoid); }
LayerRun run_ReLU6() { return runs(relu6); }
LayerRun run_Mish() { return runs(mish); }
LayerRun run_Softplus() { return runs(plain_softplus); }
LayerRun run_Softsign() { return runs(softsign); }
LayerRun run_LogSigmoid() { return runs(log_sigmoid); }
LayerRun run_Softmax() {
    return along_dim([](const Tensor& x, int dim) { return softmax(x, dim); });
}
LayerRun run_LogSoftmax() {
    return along_dim([](const Tensor& x, int dim) { return log_softmax(x, dim); });
}
LayerRun run_Activation() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([f = activation(setup.arguments().word("word"))](const Tensor& x) { return f(x); });
    }};
}
LayerRun run_Identity() {
    return {.make = [](const LayerSetup&) { return gives_one([](const Tensor& x) { return x; }); }, .view = true};
}
LayerRun run_Dropout() { return {.make = make_dropout, .draws = true}; }
LayerRun run_Dropout1d() { return drops_parts(2); }
LayerRun run_Dropout2d() { return drops_parts(2); }
LayerRun run_Dropout3d() { return drops_parts(2); }
LayerRun run_DropPath() { return drops_parts(1); }
LayerRun run_Scale() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([a = setup.arguments().number("a")](const Tensor& x) { return mul(x, a); });
    }};
}
LayerRun run_Abs() { return runs(abs); }
LayerRun run_Square() { return runs(square); }
LayerRun run_Sqrt() { return runs(sqrt); }
LayerRun run_Exp() { return runs(exp); }
LayerRun run_Log() { return runs(log); }
LayerRun run_Clamp() {
    return {.make = [](const LayerSetup& setup) {
        return gives_one([low = setup.arguments().number("min"), high = setup.arguments().number("max")](const Tensor& x) { return clamp(x, low, high); });
    }};
}
LayerRun run_Normalize() {
    return along_dim([](const Tensor& x, int dim) { return normalize(x, 2, dim); });
}
LayerRun run_CosineSimilarity() { return {.make = make_cosine_similarity}; }
LayerRun run_Add() {
    return folds([](const Tensor& a, const Tensor& b) { return add(a, b); });
}
LayerRun run_Sub() {
    return folds([](const Tensor& a, const Tensor& b) { return sub(a, b); });
}
LayerRun run_Mul() {
    return folds([](const Tensor& a, const Tensor& b) { return mul(a, b); });
}
LayerRun run_Div() {
    return folds([](const Tensor& a, const Tensor& b) { return div(a, b); });
}
LayerRun run_Maximum() {
    return folds([](const Tensor& a, const Tensor& b) { return maximum(a, b); });
}
LayerRun run_Minimum() {
    return folds([](const Tensor& a, const Tensor& b) { return minimum(a, b); });
}
LayerRun run_MatMul() {
    LayerRun run = folds([](const Tensor& a, const Tensor& b) { return matmul(a, b); });
    run.casts_first = true;
    return run;
}
LayerRun run_Concat() { return {.make = make_concat}; }
LayerRun run_Stack() { return {.make = make_stack}; }

}  // namespace engine::network
