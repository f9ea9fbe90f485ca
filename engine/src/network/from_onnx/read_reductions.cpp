#include <algorithm>
#include <charconv>
#include <cmath>

#include "network/from_onnx/operator_call.h"

/// Reductions over dimensions, and pictures in another size.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;

/// Dimensions that a node reduces, and the shapes of its result.
struct Reduced {
    std::set<std::size_t> places{};
    Extents kept{}, out{};  ///< with sizes of 1, and as the node gives it
    bool keeps = true;

    explicit Reduced(const OperatorCall& call) : keeps(call.node.whole("keepdims", 1) != 0) {
        Dims axes = call.wholes_or(1, "axes");
        if (axes.empty())
            for (std::int64_t i = 0; i < call.rank(); ++i) axes.push_back(i);
        for (const std::int64_t each : axes) places.insert(call.axis(each, call.rank()));
        if (places.contains(0)) call.fail("it reduces the batch");
        kept = call.sizes();
        for (std::size_t i = 0; i < kept.size(); ++i) {
            if (places.contains(i)) kept[i] = {1};
            else out.push_back(kept[i]);
        }
        if (keeps) out = kept;
    }

    std::string arguments(bool keepdim) const {
        std::string dims;
        for (const std::size_t each : places) dims += (dims.empty() ? "" : ", ") + std::to_string(each);
        return (places.size() == 1 ? dims : '[' + dims + ']') + (keepdim ? ", keepdim=true" : "");
    }
};

/// Adds Mean, Sum or Max.
int add_reduction(OperatorCall& call, const std::string& kind, int from, const Reduced& over) {
    const int out = call.add_before(kind, over.arguments(over.keeps), {from}, over.out);
    if (over.places.size() == 1) call.step().list = {static_cast<std::int64_t>(*over.places.begin()), over.keeps};
    return out;
}

/// max + log(sum(exp(x - max))), which does not overflow.
int log_sum_exp(OperatorCall& call, const Reduced& over) {
    const Extents sizes = call.sizes();
    const int largest = call.add_before("Max", over.arguments(true), {call.input(0)}, over.kept);
    const int apart = call.add_before("Sub", "", {call.input(0), largest}, sizes);
    const int sum = call.add_before("Sum", over.arguments(true), {call.add_before("Exp", "", {apart}, sizes)}, over.kept);
    const int out = call.add_before("Add", "", {call.add_before("Log", "", {sum}, over.kept), largest}, over.kept);
    return over.keeps ? out : call.add_view("Reshape", {}, out, over.out);
}

/// The product of few items.
int product(OperatorCall& call, const Reduced& over) {
    constexpr std::int64_t most = 16;
    int from = call.input(0);
    for (const std::size_t axis : over.places) {
        Extents part = call.graph.value(from).sizes;
        const std::int64_t count = call.number(part[axis]);
        if (count > most) call.fail("it multiplies more than 16 items");
        if (count == 1) continue;
        part[axis] = {1};
        std::vector<int> parts;
        for (std::int64_t i = 0; i < count; ++i) {
            parts.push_back(call.add_before("Slice", std::to_string(axis) + ", " + std::to_string(i) + ", " + std::to_string(i + 1), {from}, part));
            call.step().list = {static_cast<std::int64_t>(axis), i, i + 1, 1};
        }
        from = call.add_before("Mul", "", parts, part);
    }
    return over.keeps ? from : call.add_view("Reshape", {}, from, over.out);
}

void reduce(OperatorCall& call) {
    const std::string kind = call.node.op.substr(6);
    const int x = call.input(0);
    const Extents sizes = call.sizes();
    const auto before = [&](const char* layer, int from) { return call.add_before(layer, "", {from}, call.graph.value(from).sizes); };
    if (call.wholes_or(1, "axes").empty() && call.node.whole("noop_with_empty_axes", 0) != 0) {
        // No dimension is reduced; what is done to each number stays.
        if (kind == "L1" || kind == "L2") return call.give(before("Abs", x));
        if (kind == "SumSquare") return call.give(before("Square", x));
        if (kind == "LogSum") return call.give(before("Log", x));
        return call.drop(call.node.op);
    }
    const Reduced over(call);
    if (kind == "Mean" && over.keeps && call.rank() == 4 && over.places == std::set<std::size_t>{2, 3}) {
        call.add("AdaptiveAvgPool2d", "1", {x}, over.out);
    } else if (kind == "Mean" || kind == "Sum" || kind == "Max") {
        call.give(add_reduction(call, kind, x, over));
    } else if (kind == "Min") {
        const int turned = call.add_before("Scale", "-1", {x}, sizes);
        const int largest = add_reduction(call, "Max", turned, over);
        call.give(call.add_before("Scale", "-1", {largest}, over.out));
    } else if (kind == "L1") {
        call.give(add_reduction(call, "Sum", before("Abs", x), over));
    } else if (kind == "SumSquare") {
        call.give(add_reduction(call, "Sum", before("Square", x), over));
    } else if (kind == "L2") {
        call.give(before("Sqrt", add_reduction(call, "Sum", before("Square", x), over)));
    } else if (kind == "LogSum") {
        call.give(before("Log", add_reduction(call, "Sum", x, over)));
    } else {
        call.give(kind == "Prod" ? product(call, over) : log_sum_exp(call, over));
    }
}

void resize(OperatorCall& call) {
    const bool old = call.node.op == "Upsample" || call.opset() < 11;
    const std::size_t scales_at = old ? 1 : 2, sizes_at = 3;
    std::vector<double> scales;
    Extents to;
    if (call.given(scales_at) && call.is_constant(scales_at) && call.sizes(scales_at)[0].number > 0) {
        for (const float each : call.graph.numbers(call.weight(scales_at))) scales.push_back(static_cast<double>(each));
    } else if (!old && call.given(sizes_at)) {
        to = call.extents(sizes_at);
        for (std::size_t i = 0; i < to.size() && i < call.sizes().size(); ++i)
            scales.push_back(to[i] == call.sizes()[i] || i == 0 ? 1 : static_cast<double>(call.number(to[i])) / static_cast<double>(call.number(call.sizes()[i])));
    }
    const auto rank = static_cast<std::size_t>(call.rank());
    if (scales.size() != rank || rank < 3 || scales[0] != 1 || scales[1] != 1) call.fail("its scales do not fit the dimensions");
    for (std::size_t i = 2; i < rank; ++i)
        if (!(scales[i] > 0) || scales[i] != scales[2] || scales[i] > 1e6) call.fail("its scales differ between the dimensions");
    const std::string mode = call.node.text("mode", "nearest"), turned = old ? "asymmetric" : call.node.text("coordinate_transformation_mode", "half_pixel");
    const bool whole = std::floor(scales[2]) == scales[2];
    const std::string rounding = call.node.text("nearest_mode", old ? "floor" : "round_prefer_floor");
    const bool halves = turned == "half_pixel" || turned == "pytorch_half_pixel";
    std::string arguments = number_text(scales[2]);
    if (mode == "nearest") {
        // Where the scale is whole, the middle of a new pixel lies within an old one, to which both ways of rounding lead.
        const bool nearest = whole && halves && rounding.starts_with("round_prefer_");
        if ((!(turned == "asymmetric" && rounding == "floor") && !nearest) || (old && scales[2] < 1)) call.fail("its nearest mode is not PyTorch's");
    } else if (mode == "linear" && halves) {
        arguments += rank == 3 ? ", mode=linear" : rank == 4 ? ", mode=bilinear" : ", mode=trilinear";
    } else if (mode == "cubic" && halves && rank == 4 && std::fabs(call.node.number("cubic_coeff_a", -0.75) + 0.75) < 1e-6) {
        arguments += ", mode=bicubic";
    } else {
        call.fail("mode=" + mode + " with " + turned);
    }
    if (call.node.whole("antialias", 0) != 0 || call.node.whole("exclude_outside", 0) != 0 || call.node.has("axes") || call.node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
        call.fail("it has antialias, exclude_outside, axes or a policy");
    Extents out = call.sizes();
    // The text's factor has the digits of an f32: its products may lie just below the sizes that the file asks for.
    const std::string factor_text = number_text(scales[2]);
    double factor = 0;
    std::from_chars(factor_text.data(), factor_text.data() + factor_text.size(), factor);
    for (std::size_t i = 2; i < rank; ++i) {
        out[i] = {static_cast<std::int64_t>(std::floor(static_cast<double>(call.number(out[i])) * factor))};
        if (!to.empty() && out[i] != to[i]) call.fail("its sizes follow from no factor");
    }
    call.add("Upsample", arguments, {call.input(0)}, std::move(out));
}

}  // namespace

const std::map<std::string, ReadOperator>& reduction_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"ReduceMean", reduce}, {"ReduceSum", reduce}, {"ReduceMax", reduce}, {"ReduceMin", reduce}, {"ReduceL1", reduce}, {"ReduceL2", reduce}, {"ReduceSumSquare", reduce},
        {"ReduceLogSum", reduce}, {"ReduceLogSumExp", reduce}, {"ReduceProd", reduce}, {"Resize", resize}, {"Upsample", resize}};
    return all;
}

}  // namespace engine::network
