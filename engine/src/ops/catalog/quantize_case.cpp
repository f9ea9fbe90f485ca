#include "ops/catalog/quantize_case.h"

#include <algorithm>
#include <array>

#include "amp/recipe.h"
#include "engine/base/error.h"

namespace engine {
namespace {

template <typename T>
using Choice = std::pair<const char*, T>;

/// Takes attributes one by one; what is left at the end is unknown.
class Attributes {
public:
    explicit Attributes(const OpCase& request) : left_(request.attrs) {}

    template <typename T>
    T take(const std::string& name, T usual, const char* wanted) {
        const auto found = left_.find(name);
        if (found == left_.end()) return usual;
        const T* const value = std::get_if<T>(&found->second);
        if (value == nullptr) refuse(name, wanted);
        const T out = *value;
        left_.erase(found);
        return out;
    }

    /// One of these words; the first unless given.
    template <typename T, std::size_t n>
    T word(const std::string& name, const std::array<Choice<T>, n>& choices) {
        const std::string given = take<std::string>(name, choices.front().first, "a word");
        std::string names;
        for (const auto& [word, value] : choices) {
            if (given == word) return value;
            names += (names.empty() ? "" : ", ") + std::string(word);
        }
        refuse(name, "one of " + names);
    }

    std::int64_t count(const std::string& name, std::int64_t usual, std::int64_t least,
                       std::int64_t most) {
        const std::int64_t value = take(name, usual, "a whole number");
        if (value < least || value > most)
            refuse(name, "from " + std::to_string(least) + " to " + std::to_string(most));
        return value;
    }

    void check_empty() const {
        if (!left_.empty())
            refuse(left_.begin()->first,
                   "no attribute of quantize, which has format, scale, block, square, power_of_2, "
                   "mx_scale, dim, round, seed and non_finite");
    }

private:
    [[noreturn]] static void refuse(const std::string& name, const std::string& wanted) {
        throw Error(ErrorCode::value, "attrs." + name + ": " + wanted);
    }

    std::map<std::string, AttrValue> left_;
};

Recipe recipe_of(Attributes& attrs) {
    using kernels::FloatLayout, kernels::MxRule;
    constexpr std::array formats = {Choice<FloatLayout>{"e4m3", kernels::fp8_e4m3_layout},
                                    Choice<FloatLayout>{"e5m2", kernels::fp8_e5m2_layout},
                                    Choice<FloatLayout>{"e2m1", kernels::fp4_e2m1_layout}};
    constexpr std::array scales = {
        Choice<ScaleBasis>{"tensor", ScaleBasis::tensor}, Choice<ScaleBasis>{"row", ScaleBasis::row},
        Choice<ScaleBasis>{"block", ScaleBasis::block}, Choice<ScaleBasis>{"mx", ScaleBasis::mx},
        Choice<ScaleBasis>{"two-level", ScaleBasis::nvfp4}};
    constexpr std::array rules = {
        Choice<MxRule>{"rceil", MxRule::rceil}, Choice<MxRule>{"floor", MxRule::floor},
        Choice<MxRule>{"ceil", MxRule::ceil}, Choice<MxRule>{"even", MxRule::even}};
    constexpr std::array ways = {Choice<bool>{"nearest", false}, Choice<bool>{"stochastic", true}};
    constexpr std::array fates = {Choice<bool>{"propagate", false}, Choice<bool>{"saturate", true}};
    Recipe out;
    out.forward = out.gradient = attrs.word("format", formats);
    out.rule = attrs.word("scale", scales);
    const std::int64_t usual = out.rule == ScaleBasis::block   ? 128
                               : out.rule == ScaleBasis::mx    ? 32
                               : out.rule == ScaleBasis::nvfp4 ? 16
                                                               : 0;
    if (usual > 0) out.block = attrs.count("block", usual, 1, 1 << 20);
    out.square_weights = attrs.take("square", false, "true or false");
    out.powers_of_two = attrs.take("power_of_2", !out.has_tensor_scales(), "true or false");
    out.mx_rule = attrs.word("mx_scale", rules);
    out.random_gradients = attrs.word("round", ways);
    if (out.square_weights && out.random_gradients)
        throw Error(ErrorCode::value,
                    "attrs.round: nearest where blocks are square: only weights have such blocks");
    out.saturates = attrs.word("non_finite", fates);
    return out;
}

}  // namespace

TensorMap run_quantize_case(const OpCase& request, const TensorMap& file) {
    const auto found = file.find("0");
    if (found == file.end() || found->second.rank() != 2 || !is_floating(found->second.dtype()) ||
        found->second.dtype() == DType::f64)
        throw Error(ErrorCode::value,
                    "quantize: the input file holds the matrix 0, in f32, f16 or bf16");
    Attributes attrs(request);
    const Recipe recipe = recipe_of(attrs);
    const bool rows = attrs.count("dim", 1, 0, 1) == 0;
    const QuantizedStep step{.seed = attrs.take<std::int64_t>("seed", 0, "a whole number")};
    attrs.check_empty();
    const bool weight = recipe.square_weights && !recipe.random_gradients;
    const QuantizedMatrix codes =
        QuantizedLayer(recipe, step)
            .quantize(found->second, weight ? ProductOperand::weight : ProductOperand::gradient,
                      rows ? Contraction::rows : Contraction::cols);
    const auto factor = static_cast<float>(codes.factor());
    TensorMap out{{"codes", codes.codes},
                  {"inverse", Tensor::of({static_cast<double>(factor)}, {1}, DType::f32, Device{})}};
    if (codes.scales.defined()) out["scales"] = codes.scales;
    std::vector<double> values = codes.values(DType::f32, 0).values();
    for (double& each : values)
        each = static_cast<double>(static_cast<float>(each) * factor);
    out["output"] = Tensor::of(values, codes.codes.shape(), DType::f32, Device{});
    return out;
}

}  // namespace engine
