#include <algorithm>
#include <cmath>

#include "network/from_onnx/fold_moves.h"

/// Operators that change the shape, and reductions.
namespace engine::network {
namespace {

using Form = ImportedValue::Form;

/// How many elements a shape has, as a number times powers of N and T.
struct Product {
    std::int64_t number = 1;
    int batches = 0, windows = 0;

    friend bool operator==(const Product&, const Product&) = default;
};

Product symbolic_product(const OperatorCall& call, const Extents& sizes) {
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

/// Whether a language model's rows are made: samples and windows side by side, each with its features.
bool is_rows(const Extents& in, const Extents& out) {
    const auto has = [&](std::size_t at, Size::Symbol symbol) { return in[at] == Extent{1, symbol}; };
    return in.size() == 3 && out.size() == 2 && out[0] == Extent{-1} && out[1] == in[2] && in[2].is_number() &&
           ((has(0, Size::Symbol::batch) && has(1, Size::Symbol::window)) || (has(0, Size::Symbol::window) && has(1, Size::Symbol::batch)));
}

/// The notation keeps them as N x T x F: what follows treats each row alike.
void rows(OperatorCall& call) {
    if (call.sizes()[0].symbol == Size::Symbol::batch) return call.drop("Reshape");
    call.give(call.add_view("Permute", {1, 0, 2}, call.input(0), {call.sizes()[1], call.sizes()[0], call.sizes()[2]}));
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
    if (is_rows(in, out)) return rows(call);
    const Product all = symbolic_product(call, in), known = symbolic_product(call, out);
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
    const Product rest = symbolic_product(call, {in.begin() + 1, in.end()});
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

/// Takes items of a dimension, from its end on where `step` is negative.
int sliced(OperatorCall& call, int from, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
    Extents out = call.graph.value(from).sizes;
    const std::int64_t size = call.number(out[axis]);
    if (step == 0 || step < -size_limit / 4 || step > size_limit / 4) call.fail("its step is 0 or out of range");
    const auto bounded = [&](std::int64_t at, std::int64_t low, std::int64_t high) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, low, high); };
    if (step < 0) {
        const std::int64_t first = bounded(start, -1, size - 1), last = end < -size ? -1 : bounded(end, -1, size - 1);
        from = call.add_before("Flip", std::to_string(axis), {from}, out);
        start = size - 1 - first;
        end = size - 1 - last;
        step = -step;
        if (start == 0 && end == size && step == 1) return from;
    } else {
        start = bounded(start, 0, size);
        end = bounded(end, 0, size);
    }
    if (end <= start) call.fail("nothing is left");
    out[axis] = {(end - start - 1) / step + 1};
    std::string arguments = std::to_string(axis) + ", " + std::to_string(start) + ", " + std::to_string(end);
    if (step != 1) arguments += ", step=" + std::to_string(step);
    const int made = call.add_before("Slice", arguments, {from}, std::move(out));
    call.step().list = {static_cast<std::int64_t>(axis), start, end, step};
    return made;
}

/// The state of one layer of several.
void carried_part(OperatorCall& call) {
    if (call.wholes_or(3, "axes") != Dims{0}) call.fail("it takes a part of the state");
    const Dims starts = call.wholes_or(1, "starts"), ends = call.wholes_or(2, "ends");
    ImportedValue made = call.value(0);
    const std::int64_t all = call.number(made.sizes[0]);
    if (starts.size() != 1 || ends.size() != 1 || starts[0] < 0 || ends[0] <= starts[0] || ends[0] > all) call.fail("it takes a part of the state");
    made.sizes[0] = {ends[0] - starts[0]};
    call.give(call.graph.add_value(std::move(made)));
}

void slice(OperatorCall& call) {
    if (call.value(0).form == Form::carried) return carried_part(call);
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
    for (const std::size_t i : real) from = sliced(call, from, call.axis(axes[i], call.rank()), starts[i], ends[i], steps.empty() ? 1 : steps[i]);
    call.give(from);
}

void split(OperatorCall& call) {
    const std::size_t axis = call.axis("axis", 0), count = call.node.outputs.size();
    const std::int64_t size = call.number(call.sizes()[axis]);
    const Dims parts = split_parts(call, size);
    const auto n = static_cast<std::int64_t>(count);
    const bool equal = std::ranges::all_of(parts, [&](std::int64_t each) { return each == parts[0]; }) && parts[0] * n == size;
    const int from = call.input(0);
    for (std::size_t i = 0, start = 0; i < count; start += static_cast<std::size_t>(parts[i]), ++i) {
        if (!equal) {
            call.give(sliced(call, from, axis, static_cast<std::int64_t>(start), static_cast<std::int64_t>(start) + parts[i], 1), i);
            continue;
        }
        Extents out = call.sizes();
        out[axis] = {parts[i]};
        call.add("Split", std::to_string(axis) + ", " + std::to_string(i) + ", " + std::to_string(count), {from}, std::move(out), i);
        call.step().list = {static_cast<std::int64_t>(axis), static_cast<std::int64_t>(start), static_cast<std::int64_t>(start) + parts[i], 1};
    }
}

/// Items of a dimension in any order: runs of neighbours are slices.
void several_places(OperatorCall& call, std::size_t axis, const Dims& indices) {
    constexpr std::size_t most_runs = 64;
    const std::int64_t size = call.number(call.sizes()[axis]);
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    for (const std::int64_t each : indices) {
        const auto at = static_cast<std::int64_t>(call.axis(each, size));
        if (!runs.empty() && runs.back().second == at) ++runs.back().second;
        else runs.emplace_back(at, at + 1);
    }
    if (axis == 0 || runs.empty() || runs.size() > most_runs) call.fail("it takes places in an order of their own");
    std::vector<int> parts;
    for (const auto& [start, end] : runs) parts.push_back(sliced(call, call.input(0), axis, start, end, 1));
    Extents out = call.sizes();
    out[axis] = {static_cast<std::int64_t>(indices.size())};
    int made = parts.size() == 1 ? parts[0] : call.add_before("Concat", axis == 1 ? "" : "dim=" + std::to_string(axis), parts, out);
    if (call.rank(1) != 1) {
        const Extents index = call.sizes(1);
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), index.begin(), index.end());
        made = call.add_view("Reshape", {}, made, std::move(out));
    }
    call.give(made);
}

/// Rows of a table. Those of tokens that were turned, T x N, are taken as N x T and turned then.
void table_rows(OperatorCall& call) {
    const int table = call.weight(0, 2), maker = call.value(1).step;
    const bool turned = maker >= 0 && call.graph.step(maker).kind == "Permute" && call.graph.step(maker).list == Dims{1, 0};
    const int tokens = turned ? call.graph.step(maker).inputs[0] : call.input(1);
    if (call.node.whole("axis", 0) != 0 || !call.graph.value(tokens).whole) call.fail("its table is read along another dimension");
    const Dims dims = call.graph.constant(table).dims;
    Extents out = call.graph.value(tokens).sizes;
    out.push_back({dims[1]});
    const int made = call.add_before("Embedding", std::to_string(dims[1]), {tokens}, out);
    call.step().weights.push_back({"weight", table, dims, {}});
    call.step().list = dims;
    call.give(turned ? call.add_view("Permute", {1, 0, 2}, made, {out[1], out[0], out[2]}) : made);
}

void gather(OperatorCall& call) {
    if (call.is_constant(0)) return table_rows(call);
    const std::size_t axis = call.axis("axis", 0);
    const Dims indices = call.wholes(1);
    if (indices.size() != 1 || call.rank(1) > 1) return several_places(call, axis, indices);
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
    call.give(sliced(call, call.input(0), axis, at, at + 1, 1));
}

/// Pads of all dimensions, before and behind, which newer files may give for some.
std::pair<Dims, Dims> all_pads(const OperatorCall& call) {
    const Dims pads = call.wholes_or(1, "pads");
    const auto rank = static_cast<std::size_t>(call.rank());
    Dims axes = call.given(3) ? call.wholes(3) : Dims(), before(rank, 0), after(rank, 0);
    if (!call.given(3))
        for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (pads.size() != 2 * axes.size()) call.fail("its pads do not fit the dimensions");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t at = call.axis(axes[i], call.rank());
        before[at] = pads[i];
        after[at] = pads[axes.size() + i];
        if (std::max(std::abs(before[at]), std::abs(after[at])) > 1 << 30) call.fail("its pads are out of range");
    }
    return {before, after};
}

int sliced(OperatorCall& call, int from, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step);

void pad(OperatorCall& call) {
    auto [before, after] = all_pads(call);
    std::string mode = call.node.text("mode", "constant");
    const double value = call.given(2) ? call.scalar(2) : call.node.number("value", 0);
    if (mode == "wrap") call.fail("mode=wrap");
    if (before[0] != 0 || after[0] != 0) call.fail("it pads the batch");
    int from = call.input(0);
    const int given = from;
    for (std::size_t i = 1; i < before.size(); ++i) {
        if (before[i] >= 0 && after[i] >= 0) continue;
        const std::int64_t size = call.number(call.sizes()[i]);
        from = sliced(call, from, i, std::max<std::int64_t>(0, -before[i]), size + std::min<std::int64_t>(0, after[i]), 1);
        before[i] = std::max<std::int64_t>(0, before[i]);
        after[i] = std::max<std::int64_t>(0, after[i]);
    }
    Extents out = call.graph.value(from).sizes;
    std::string sides;
    std::size_t first = before.size();
    for (std::size_t i = before.size(); i-- > 0;)
        if (before[i] != 0 || after[i] != 0) first = i;
    for (std::size_t i = before.size(); i-- > first;) {
        sides += (sides.empty() ? "" : ", ") + std::to_string(before[i]) + ", " + std::to_string(after[i]);
        if (before[i] != 0 || after[i] != 0) out[i] = {call.number(out[i]) + before[i] + after[i]};
    }
    if (first == before.size()) return from == given ? call.drop("Pad") : call.give(from);
    // Zeros are padded around the difference from another number.
    const bool shifted = mode == "constant" && value != 0;
    if (shifted) from = call.add_before("Sub", "", {from, call.number_value(value)}, call.graph.value(from).sizes);
    const std::string arguments = '[' + sides + ']' + (mode == "constant" ? "" : ", mode=" + (mode == "edge" ? "replicate" : mode));
    if (!shifted) return static_cast<void>(call.add("Pad", arguments, {from}, std::move(out)));
    from = call.add_before("Pad", arguments, {from}, out);
    call.add("Add", "", {from, call.number_value(value)}, std::move(out));
}

void depth_to_space(OperatorCall& call) {
    const std::int64_t block = call.node.whole("blocksize", 0);
    if (call.rank() != 4 || block < 1 || block > 65536 || call.number(call.sizes()[1]) % (block * block) != 0) call.fail("its blocks do not fit the channels");
    const Extent n = call.sizes()[0], c{call.sizes()[1].number / (block * block)}, b{block};
    const std::int64_t h = call.number(call.sizes()[2]), w = call.number(call.sizes()[3]);
    const Extents out{n, c, {h * block}, {w * block}};
    if (call.node.text("mode", "DCR") == "CRD") return static_cast<void>(call.add("PixelShuffle", std::to_string(block), {call.input(0)}, out));
    const int parted = call.add_view("Reshape", {}, call.input(0), {n, b, b, c, {h}, {w}});
    const int turned = call.add_view("Permute", {0, 3, 4, 1, 5, 2}, parted, {n, c, {h}, b, {w}, b});
    call.give(call.add_view("Reshape", {}, turned, out));
}

void space_to_depth(OperatorCall& call) {
    const std::int64_t block = call.node.whole("blocksize", 0);
    if (call.rank() != 4 || block < 1 || block > 65536) call.fail("its blocks do not fit the image");
    const std::int64_t h = call.number(call.sizes()[2]), w = call.number(call.sizes()[3]), c = call.number(call.sizes()[1]);
    if (h % block != 0 || w % block != 0) call.fail("its blocks do not fit the image");
    const Extent n = call.sizes()[0], b{block};
    const Extents out{n, {c * block * block}, {h / block}, {w / block}};
    if (call.node.text("mode", "DCR") == "CRD") return static_cast<void>(call.add("PixelUnshuffle", std::to_string(block), {call.input(0)}, out));
    const int parted = call.add_view("Reshape", {}, call.input(0), {n, {c}, {h / block}, b, {w / block}, b});
    const int turned = call.add_view("Permute", {0, 3, 5, 1, 2, 4}, parted, {n, b, b, {c}, {h / block}, {w / block}});
    call.give(call.add_view("Reshape", {}, turned, out));
}

/// The value several times along a dimension.
int repeated(OperatorCall& call, int from, std::size_t axis, std::int64_t times) {
    constexpr std::int64_t most = 64;
    if (times == 1) return from;
    if (axis == 0) call.fail("it repeats samples");
    if (times < 1 || times > most) call.fail("it repeats values too often");
    Extents out = call.graph.value(from).sizes;
    out[axis] = {call.number(out[axis]) * times};
    return call.add_before("Concat", axis == 1 ? "" : "dim=" + std::to_string(axis), std::vector<int>(static_cast<std::size_t>(times), from), std::move(out));
}

void tile(OperatorCall& call) {
    const Dims times = call.wholes(1);
    if (times.size() != call.sizes().size()) call.fail("its repeats do not fit the dimensions");
    int from = call.input(0);
    for (std::size_t i = 0; i < times.size(); ++i) from = repeated(call, from, i, times[i]);
    call.give(from);
}

void expand(OperatorCall& call) {
    Extents wanted = call.extents(1);
    const Extents in = call.sizes();
    if (!wanted.empty() && !in.empty() && call.graph.fixed_batch > 0 && in[0] == batch_extent && wanted.size() == in.size() && wanted[0] == Extent{call.graph.fixed_batch}) wanted[0] = batch_extent;
    const Extents out = broadcast_extents({&in, &wanted});
    if (out == in) return call.drop("Expand");
    if (out.size() != in.size()) call.fail("it adds dimensions before the batch");
    int from = call.input(0);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] != in[i]) from = repeated(call, from, i, call.number(out[i]));
    call.give(from);
}

}  // namespace

const std::map<std::string, ReadOperator>& shape_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"Reshape", reshape}, {"Flatten", flatten}, {"Transpose", transpose}, {"Squeeze", squeeze}, {"Unsqueeze", unsqueeze}, {"Concat", concat},
        {"Slice", slice}, {"Split", split}, {"Gather", gather}, {"Pad", pad},
        {"DepthToSpace", depth_to_space}, {"SpaceToDepth", space_to_depth}, {"Tile", tile}, {"Expand", expand}};
    return all;
}

}  // namespace engine::network
