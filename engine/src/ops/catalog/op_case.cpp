#include "ops/catalog/op_case.h"

#include <algorithm>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/catalog/by_name.h"
#include "ops/catalog/catalog.h"
#include "ops/shape/view.h"
#include "tensor/deferred_errors.h"
#include "tensor/layout.h"
#include "tensor/tape.h"

namespace engine {
namespace {

bool contains(const std::vector<Signature::Argument>& arguments, const std::string& name) {
    return std::ranges::find(arguments, name, &Signature::Argument::name) != arguments.end();
}

/// Whether the attribute is a plain number in the place of one of two tensors.
bool is_number_operand(const Signature& known, const std::string& attribute) {
    return contains(known.tensors(), "y") &&
           (attribute == "other" || attribute == "exponent" || attribute == "self");
}

bool asks_for_nothing(const AttrValue& value) {
    const bool* flag = std::get_if<bool>(&value);
    return std::holds_alternative<std::monostate>(value) || (flag && !*flag);
}

/// Rejects tensors and attributes that the op's signature does not name: ignoring one would
/// silently compute something else. An attribute that is null or false counts as absent.
void check_against_signature(const Op& info, const OpArguments& args) {
    const Signature known(info);
    int last = args.tensors.empty() ? -1 : args.tensors.rbegin()->first;
    if (!args.lists.empty()) last = std::max(last, args.lists.rbegin()->first);
    if (last >= static_cast<int>(known.tensors().size())) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": there is no tensor argument " +
                        std::to_string(last) + " in " + std::string(info.signature),
                    "`halftone ops` lists the arguments.");
    }
    for (const auto& [name, value] : args.attrs) {
        if (asks_for_nothing(value) || contains(known.attributes(), name) ||
            is_number_operand(known, name))
            continue;
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": there is no attribute " + name + " in " +
                        std::string(info.signature),
                    "`halftone ops` lists the attributes.");
    }
}

/// Where an argument belongs: "2" is position 2, "0.1" member 1 of the list at position 0.
struct Place {
    int position;
    int member = -1;
};

std::optional<int> whole(const std::string& text) {
    if (text.empty() || text.size() > 4 ||
        text.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
    return std::stoi(text);
}

std::optional<Place> place_of(const std::string& name) {
    const auto dot = name.find('.');
    const auto position = whole(name.substr(0, dot));
    if (!position) return std::nullopt;
    if (dot == std::string::npos) return Place{*position};
    const auto member = whole(name.substr(dot + 1));
    if (!member) return std::nullopt;
    return Place{*position, *member};
}

/// x with these strides, in memory of its own.
Tensor strided(const Tensor& x, const Strides& strides) {
    if (strides.rank() != x.rank()) {
        throw Error(ErrorCode::value, "strides " + to_string(strides) + " do not fit the shape " +
                                          to_string(x.shape()));
    }
    std::int64_t last = 0;
    Tensor distinct = x;  // without what an expanded dimension repeats: a place is written once
    for (int i = 0; i < x.rank(); ++i) {
        if (strides[i] < 0 || strides[i] > (std::int64_t{1} << 32))
            throw Error(ErrorCode::value, "strides " + to_string(strides) + " are out of range");
        last = checked_sum(last,
                           checked_product(std::max<std::int64_t>(x.size(i) - 1, 0), strides[i]));
        if (strides[i] == 0 && x.size(i) > 1) distinct = narrow(distinct, i, 0, 1);
    }
    const Tensor memory = Tensor::zeros({checked_sum(last, 1)}, x.dtype(), x.device());
    copy_into(view_of(memory, distinct.shape(), strides, 0), distinct);
    const Tensor y = view_of(memory, x.shape(), strides, 0);
    y.impl()->is_view = false;  // an argument like any other, not a view of one
    return y;
}

/// The arguments of the call and, beside them, the leaves that get gradients.
struct Arguments {
    OpArguments call;
    std::vector<std::string> names;  // of the leaves
    TensorList leaves;
};

void put(OpArguments& call, const Place& place, const Tensor& tensor) {
    if (place.member < 0) {
        call.tensors[place.position] = tensor;
        return;
    }
    TensorList& list = call.lists[place.position];
    const auto at = static_cast<std::size_t>(place.member);
    if (list.size() <= at) list.resize(at + 1);
    list[at] = tensor;
}

Arguments read_arguments(const OpCase& request, const TensorMap& file) {
    Arguments out;
    out.call.attrs = request.attrs;
    for (const auto& [name, tensor] : file) {
        const auto place = place_of(name);
        if (!place) continue;
        const auto strides = request.strides.find(name);
        Tensor argument =
            strides == request.strides.end() ? tensor : strided(tensor, strides->second);
        if (request.grad && is_floating(argument.dtype())) {
            argument.set_requires_grad(true);
            out.names.push_back(name);
            out.leaves.push_back(argument);
        }
        put(out.call, *place, argument);
    }
    for (const auto& [position, list] : out.call.lists) {
        for (const auto& member : list) {
            if (!member.defined())
                throw Error(ErrorCode::value,
                            "the list argument " + std::to_string(position) + " has a gap");
        }
    }
    return out;
}

const Tensor& needed(const TensorMap& file, const std::string& name) {
    const auto found = file.find(name);
    if (found == file.end()) throw Error(ErrorCode::value, "the input file has no tensor " + name);
    return found->second;
}

std::string numbered(const std::string& base, std::size_t i, std::size_t count) {
    return count == 1 ? base : base + "." + std::to_string(i);
}

/// Calls within the recipe, if there is one: the layer is the module "op".
TensorList call(const Op& info, const OpCase& request, const OpArguments& args,
                QuantizedLayers* layers) {
    const RecipeScope recipe(layers);
    const ModuleScope module(layers != nullptr ? ModuleName("op") : ModuleName());
    if (!request.autocast) return info.call_by_name(args);
    const AutocastRegion region(request.device.kind, true, *request.autocast);
    const auto inside = region.enter();
    return info.call_by_name(args);
}

/// Gradients of sum(outputs * seeds) by the leaves; zeros where there is no path.
TensorList gradients(const TensorList& outputs, const TensorList& seeds, const TensorList& leaves,
                     bool create_graph) {
    TensorList from, with, found;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].requires_grad()) continue;
        from.push_back(outputs[i]);
        with.push_back(seeds[i]);
    }
    if (!from.empty() && !leaves.empty())
        found = grad(from, leaves, with, {.create_graph = create_graph}, true);
    found.resize(leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (!found[i].defined())
            found[i] = Tensor::zeros(leaves[i].shape(), leaves[i].dtype(), leaves[i].device());
    }
    return found;
}

TensorList seeds_of(const OpCase& request, const TensorMap& file, const TensorList& outputs) {
    TensorList seeds;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        Tensor seed = needed(file, numbered("grad_output", i, outputs.size()));
        if (!(seed.shape() == outputs[i].shape())) {
            throw Error(ErrorCode::shape, "grad_output has shape " + to_string(seed.shape()) +
                                              ", the output " + to_string(outputs[i].shape()));
        }
        if (request.grad_grad) seed.set_requires_grad(true);
        seeds.push_back(seed);
    }
    return seeds;
}

TensorMap moved(const TensorMap& file, const Device& device) {
    TensorMap out;
    for (const auto& [name, tensor] : file) out[name] = tensor.copy_to(device);
    return out;
}

}  // namespace

TensorMap run_op_case(const OpCase& request, const TensorMap& given) {
    const DeviceScope scope(request.device);
    clear_deferred_errors(request.device);  // of a case that ended before its results were read
    const TensorMap file = moved(given, request.device);
    const Op* info = find_op(request.op);
    if (!info)
        throw Error(ErrorCode::value, "there is no op " + request.op, "`halftone ops` lists them.");
    const Arguments args = read_arguments(request, file);
    check_against_signature(*info, args.call);
    std::optional<QuantizedLayers> layers;  // gradients use it, too
    if (request.recipe) layers.emplace(*request.recipe, std::vector<std::string>());
    const TensorList outputs = call(*info, request, args.call, layers ? &*layers : nullptr);
    TensorMap results;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        results[numbered("output", i, outputs.size())] = outputs[i].detach();
    if (!request.grad) return results;

    const TensorList seeds = seeds_of(request, file, outputs);
    const TensorList first = gradients(outputs, seeds, args.leaves, request.grad_grad);
    for (std::size_t i = 0; i < first.size(); ++i)
        results["grad." + args.names[i]] = first[i].detach();
    if (!request.grad_grad) return results;

    TensorList by = args.leaves, weights;
    by.insert(by.end(), seeds.begin(), seeds.end());
    for (std::size_t i = 0; i < args.names.size(); ++i) {
        const auto found = file.find("v." + args.names[i]);
        const Tensor& like = args.leaves[i];
        // A gradient that is not asked about has no weight in the sum.
        weights.push_back(found != file.end()
                              ? found->second
                              : Tensor::zeros(like.shape(), like.dtype(), like.device()));
    }
    const TensorList second = gradients(first, weights, by, false);
    for (std::size_t i = 0; i < second.size(); ++i) {
        const std::size_t count = args.names.size();
        results["grad_grad." +
                (i < count ? args.names[i] : numbered("output", i - count, seeds.size()))] =
            second[i].detach();
    }
    return results;
}

}  // namespace engine
