#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "network/from_onnx/fold_moves.h"

/// Nodes whose inputs are all known: they are computed here, shapes with N and T as symbols.
namespace engine::network {
namespace {

/// Whole numbers, of which one may be so many times N or T.
std::optional<Extent> computed(const std::string& op, const Extent& a, const Extent& b) {
    if (!a.is_number() || !b.is_number()) {
        if (op == "Mul" && (a.is_number() || b.is_number())) {
            std::int64_t number = 0;
            if (__builtin_mul_overflow(a.number, b.number, &number)) return {};
            return Extent{number, a.is_number() ? b.symbol : a.symbol};
        }
        if (op == "Div" && b.is_number() && b.number != 0 && a.number % b.number == 0) return Extent{a.number / b.number, a.symbol};
        if (op == "Div" && a == b) return Extent{1};
        if ((op == "Add" || op == "Sub") && b == Extent{0}) return a;
        if (op == "Equal") return Extent{a == b};
        const bool below = a.is_number() && a.number <= 0, above = b.is_number() && b.number <= 0;  // N and T are positive
        if (op == "Less" || op == "LessOrEqual") return below ? std::optional(Extent{1}) : above ? std::optional(Extent{0}) : std::nullopt;
        if (op == "Greater" || op == "GreaterOrEqual") return above ? std::optional(Extent{1}) : below ? std::optional(Extent{0}) : std::nullopt;
        return {};
    }
    std::int64_t out = 0;
    const auto fits = [&](bool overflow) { return overflow ? std::optional<Extent>() : std::optional(Extent{out}); };
    if (op == "Add") return fits(__builtin_add_overflow(a.number, b.number, &out));
    if (op == "Sub") return fits(__builtin_sub_overflow(a.number, b.number, &out));
    if (op == "Mul") return fits(__builtin_mul_overflow(a.number, b.number, &out));
    if (op == "Div" && b.number > 0) return Extent{a.number / b.number};
    if (op == "Mod" && b.number > 0) return Extent{((a.number % b.number) + b.number) % b.number};
    if (op == "Min") return Extent{std::min(a.number, b.number)};
    if (op == "Max") return Extent{std::max(a.number, b.number)};
    if (op == "Equal") return Extent{a.number == b.number};
    if (op == "Less") return Extent{a.number < b.number};
    if (op == "Greater") return Extent{a.number > b.number};
    if (op == "LessOrEqual") return Extent{a.number <= b.number};
    if (op == "GreaterOrEqual") return Extent{a.number >= b.number};
    if (op == "Xor") return Extent{(a.number != 0) != (b.number != 0)};
    if (op == "And") return Extent{a.number != 0 && b.number != 0};
    if (op == "Or") return Extent{a.number != 0 || b.number != 0};
    return {};
}

std::optional<double> computed(const std::string& op, double a, double b) {
    if (op == "Add") return a + b;
    if (op == "Sub") return a - b;
    if (op == "Mul") return a * b;
    if (op == "Div") return a / b;
    if (op == "Pow") return std::pow(a, b);
    if (op == "Min") return std::min(a, b);
    if (op == "Max") return std::max(a, b);
    if (op == "Mod") return std::fmod(a, b);
    return {};
}

/// Truths of two numbers.
std::optional<bool> compared(const std::string& op, double a, double b) {
    if (op == "Equal") return a == b;
    if (op == "Less") return a < b;
    if (op == "Greater") return a > b;
    if (op == "LessOrEqual") return a <= b;
    if (op == "GreaterOrEqual") return a >= b;
    return {};
}

std::optional<double> computed(const std::string& op, double x) {
    using Function = double (*)(double);
    static const std::map<std::string, Function> functions = {
        {"Sqrt", [](double a) { return std::sqrt(a); }}, {"Neg", [](double a) { return -a; }}, {"Abs", [](double a) { return std::fabs(a); }},
        {"Exp", [](double a) { return std::exp(a); }}, {"Log", [](double a) { return std::log(a); }}, {"Floor", [](double a) { return std::floor(a); }},
        {"Ceil", [](double a) { return std::ceil(a); }}, {"Reciprocal", [](double a) { return 1 / a; }}, {"Sin", [](double a) { return std::sin(a); }},
        {"Cos", [](double a) { return std::cos(a); }}, {"Round", [](double a) { return std::nearbyint(a); }}, {"Erf", [](double a) { return std::erf(a); }},
        {"Sign", [](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }}, {"Tanh", [](double a) { return std::tanh(a); }}, {"Relu", [](double a) { return a > 0 ? a : 0; }},
        {"Sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }}};
    const auto found = functions.find(op);
    return found == functions.end() ? std::nullopt : std::optional(found->second(x));
}

bool fold_pair(OperatorCall& call) {
    if (call.input_count() != 2 || call.value(0).constant < 0 || call.value(1).constant < 0) return false;
    const int a = call.value(0).constant, b = call.value(1).constant;
    const bool real = call.graph.constant(a).real;
    if (real != call.graph.constant(b).real && call.node.op != "Pow") return false;
    Dims dims;
    for (const Extent& each : broadcast_extents({&call.sizes(0), &call.sizes(1)})) dims.push_back(each.number);
    const auto left = places_of(call, dims, broadcast_strides(call, known_dims(call, 0), dims));
    const auto right = places_of(call, dims, broadcast_strides(call, known_dims(call, 1), dims));
    const bool truths = real && compared(call.node.op, 0, 0).has_value();
    ImportedConstant made{.dims = dims, .real = real && !truths};
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (truths) {
            made.wholes.push_back({*compared(call.node.op, static_cast<double>(call.graph.numbers(a).at(left[i])), static_cast<double>(call.graph.numbers(b).at(right[i])))});
        } else if (real) {
            const double second = call.graph.constant(b).real ? static_cast<double>(call.graph.numbers(b).at(right[i])) : static_cast<double>(call.graph.wholes(b).at(right[i]).number);
            const auto each = computed(call.node.op, static_cast<double>(call.graph.numbers(a).at(left[i])), second);
            if (!each) return false;
            made.numbers.push_back(static_cast<float>(*each));
        } else {
            const auto each = computed(call.node.op, call.graph.wholes(a).at(left[i]), call.graph.wholes(b).at(right[i]));
            if (!each) return false;
            made.wholes.push_back(*each);
        }
    }
    call.give_constant(std::move(made));
    return true;
}

bool fold_single(OperatorCall& call, int from) {
    const std::string& op = call.node.op;
    if (call.input_count() != 1) return false;
    ImportedConstant made{.dims = call.graph.constant(from).dims, .real = call.graph.constant(from).real};
    if (made.real) {
        if (op != "IsNaN" && !computed(op, 0)) return false;
        made.real = op != "IsNaN";
        for (const float each : call.graph.numbers(from)) {
            if (made.real) made.numbers.push_back(static_cast<float>(*computed(op, static_cast<double>(each))));
            else made.wholes.push_back({std::isnan(each)});
        }
    } else {
        if (op != "Neg" && op != "Not" && op != "Abs" && op != "Sign") return false;
        for (const Extent& each : call.graph.wholes(from)) {
            if (each.number == std::numeric_limits<std::int64_t>::min()) return false;
            if (op == "Neg") made.wholes.push_back({-each.number, each.symbol});
            else if (op == "Not") made.wholes.push_back({each.number == 0});
            else if (op == "Abs") made.wholes.push_back({std::abs(each.number), each.symbol});
            else made.wholes.push_back({(each.number > 0) - (each.number < 0)});
        }
    }
    call.give_constant(std::move(made));
    return true;
}

void cast(OperatorCall& call, int from, bool real, bool truth = false) {
    if (real == call.graph.constant(from).real) {
        call.give(call.input(0));
        return;
    }
    ImportedConstant made{.dims = call.graph.constant(from).dims, .real = real, .fixed = true};
    if (real)
        for (const Extent& each : call.graph.wholes(from)) made.numbers.push_back(static_cast<float>(call.number(each)));
    else
        for (const float each : call.graph.numbers(from)) {
            if (!(std::fabs(each) < 0x1p62f)) call.fail("a number is out of range");
            made.wholes.push_back({truth ? each != 0 : static_cast<std::int64_t>(each)});
        }
    call.give_constant(std::move(made));
}

/// Numbers that are all equal, whose sizes may be symbols.
void filled(OperatorCall& call, double number, const Extents& sizes, bool real) {
    std::int64_t count = 1;
    bool known = true;
    for (const Extent& each : sizes) {
        known = known && each.is_number() && each.number >= 0 && !__builtin_mul_overflow(count, each.number, &count);
        if (each.number < 0) call.fail("a size is below 0");
    }
    ++call.graph.folded;
    if (known && count <= 1) {
        ImportedConstant made{.real = real};
        for (const Extent& each : sizes) made.dims.push_back(each.number);
        if (count == 1 && real) made.numbers = {static_cast<float>(number)};
        if (count == 1 && !real) made.wholes = {{static_cast<std::int64_t>(number)}};
        call.give(call.graph.add_constant(std::move(made)));
        return;
    }
    if (known && !real) {
        call.graph.count_work(count);
        Dims dims;
        for (const Extent& each : sizes) dims.push_back(each.number);
        call.give_wholes(Extents(static_cast<std::size_t>(count), Extent{static_cast<std::int64_t>(number)}), std::move(dims));
        return;
    }
    call.give(call.graph.add_value({.sizes = sizes, .whole = !real, .fill = number}));
}

void expanded(OperatorCall& call) {
    const Extents to = call.extents(1);
    const Extents sizes = broadcast_extents({&call.sizes(0), &to});
    if (sizes == call.sizes(0)) return call.give(call.input(0));
    if (const auto all = call.graph.scalar(call.input(0))) return filled(call, *all, sizes, !call.value(0).whole);
    const int from = call.value(0).constant;
    const bool known = std::ranges::all_of(sizes, &Extent::is_number);
    if (known && call.value(0).whole) {
        Dims dims;
        for (const Extent& each : sizes) dims.push_back(each.number);
        const auto places = places_of(call, dims, broadcast_strides(call, known_dims(call, 0), dims));
        return take(call, from, dims, places);
    }
    // A learnt tensor stays one, however often it is repeated.
    ++call.graph.folded;
    call.give(call.graph.add_value({.sizes = sizes, .whole = call.value(0).whole, .constant = from}));
}

/// Numbers that are all equal for each input give such numbers.
bool fold_fills(OperatorCall& call) {
    const std::string& op = call.node.op;
    if (op == "Reshape" || op == "Concat" || op == "Range" || op == "Gather") return false;
    std::vector<double> each;
    std::vector<const Extents*> sizes;
    const bool choice = op == "Where";
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const auto number = call.graph.scalar(call.input(i));
        if (!number) return false;
        each.push_back(*number);
        sizes.push_back(&call.sizes(i));
    }
    const bool whole = call.value(choice ? 1 : 0).whole;
    std::optional<double> out;
    bool truth = false;
    if (op == "Cast") {
        const std::int64_t to = call.node.whole("to", OnnxTensor::f32);
        const bool real = to == OnnxTensor::f32 || to == OnnxTensor::f16 || to == OnnxTensor::f64 || to == OnnxTensor::bf16;
        filled(call, real ? each[0] : to == OnnxTensor::boolean ? each[0] != 0 : std::trunc(each[0]), call.sizes(), real);
        return true;
    }
    if (choice && each.size() == 3) out = each[0] != 0 ? each[1] : each[2];
    else if (op == "Not" && each.size() == 1) out = each[0] == 0, truth = true;
    else if (each.size() == 1) out = whole && op != "Neg" ? std::nullopt : computed(op, each[0]);
    else if (each.size() == 2 && compared(op, each[0], each[1])) out = *compared(op, each[0], each[1]), truth = true;
    else if (each.size() == 2 && (op == "And" || op == "Or")) out = op == "And" ? each[0] != 0 && each[1] != 0 : each[0] != 0 || each[1] != 0, truth = true;
    else if (each.size() == 2 && !whole) out = computed(op, each[0], each[1]);
    else if (each.size() == 2 && (op == "Add" || op == "Sub" || op == "Mul")) out = computed(op, each[0], each[1]);
    if (!out || (whole && !(std::fabs(*out) < 0x1p53))) return false;
    filled(call, *out, broadcast_extents(sizes), !truth && !whole);
    return true;
}

/// Numbers that are all equal stay so in another shape.
bool fold_filled(OperatorCall& call, double number) {
    Extents out = call.sizes();
    const std::string& op = call.node.op;
    if (op == "Slice") {
        const Dims starts = call.wholes(1), ends = call.wholes(2), axes = call.given(3) ? call.wholes(3) : Dims();
        for (std::size_t i = 0; i < starts.size() && i < ends.size(); ++i) {
            Extent& size = out[call.axis(i < axes.size() ? axes[i] : static_cast<std::int64_t>(i), call.rank())];
            if (!size.is_number() && starts[i] == 0 && ends[i] >= size_limit / 2) continue;
            const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + call.number(size) : at, 0, call.number(size)); };
            size = {std::max<std::int64_t>(0, bounded(ends[i]) - bounded(starts[i]))};
        }
        if (call.given(4) && std::ranges::any_of(call.wholes(4), [](std::int64_t step) { return step != 1; })) return false;
    } else if (op == "Unsqueeze" || op == "Squeeze") {
        Dims axes = call.wholes_or(1, "axes");
        const bool add = op == "Unsqueeze";
        const std::int64_t rank = call.rank() + (add ? static_cast<std::int64_t>(axes.size()) : 0);
        for (std::int64_t& each : axes) each = static_cast<std::int64_t>(call.axis(each, rank));
        std::ranges::sort(axes);
        if (axes.empty() || rank > 8 || std::ranges::adjacent_find(axes) != axes.end()) return false;
        if (add)
            for (const std::int64_t each : axes) out.insert(out.begin() + each, Extent{1});
        else
            for (auto each = axes.rbegin(); each != axes.rend(); ++each) out.erase(out.begin() + *each);
    } else if (op != "Identity") {
        return false;
    }
    filled(call, number, out, !call.value(0).whole);
    return true;
}

void range(OperatorCall& call) {
    const auto whole = [&](std::size_t at) {
        const std::int64_t out = call.wholes(at).at(0);
        if (out < -size_limit / 4 || out > size_limit / 4) call.fail("a number is out of range");
        return out;
    };
    const std::int64_t start = whole(0), limit = whole(1), step = whole(2);
    if (step == 0) call.fail("a step is 0");
    const std::int64_t count = std::max<std::int64_t>(0, step > 0 ? (limit - start + step - 1) / step : (start - limit - step - 1) / -step);
    call.graph.count_work(count);
    Extents out;
    for (std::int64_t i = 0; i < count; ++i) out.push_back({start + i * step});
    call.give_wholes(std::move(out), {count});
}

/// Choices of numbers, as exporters make them of sizes.
bool where(OperatorCall& call) {
    for (std::size_t i = 0; i < 3; ++i)
        if (call.value(i).constant < 0) return false;
    const int condition = call.value(0).constant, a = call.value(1).constant, b = call.value(2).constant;
    if (call.graph.constant(a).real != call.graph.constant(b).real || call.graph.constant(condition).real) return false;
    Dims dims;
    for (const Extent& each : broadcast_extents({&call.sizes(0), &call.sizes(1), &call.sizes(2)})) dims.push_back(each.number);
    std::vector<std::size_t> places[3];
    for (std::size_t i = 0; i < 3; ++i) places[i] = places_of(call, dims, broadcast_strides(call, known_dims(call, i), dims));
    ImportedConstant made{.dims = dims, .real = call.graph.constant(a).real};
    for (std::size_t i = 0; i < places[0].size(); ++i) {
        const bool first = call.graph.wholes(condition).at(places[0][i]).number != 0;
        const int from = first ? a : b;
        const std::size_t place = places[first ? 1 : 2][i];
        if (made.real) made.numbers.push_back(call.graph.numbers(from).at(place));
        else made.wholes.push_back(call.graph.wholes(from).at(place));
    }
    call.give_constant(std::move(made));
    return true;
}

/// Writes out the inputs that repeat a constant's numbers, where their sizes are none of symbols. False: they are too many.
bool spread(OperatorCall& call) {
    constexpr std::int64_t most = 1 << 20;
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        const bool filled = call.given(i) && call.value(i).fill && call.node.op == "Concat";
        if (!call.given(i) || (!filled && !call.is_repeated(i)) || !std::ranges::all_of(call.sizes(i), &Extent::is_number)) continue;
        const Dims dims = known_dims(call, i);
        const std::int64_t count = product_of(dims);
        if (count < 0 || count > most) return false;
        call.graph.count_work(count);
        const int from = call.value(i).constant;
        ImportedConstant made{.dims = dims, .real = !call.value(i).whole};
        if (filled && made.real) {
            made.numbers.assign(static_cast<std::size_t>(count), static_cast<float>(*call.value(i).fill));
        } else if (filled) {
            made.wholes.assign(static_cast<std::size_t>(count), Extent{static_cast<std::int64_t>(*call.value(i).fill)});
        } else {
            for (const std::size_t place : places_of(call, dims, broadcast_strides(call, call.graph.constant(from).dims, dims))) {
                if (made.real) made.numbers.push_back(call.graph.numbers(from).at(place));
                else made.wholes.push_back(call.graph.wholes(from).at(place));
            }
        }
        call.take(i, call.graph.add_constant(std::move(made)));
    }
    return true;
}

void constant_node(OperatorCall& call) {
    const auto& attributes = call.node.attributes;
    if (attributes.size() != 1) call.fail("it has no value");
    const auto& [name, value] = *attributes.begin();
    ImportedConstant made;
    if (name == "value" && value.tensor && (value.tensor->is_real() || value.tensor->is_whole())) {
        made = {.name = value.tensor->name, .dims = value.tensor->dims, .real = value.tensor->is_real(), .tensor = &*value.tensor};
    } else if (name == "value_int" || name == "value_ints") {
        made.real = false;
        if (name == "value_ints") made.dims = {static_cast<std::int64_t>(value.wholes.size())};
        for (const std::int64_t each : name == "value_int" ? Dims{value.whole} : value.wholes) made.wholes.push_back({each});
    } else if (name == "value_float" || name == "value_floats") {
        if (name == "value_floats") made.dims = {static_cast<std::int64_t>(value.numbers.size())};
        for (const double each : name == "value_float" ? std::vector<double>{value.number} : value.numbers) made.numbers.push_back(static_cast<float>(each));
    } else {
        call.fail("its value is no number");
    }
    if (made.name.empty()) made.name = call.node.outputs.empty() ? "" : call.node.outputs.front();
    call.give(call.graph.add_constant(std::move(made)));
}

}  // namespace

bool fold(OperatorCall& call) {
    const std::string& op = call.node.op;
    if (op == "Constant") return constant_node(call), true;
    if (op == "Shape") {
        const Extents& all = call.sizes();
        const std::int64_t rank = call.rank();
        const auto bounded = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
        const std::int64_t from = bounded(call.node.whole("start", 0)), to = std::max(from, bounded(call.node.whole("end", rank)));
        call.give_wholes({all.begin() + from, all.begin() + to}, {to - from});
        return true;
    }
    if (op == "Size") {
        Extent all{1};
        for (const Extent& each : call.sizes()) {
            if (__builtin_mul_overflow(all.number, each.number, &all.number) || (!each.is_number() && !all.is_number())) call.fail("a size is out of range");
            if (!each.is_number()) all.symbol = each.symbol;
        }
        call.give_wholes({all}, {});
        return true;
    }
    if (op == "ConstantOfShape") {
        const auto found = call.node.attributes.find("value");
        double number = 0;
        bool real = true;
        if (found != call.node.attributes.end() && found->second.tensor && found->second.tensor->count == 1) {
            real = found->second.tensor->is_real();
            number = real ? static_cast<double>(call.graph.file.floats(*found->second.tensor)[0]) : static_cast<double>(call.graph.file.wholes(*found->second.tensor)[0]);
        }
        filled(call, number, call.extents(0), real);
        return true;
    }
    if (op == "CastLike" && call.given(0)) {
        const bool real = !call.value(1).whole;
        if (call.value(0).constant < 0 && real == call.value(0).whole) return false;
        if (call.value(0).constant < 0 || real != call.value(0).whole) return call.give(call.input(0)), true;
        return cast(call, call.value(0).constant, real), true;
    }
    if (call.input_count() == 0 || !call.given(0) || !call.all_constant()) return false;
    if (std::ranges::any_of(call.node.inputs, [&](const std::string& each) { return !each.empty() && call.graph.value(call.graph.names.at(each)).fill; }) && fold_fills(call)) return true;
    if (op == "Expand") return expanded(call), true;
    if (op == "Range") return range(call), true;
    if (op == "Where") return where(call);
    if (op != "Identity" && op != "Cast" && !spread(call)) return false;
    if (call.value(0).fill && op != "Concat") return fold_filled(call, *call.value(0).fill);
    const int from = call.value(0).constant;
    if (from < 0) return false;
    if (call.value(0).sizes.size() != call.graph.constant(from).dims.size()) return false;
    if (op == "Identity") return call.give(call.input(0)), true;
    if (op == "Cast") {
        const std::int64_t to = call.node.whole("to", OnnxTensor::f32);
        const bool real = to == OnnxTensor::f32 || to == OnnxTensor::f16 || to == OnnxTensor::f64 || to == OnnxTensor::bf16;
        return cast(call, from, real, to == OnnxTensor::boolean), true;
    }
    if (op == "Transpose") return transposed(call, from), true;
    if (op == "Reshape") return reshaped(call, from), true;
    if (op == "Squeeze") return squeezed(call, from, false), true;
    if (op == "Unsqueeze") return squeezed(call, from, true), true;
    if (op == "Slice") return sliced(call, from), true;
    if (op == "Gather") return gathered(call, from), true;
    if (op == "Concat") return joined(call), true;
    if (op == "Split") return parted(call, from), true;
    return fold_pair(call) || fold_single(call, from);
}

}  // namespace engine::network
