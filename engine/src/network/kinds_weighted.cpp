#include <algorithm>
#include <numeric>

#include "network/kind_forms.h"

/// Layers with weights: linear, convolutions, norms, embeddings and bare tensors.
namespace engine::network {
namespace {

const InitialRule zeros{"zeros", {}, {}};
const InitialRule ones{"ones", {}, {}};
const InitialRule standard_normal{"normal", {1}, {}};

void linear(LayerCall& call) {
    call.need_numbers(call.input());
    const Sizes& in = call.sizes();
    if (in.size() < 2) call.fail(msg("{} takes N x features; the input is {}.", call.kind.name, to_string(in)));
    const Size out = number_size(call.arguments.whole("out_features"));
    const Size features = number_size(call.number_at(call.input().rank() - 1));
    if (call.tied.empty())
        call.parameter("weight", {out, features}, uniform_by_fan(static_cast<double>(features.number)));
    else if (call.tied_sizes != Sizes{out, features})
        call.fail(msg("{} is {}; this layer needs {}.", call.tied, to_string(call.tied_sizes), to_string(Sizes{out, features})));
    if (call.arguments.flag("bias")) call.parameter("bias", {out}, uniform_by_fan(static_cast<double>(features.number)));
    Sizes given = in;
    given.back() = out;
    call.give(std::move(given));
    call.flops = 2 * LayerCall::elements(call.outputs.front().sizes) * static_cast<double>(features.number);
}

/// Checks groups and adds the weights (first, second / groups, taps...); returns the taps.
double convolution_weights(LayerCall& call, std::int64_t first, std::int64_t second, std::int64_t outputs, std::int64_t inputs) {
    const std::int64_t groups = call.arguments.whole("groups");
    if (inputs % groups != 0 || outputs % groups != 0)
        call.fail(msg("{}: groups = {} does not divide {} input and {} output channels. Use {}.", call.kind.name, groups, inputs, outputs, divisors_text(std::gcd(inputs, outputs))));
    Sizes weight{number_size(first), number_size(second / groups)};
    double taps = 1;
    for (const std::int64_t tap : call.arguments.list("kernel_size")) {
        weight.push_back(number_size(tap));
        taps *= static_cast<double>(tap);
    }
    const double fan_in = static_cast<double>(second / groups) * taps;
    call.parameter("weight", std::move(weight), uniform_by_fan(fan_in));
    if (call.arguments.flag("bias")) call.parameter("bias", {number_size(outputs)}, uniform_by_fan(fan_in));
    return taps;
}

void need_image(LayerCall& call) {
    call.need_numbers(call.input());
    static constexpr const char* forms[] = {"N x channels x length", "N x channels x height x width", "N x channels x depth x height x width"};
    call.need_rank(call.kind.dimensions + 2, forms[call.kind.dimensions - 1]);
}

void convolution(LayerCall& call) {
    need_image(call);
    const LayerArguments& in = call.arguments;
    const std::int64_t channels = call.number_at(1), out = in.whole("out_channels");
    const double taps = convolution_weights(call, out, channels, out, channels);
    Sizes given{call.sizes()[0], number_size(out)};
    const bool same = in.list("padding").empty();
    for (std::size_t i = 0; i < static_cast<std::size_t>(call.kind.dimensions); ++i) {
        const std::int64_t kernel = in.list("kernel_size")[i], stride = in.list("stride")[i], dilation = in.list("dilation")[i];
        if (same && stride != 1) call.fail(msg("padding=same keeps sizes, so it needs stride=1."));
        const Size& size = call.sizes()[i + 2];
        const std::int64_t total = same ? dilation * (kernel - 1) : 2 * in.list("padding")[i];
        if (in.word("padding_mode") == "reflect" && size.is_number() && (total + 1) / 2 >= size.number)
            call.fail(msg("padding_mode=reflect: the padding {} has to be below the size {}.", (total + 1) / 2, size.number));
        given.push_back(window_output(call, size, kernel, stride, total / 2, total - total / 2, dilation, false));
    }
    call.give(std::move(given));
    call.flops = 2 * LayerCall::elements(call.outputs.front().sizes) * static_cast<double>(channels / in.whole("groups")) * taps;
}

void transposed_convolution(LayerCall& call) {
    need_image(call);
    const LayerArguments& in = call.arguments;
    const std::int64_t channels = call.number_at(1), out = in.whole("out_channels");
    const double taps = convolution_weights(call, channels, out, out, channels);
    Sizes given{call.sizes()[0], number_size(out)};
    for (std::size_t i = 0; i < static_cast<std::size_t>(call.kind.dimensions); ++i) {
        const std::int64_t kernel = in.list("kernel_size")[i], stride = in.list("stride")[i], dilation = in.list("dilation")[i];
        const std::int64_t padding = in.list("padding")[i], extra = in.list("output_padding")[i];
        if (extra >= std::max(stride, dilation))
            call.fail(msg("output_padding = {} has to be below stride or dilation.", extra));
        const Size& size = call.sizes()[i + 2];
        constexpr std::int64_t most = std::int64_t{1} << 30;  // products stay far below 2^62
        for (const std::int64_t each : {kernel, stride, dilation, padding, extra, size.number})
            if (each > most) call.fail(msg("{}: {} is out of range.", call.kind.name, each));
        const std::int64_t added = dilation * (kernel - 1) - 2 * padding + extra;
        if (!size.is_number() && (stride != 1 || added != 0))
            call.fail(msg("{}: {} is not known before training, so the window has to keep it.", call.kind.name, to_string(size)));
        const Size grown = size.is_number() ? number_size((size.number - 1) * stride + added + 1) : size;
        if (grown.is_number() && grown.number < 1)
            call.fail(msg("{}: the padding leaves nothing of {}.", call.kind.name, to_string(call.sizes())));
        given.push_back(grown);
    }
    call.give(std::move(given));
    call.flops = 2 * LayerCall::elements(call.sizes()) * static_cast<double>(out / in.whole("groups")) * taps;
}

std::vector<LayerArgument> convolution_arguments(bool transposed) {
    std::vector<LayerArgument> all = {
        arg::required(arg::whole("out_channels", 1, "Number of output channels.")),
        arg::required(arg::sizes("kernel_size", {1}, "Kernel size.")),
        arg::sizes("stride", {1}, "Stride of the kernel.")};
    LayerArgument padding = arg::sizes("padding", {0}, "Padding on each side; same: the output has the size of the input.", 0);
    if (!transposed) padding.form = LayerArgument::Form::padding;
    all.push_back(std::move(padding));
    if (transposed) all.push_back(arg::sizes("output_padding", {0}, "Added to one side of the output's size.", 0));
    all.push_back(arg::sizes("dilation", {1}, "Spacing of the kernel's elements."));
    all.push_back(arg::whole("groups", 1, "Number of groups of a grouped convolution; as many as channels: depthwise."));
    all.push_back(arg::flag("bias", true, "Adds a bias to each channel."));
    if (!transposed)
        all.push_back(arg::word("padding_mode", "zeros", {{"zeros", "zeros"}, {"reflect", "reflect"}, {"replicate", "replicate"}}, "Values in the padding."));
    return all;
}

LayerKind convolution_kind(const char* name, int dimensions, bool transposed) {
    return {.name = name,
            .help = transposed ? "Transposed convolution, which enlarges." : "Convolution.",
            .arguments = convolution_arguments(transposed),
            .shape = transposed ? transposed_convolution : convolution,
            .weighted = true,
            .dimensions = dimensions,
            .pytorch_order = transposed ? std::vector<std::string>{"", "out_channels", "kernel_size", "stride", "padding", "output_padding", "groups", "bias", "dilation"}
                                        : std::vector<std::string>{"", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias", "padding_mode"},
            .roles = {"weight", "bias"}};
}

void affine_parameters(LayerCall& call, const Sizes& sizes, bool bias) {
    call.parameter("weight", sizes, ones);
    if (bias) call.parameter("bias", sizes, zeros);
}

void channel_norm(LayerCall& call) {
    call.need_numbers(call.input());
    const int rank = call.input().rank();
    const int wanted = call.kind.dimensions + 2;
    if (rank != wanted && !(call.kind.dimensions == 1 && rank == 2)) need_image(call);
    const std::int64_t channels = call.number_at(1);
    if (call.arguments.flag("affine")) affine_parameters(call, {number_size(channels)}, true);
    if (call.kind.name.starts_with("Batch")) call.buffers = {{"running_mean", {channels}}, {"running_var", {channels}}, {"num_batches_tracked", {}}};
    call.give(call.sizes());
    call.count_elements();
}

LayerKind channel_norm_kind(const char* name, int dimensions, bool batch) {
    LayerKind kind{.name = name,
                   .help = batch ? "Normalises each channel over the batch." : "Normalises each channel of each sample.",
                   .arguments = {arg::number("eps", 1e-5, "Added to the variance, against division by zero.", 0)},
                   .shape = channel_norm,
                   .weighted = true,
                   .dimensions = dimensions,
                   .pytorch_order = {"", "eps", "momentum", "affine"},
                   .roles = {"weight", "bias"}};
    if (batch) kind.arguments.push_back(arg::number("momentum", 0.1, "Weight of the batch in the running statistics.", 0, 1));
    kind.arguments.push_back(arg::flag("affine", batch, "Learns a weight and a bias for each channel."));
    return kind;
}

/// The last `dims` sizes.
Sizes normalised_sizes(const LayerCall& call) {
    call.need_numbers(call.input());
    const std::int64_t dims = call.arguments.whole("dims");
    if (dims >= call.input().rank())
        call.fail(msg("{}: dims = {} dimensions, and the batch is none of them: the input is {}.", call.kind.name, dims, to_string(call.sizes())));
    return {call.sizes().end() - dims, call.sizes().end()};
}

void layer_norm(LayerCall& call) {
    affine_parameters(call, normalised_sizes(call), call.arguments.flag("bias"));
    call.give(call.sizes());
    call.count_elements();
}

void rms_norm(LayerCall& call) {
    affine_parameters(call, normalised_sizes(call), false);
    call.give(call.sizes());
    call.count_elements();
}

void group_norm(LayerCall& call) {
    call.need_numbers(call.input());
    if (call.input().rank() < 2) call.need_rank(4, "N x channels x height x width");
    const std::int64_t channels = call.number_at(1), groups = call.arguments.whole("num_groups");
    if (channels % groups != 0) call.fail(msg("num_groups = {} does not divide {} channels. Use {}.", groups, channels, divisors_text(channels)));
    affine_parameters(call, {number_size(channels)}, true);
    call.give(call.sizes());
    call.count_elements();
}

void prelu(LayerCall& call) {
    const std::int64_t count = call.arguments.whole("num_parameters");
    if (count != 1 && (call.input().rank() < 2 || call.number_at(1) != count))
        call.fail(msg("num_parameters = {}: use 1, or one for each channel of {}.", count, to_string(call.sizes())));
    call.parameter("weight", {number_size(count)}, {"constant", {0.25}, {}});
    same_shape(call);
}

void need_whole(LayerCall& call) {
    if (!call.input().whole)
        call.fail(msg("{} takes whole numbers, tokens or indices; the input holds numbers with fractions.", call.kind.name));
    if (call.input().counts.empty())
        call.fail(msg("{}: it is not known what the numbers stay below. Put it directly behind the network's input.", call.kind.name));
}

void embedding(LayerCall& call) {
    need_whole(call);
    const Size width = number_size(call.arguments.whole("embedding_dim"));
    call.parameter("weight", {number_size(std::ranges::max(call.input().counts)), width}, standard_normal);
    Sizes given = call.sizes();
    given.push_back(width);
    call.give(std::move(given));
    call.count_elements();
}

void embedding_tables(LayerCall& call) {
    need_whole(call);
    call.need_rank(2, "N x columns");
    const Size width = number_size(call.arguments.whole("embedding_dim"));
    const std::int64_t columns = call.number_at(1);
    if (columns > Limits::columns) call.fail(msg("{}: the input has {} columns; at most {} fit here.", call.kind.name, columns, Limits::columns));
    const auto& counts = call.input().counts;
    for (std::int64_t i = 0; i < columns; ++i)
        call.parameter(std::to_string(i) + ".weight",
                       {number_size(counts[counts.size() == 1 ? 0 : static_cast<std::size_t>(i)]), width}, standard_normal);
    call.give({call.sizes()[0], call.sizes()[1], width});
    call.count_elements();
}

void embedding_bag(LayerCall& call) {
    need_whole(call);
    call.need_rank(2, "N x columns");
    const Size width = number_size(call.arguments.whole("embedding_dim"));
    call.parameter("weight", {number_size(std::ranges::max(call.input().counts)), width}, standard_normal);
    call.give({call.sizes()[0], width});
    call.count_elements();
}

void positions(LayerCall& call) {
    call.need_rank(3, "N x T x features");
    const std::int64_t context = call.arguments.whole("context");
    const Size& length = call.sizes()[1];
    if (length.is_number() && length.number > context)
        call.fail(msg("Positions({}): the input has {} places.", context, length.number));
    call.parameter("weight", {number_size(context), number_size(call.number_at(2))}, standard_normal);
    call.give({length, call.sizes()[2]});
}

Sizes listed_sizes(LayerCall& call) {
    Sizes sizes;
    for (const std::int64_t each : call.arguments.list("sizes")) sizes.push_back(number_size(each));
    return sizes;
}

void bare_tensor(LayerCall& call) {
    call.parameter("", listed_sizes(call), zeros);
    call.parameters.back().fixed = call.kind.name == "Buffer";
    call.give(listed_sizes(call));
}

void constant(LayerCall& call) { call.give({}); }

}  // namespace

LayerKind kind_Linear() {
    LayerArgument weight{option("weight", "weight", std::string(), "A table whose numbers it shares: wte.weight."), LayerArgument::Form::tensor};
    return {.name = "Linear",
            .help = "A matrix product with a weight, and a bias.",
            .arguments = {arg::required(arg::whole("out_features", 1, "Number of output features.")), arg::flag("bias", true, "Adds a bias to each output."), weight},
            .shape = linear,
            .weighted = true,
            .pytorch_order = {"", "out_features", "bias"},
            .roles = {"weight", "bias"}};
}
LayerKind kind_Conv1d() { return convolution_kind("Conv1d", 1, false); }
LayerKind kind_Conv2d() { return convolution_kind("Conv2d", 2, false); }
LayerKind kind_Conv3d() { return convolution_kind("Conv3d", 3, false); }
LayerKind kind_ConvTranspose1d() { return convolution_kind("ConvTranspose1d", 1, true); }
LayerKind kind_ConvTranspose2d() { return convolution_kind("ConvTranspose2d", 2, true); }
LayerKind kind_ConvTranspose3d() { return convolution_kind("ConvTranspose3d", 3, true); }
LayerKind kind_BatchNorm1d() { return channel_norm_kind("BatchNorm1d", 1, true); }
LayerKind kind_BatchNorm2d() { return channel_norm_kind("BatchNorm2d", 2, true); }
LayerKind kind_BatchNorm3d() { return channel_norm_kind("BatchNorm3d", 3, true); }
LayerKind kind_InstanceNorm2d() { return channel_norm_kind("InstanceNorm2d", 2, false); }
LayerKind kind_LayerNorm() {
    return {.name = "LayerNorm",
            .help = "Normalises the last dimensions.",
            .arguments = {arg::whole("dims", 1, "Number of last dimensions that are normalised."), arg::number("eps", 1e-5, "Added to the variance, against division by zero.", 0),
                          arg::flag("bias", true, "Adds a bias to each element.")},
            .shape = layer_norm,
            .weighted = true,
            .pytorch_order = {"", "eps", "elementwise_affine", "bias"},
            .roles = {"weight", "bias"}};
}
LayerKind kind_RMSNorm() {
    return {.name = "RMSNorm",
            .help = "Divides by the root of the mean square of the last dimensions.",
            .arguments = {arg::whole("dims", 1, "Number of last dimensions that are normalised."), arg::number("eps", 0x1p-23, "Added to the mean square, against division by zero.", 0)},
            .shape = rms_norm,
            .weighted = true,
            .pytorch_order = {"", "eps"},
            .roles = {"weight"}};
}
LayerKind kind_GroupNorm() {
    return {.name = "GroupNorm",
            .help = "Normalises groups of channels of each sample.",
            .arguments = {arg::required(arg::whole("num_groups", 1, "Number of groups of channels.")), arg::number("eps", 1e-5, "Added to the variance, against division by zero.", 0)},
            .shape = group_norm,
            .weighted = true,
            .pytorch_order = {"num_groups", "", "eps"},
            .roles = {"weight", "bias"}};
}
LayerKind kind_PReLU() {
    return {.name = "PReLU",
            .help = "Leaky ReLU with a slope that is learnt.",
            .arguments = {arg::whole("num_parameters", 1, "Number of slopes: 1, or one for each channel.")},
            .shape = prelu,
            .weighted = true,
            .roles = {"weight"}};
}
LayerKind kind_Embedding() {
    return {.name = "Embedding",
            .help = "A row of a table for each whole number.",
            .arguments = {arg::required(arg::whole("embedding_dim", 1, "Size of each embedding vector."))},
            .shape = embedding,
            .weighted = true,
            .pytorch_order = {"", "embedding_dim"},
            .roles = {"weight"}};
}
LayerKind kind_EmbeddingTables() {
    return {.name = "EmbeddingTables",
            .help = "A table for each column.",
            .arguments = {arg::required(arg::whole("embedding_dim", 1, "Size of each embedding vector."))},
            .shape = embedding_tables,
            .weighted = true,
            .roles = {"weight"}};
}
LayerKind kind_EmbeddingBag() {
    return {.name = "EmbeddingBag",
            .help = "The rows of a table for the whole numbers of each sample, as one.",
            .arguments = {arg::required(arg::whole("embedding_dim", 1, "Size of each embedding vector.")),
                          arg::word("mode", "mean", {{"mean", "mean"}, {"sum", "sum"}}, "How the rows of a sample are combined.")},
            .shape = embedding_bag,
            .weighted = true,
            .pytorch_order = {"", "embedding_dim"},
            .roles = {"weight"}};
}
LayerKind kind_Positions() {
    return {.name = "Positions",
            .help = "A row of a table for each place of a sequence.",
            .arguments = {arg::required(arg::whole("context", 1, "Longest sequence: the number of positions in the table."))},
            .shape = positions,
            .weighted = true,
            .roles = {"weight"}};
}
LayerKind kind_Parameter() {
    return {.name = "Parameter",
            .help = "A tensor that is learnt.",
            .arguments = {arg::required(arg::list("sizes", {}, "Sizes of the tensor."))},
            .shape = bare_tensor,
            .fewest_inputs = 0,
            .most_inputs = 0,
            .bare = true,
            .roles = {"weight"}};
}
LayerKind kind_Buffer() {
    LayerKind kind = kind_Parameter();
    kind.name = "Buffer";
    kind.help = "A tensor that is not learnt: read from the file of initial weights.";
    return kind;
}
LayerKind kind_Constant() {
    return {.name = "Constant",
            .help = "A number.",
            .arguments = {arg::required(arg::number("value", 0, "Its value."))},
            .shape = constant,
            .fewest_inputs = 0,
            .most_inputs = 0};
}

}  // namespace engine::network
