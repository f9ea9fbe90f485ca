#include "network/from_onnx/imported_graph.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "network/from_onnx/operator_call.h"

namespace engine::network {

std::string to_string(const Extents& extents) {
    return extents.empty() ? "()" : join(extents, " x ", [](const Extent& each) {
        const std::string symbol = each.symbol == Size::Symbol::batch ? "N" : "T";
        return each.is_number() ? std::to_string(each.number) : (each.number == 1 ? "" : std::to_string(each.number)) + symbol;
    });
}

std::int64_t ImportedConstant::count() const {
    std::int64_t out = 1;
    for (const std::int64_t dim : dims) out *= dim;
    return out;
}

int ImportedGraph::add_value(ImportedValue made) {
    if (made.sizes.size() > 8) throw CannotRead{"more than 8 dimensions"};
    values.push_back(std::move(made));
    return static_cast<int>(values.size()) - 1;
}

int ImportedGraph::add_constant(ImportedConstant made) {
    ImportedValue out{.whole = !made.real, .constant = static_cast<int>(constants.size())};
    for (const std::int64_t dim : made.dims) out.sizes.push_back({dim});
    constants.push_back(std::move(made));
    return add_value(std::move(out));
}

int ImportedGraph::add_step(ImportedStep made, Extents sizes, bool whole) {
    const int out = add_value({.sizes = std::move(sizes), .whole = whole, .step = static_cast<int>(steps.size())});
    made.outputs = {out};
    steps.push_back(std::move(made));
    return out;
}

void ImportedGraph::replace(int old, int now) {
    for (ImportedStep& each : steps)
        if (!each.gone) std::ranges::replace(each.inputs, old, now);
    std::ranges::replace(outputs, old, now);
}

std::vector<std::vector<int>> ImportedGraph::users() const {
    std::vector<std::vector<int>> out(values.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (!steps[i].gone)
            for (const int input : steps[i].inputs) out[static_cast<std::size_t>(input)].push_back(static_cast<int>(i));
    for (const int each : outputs) out[static_cast<std::size_t>(each)].push_back(-1);
    return out;
}

void ImportedGraph::count_work(std::int64_t elements) {
    constexpr std::int64_t most = 100'000'000;
    work_ += elements;
    const std::int64_t memory = (std::int64_t{4} * file.bytes() + (std::int64_t{64} << 20)) / 4;
    if (elements < 0 || work_ > std::min(most, memory))
        throw Error(ErrorCode::data, msg("The constants of this ONNX model grow beyond all measure when they are computed."));
}

const std::vector<float>& ImportedGraph::numbers(int at) {
    ImportedConstant& of = constant(at);
    if (of.tensor != nullptr && of.real) {
        of.numbers = file.floats(*of.tensor);
        of.tensor = nullptr;
    }
    return of.numbers;
}

const Extents& ImportedGraph::wholes(int at) {
    ImportedConstant& of = constant(at);
    if (of.tensor != nullptr && !of.real) {
        for (const std::int64_t each : file.wholes(*of.tensor)) of.wholes.push_back({each});
        of.tensor = nullptr;
    }
    return of.wholes;
}

std::optional<double> ImportedGraph::scalar(int at) {
    const ImportedValue& of = value(at);
    if (of.fill) return of.fill;
    if (of.constant < 0 || constant(of.constant).count() != 1) return {};
    if (constant(of.constant).real) return static_cast<double>(numbers(of.constant).front());
    const Extent whole = wholes(of.constant).front();
    if (!whole.is_number()) return {};
    return static_cast<double>(whole.number);
}

OperatorCall::OperatorCall(ImportedGraph& read, const OnnxNode& at) : graph(read), node(at) {
    for (const std::string& name : at.inputs) inputs_.push_back(name.empty() ? -1 : read.names.at(name));
}

int OperatorCall::input(std::size_t at) const {
    if (!given(at)) fail("an input is missing");
    return inputs_[at];
}

bool OperatorCall::all_constant() const {
    return std::ranges::all_of(inputs_, [&](int each) { return each < 0 || graph.value(each).is_constant(); });
}

int OperatorCall::weight(std::size_t at, int dims) const {
    const int found = value(at).constant;
    if (found < 0 || !graph.constant(found).real) fail("its weights are computed from the input");
    if (dims >= 0 && static_cast<int>(graph.constant(found).dims.size()) != dims) fail("its weights have another shape");
    if (is_repeated(at)) fail("its weights are repeated");
    return found;
}

bool OperatorCall::is_repeated(std::size_t at) const {
    const ImportedValue& of = value(at);
    return of.constant >= 0 && !std::ranges::equal(of.sizes, graph.constant(of.constant).dims, [](const Extent& size, std::int64_t dim) { return size == Extent{dim}; });
}

Extents OperatorCall::extents(std::size_t at) const {
    if (value(at).constant < 0 || graph.constant(value(at).constant).real) fail("a shape or index follows from the input's numbers");
    return graph.wholes(value(at).constant);
}

std::vector<std::int64_t> OperatorCall::wholes(std::size_t at) const {
    std::vector<std::int64_t> out;
    for (const Extent& each : extents(at)) out.push_back(number(each));
    return out;
}

std::vector<std::int64_t> OperatorCall::wholes_or(std::size_t at, const char* attribute) const {
    return given(at) ? wholes(at) : node.wholes(attribute);
}

double OperatorCall::scalar(std::size_t at) const {
    const auto found = graph.scalar(input(at));
    if (!found) fail("a number follows from the input");
    return *found;
}

int OperatorCall::for_any_batch(std::size_t at) {
    const int constant = value(at).constant;
    const std::int64_t batch = graph.fixed_batch;
    const bool batched = std::ranges::any_of(inputs_, [&](int each) { return !graph.value(each).is_constant() && graph.value(each).sizes.size() == sizes(at).size(); });
    if (constant < 0 || batch < 2 || !batched || sizes(at).empty() || sizes(at)[0] != Extent{batch} || !graph.constant(constant).real) return input(at);
    if (is_repeated(at)) return input(at);
    const std::vector<float>& all = graph.numbers(constant);
    if (all.empty()) return input(at);
    const auto row = static_cast<std::ptrdiff_t>(all.size() / static_cast<std::size_t>(batch));
    for (std::ptrdiff_t i = 1; i < batch; ++i)
        if (!std::equal(all.begin(), all.begin() + row, all.begin() + i * row)) return input(at);
    ImportedConstant made{.name = graph.constant(constant).name, .dims = graph.constant(constant).dims, .numbers = {all.begin(), all.begin() + row}};
    made.dims[0] = 1;
    const int out = graph.add_constant(std::move(made));
    graph.value(out).sizes[0] = batch_extent;
    inputs_[at] = out;
    return out;
}

std::int64_t OperatorCall::number(const Extent& extent) const {
    if (!extent.is_number()) fail("a size follows from the batch or the window");
    return extent.number;
}

std::size_t OperatorCall::axis(std::int64_t given, std::int64_t rank) const {
    if (given < -rank || given >= rank) fail("an axis is out of range");
    return static_cast<std::size_t>(given < 0 ? given + rank : given);
}

int OperatorCall::add(const std::string& kind, const std::string& arguments, std::vector<int> from, Extents sizes, std::size_t out) {
    const int made = add_before(kind, arguments, std::move(from), std::move(sizes));
    give(made, out);
    return made;
}

int OperatorCall::add_before(const std::string& kind, const std::string& arguments, std::vector<int> from, Extents sizes) {
    for (const Extent& each : sizes)
        if (each.number < 1 || each.number > std::int64_t{1} << 40) fail("a size is out of range");
    return graph.add_step({.kind = kind, .arguments = arguments, .inputs = std::move(from), .node = node.name, .op = node.op}, std::move(sizes));
}

int OperatorCall::add_view(const std::string& kind, std::vector<std::int64_t> list, int from, Extents sizes) {
    const int out = add_before(kind, "", {from}, std::move(sizes));
    step().list = std::move(list);
    return out;
}

void OperatorCall::give(int value, std::size_t out) {
    if (out < node.outputs.size() && !node.outputs[out].empty()) graph.names[node.outputs[out]] = value;
}

void OperatorCall::give_constant(ImportedConstant made) {
    graph.count_work(made.count());
    ++graph.folded;
    give(graph.add_constant(std::move(made)));
}

void OperatorCall::give_wholes(Extents made, std::vector<std::int64_t> dims) {
    give_constant({.dims = std::move(dims), .real = false, .wholes = std::move(made)});
}

void OperatorCall::drop(const std::string& what) {
    ++graph.dropped[what];
    give(input(0));
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
    if (!sizes.empty() && std::ranges::all_of(sizes, [&](std::int64_t each) { return each == sizes.front(); })) return std::to_string(sizes.front());
    return '[' + join(sizes, ", ") + ']';
}

std::string number_text(double number) { return shortest_text(static_cast<float>(number)); }

void add_argument(std::string& arguments, const std::string& name, const std::string& text) {
    arguments += (arguments.empty() ? "" : ", ") + name + '=' + text;
}

Extents broadcast_extents(const std::vector<const Extents*>& all) {
    std::size_t rank = 0;
    for (const Extents* each : all) rank = std::max(rank, each->size());
    Extents out(rank, Extent{1});
    for (const Extents* each : all) {
        for (std::size_t at = 1; at <= each->size(); ++at) {
            const Extent& size = (*each)[each->size() - at];
            Extent& known = out[rank - at];
            if (size == Extent{1} || size == known) continue;
            if (known != Extent{1}) throw CannotRead{to_string(*all.front()) + " and " + to_string(*each) + " do not fit each other"};
            known = size;
        }
    }
    return out;
}

}  // namespace engine::network
