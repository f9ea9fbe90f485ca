#include "network/kind_forms.h"

/// Layers that keep the shape: activations, dropout, functions of one value. And merges.
namespace engine::network {
namespace {

void along_dimension(LayerCall& call) {
    const int dim = call.dimension(call.arguments.whole("dim"));
    // A value of Parameter has no batch: its first dimension may be named.
    if (call.sizes()[static_cast<std::size_t>(dim)] == batch_size) not_the_batch(call, dim);
    same_shape(call);
}

void channel_dropout(LayerCall& call) {
    static constexpr const char* forms[] = {"N x channels x length", "N x channels x height x width", "N x channels x depth x height x width"};
    call.need_rank(call.kind.dimensions + 2, forms[call.kind.dimensions - 1]);
    same_shape(call);
}

void clamp(LayerCall& call) {
    if (call.arguments.number("min") > call.arguments.number("max"))
        call.fail(msg("Clamp: min = {} is above max = {}.", call.arguments.number("min"), call.arguments.number("max")));
    same_shape(call);
}

void identity(LayerCall& call) { call.outputs.push_back(call.input()); }

LayerKind elementwise(const char* name, const char* help, std::vector<LayerArgument> arguments = {}) {
    return {.name = name, .help = help, .arguments = std::move(arguments), .shape = same_shape};
}

LayerArgument probability() { return arg::required(arg::number("p", 0.5, "Dropout probability, in training.", 0, 1)); }

LayerKind channel_dropout_kind(const char* name, int dimensions) {
    LayerKind kind = elementwise(name, "Sets whole channels to 0 while training.", {probability()});
    kind.shape = channel_dropout;
    kind.dimensions = dimensions;
    return kind;
}

LayerKind softmax_kind(const char* name, const char* help) {
    LayerKind kind = elementwise(name, help, {arg::required(arg::dimension("dim", -1))});
    kind.shape = along_dimension;
    return kind;
}

// Merges.

/// "channels, height and width": the dimensions of an image in which two shapes differ.
struct Differences {
    bool channels = false, height = false, width = false, other = false;
};

Differences differences(const Sizes& a, const Sizes& b) {
    Differences out;
    out.other = a.size() != b.size() || a.size() != 4 || a[0] != b[0];
    if (out.other) return out;
    out.channels = a[1] != b[1];
    out.height = a[2] != b[2];
    out.width = a[3] != b[3];
    return out;
}

/// "-1" or "-3, -2": dimensions, from the end, in which neither size is 1.
std::string different_dims(const Sizes& a, const Sizes& b) {
    std::string out;
    for (std::size_t at = std::min(a.size(), b.size()); at > 0; --at) {
        const Size &one = a[a.size() - at], &other = b[b.size() - at];
        if (one != other && one != number_size(1) && other != number_size(1)) out += (out.empty() ? "-" : ", -") + std::to_string(at);
    }
    return out;
}

/// The step that makes `to` of `from`; 0: none does.
std::int64_t step_between(const Size& from, const Size& to) {
    return from.is_number() && to.is_number() && to.number > 0 && from.number % to.number == 0 ? from.number / to.number : 0;
}

[[noreturn]] void shapes_differ(const LayerCall& call, std::size_t a, std::size_t b) {
    const Sizes &first = call.inputs[a].sizes, &second = call.inputs[b].sizes;
    const std::string &one = call.input_names[a], &other = call.input_names[b];
    const Differences differ = differences(first, second);
    const std::string shape = to_string(first), other_shape = to_string(second);
    const std::string& kind = call.kind.name;
    if (!differ.other) {
        const std::int64_t step = step_between(second[2], first[2]);
        const bool strided = step > 1 && step_between(second[3], first[3]) == step;
        const std::string channels = to_string(first[1]);
        if (differ.channels && strided)
            call.fail(msg("{}: {} is {}, {} is {}. They differ in channels, height and width. Give {} {} channels and stride={}.", kind, one, shape, other, other_shape, other, channels, step));
        if (differ.channels && !differ.height && !differ.width)
            call.fail(msg("{}: {} is {}, {} is {}. They differ in channels. Give {} {} channels.", kind, one, shape, other, other_shape, other, channels));
        if (!differ.channels && strided)
            call.fail(msg("{}: {} is {}, {} is {}. They differ in height and width. Give {} stride={}.", kind, one, shape, other, other_shape, other, step));
    }
    const std::string dims = different_dims(first, second);
    if (dims.empty()) call.fail(msg("{}: {} is {}, {} is {}. Each size has to be equal, or 1.", kind, one, shape, other, other_shape));
    call.fail(msg("{}: {} is {}, {} is {}. They differ in the dimensions {}: each size has to be equal, or 1.", kind, one, shape, other, other_shape, dims));
}

/// Sizes of 1 grow; `joined`, from the end, adds up. -1 below all ranks: none.
Sizes broadcast(const LayerCall& call, int joined = 0) {
    std::size_t rank = 0;
    for (const TensorType& input : call.inputs) rank = std::max(rank, input.sizes.size());
    Sizes out(rank, Size{1, Size::Symbol::none});
    const Size one{1, Size::Symbol::none};
    for (std::size_t at = 1; at <= rank; ++at) {
        Size& size = out[rank - at];
        std::size_t set_by = 0;
        bool first = true;
        for (std::size_t i = 0; i < call.inputs.size(); ++i) {
            const Sizes& sizes = call.inputs[i].sizes;
            if (at > sizes.size()) continue;
            const Size& each = sizes[sizes.size() - at];
            if (static_cast<int>(at) == joined) {
                if (!each.is_number())
                    call.fail(msg("{}: {} cannot be joined with another size: it is not known before training.", call.kind.name, to_string(each)));
                std::int64_t sum = each.number;
                if (!first && (__builtin_add_overflow(sum, size.number, &sum) || sum >= size_limit))
                    call.fail(msg("{}: a size of 2^62 or more.", call.kind.name));
                size = number_size(sum);
            } else if (size == one) {
                if (each != one) set_by = i;
                size = each;
            } else if (each != one && each != size) {
                shapes_differ(call, set_by, i);
            }
            first = false;
        }
    }
    return out;
}

void need_all_numbers(LayerCall& call) {
    for (const TensorType& input : call.inputs) call.need_numbers(input);
}

void merge(LayerCall& call) {
    need_all_numbers(call);
    call.give(broadcast(call));
    call.count_elements();
}

void concat(LayerCall& call) {
    need_all_numbers(call);
    std::size_t rank = 0;
    for (const TensorType& input : call.inputs) rank = std::max(rank, input.sizes.size());
    const int dim = call.dimension(call.arguments.whole("dim"), static_cast<int>(rank));
    if (dim == 0) call.fail(msg("Concat: dimension 0 is the batch. Use dim=1 or more."));
    call.give(broadcast(call, static_cast<int>(rank) - dim));
    call.count_elements();
}

void stack(LayerCall& call) {
    need_all_numbers(call);
    Sizes out = broadcast(call);
    const int dim = call.dimension(call.arguments.whole("dim"), static_cast<int>(out.size()) + 1);
    out.insert(out.begin() + dim, number_size(static_cast<std::int64_t>(call.inputs.size())));
    call.give(std::move(out));
    call.count_elements();
}

void matmul(LayerCall& call) {
    need_all_numbers(call);
    const Sizes &a = call.inputs[0].sizes, &b = call.inputs[1].sizes;
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2])
        call.fail(msg("MatMul: {} is {}, {} is {}. The last size of the first has to be the last but one of the second.", call.input_names[0], to_string(a), call.input_names[1], to_string(b)));
    LayerCall outer{call.kind, call.arguments};
    outer.place = call.place;
    outer.input_names = call.input_names;
    outer.inputs = {{{a.begin(), a.end() - 2}, false, {}}, {{b.begin(), b.end() - 2}, false, {}}};
    Sizes out = broadcast(outer);
    out.push_back(a[a.size() - 2]);
    out.push_back(b.back());
    call.give(std::move(out));
    call.flops = 2 * LayerCall::elements(call.outputs.front().sizes) * (a.back().is_number() ? static_cast<double>(a.back().number) : 1);
}

void cosine_similarity(LayerCall& call) {
    need_all_numbers(call);
    Sizes out = broadcast(call);
    const int dim = call.dimension(call.arguments.whole("dim"), static_cast<int>(out.size()));
    if (dim == 0) call.fail(msg("CosineSimilarity: dimension 0 is the batch. Use dim=1 or more."));
    out.erase(out.begin() + dim);
    call.give(std::move(out));
    call.count_elements();
}

/// The first value says which of the others counts, so it may hold whole numbers: tokens that are padding are 0.
void chosen(LayerCall& call) {
    call.need_numbers(call.inputs[1]);
    call.need_numbers(call.inputs[2]);
    call.give(broadcast(call));
    call.flops = LayerCall::elements(call.inputs[0].sizes) + LayerCall::elements(call.outputs.front().sizes);
}

LayerKind merge_kind(const char* name, const char* help, int most, void (*shape)(LayerCall&) = merge, std::vector<LayerArgument> arguments = {}) {
    return {.name = name, .help = help, .arguments = std::move(arguments), .shape = shape, .fewest_inputs = 2, .most_inputs = most, .merges = true};
}

}  // namespace

LayerKind kind_ReLU() { return elementwise("ReLU", "Negative numbers become 0."); }
LayerKind kind_GELU() {
    return elementwise("GELU", "x times the normal distribution's share below x.",
                       {arg::word("approximate", "none", {{"none", "none"}, {"tanh", "tanh"}}, "none: exact; tanh: the approximation with tanh.")});
}
LayerKind kind_SiLU() { return elementwise("SiLU", "x times its sigmoid."); }
LayerKind kind_Sigmoid() { return elementwise("Sigmoid", "1 / (1 + exp(-x))."); }
LayerKind kind_Tanh() { return elementwise("Tanh", "Hyperbolic tangent."); }
LayerKind kind_LeakyReLU() {
    return elementwise("LeakyReLU", "Negative numbers become smaller.", {arg::positional(arg::number("negative_slope", 0.01, "Slope for negative inputs."))});
}
LayerKind kind_ELU() { return elementwise("ELU", "Negative x become exp(x) - 1."); }
LayerKind kind_SELU() { return elementwise("SELU", "ELU with the factors that keep mean 0 and variance 1."); }
LayerKind kind_CELU() { return elementwise("CELU", "ELU with a continuous slope."); }
LayerKind kind_Hardswish() { return elementwise("Hardswish", "Piecewise-linear SiLU."); }
LayerKind kind_Hardsigmoid() { return elementwise("Hardsigmoid", "Sigmoid of straight pieces."); }
LayerKind kind_ReLU6() { return elementwise("ReLU6", "ReLU that ends at 6."); }
LayerKind kind_Mish() { return elementwise("Mish", "x times the tanh of its softplus."); }
LayerKind kind_Softplus() { return elementwise("Softplus", "log(1 + exp(x))."); }
LayerKind kind_Softsign() { return elementwise("Softsign", "x / (1 + |x|)."); }
LayerKind kind_LogSigmoid() { return elementwise("LogSigmoid", "Logarithm of the sigmoid."); }
LayerKind kind_Softmax() { return softmax_kind("Softmax", "Positive numbers that add up to 1 along a dimension."); }
LayerKind kind_LogSoftmax() { return softmax_kind("LogSoftmax", "Logarithm of the softmax."); }
LayerKind kind_Activation() {
    std::vector<FieldChoice> words;
    for (const char* word : {"relu", "gelu", "silu", "sigmoid", "tanh", "leaky_relu", "elu", "selu", "celu", "hardswish", "hardsigmoid", "relu6", "mish", "softplus", "softsign", "log_sigmoid"})
        words.push_back({word, word});
    return elementwise("Activation", "The activation that a word names.", {arg::required(arg::word("word", "relu", std::move(words), "Name of the activation."))});
}
LayerKind kind_Identity() {
    LayerKind kind = elementwise("Identity", "The value as it is.");
    kind.shape = identity;
    return kind;
}
LayerKind kind_Dropout() { return elementwise("Dropout", "Sets numbers to 0 while training.", {probability()}); }
LayerKind kind_Dropout1d() { return channel_dropout_kind("Dropout1d", 1); }
LayerKind kind_Dropout2d() { return channel_dropout_kind("Dropout2d", 2); }
LayerKind kind_Dropout3d() { return channel_dropout_kind("Dropout3d", 3); }
LayerKind kind_DropPath() { return elementwise("DropPath", "Sets whole samples to 0 while training.", {probability()}); }
LayerKind kind_Scale() { return elementwise("Scale", "Times a number.", {arg::required(arg::number("a", 1, "Factor."))}); }
LayerKind kind_Abs() { return elementwise("Abs", "Absolute value."); }
LayerKind kind_Square() { return elementwise("Square", "Square."); }
LayerKind kind_Sqrt() { return elementwise("Sqrt", "Square root."); }
LayerKind kind_Exp() { return elementwise("Exp", "e to the power of x."); }
LayerKind kind_Log() { return elementwise("Log", "Natural logarithm."); }
LayerKind kind_Clamp() {
    LayerKind kind = elementwise("Clamp", "Between two numbers.", {arg::required(arg::number("min", 0, "Lower bound.")), arg::required(arg::number("max", 1, "Upper bound."))});
    kind.shape = clamp;
    return kind;
}
LayerKind kind_Normalize() { return softmax_kind("Normalize", "Divided by the length along a dimension."); }
LayerKind kind_CosineSimilarity() {
    return merge_kind("CosineSimilarity", "Cosine of the angle between two values along a dimension.", 2, cosine_similarity, {arg::dimension("dim", 1)});
}
LayerKind kind_Add() { return merge_kind("Add", "The sum.", many_inputs); }
LayerKind kind_Sub() { return merge_kind("Sub", "The first minus the second.", 2); }
LayerKind kind_Mul() { return merge_kind("Mul", "The product, element by element.", many_inputs); }
LayerKind kind_Div() { return merge_kind("Div", "The first divided by the second.", 2); }
LayerKind kind_Maximum() { return merge_kind("Maximum", "The larger number, element by element.", many_inputs); }
LayerKind kind_Minimum() { return merge_kind("Minimum", "The smaller number, element by element.", many_inputs); }
LayerKind kind_MatMul() { return merge_kind("MatMul", "Matrix product of the last two dimensions.", 2, matmul); }
LayerKind kind_Concat() { return merge_kind("Concat", "Concatenates along a dimension.", many_inputs, concat, {arg::dimension("dim", 1)}); }
LayerKind kind_Stack() { return merge_kind("Stack", "Stacks along a new dimension.", many_inputs, stack, {arg::required(arg::dimension("dim", 1))}); }
LayerKind kind_Where() {
    LayerKind kind = merge_kind("Where", "The second value where the first is not 0, else the third.", 3, chosen);
    kind.fewest_inputs = 3;
    return kind;
}

}  // namespace engine::network
