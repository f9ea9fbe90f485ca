#include "network/kinds.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "engine/base/near_name.h"
#include "network/kind_forms.h"

namespace engine::network {
namespace {

/// A size that means all dimensions is repeated.
void set_defaults(LayerKind& kind) {
    for (const LayerArgument& argument : kind.arguments) {
        OptionValue value = argument.option.default_value;
        auto* sizes = std::get_if<std::vector<std::int64_t>>(&value);
        const bool each = argument.form == LayerArgument::Form::sizes || argument.form == LayerArgument::Form::padding;
        if (each && sizes != nullptr && sizes->size() == 1) sizes->assign(static_cast<std::size_t>(kind.dimensions), sizes->front());
        kind.defaults.push_back({argument.option.name, {.value = std::move(value)}});
    }
}

}  // namespace

std::span<const LayerKind> layer_kinds() {
    static const std::vector<LayerKind> kinds = [] {
        std::vector<LayerKind> all;
#define HALFTONE_LAYER(name) all.push_back(kind_##name());
#include "network/kinds.inc"
#undef HALFTONE_LAYER
        for (LayerKind& kind : all) {
            if (kind.weighted || kind.bare) kind.arguments.push_back(arg::initial("init", "Initial values of the weight."));
            if (kind.weighted && std::ranges::find(kind.roles, "bias") != kind.roles.end())
                kind.arguments.push_back(arg::initial("bias_init", "Initial values of the bias."));
            for (LayerArgument& argument : kind.arguments)
                for (const FieldChoice& choice : argument.option.choices) argument.words.push_back(choice.value);
            set_defaults(kind);
        }
        return all;
    }();
    return kinds;
}

const LayerKind* find_layer_kind(std::string_view name) {
    static const std::map<std::string, const LayerKind*, std::less<>> by_name = [] {
        std::map<std::string, const LayerKind*, std::less<>> map;
        for (const LayerKind& kind : layer_kinds()) map.emplace(kind.name, &kind);
        return map;
    }();
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
}

std::string nearest_layer_kind(std::string_view name) {
    std::string lower(name);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::erase(lower, '_');
    // Names of Keras, Caffe and Darknet, in small letters.
    static const std::map<std::string, std::string, std::less<>> elsewhere = {
        {"dense", "Linear"}, {"innerproduct", "Linear"}, {"fc", "Linear"}, {"connected", "Linear"}, {"fullyconnected", "Linear"},
        {"conv", "Conv2d"}, {"convolution", "Conv2d"}, {"convolutional", "Conv2d"}, {"conv2dtranspose", "ConvTranspose2d"},
        {"deconvolution", "ConvTranspose2d"}, {"batchnormalization", "BatchNorm2d"}, {"batchnorm", "BatchNorm2d"},
        {"layernormalization", "LayerNorm"}, {"groupnormalization", "GroupNorm"}, {"maxpooling2d", "MaxPool2d"},
        {"maxpool", "MaxPool2d"}, {"pooling", "MaxPool2d"}, {"averagepooling2d", "AvgPool2d"}, {"avgpool", "AvgPool2d"},
        {"globalaveragepooling2d", "AdaptiveAvgPool2d"}, {"globalmaxpooling2d", "AdaptiveMaxPool2d"},
        {"multiheadattention", "MultiheadAttention"}, {"upsampling2d", "Upsample"}, {"zeropadding2d", "Pad"}, {"concatenate", "Concat"},
        {"cat", "Concat"}, {"route", "Concat"}, {"shortcut", "Add"}, {"eltwise", "Add"}, {"subtract", "Sub"}, {"multiply", "Mul"}, {"swish", "SiLU"},
        {"view", "Flatten"}, {"inplaceabn", "BatchNorm2d"}, {"stochasticdepth", "DropPath"}, {"rope", "Rotary"}, {"rotaryembedding", "Rotary"}};
    if (const auto known = elsewhere.find(lower); known != elsewhere.end()) return known->second;
    std::vector<std::string> names;
    for (const LayerKind& kind : layer_kinds()) {
        std::string own = kind.name;
        std::ranges::transform(own, own.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        if (own == lower) return kind.name;
        names.push_back(kind.name);
    }
    return nearest_name(name, names);
}

int LayerCall::dimension(std::int64_t given, int rank) const {
    if (given < -rank || given >= rank)
        fail(msg("{}: there is no dimension {} in {}: use {} to {}.", kind.name, given, to_string(sizes()), -rank, rank - 1));
    return static_cast<int>(given < 0 ? given + rank : given);
}

std::int64_t LayerCall::number_at(int dimension) const {
    const Size& size = sizes()[static_cast<std::size_t>(dimension)];
    if (!size.is_number())
        fail(msg("{}: a size of its weights would be {}, which is not known before training: the input is {}.", kind.name, to_string(size), to_string(sizes())));
    return size.number;
}

void LayerCall::need_rank(int rank, const char* form) const {
    if (input().rank() == rank) return;
    fail(msg("{} takes {}; the input is {}.", kind.name, form, to_string(sizes())));
}

void LayerCall::need_numbers(const TensorType& type) const {
    if (type.whole)
        fail(msg("{} takes numbers with fractions; the input holds whole ones. Put Embedding or EmbeddingTables in between.", kind.name));
}

void LayerCall::give(Sizes given) {
    if (given.size() > static_cast<std::size_t>(Limits::dimensions))
        fail(msg("{}: more than {} dimensions: {}.", kind.name, Limits::dimensions, to_string(given)));
    double count = 1;
    for (const Size& size : given) count *= size.is_number() ? static_cast<double>(size.number) : 1.0;
    if (count >= static_cast<double>(size_limit)) fail(msg("{}: {} has 2^62 elements or more.", kind.name, to_string(given)));
    outputs.push_back({std::move(given), false, {}});
}

void LayerCall::parameter(std::string role, Sizes given, InitialRule initial) {
    double count = 1;
    for (const Size& size : given) {
        if (!size.is_number())
            fail(msg("{}: a size of its weights would be {}, which is not known before training: the input is {}.", kind.name, to_string(size), to_string(sizes())));
        if (size.number < 1) fail(msg("{}: its weights would be {}. Each size has to be 1 or more.", kind.name, to_string(given)));
        count *= static_cast<double>(size.number);
    }
    if (count >= static_cast<double>(size_limit)) fail(msg("{}: {} has 2^62 elements or more.", kind.name, to_string(given)));
    parameters.push_back({std::move(role), std::move(given), std::move(initial), false});
}

double LayerCall::elements(const Sizes& sizes) {
    double count = 1;
    for (const Size& size : sizes) count *= size.is_number() ? static_cast<double>(size.number) : 1.0;
    return count;
}

void LayerCall::count_elements() {
    for (const TensorType& each : inputs) flops = std::max(flops, elements(each.sizes));
    for (const TensorType& each : outputs) flops = std::max(flops, elements(each.sizes));
}

void not_the_batch(const LayerCall& call, int dim) {
    if (dim == 0) call.fail(msg("{}: dimension 0 is the batch. Use 1 or more.", call.kind.name));
}

void same_shape(LayerCall& call) {
    call.need_numbers(call.input());
    call.give(call.sizes());
    call.count_elements();
}

std::int64_t product(const LayerCall& call, std::span<const Size> sizes) {
    std::int64_t out = 1;
    for (const Size& size : sizes) {
        if (!size.is_number())
            call.fail(msg("{}: {} cannot be joined with another size: it is not known before training.", call.kind.name, to_string(size)));
        if (__builtin_mul_overflow(out, size.number, &out) || out >= size_limit)
            call.fail(msg("{}: a size of 2^62 or more.", call.kind.name));
    }
    return out;
}

Message smaller_than_window(const std::string& kind, const std::string& input) {
    return msg("{}: the input is {}, smaller than the window. Remove this layer, or use larger inputs.", kind, input);
}

Size window_output(const LayerCall& call, const Size& size, std::int64_t kernel, std::int64_t stride, std::int64_t before,
                   std::int64_t after, std::int64_t dilation, bool ceil_mode) {
    // Far below the range of whole numbers, and above every tensor.
    constexpr std::int64_t most = std::int64_t{1} << 40;
    for (const std::int64_t each : {kernel, stride, before, after, dilation})
        if (each > most) call.fail(msg("{}: {} is out of range.", call.kind.name, each));
    const std::int64_t reach = kernel > most / dilation ? most : dilation * (kernel - 1) + 1;
    if (!size.is_number()) {
        if (stride == 1 && before + after == reach - 1) return size;
        call.fail(msg("{}: {} is not known before training, so the window has to keep it: stride=1 and padding=same.", call.kind.name, to_string(size)));
    }
    const std::int64_t room = size.number + before + after - reach + (ceil_mode ? stride - 1 : 0);
    if (room < 0)
        call.fail(smaller_than_window(call.kind.name, to_string(call.sizes())));
    std::int64_t out = room / stride + 1;
    // The last window begins inside the input or its padding in front.
    if (ceil_mode && (out - 1) * stride >= size.number + before) --out;
    return number_size(out);
}

std::string divisors_text(std::int64_t number) {
    constexpr std::size_t shown = 7;
    std::vector<std::int64_t> divisors;
    for (std::int64_t each = 1; each <= number && each <= 4096 && divisors.size() < shown; ++each)
        if (number % each == 0) divisors.push_back(each);
    std::string text;
    for (std::size_t i = 0; i < divisors.size(); ++i)
        text += (i == 0 ? "" : i + 1 == divisors.size() ? " or " : ", ") + std::to_string(divisors[i]);
    return text;
}

InitialRule uniform_by_fan(double fan_in) { return {"uniform", {1 / std::sqrt(std::max(1.0, fan_in))}, {}}; }

}  // namespace engine::network
