#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "amp/autocast.h"
#include "amp/cast_sample.h"
#include "kernels/quantize.h"
#include "kernels/quantized_matrix.h"
#include "tensor/module_scope.h"
#include "tensor/tensor.h"

namespace engine {

// Training in 8 and 4 bits: the operands of a layer's products are cast to codes with scales of their
// own, and everything else stays as autocast has it (resources/handbook/low-bits.md).

/// Operands of the products of a layer y = x w.
enum class ProductOperand { input, weight, gradient /* of y */ };

/// Dimension of an operand, (rows, cols), over which its product sums.
enum class Contraction { rows, cols };

/// Magnitudes that decide about a scale.
enum class ScaleBasis {
    tensor,   ///< the tensor's own
    delayed,  ///< the tensor's in earlier steps
    row,      ///< those of a vector along the contraction
    block,    ///< those of a block
    mx,       ///< those of a block; the scale by the rules of OCP's MX formats
    nvfp4,    ///< those of a block and of the tensor (kernels::Nvfp4Scale)
};

/// How the operands of products are cast. Immutable.
struct Recipe {
    ScaleBasis rule = ScaleBasis::tensor;
    kernels::FloatLayout forward = kernels::fp8_e4m3_layout;  ///< of input and weight
    kernels::FloatLayout gradient = kernels::fp8_e5m2_layout;
    std::int64_t block = 0;        ///< values of a block along the contraction
    bool square_weights = false;   ///< blocks of weights have as many rows as columns
    kernels::MxRule mx_rule = kernels::MxRule::rceil;
    std::int64_t history = 1024;   ///< steps whose magnitudes `delayed` remembers
    bool random_gradients = false; ///< gradients are rounded at random
    bool rotates_rows = false;     ///< both operands of a weight's gradient: kernels::rotate_rows()

    kernels::FloatLayout layout(ProductOperand operand) const {
        return operand == ProductOperand::gradient ? gradient : forward;
    }
    /// Whether the codes of an operand do not depend on its contraction.
    bool has_one_set(ProductOperand operand) const {
        return rule == ScaleBasis::tensor || rule == ScaleBasis::delayed ||
               (operand == ProductOperand::weight && square_weights);
    }
    kernels::Blocks blocks(std::int64_t rows, std::int64_t cols, ProductOperand operand,
                           Contraction along) const;
};

/// Codes of a matrix, and what gives them their values.
struct QuantizedMatrix {
    Tensor codes{};  ///< (rows, cols) u8
    /// The code of each block's scale, u8: 2^(scale - 127), 255 NaN, or E4M3 with two levels.
    /// Undefined: there is one scale.
    Tensor scales{};
    kernels::FloatLayout layout{};
    kernels::Blocks blocks{};
    float inverse = 1;  ///< of the one scale; with two levels amax of all
    bool two_levels = false;
    /// Largest exponent among the blocks that hold more than zeros, and how far below it the
    /// smallest is.
    int top = 0, span = 0;

    /// The values times 2^-shift, f32 or bf16; with one scale or two levels without `factor`.
    Tensor values(DType type, int shift) const;
    double factor() const {
        return static_cast<double>(inverse) / (two_levels ? 2688.0 : 1.0);
    }
};

/// The scale of one operand of `delayed`, from the steps before. Source: Transformer Engine's
/// DelayedScaling, but for the count of steps: an entry is a step, not a forward pass.
class DelayedScale {
public:
    DelayedScale(kernels::FloatLayout layout, std::int64_t history)
        : layout_(layout), history_(static_cast<std::size_t>(history)) {}

    float scale() const { return scale_; }
    /// A use of the operand in this step.
    void measured(const kernels::BlockRange& range);
    /// The end of a step. Without a use, without a value other than 0 and after one that is not
    /// finite nothing changes.
    void update();

    /// Oldest first.
    std::vector<float> history() const;
    void restore(float scale, const std::vector<float>& history);

private:
    kernels::FloatLayout layout_;
    float scale_ = 1;
    std::vector<float> history_;
    std::size_t next_ = 0;
    kernels::BlockRange step_;
};

/// The casts of an operand.
struct CastFigures {
    kernels::CastCounts counts;
    std::int64_t elements = 0;
    /// log2 of the largest value over the largest scaled magnitude, the least of all blocks. Infinity:
    /// zeros alone.
    float headroom = std::numeric_limits<float>::infinity();

    void add(const CastFigures& other);
};

/// By ProductOperand, in a step.
using StepCasts = std::array<CastFigures, 3>;

/// Numbers of rounding at random in a step.
struct RoundingDraws {
    std::int64_t seed = 0;
    std::int64_t step = 0;      ///< completed ones
    std::uint64_t operands = 0; ///< of the run: three for each module of the model
    bool examines = false;      ///< casts of this step are measured value by value
};

/// The casts of an operand in a step, over both contractions or over one.
struct OperandSample {
    std::string module{};
    ProductOperand operand{};
    Contraction along{};
    kernels::FloatLayout layout{};
    CastSample casts{};
};

/// A layer that a run's products have met.
struct MetLayer {
    std::string module;
    bool quantised;
};

inline constexpr RoundingDraws no_draws{};

/// The casting points of one layer. One thread at a time.
class QuantizedLayer {
public:
    /// `draws` must outlive it; `place` of its module in the model.
    explicit QuantizedLayer(const Recipe& recipe, const RoundingDraws& draws = no_draws,
                            std::uint64_t place = 0);

    const Recipe& recipe() const { return recipe_; }
    /// x (rows, cols), f32 or 16-bit, as codes. Outside evaluation and recomputation a delayed
    /// scale measures it.
    QuantizedMatrix quantize(const Tensor& x, ProductOperand operand, Contraction along);
    /// The codes of a weight, which are computed once after each change of it.
    QuantizedMatrix weight(const Tensor& weight, Contraction along);

    /// The state of each operand, by ProductOperand.
    std::vector<DelayedScale>& delayed() { return delayed_; }
    /// Returns the casts of the step.
    StepCasts end_step();
    /// Of the step that ends: to be called before end_step().
    std::vector<OperandSample> take_samples();

private:
    /// The values of an operand, and the figures of their cast.
    struct Cast {
        kernels::BlockRange range;
        CastFigures figures;
        std::optional<CastSample> sample{};  // where the step is examined
    };
    struct CachedWeight {
        std::weak_ptr<Storage> source;  // of the weight or a view of it
        std::int64_t offset = 0;
        std::uint32_t version = 0;
        float scale = 1;
        std::int64_t examined_in = -1;  // step; its sample was noted then
        QuantizedMatrix codes;
        Cast cast;
    };

    QuantizedMatrix cast(const Tensor& x, ProductOperand operand, Contraction along,
                         Cast& made);
    kernels::RandomRoundingWords draw(ProductOperand operand, Contraction along);
    Cast measure(QuantizedMatrix& out, const Tensor& x, ProductOperand operand,
                 std::vector<float>& factors) const;
    void set_factors(QuantizedMatrix& out, ProductOperand operand,
                     std::span<const kernels::BlockRange> ranges, float amax,
                     std::vector<float>& factors) const;
    float delayed_scale(ProductOperand operand) const;
    void note(ProductOperand operand, Contraction along, const Cast& made);
    CastSample examined(const Tensor& x, const QuantizedMatrix& codes, ProductOperand operand,
                        std::span<const float> factors, const CastFigures& figures) const;

    const Recipe recipe_;
    const RoundingDraws& draws_;
    std::uint64_t place_;
    StepCasts step_{};
    std::uint64_t casts_[2] = {};        // of gradients in this step, by Contraction
    std::vector<DelayedScale> delayed_;  // empty unless the rule is `delayed`
    CachedWeight weights_[2];            // by Contraction
    std::array<CastSample, 6> samples_{};  // of this step, by operand and contraction
};

/// The layers of a run whose products are quantised, by the module that computes them. One thread
/// at a time.
class QuantizedLayers {
public:
    /// `kept`: modules, with all inside them, whose products stay as autocast has them. `modules`
    /// of the model, and the run's seed, give rounding at random its numbers.
    QuantizedLayers(const Recipe& recipe, std::vector<std::string> kept,
                    std::vector<std::string> modules = {}, std::int64_t seed = 0)
        : recipe_(recipe),
          kept_(std::move(kept)),
          modules_(std::move(modules)),
          draws_{.seed = seed, .operands = 3 * modules_.size()} {}

    /// Null: it is kept.
    std::shared_ptr<QuantizedLayer> find(std::string_view module);
    /// The end of a step that trains.
    void end_step();
    /// The casts of the last step.
    const StepCasts& casts() const { return casts_; }
    /// Whether the casts of the next step are measured; those of later ones are not.
    void examine_next(bool examines) { draws_.examines = examines; }
    /// Those of the last step, if they were measured, in the order of the names of modules.
    const std::vector<OperandSample>& samples() const { return samples_; }
    /// By name.
    std::vector<MetLayer> met() const;
    /// Share of them that is kept.
    float kept_share() const;
    const Recipe& recipe() const { return recipe_; }

    /// State of delayed scales: NAME.x.scale, NAME.x.history, and those of w and g.
    TensorMap saved_state() const;
    /// Takes what fits; all other layers begin anew. `steps`: completed ones.
    void load_state(const TensorMap& saved, std::int64_t steps);

private:
    void restore(const std::string& module, QuantizedLayer& layer) const;

    const Recipe recipe_;
    std::vector<std::string> kept_, modules_;
    RoundingDraws draws_;
    std::map<std::string, std::shared_ptr<QuantizedLayer>, std::less<>> layers_;
    TensorMap loaded_;  // of layers that have not run yet
    StepCasts casts_{};
    std::vector<OperandSample> samples_;
};

/// Products of this thread are quantised while it lives; inside it NoAutocast suspends that. Null:
/// none.
class [[nodiscard]] RecipeScope {
public:
    explicit RecipeScope(QuantizedLayers* layers) noexcept
        : scope_([layers] {
              AutocastState state = autocast_state();
              state.quantized = layers;
              return state;
          }()) {}

private:
    AutocastScope scope_;
};

/// Whether a recipe holds on this thread.
inline bool products_are_quantized() noexcept { return autocast_state().quantized != nullptr; }

/// The layer of the open module. Null: its products are not quantised.
inline std::shared_ptr<QuantizedLayer> quantized_layer() {
    QuantizedLayers* const layers = autocast_state().quantized;
    return layers == nullptr ? nullptr : layers->find(current_module());
}

}  // namespace engine
