#include "op_samples.h"

#include <nlohmann/json.hpp>

#include "engine/settings/catalog.h"
#include "ops/catalog/catalog.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

using nlohmann::json;
using Kind = SampleArgument::Kind;

Shape shape_from(const json& sizes) {
    Shape shape;
    for (const auto& size : sizes) shape.push_back(size.get<std::int64_t>());
    return shape;
}

/// A number, or nested lists of numbers: their values by rows.
void read_rows(const json& nested, std::vector<double>& values) {
    if (nested.is_number() || nested.is_boolean()) {
        values.push_back(nested.is_boolean() ? nested.get<bool>() : nested.get<double>());
        return;
    }
    for (const json& each : nested) read_rows(each, values);
}

/// Nested lists as a shape and its values.
void read_values(const json& nested, SampleArgument& into) {
    for (const json* level = &nested; level->is_array(); level = &level->front())
        into.shape.push_back(static_cast<std::int64_t>(level->size()));
    read_rows(nested, into.values);
}

SampleArgument read_argument(const json& given) {
    SampleArgument out;
    if (given.is_null()) return out;
    if (given.is_array()) return {Kind::random, shape_from(given)};
    const std::string word = given.begin().key();
    const json& what = given.begin().value();
    if (word == "list") {
        out.kind = Kind::list;
        for (const auto& each : what) out.members.push_back(read_argument(each));
    } else if (word == "i64" || word == "like" || word == "bool") {
        out.kind = word == "i64" ? Kind::whole : word == "like" ? Kind::like : Kind::mask;
        read_values(what, out);
    } else {
        out.kind = word == "mask"     ? Kind::mask
                   : word == "swapped" ? Kind::swapped
                                       : Kind::log_softmax;
        out.shape = shape_from(what);
    }
    return out;
}

AttrValue read_attribute(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    if (value.is_number()) return value.get<double>();
    if (value.is_string()) return value.get<std::string>();
    if (value.empty() || value.front().is_number_integer())
        return value.get<std::vector<std::int64_t>>();
    return value.get<std::vector<double>>();
}

OpSample read_sample(const json& row) {
    OpSample out{row["op"], row["label"], {}, {}};
    for (const auto& each : row["args"]) out.arguments.push_back(read_argument(each));
    if (const auto attrs = row.find("attrs"); attrs != row.end())
        for (const auto& [name, value] : attrs->items()) out.attrs[name] = read_attribute(value);
    if (const auto range = row.find("range"); range != row.end()) {
        out.low = range->front().get<double>();
        out.high = range->back().get<double>();
    }
    out.outputs = row.value("outputs", 1);
    out.sum_length = row.value("terms", 1.0);
    return out;
}

/// Makes the arguments of a call, taking random ones from the leaves in order.
class Caller {
public:
    explicit Caller(const TensorList& leaves) : leaves_(leaves) {}

    Tensor tensor(const SampleArgument& from) {
        if (from.is_random()) {
            const Tensor& leaf = leaves_[next_++];
            if (from.kind == Kind::swapped) return transpose(leaf, -1, -2);
            return from.kind == Kind::log_softmax ? log_softmax(leaf, -1) : leaf;
        }
        if (from.kind == Kind::absent) return {};
        const Tensor zero = Tensor::scalar(0, DType::f32);
        if (from.kind == Kind::mask)
            return greater(from.values.empty() ? random_tensor(from.shape, DType::f32, 77)
                                               : Tensor::of(from.values, from.shape),
                           zero);
        return Tensor::of(from.values, from.shape,
                          from.kind == Kind::whole ? DType::i64 : leaves_.front().dtype());
    }
    OpArguments arguments(const OpSample& sample) {
        OpArguments out;
        out.attrs = sample.attrs;
        for (int i = 0; i < static_cast<int>(sample.arguments.size()); ++i) {
            const SampleArgument& from = sample.arguments[static_cast<std::size_t>(i)];
            if (from.kind == Kind::list)
                for (const auto& each : from.members) out.lists[i].push_back(tensor(each));
            else if (from.kind != Kind::absent)
                out.tensors[i] = tensor(from);
        }
        return out;
    }

private:
    const TensorList& leaves_;
    std::size_t next_ = 0;
};

void add_leaf(const SampleArgument& from, const OpSample& sample, DType dtype, TensorList& out) {
    for (const auto& each : from.members) add_leaf(each, sample, dtype, out);
    if (from.is_random())
        out.push_back(random_tensor(from.shape, dtype, static_cast<std::uint32_t>(100 + out.size()),
                                    sample.low, sample.high));
}

}  // namespace

std::vector<OpSample> op_samples() {
    std::vector<OpSample> out;
    for (const auto& row : json::parse(op_samples_json())) out.push_back(read_sample(row));
    return out;
}

Tensor OpSample::call(const TensorList& leaves) const {
    TensorList found = find_op(op)->call_by_name(Caller(leaves).arguments(*this));
    if (outputs == 1) return found.front();
    TensorList flat;
    for (int i = 0; i < outputs; ++i) {
        const Tensor& each = found[static_cast<std::size_t>(i)];
        flat.push_back(reshape(each, {each.numel()}));
    }
    return cat(flat, 0);
}

std::string test_label(const OpSample& sample) {
    std::string text = sample.op + "_" + sample.label;
    for (auto& c : text) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    return text;
}

TensorList arguments(const OpSample& sample, DType dtype, bool requires_grad) {
    TensorList out;
    for (const auto& each : sample.arguments) add_leaf(each, sample, dtype, out);
    for (auto& x : out) x.set_requires_grad(requires_grad);
    return out;
}

}  // namespace engine
