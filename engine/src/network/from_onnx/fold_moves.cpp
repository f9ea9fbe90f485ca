#include "network/from_onnx/fold_moves.h"

#include <algorithm>
#include <numeric>

namespace engine::network {
namespace {

/// Steps between neighbours along each dimension.
Dims strides_of(const Dims& dims) {
    Dims out(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) out[i - 1] = out[i] * dims[i];
    return out;
}

/// Keeps the numbers and changes their shape.
void shaped(OperatorCall& call, int from, Dims dims) {
    if (product_of(dims) != call.graph.constant(from).count()) call.fail("shapes do not fit each other");
    if (dims.size() > 8) call.fail("more than 8 dimensions");
    const ImportedConstant& old = call.graph.constant(from);
    call.graph.count_work(static_cast<std::int64_t>(old.numbers.size() + old.wholes.size()));
    ImportedConstant made = old;
    if (dims != made.dims) made.table = -1;
    made.dims = std::move(dims);
    call.graph.folded += 1;
    call.give(call.graph.add_constant(std::move(made)));
}

}  // namespace

std::int64_t product_of(const Dims& dims) {
    std::int64_t out = 1;
    for (const std::int64_t dim : dims)
        if (__builtin_mul_overflow(out, dim, &out)) return -1;
    return out;
}

Dims known_dims(const OperatorCall& call, std::size_t at) {
    Dims out;
    for (const Extent& each : call.sizes(at)) out.push_back(call.number(each));
    return out;
}

namespace {

ImportedConstant taken(OperatorCall& call, int from, Dims dims, const std::vector<std::size_t>& places) {
    call.graph.count_work(static_cast<std::int64_t>(places.size()));
    ImportedConstant made{.dims = std::move(dims), .real = call.graph.constant(from).real};
    if (made.real) {
        const auto& numbers = call.graph.numbers(from);
        for (const std::size_t place : places) made.numbers.push_back(numbers.at(place));
    } else {
        const Extents& wholes = call.graph.wholes(from);
        for (const std::size_t place : places) made.wholes.push_back(wholes.at(place));
    }
    return made;
}

}  // namespace

void take(OperatorCall& call, int from, Dims dims, const std::vector<std::size_t>& places) { call.give_constant(taken(call, from, std::move(dims), places)); }

std::vector<std::size_t> places_of(OperatorCall& call, const Dims& dims, const Dims& strides, std::int64_t start) {
    const std::int64_t count = product_of(dims);
    call.graph.count_work(count);
    std::vector<std::size_t> out;
    Dims at(dims.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {
        out.push_back(static_cast<std::size_t>(start + std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0})));
        for (std::size_t d = dims.size(); d-- > 0;) {
            if (++at[d] < dims[d]) break;
            at[d] = 0;
        }
    }
    return out;
}

Dims broadcast_strides(const OperatorCall& call, const Dims& from, const Dims& to) {
    Dims strides = strides_of(from), out(to.size(), 0);
    if (from.size() > to.size()) call.fail("shapes do not fit each other");
    for (std::size_t at = 1; at <= from.size(); ++at) {
        const std::int64_t have = from[from.size() - at], want = to[to.size() - at];
        if (have != want && have != 1) call.fail("shapes do not fit each other");
        if (have != 1) out[to.size() - at] = strides[from.size() - at];
    }
    return out;
}

void transposed(OperatorCall& call, int from) {
    const Dims dims = call.graph.constant(from).dims;
    Dims order = call.node.wholes("perm"), out, strides;
    if (order.empty())
        for (std::size_t i = dims.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    const Dims old = strides_of(dims);
    for (const std::int64_t each : order) {
        const std::size_t at = call.axis(each, static_cast<std::int64_t>(dims.size()));
        out.push_back(dims[at]);
        strides.push_back(old[at]);
    }
    if (out.size() != dims.size()) call.fail("perm does not fit");
    const std::string name = call.graph.constant(from).name;
    const auto places = places_of(call, out, strides);
    take(call, from, out, places);
    ImportedConstant& made = call.graph.constants.back();
    made.name = name;
    if (order == Dims{1, 0}) made.table = from;
}

void sliced(OperatorCall& call, int from) {
    Dims dims = call.graph.constant(from).dims;
    Dims starts = call.wholes_or(1, "starts"), ends = call.wholes_or(2, "ends"), axes = call.wholes_or(3, "axes"), steps;
    if (call.given(4)) steps = call.wholes(4);
    Dims strides = strides_of(dims), out = dims;
    std::int64_t start = 0;
    if (ends.size() != starts.size()) call.fail("starts and ends do not fit");
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t at = i < axes.size() ? call.axis(axes[i], static_cast<std::int64_t>(dims.size())) : call.axis(static_cast<std::int64_t>(i), static_cast<std::int64_t>(dims.size()));
        const std::int64_t step = i < steps.size() ? steps[i] : 1, size = dims[at];
        if (step == 0 || step < -size_limit || step > size_limit) call.fail("a step is out of range");
        const auto bounded = [&](std::int64_t to, std::int64_t low, std::int64_t high) { return std::clamp(to < 0 ? to + size : to, low, high); };
        const std::int64_t first = step > 0 ? bounded(starts[i], 0, size) : bounded(starts[i], 0, size - 1);
        const std::int64_t end = step > 0 ? bounded(ends[i], 0, size) : ends[i] < -size ? -1 : bounded(ends[i], -1, size - 1);
        const std::int64_t span = step > 0 ? end - first : first - end;
        const std::int64_t length = step > 0 ? step : -step;
        out[at] = span <= 0 ? 0 : (span - 1) / length + 1;
        start += first * strides[at];
        if (out[at] > 0) strides[at] *= step;
    }
    const auto places = places_of(call, out, strides, start);
    take(call, from, out, places);
}

void gathered(OperatorCall& call, int from) {
    const Dims dims = call.graph.constant(from).dims, index_dims = known_dims(call, 1), indices = call.wholes(1);
    const std::size_t axis = call.axis(call.node.whole("axis", 0), static_cast<std::int64_t>(dims.size()));
    const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(axis);
    Dims out(dims.begin(), middle);
    out.insert(out.end(), index_dims.begin(), index_dims.end());
    out.insert(out.end(), middle + 1, dims.end());
    const std::int64_t before = product_of({dims.begin(), middle}), after = product_of({middle + 1, dims.end()});
    call.graph.count_work(product_of(out));
    std::vector<std::size_t> places;
    for (std::int64_t b = 0; b < before; ++b)
        for (const std::int64_t each : indices)
            for (std::int64_t a = 0; a < after; ++a)
                places.push_back(static_cast<std::size_t>((b * dims[axis] + static_cast<std::int64_t>(call.axis(each, dims[axis]))) * after + a));
    take(call, from, out, places);
}

void joined(OperatorCall& call) {
    const std::size_t axis = call.axis("axis", 0);
    Dims out = known_dims(call, 0);
    std::int64_t along = 0;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const Dims dims = known_dims(call, i);
        if (dims.size() != out.size()) call.fail("shapes do not fit each other");
        along += dims[axis];
    }
    out[axis] = along;
    call.graph.count_work(product_of(out));
    ImportedConstant made{.dims = out, .real = call.graph.constant(call.value(0).constant).real};
    const std::int64_t before = product_of({out.begin(), out.begin() + static_cast<std::ptrdiff_t>(axis)});
    for (std::int64_t b = 0; b < before; ++b) {
        for (std::size_t i = 0; i < call.input_count(); ++i) {
            const int at = call.value(i).constant;
            const std::int64_t run = before == 0 ? 0 : call.graph.constant(at).count() / before;
            for (std::int64_t k = b * run; k < (b + 1) * run; ++k) {
                if (made.real) made.numbers.push_back(call.graph.numbers(at).at(static_cast<std::size_t>(k)));
                else made.wholes.push_back(call.graph.wholes(at).at(static_cast<std::size_t>(k)));
            }
        }
    }
    call.give_constant(std::move(made));
}

Dims split_parts(const OperatorCall& call, std::int64_t size) {
    Dims parts = call.wholes_or(1, "split");
    const std::size_t count = call.node.outputs.size();
    const auto n = static_cast<std::int64_t>(count);
    if (parts.empty()) {
        const std::int64_t each = (size + n - 1) / n;
        for (std::int64_t rest = size; parts.size() < count; rest -= each) parts.push_back(std::min(each, rest));
    }
    std::int64_t left = size;
    for (const std::int64_t each : parts) left = each < 1 || each > left ? -1 : left - each;
    if (parts.size() != count || left != 0) call.fail("its parts do not fit its outputs");
    return parts;
}

void parted(OperatorCall& call, int from) {
    Dims dims = call.graph.constant(from).dims;
    const std::size_t axis = call.axis("axis", 0);
    const Dims strides = strides_of(dims), parts = split_parts(call, dims[axis]);
    std::int64_t start = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        dims[axis] = parts[i];
        const auto places = places_of(call, dims, strides, start * strides[axis]);
        call.give(call.graph.add_constant(taken(call, from, dims, places)), i);
        start += parts[i];
    }
    call.graph.folded += 1;
}

void reshaped(OperatorCall& call, int from) {
    Dims out = call.wholes(1);
    const Dims old = call.graph.constant(from).dims;
    std::int64_t known = 1;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (out[i] == 0 && call.node.whole("allowzero", 0) == 0 && i < old.size()) out[i] = old[i];
        if (out[i] != -1 && (out[i] < 0 || __builtin_mul_overflow(known, out[i], &known))) call.fail("a size is out of range");
    }
    for (std::int64_t& each : out)
        if (each == -1) each = known == 0 ? 0 : call.graph.constant(from).count() / known;
    shaped(call, from, out);
}

void squeezed(OperatorCall& call, int from, bool add) {
    const Dims axes = call.wholes_or(1, "axes");
    Dims dims = call.graph.constant(from).dims;
    if (add) {
        const auto rank = static_cast<std::int64_t>(dims.size() + axes.size());
        std::vector<std::size_t> places;
        for (const std::int64_t each : axes) places.push_back(call.axis(each, rank));
        std::ranges::sort(places);
        for (const std::size_t each : places) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(std::min(each, dims.size())), 1);
    } else {
        Dims left;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            const bool named = axes.empty() ? dims[i] == 1 : std::ranges::any_of(axes, [&](std::int64_t each) { return call.axis(each, static_cast<std::int64_t>(dims.size())) == i; });
            if (!named) left.push_back(dims[i]);
        }
        dims = left;
    }
    shaped(call, from, dims);
}

}  // namespace engine::network
