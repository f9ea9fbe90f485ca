#include <algorithm>
#include <array>

#include "engine/base/error.h"
#include "models/layer_run.h"
#include "ops/conv/conv_transpose.h"
#include "ops/conv/convolution.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/linalg/linear.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/piecewise.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/vision/pad.h"

/// Layers with weights: linear, convolutions, norms, embeddings and bare tensors.
namespace engine::network {
namespace {

constexpr auto all_low = LayerRun::Low::all;

LayerFunction make_linear(const LayerSetup& setup) {
    return gives_one([layer = linear_layer(setup)](const Tensor& x) { return layer(x); });
}

template <typename Options>
Options strided(const LayerSetup& setup) {
    const LayerArguments& in = setup.arguments();
    Options options{.groups = in.whole("groups")};
    const auto set = [](auto& out, const std::vector<std::int64_t>& from) {
        if constexpr (requires { out.resize(1); }) out = from;
        else std::ranges::copy(from, out.begin());
    };
    set(options.stride, in.list("stride"));
    set(options.dilation, in.list("dilation"));
    if constexpr (requires { options.same; }) options.same = in.list("padding").empty();
    if (!in.list("padding").empty()) set(options.padding, in.list("padding"));
    if constexpr (requires { options.output_padding; }) set(options.output_padding, in.list("output_padding"));
    return options;
}

/// Amounts around the dimensions of space, last dimension first, as pad() takes them.
std::vector<std::int64_t> padding_sides(const GraphLayer& layer) {
    const LayerArguments& in = layer.arguments();
    const auto &padding = in.list("padding"), &kernel = in.list("kernel_size"), &dilation = in.list("dilation");
    std::vector<std::int64_t> sides;
    for (std::size_t i = kernel.size(); i-- > 0;) {
        const std::int64_t total = padding.empty() ? dilation[i] * (kernel[i] - 1) : 2 * padding[i];
        sides.push_back(total / 2);
        sides.push_back(total - total / 2);
    }
    return sides;
}

/// f(x, weight, bias, options)
template <typename Options, typename F>
LayerRun convolves(F f, const Op& op) {
    return {.make = [f](const LayerSetup& setup) -> LayerFunction {
                Options options = strided<Options>(setup);
                const Tensor weight = setup.parameter(0), bias = setup.parameter(1);
                if constexpr (requires { options.same; }) {
                    if (const std::string mode = setup.arguments().word("padding_mode"); mode != "zeros") {
                        options.same = false;
                        std::ranges::fill(options.padding, 0);
                        return gives_one([=, sides = padding_sides(setup)](const Tensor& x) { return f(pad(x, sides, mode), weight, bias, options); });
                    }
                }
                return gives_one([=](const Tensor& x) { return f(x, weight, bias, options); });
            },
            .types = [&op](const LayerTypes& layer) {
                ValueTypes operands{layer.in.front()};
                const auto mode = layer.arguments().all.find("padding_mode");
                if (mode != layer.arguments().all.end() && layer.arguments().word("padding_mode") != "zeros")
                    operands.front() = edge_padding_type(layer, padding_sides(layer));
                operands.insert(operands.end(), layer.weights.begin(), layer.weights.end());
                return ValueTypes{layer.pass.call(op, operands)};
            },
            .low = all_low,
            .casts_first = true};
}

LayerFunction make_batch_norm(const LayerSetup& setup) {
    return gives_one([norm = batch_norm_layer(setup)](const Tensor& x, LayerPass& pass) { return norm(x, pass.training); });
}

ValueTypes batch_norm_types(const LayerTypes& layer) {
    ValueType y = layer.call(batch_norm_op, {layer.in.front()});
    layer.pass.set_made_of(y, layer.weights);
    return {y};
}

LayerRun normalises_batch() { return {.make = make_batch_norm, .types = batch_norm_types, .opens_module = true}; }

LayerFunction make_layer_norm(const LayerSetup& setup) {
    return gives_one([norm = layer_norm_layer(setup)](const Tensor& x) { return norm(x); });
}

LayerFunction make_rms_norm(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0), eps = setup.arguments().number("eps")](const Tensor& x) { return rms_norm(x, weight.shape(), weight, eps); });
}

LayerFunction make_group_norm(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0), bias = setup.parameter(1), groups = setup.arguments().whole("num_groups"),
                      eps = setup.arguments().number("eps")](const Tensor& x) { return group_norm(x, groups, weight, bias, eps); });
}

LayerFunction make_instance_norm(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0), bias = setup.parameter(1), eps = setup.arguments().number("eps")](const Tensor& x) {
        return instance_norm(x, {}, {}, weight, bias, true, 0.1, eps);
    });
}

/// A batch norm over one sample whose channels are all instances, unless its type is forced.
ValueTypes instance_norm_types(const LayerTypes& layer) {
    if (layer.pass.is_forced(instance_norm_op)) return {layer.call_with_weights(instance_norm_op)};
    for (ValueType weight : layer.weights) {
        weight.type = DType::f32;
        layer.chain(weight, {&expand_op, &reshape_op});
    }
    ValueType y = layer.chain(layer.in.front(), {&reshape_op, &batch_norm_op});
    layer.pass.set_made_of(y, layer.weights);
    return {layer.call(reshape_op, {y})};
}

LayerFunction make_prelu(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0)](const Tensor& x) { return prelu(x, weight); });
}

LayerFunction make_embedding(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0)](const Tensor& x) { return embedding(x, weight); });
}

LayerFunction make_embedding_tables(const LayerSetup& setup) {
    std::vector<ModuleName> modules;
    for (std::size_t i = 0; i < setup.node.parameters.size(); ++i) modules.emplace_back(setup.node.module + '.' + std::to_string(i));
    return gives_one([modules, tables = setup.parameters()](const Tensor& x, LayerPass& pass) {
        TensorList rows;
        for (std::size_t i = 0; i < tables.size(); ++i) {
            const ModuleScope opened(modules[i]);
            rows.push_back(embedding(select(x, 1, static_cast<std::int64_t>(i)), tables[i], {.sparse = pass.sparse_gradients}));
        }
        return stack(rows, 1);
    });
}

LayerFunction make_embedding_bag(const LayerSetup& setup) {
    const BagMode mode = setup.arguments().word("mode") == "sum" ? BagMode::sum : BagMode::mean;
    return gives_one([weight = setup.parameter(0), mode](const Tensor& x, LayerPass& pass) {
        return embedding_bag(x, weight, {}, {}, {.mode = mode, .sparse = pass.sparse_gradients});
    });
}

/// A layer that takes rows of its table.
LayerTypeFunction table_types(const Op& op) {
    return [&op](const LayerTypes& layer) { return ValueTypes{layer.call(op, {layer.weights.front()})}; };
}

ValueTypes embedding_tables_types(const LayerTypes& layer) {
    const std::string around = layer.pass.module;
    const double samples = layer.in.front().elements / static_cast<double>(layer.weights.size());
    ValueTypes rows;
    for (std::size_t i = 0; i < layer.weights.size(); ++i) {
        layer.pass.module = layer.node.module + '.' + std::to_string(i);
        layer.chain(layer.in.front(), {&narrow_op, &reshape_op});
        rows.push_back(layer.call(embedding_op, {layer.weights[i]}));
        layer.pass.set_elements(rows.back(), samples * static_cast<double>(layer.output().sizes.back().number));
    }
    layer.pass.module = around;
    for (ValueType& each : rows) each = layer.call(reshape_op, {each});
    return {layer.pass.call(cat_op, rows)};
}

LayerFunction make_positions(const LayerSetup& setup) {
    return gives_one([weight = setup.parameter(0)](const Tensor& x) {
        if (x.size(1) > weight.size(0))
            throw Error(ErrorCode::shape, "Positions: a window of " + std::to_string(x.size(1)) + " tokens is longer than the table of " + std::to_string(weight.size(0)));
        return narrow(weight, 0, 0, x.size(1));
    });
}

LayerFunction make_bare_tensor(const LayerSetup& setup) {
    return [tensor = setup.parameter(0)](TensorList&&, LayerPass&) { return TensorList{tensor}; };
}

ValueTypes bare_tensor_types(const LayerTypes& layer) { return {layer.weights.front()}; }

ValueTypes constant_types(const LayerTypes&) {
    ValueType number;
    number.has_dims = false;
    return {number};
}

LayerFunction make_constant(const LayerSetup& setup) {
    const UseScope use(MemoryUse::weights);
    return [number = Tensor::full({}, setup.arguments().number("value"), DType::f32, setup.device)](TensorList&&, LayerPass&) { return TensorList{number}; };
}

}  // namespace

ValueType edge_padding_type(const LayerTypes& layer, const std::vector<std::int64_t>& sides) {
    const ValueType& given = layer.in.front();
    const Sizes& sizes = layer.input().sizes;
    // Its gradients are added up in f32.
    ValueType x = given.learns ? layer.pass.cast_inside(given, DType::f32) : given;
    for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
        if (sides[i] == 0 && sides[i + 1] == 0) continue;
        const Size& size = sizes[sizes.size() - 1 - i / 2];
        const auto before = static_cast<double>(size.number);
        // A window's size is not known here, and longer than its border.
        const double elements = size.is_number() ? x.elements / before * (before + static_cast<double>(sides[i] + sides[i + 1])) : x.elements;
        x = layer.pass.show(index_select_op, x);
        layer.pass.set_elements(x, elements);
    }
    return layer.pass.cast_inside(x, given.type);
}

Linear linear_layer(const LayerSetup& setup) {
    Linear layer;
    layer.module = setup.module();
    layer.weight = setup.parameter(0);
    layer.bias = setup.parameter(1);
    return layer;
}

BatchNorm2d batch_norm_layer(const LayerSetup& setup) {
    const std::int64_t channels = setup.input().sizes[1].number;
    BatchNorm2d norm;
    norm.module = setup.module();
    if (setup.frozen_eps && setup.node.kind->name == "BatchNorm2d") {
        constexpr const char* roles[] = {"weight", "bias"};
        Tensor* const weights[] = {&norm.weight, &norm.bias};
        for (std::size_t i = 0; i < setup.node.parameters.size(); ++i) {
            const GraphParameter& own = setup.graph.parameters[static_cast<std::size_t>(setup.node.parameters[i])];
            *weights[i] = setup.buffer(roles[i], {channels}, constant_start(own.initial).value_or(0));
        }
        norm.running_mean = setup.buffer("running_mean", {channels}, 0);
        norm.running_var = setup.buffer("running_var", {channels}, 1);
        norm.eps = *setup.frozen_eps;
        norm.is_frozen = true;
        return norm;
    }
    norm.weight = setup.parameter(0);
    norm.bias = setup.parameter(1);
    norm.running_mean = setup.buffer("running_mean", {channels}, 0);
    norm.running_var = setup.buffer("running_var", {channels}, 1);
    norm.num_batches_tracked = setup.buffer("num_batches_tracked", {}, 0, DType::i64);
    norm.momentum = setup.arguments().number("momentum");
    norm.eps = setup.arguments().number("eps");
    return norm;
}

LayerNorm layer_norm_layer(const LayerSetup& setup) {
    LayerNorm norm;
    norm.module = setup.module();
    norm.weight = setup.parameter(0);
    norm.bias = setup.parameter(1);
    norm.eps = setup.arguments().number("eps");
    return norm;
}

LayerRun run_Linear() { return {.make = make_linear, .types = calls_with_weights(linear_op), .low = all_low, .casts_first = true, .opens_module = true}; }
LayerRun run_Conv1d() {
    return convolves<ConvolutionOptions>(conv1d, conv1d_op);
}
LayerRun run_Conv2d() {
    return convolves<Conv2dOptions>(conv2d, conv2d_op);
}
LayerRun run_Conv3d() {
    return convolves<ConvolutionOptions>(conv3d, conv3d_op);
}
LayerRun run_ConvTranspose1d() {
    return convolves<ConvTransposeOptions>(conv_transpose1d, conv_transpose1d_op);
}
LayerRun run_ConvTranspose2d() {
    return convolves<ConvTransposeOptions>(conv_transpose2d, conv_transpose2d_op);
}
LayerRun run_ConvTranspose3d() {
    return convolves<ConvTransposeOptions>(conv_transpose3d, conv_transpose3d_op);
}
LayerRun run_BatchNorm1d() { return normalises_batch(); }
LayerRun run_BatchNorm2d() { return normalises_batch(); }
LayerRun run_BatchNorm3d() { return normalises_batch(); }
LayerRun run_LayerNorm() { return {.make = make_layer_norm, .types = calls_with_weights(layer_norm_op, TypePass::Gives::first), .opens_module = true}; }
LayerRun run_RMSNorm() { return {.make = make_rms_norm, .types = calls_with_weights(rms_norm_op, TypePass::Gives::first)}; }
LayerRun run_GroupNorm() { return {.make = make_group_norm, .types = calls_with_weights(group_norm_op, TypePass::Gives::first)}; }
LayerRun run_InstanceNorm2d() { return {.make = make_instance_norm, .types = instance_norm_types}; }
LayerRun run_PReLU() { return {.make = make_prelu, .types = calls_with_weights(prelu_op), .low = all_low}; }
LayerRun run_Embedding() { return {.make = make_embedding, .types = table_types(embedding_op)}; }
LayerRun run_EmbeddingTables() { return {.make = make_embedding_tables, .types = embedding_tables_types}; }
LayerRun run_EmbeddingBag() { return {.make = make_embedding_bag, .types = table_types(embedding_bag_op)}; }
LayerRun run_Positions() { return {.make = make_positions, .types = table_types(narrow_op), .view = true}; }
LayerRun run_Parameter() { return {.make = make_bare_tensor, .types = bare_tensor_types}; }
LayerRun run_Buffer() { return {.make = make_bare_tensor, .types = bare_tensor_types}; }
LayerRun run_Constant() { return {.make = make_constant, .types = constant_types}; }

}  // namespace engine::network
