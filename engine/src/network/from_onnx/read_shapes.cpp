#include <algorithm>
#include <charconv>
#include <cmath>

#include "network/from_onnx/operator_call.h"

/// Operators that change the shape, and reductions.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;
using Form = ImportedValue::Form;

/// How many elements a shape has, as a number times powers of N and T.
struct Product {
    std::int64_t number = 1;
    int batches = 0, windows = 0;

    friend bool operator==(const Product&, const Product&) = default;
};

Product product_of(const OperatorCall& call, const Extents& sizes) {
    Product out;
    for (const Extent& each : sizes) {
        if (each.number == -1) continue;
        if (__builtin_mul_overflow(out.number, each.number, &out.number)) call.fail("a size is out of range");
        out.batches += each.symbol == Size::Symbol::batch;
        out.windows += each.symbol == Size::Symbol::window;
    }
    return out;
}

/// A step in ONNX's own form, with the sizes that it gives; texts are made of it after lifting.
void reshape_to(OperatorCall& call, Extents sizes) {
    if (sizes == call.sizes()) return call.drop("Reshape");
    const ImportedValue& in = call.value(0);
    if (in.form == Form::joined && sizes.size() == 3) {
        const Extents wanted = {in.sizes[0], in.sizes[1], {call.number(in.sizes[2]) * call.number(in.sizes[3])}};
        if (sizes == wanted) {
            call.add("Permute", "", {in.of[0]}, std::move(sizes));
            call.step().list = {1, 0, 2};
            return;
        }
    }
    const bool whole = in.whole;
    const int out = call.add("Reshape", "", {call.input(0)}, std::move(sizes));
    call.graph.value(out).whole = whole;
}

/// Exporters write the numbers of their example for N and T: one of `out` becomes the symbol that it lacks.
void restore_symbol(const Extents& in, Extents& out, Size::Symbol symbol, std::int64_t fixed) {
    const auto has = [&](const Extent& each) { return each.symbol == symbol; };
    if (fixed < 1 || std::ranges::none_of(in, has) || std::ranges::any_of(out, has)) return;
    const auto at_its_place = [&](std::size_t i) { return i < in.size() && in[i] == Extent{1, symbol}; };
    std::size_t best = out.size();
    for (std::size_t i = out.size(); i-- > 0;)
        if (out[i].is_number() && out[i].number == fixed && (best == out.size() || !at_its_place(best))) best = i;
    const bool open = std::ranges::find(out, Extent{-1}) != out.end();
    // One size of several dimensions, as N * heads.
    if (best == out.size() && !open && fixed > 1)
        for (std::size_t i = out.size(); i-- > 0;)
            if (out[i].is_number() && out[i].number > fixed && out[i].number % fixed == 0 && (i >= in.size() || out[i] != in[i])) best = i;
    if (best == out.size() || (open && !at_its_place(best) && best != 0)) return;
    out[best] = {out[best].number / fixed, symbol};
}

void reshape(OperatorCall& call) {
    Extents out = call.extents(1);
    const Extents& in = call.sizes();
    const bool keeps_zero = call.node.whole("allowzero", 0) != 0;
    for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] == Extent{0} && !keeps_zero && i < in.size()) out[i] = in[i];
    restore_symbol(in, out, Size::Symbol::batch, call.graph.fixed_batch);
    restore_symbol(in, out, Size::Symbol::window, call.graph.fixed_window);
    std::size_t open = out.size();
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == Extent{-1}) open = i;
        if (out[i].number < 1 && out[i] != Extent{-1}) call.fail("a size is below 1");
    }
    const Product all = product_of(call, in), known = product_of(call, out);
    if (open < out.size()) {
        const int batches = all.batches - known.batches, windows = all.windows - known.windows;
        if (all.number % known.number != 0 || batches < 0 || windows < 0 || batches + windows > 1) call.fail("sizes do not follow from the input's");
        out[open] = {all.number / known.number, batches > 0 ? Size::Symbol::batch : windows > 0 ? Size::Symbol::window : Size::Symbol::none};
    } else if (all != known) {
        call.fail("its sizes, " + to_string(out) + ", do not fit " + to_string(in));
    }
    reshape_to(call, std::move(out));
}

void flatten(OperatorCall& call) {
    const std::int64_t rank = call.rank(), given = call.node.whole("axis", 1);
    const std::int64_t axis = given < 0 ? given + rank : given;
    if (axis != 1 || rank < 2) call.fail("it joins other dimensions than those behind the first");
    const Extents& in = call.sizes();
    const Product rest = product_of(call, {in.begin() + 1, in.end()});
    if (rest.batches + rest.windows > 0) call.fail("a size follows from the window");
    reshape_to(call, {in[0], {rest.number}});
}

void transpose(OperatorCall& call) {
    Dims order = call.node.wholes("perm");
    if (order.empty())
        for (std::int64_t i = call.rank(); i-- > 0;) order.push_back(i);
    Extents out;
    std::set<std::size_t> seen;
    for (std::int64_t& each : order) {
        const std::size_t at = call.axis(each, call.rank());
        each = static_cast<std::int64_t>(at);
        if (!seen.insert(at).second) call.fail("perm names a dimension twice");
        out.push_back(call.sizes()[at]);
    }
    if (order.size() != call.sizes().size()) call.fail("perm does not fit");
    const ImportedValue& in = call.value(0);
    if (in.form == Form::sequence && order == Dims{0, 2, 1, 3}) {
        call.give(call.graph.add_value({.sizes = out, .form = Form::joined, .of = in.of}));
        return;
    }
    call.add("Permute", "", {call.input(0)}, std::move(out));
    call.step().list = order;
}

/// Without dimensions of 1, or with new ones.
void resqueeze(OperatorCall& call, const Dims& axes, bool add) {
    Extents out = call.sizes();
    std::set<std::size_t> places;
    const std::int64_t rank = call.rank() + (add ? static_cast<std::int64_t>(axes.size()) : 0);
    if (rank > 8) call.fail("more than 8 dimensions");
    for (const std::int64_t each : axes) places.insert(call.axis(each, rank));
    if (places.size() != axes.size()) call.fail("axes name a dimension twice");
    if (axes.empty() && !add)
        for (std::size_t i = 0; i < out.size(); ++i)
            if (out[i] == Extent{1}) places.insert(i);
    if (add) {
        for (const std::size_t each : places) out.insert(out.begin() + static_cast<std::ptrdiff_t>(each), Extent{1});
    } else {
        for (auto each = places.rbegin(); each != places.rend(); ++each) {
            if (out[*each] != Extent{1}) call.fail("a size is not 1");
            out.erase(out.begin() + static_cast<std::ptrdiff_t>(*each));
        }
    }
    const ImportedValue& in = call.value(0);
    if (!add && in.form == Form::sequence && places == std::set<std::size_t>{1}) {
        call.add("Permute", "", {in.of[0]}, std::move(out));
        call.step().list = {1, 0, 2};
    } else if (!add && in.form == Form::states && places == std::set<std::size_t>{0}) {
        call.give(in.of[0]);
    } else {
        reshape_to(call, std::move(out));
    }
}

void squeeze(OperatorCall& call) { resqueeze(call, call.wholes_or(1, "axes"), false); }
void unsqueeze(OperatorCall& call) { resqueeze(call, call.wholes_or(1, "axes"), true); }

void concat(OperatorCall& call) {
    for (std::size_t i = 0; i < call.input_count(); ++i) call.for_any_batch(i);
    const std::size_t axis = call.axis("axis", 0);
    Extents out = call.sizes();
    std::vector<int> from, states;
    out[axis] = {0};
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const Extents& in = call.sizes(i);
        if (in.size() != out.size()) call.fail("the shapes do not fit each other");
        for (std::size_t d = 0; d < in.size(); ++d)
            if (d != axis && in[d] != out[d]) call.fail("the shapes do not fit each other");
        out[axis].number += call.number(in[axis]);
        from.push_back(call.input(i));
        if (call.value(i).form == Form::states) states.insert(states.end(), call.value(i).of.begin(), call.value(i).of.end());
    }
    if (axis == 0 && states.size() == from.size()) {
        call.give(call.graph.add_value({.sizes = out, .form = Form::states, .of = states}));
        return;
    }
    if (axis == 0) call.fail("it joins samples");
    call.add("Concat", axis == 1 ? "" : "dim=" + std::to_string(axis), std::move(from), std::move(out));
}

void add_slice(OperatorCall& call, int from, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step, std::size_t out_index, bool last) {
    Extents out = call.graph.value(from).sizes;
    const std::int64_t size = call.number(out[axis]);
    const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    start = bounded(start);
    end = bounded(end);
    if (step < 1 || step > size_limit / 4) call.fail("its step is below 1");
    if (end <= start) call.fail("nothing is left");
    out[axis] = {(end - start - 1) / step + 1};
    std::string arguments = std::to_string(axis) + ", " + std::to_string(start) + ", " + std::to_string(end);
    if (step != 1) arguments += ", step=" + std::to_string(step);
    if (last) call.add("Slice", arguments, {from}, std::move(out), out_index);
    else call.add_before("Slice", arguments, from, std::move(out));
    call.step().list = {static_cast<std::int64_t>(axis), start, end, step};
}

void slice(OperatorCall& call) {
    const Dims starts = call.wholes_or(1, "starts"), ends = call.wholes_or(2, "ends"), steps = call.given(4) ? call.wholes(4) : Dims();
    Dims axes = call.wholes_or(3, "axes");
    if (axes.empty())
        for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (starts.size() != ends.size() || axes.size() != starts.size() || (!steps.empty() && steps.size() != starts.size())) call.fail("starts, ends and axes do not fit");
    // Slices that keep everything are none.
    std::vector<std::size_t> real;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t axis = call.axis(axes[i], call.rank());
        const Extent& size = call.sizes()[axis];
        const bool all = starts[i] == 0 && (ends[i] >= size_limit / 2 || (size.is_number() && ends[i] >= size.number)) && (steps.empty() || steps[i] == 1);
        if (!all) real.push_back(i);
    }
    if (real.empty()) return call.drop("Slice");
    int from = call.input(0);
    for (std::size_t k = 0; k < real.size(); ++k) {
        const std::size_t i = real[k];
        add_slice(call, from, call.axis(axes[i], call.rank()), starts[i], ends[i], steps.empty() ? 1 : steps[i], 0, k + 1 == real.size());
        from = static_cast<int>(call.graph.values.size()) - 1;
    }
}

void split(OperatorCall& call) {
    const std::size_t axis = call.axis("axis", 0), count = call.node.outputs.size();
    const std::int64_t size = call.number(call.sizes()[axis]);
    Dims parts = call.wholes_or(1, "split");
    const auto n = static_cast<std::int64_t>(count);
    if (parts.empty()) {
        const std::int64_t each = (size + n - 1) / n;
        for (std::int64_t rest = size; parts.size() < count; rest -= each) parts.push_back(std::min(each, rest));
    }
    std::int64_t left = size;
    for (const std::int64_t each : parts) left = each < 1 || each > left ? -1 : left - each;
    if (parts.size() != count || left != 0) call.fail("its parts do not fit its outputs");
    const bool equal = std::ranges::all_of(parts, [&](std::int64_t each) { return each == parts[0]; }) && parts[0] * n == size;
    const int from = call.input(0);
    for (std::size_t i = 0, start = 0; i < count; start += static_cast<std::size_t>(parts[i]), ++i) {
        if (!equal) {
            add_slice(call, from, axis, static_cast<std::int64_t>(start), static_cast<std::int64_t>(start) + parts[i], 1, i, true);
            continue;
        }
        Extents out = call.sizes();
        out[axis] = {parts[i]};
        call.add("Split", std::to_string(axis) + ", " + std::to_string(i) + ", " + std::to_string(count), {from}, std::move(out), i);
        call.step().list = {static_cast<std::int64_t>(axis), static_cast<std::int64_t>(start), static_cast<std::int64_t>(start) + parts[i], 1};
    }
}

void gather(OperatorCall& call) {
    if (call.is_constant(0)) {
        const int table = call.weight(0, 2);
        if (call.node.whole("axis", 0) != 0 || !call.value(1).whole) call.fail("its table is read along another dimension");
        const Dims dims = call.graph.constant(table).dims;
        Extents out = call.sizes(1);
        out.push_back({dims[1]});
        call.add("Embedding", std::to_string(dims[1]), {call.input(1)}, std::move(out));
        call.step().weights.push_back({"weight", table, dims, {}});
        call.step().list = dims;
        return;
    }
    const std::size_t axis = call.axis("axis", 0);
    const Dims indices = call.wholes(1);
    if (indices.size() != 1 || call.rank(1) > 1) call.fail("it takes several places");
    const ImportedValue& in = call.value(0);
    const Extent& size = in.sizes[axis];
    if (size.is_number() ? indices[0] < -size.number || indices[0] >= size.number : indices[0] != 0 && indices[0] != -1) call.fail("its place is out of range");
    Extents out = in.sizes;
    if (in.form == Form::states && axis == 0 && call.rank(1) == 0) {
        if (in.sizes[0] != Extent{static_cast<std::int64_t>(in.of.size())}) call.fail("it takes the state of one direction");
        call.give(in.of[call.axis(indices[0], static_cast<std::int64_t>(in.of.size()))]);
        return;
    }
    if (call.rank(1) == 0) {
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
        call.add("Select", std::to_string(axis) + ", " + std::to_string(indices[0]), {call.input(0)}, std::move(out));
        call.step().list = {static_cast<std::int64_t>(axis), indices[0]};
        return;
    }
    const std::int64_t at = indices[0] < 0 ? indices[0] + call.number(size) : indices[0];
    add_slice(call, call.input(0), axis, at, at + 1, 1, 0, true);
}

void reduce(OperatorCall& call) {
    const std::string kind = call.node.op.substr(6);
    Dims axes = call.wholes_or(1, "axes");
    if (axes.empty() && call.node.whole("noop_with_empty_axes", 0) != 0) return call.drop(call.node.op);
    if (axes.empty())
        for (std::int64_t i = 0; i < call.rank(); ++i) axes.push_back(i);
    std::set<std::size_t> places;
    for (const std::int64_t each : axes) places.insert(call.axis(each, call.rank()));
    const bool keeps = call.node.whole("keepdims", 1) != 0;
    if (places.contains(0)) call.fail("it reduces the batch");
    Extents out;
    std::string dims;
    for (std::size_t i = 0; i < call.sizes().size(); ++i) {
        if (!places.contains(i)) out.push_back(call.sizes()[i]);
        else if (keeps) out.push_back({1});
        if (places.contains(i)) dims += (dims.empty() ? "" : ", ") + std::to_string(i);
    }
    if (kind == "Mean" && keeps && call.rank() == 4 && places == std::set<std::size_t>{2, 3}) {
        call.add("AdaptiveAvgPool2d", "1", {call.input(0)}, std::move(out));
        return;
    }
    call.add(kind, (places.size() == 1 ? dims : '[' + dims + ']') + (keeps ? ", keepdim=true" : ""), {call.input(0)}, std::move(out));
    if (places.size() == 1) call.step().list = {static_cast<std::int64_t>(*places.begin()), keeps};
}

void pad(OperatorCall& call) {
    const Dims pads = call.wholes_or(1, "pads");
    const auto rank = static_cast<std::size_t>(call.rank());
    std::string mode = call.node.text("mode", "constant");
    if (call.given(3) || pads.size() != 2 * rank) call.fail("its pads do not fit the dimensions");
    const double value = call.given(2) ? call.scalar(2) : call.node.number("value", 0);
    if (mode == "constant" && value != 0) call.fail("it pads with another number than 0");
    mode = mode == "constant" ? "" : mode == "edge" ? "replicate" : mode;
    Extents out = call.sizes();
    std::string sides;
    for (std::size_t i = rank; i-- > 0;) {
        if (pads[i] < 0 || pads[rank + i] < 0 || pads[i] > 1 << 30 || pads[rank + i] > 1 << 30) call.fail("it pads by less than nothing");
        if (pads[i] == 0 && pads[rank + i] == 0 && i < 2) continue;
        if (i < 2) call.fail("it pads the batch or the channels");
        sides += (sides.empty() ? "" : ", ") + std::to_string(pads[i]) + ", " + std::to_string(pads[rank + i]);
        out[i] = {call.number(out[i]) + pads[i] + pads[rank + i]};
    }
    if (out == call.sizes()) return call.drop("Pad");
    call.add("Pad", '[' + sides + ']' + (mode.empty() ? "" : ", mode=" + mode), {call.input(0)}, std::move(out));
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

void depth_to_space(OperatorCall& call) {
    const std::int64_t block = call.node.whole("blocksize", 0);
    if (call.node.text("mode", "DCR") != "CRD" || call.rank() != 4 || block < 1 || block > 65536) call.fail("mode=DCR");
    Extents out = call.sizes();
    if (call.number(out[1]) % (block * block) != 0) call.fail("its blocks do not fit the channels");
    out[1].number /= block * block;
    out[2] = {call.number(out[2]) * block};
    out[3] = {call.number(out[3]) * block};
    call.add("PixelShuffle", std::to_string(block), {call.input(0)}, std::move(out));
}

void expand(OperatorCall& call) {
    const Extents to = call.extents(1);
    Extents wanted = to;
    if (!wanted.empty() && !call.sizes().empty() && call.graph.fixed_batch > 0 && call.sizes()[0] == batch_extent && wanted[0] == Extent{call.graph.fixed_batch}) wanted[0] = batch_extent;
    if (broadcast_extents({&call.sizes(), &wanted}) != call.sizes()) call.fail("it repeats values");
    call.drop("Expand");
}

}  // namespace

const std::map<std::string, ReadOperator>& shape_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"Reshape", reshape}, {"Flatten", flatten}, {"Transpose", transpose}, {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Concat", concat},
        {"Slice", slice}, {"Split", split}, {"Gather", gather}, {"ReduceMean", reduce}, {"ReduceSum", reduce}, {"ReduceMax", reduce}, {"Pad", pad},
        {"Resize", resize}, {"Upsample", resize}, {"DepthToSpace", depth_to_space}, {"Expand", expand}};
    return all;
}

}  // namespace engine::network
