#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "gradcheck.h"
#include "tensor/op.h"

namespace engine {

/// One argument of a sample, as ops/catalog/samples.json describes it.
struct SampleArgument {
    enum class Kind { absent, random, log_softmax, swapped, mask, whole, like, list };
    Kind kind = Kind::absent;
    Shape shape = {};
    std::vector<double> values = {};
    std::vector<SampleArgument> members = {};

    bool is_random() const {
        return kind == Kind::random || kind == Kind::log_softmax || kind == Kind::swapped;
    }
};

/// A call of an op with small random arguments, for the tests that hold for every op.
struct OpSample {
    std::string op;     // name of the op in the catalog
    std::string label;  // name of the sample: letters and digits
    std::vector<SampleArgument> arguments;
    std::map<std::string, AttrValue> attrs;
    double low = -2, high = 2;  // range of the values
    int outputs = 1;            // results with a gradient
    double sum_length = 1;      // terms in the longest sum of a result

    /// Calls the op with `leaves` in place of the random arguments. Several results come back as
    /// one vector.
    Tensor call(const TensorList& leaves) const;
};
std::vector<OpSample> op_samples();
/// "conv1d_strided", as the names of tests allow.
std::string test_label(const OpSample& sample);
/// The sample's random arguments: leaves that require gradients.
TensorList arguments(const OpSample& sample, DType dtype, bool requires_grad = true);
inline void PrintTo(const OpSample& sample, std::ostream* out) {
    *out << sample.op << " " << sample.label;
}

}  // namespace engine
