#pragma once

#include <array>
#include <functional>
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
#include "tensor/batch_share.h"
#include "tensor/module_scope.h"
#include "tensor/tensor.h"

namespace engine {

// Training in 8 and 4 bits: the operands of a layer's products are cast to codes with scales of their
// own, and everything else stays as autocast has it (resources/handbook/low-bits.md).

/// Operands of the products of a layer y = x w.
enum class ProductOperand { input, weight, gradient /* of y */ };

/// Dimension of an operand, (rows, cols), over which its product sums.
enum class Contraction { rows, cols };

/// The products of a layer: y, dx and dw.
enum class LayerProduct { forward, input_gradient, weight_gradient };

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
    bool newest = false;           ///< of these the newest decides, not the largest
    int margin = 0;                ///< a delayed scale is divided by 2 to this power
    bool measures_first = false;   ///< a delayed scale without a history is the tensor's own
    bool powers_of_two = false;    ///< scales of a tensor, rows and blocks are rounded down to one
    bool random_gradients = false; ///< gradients are rounded at random
    bool rotates_rows = false;     ///< both operands of a weight's gradient: kernels::rotate_rows()
    bool whole_weights = false;    ///< one scale of a weight in the gradient of the input
    bool saturates = false;        ///< infinity becomes the largest value
    bool evaluates = true;         ///< evaluation is quantised, too
    bool convolutions = false;     ///< with one scale a tensor
    bool reduces_amax = false;     ///< scales of tensors from the magnitudes of all ranks
    bool shares_history = true;    ///< of delayed scales, among ranks
    bool forgets_history = false;  ///< delayed scales are new after a state was loaded
    float fixed_scale = 0;         ///< in place of each scale of a tensor; 0: none
    int sum_bits = 0;              ///< that sums of products keep; 0: those of f32
    std::int64_t promote_every = 128;  ///< products of such a sum; 0: all
    std::array<bool, 3> kept{};    ///< by LayerProduct: stays as autocast has it

    kernels::FloatLayout layout(ProductOperand operand) const {
        return operand == ProductOperand::gradient ? gradient : forward;
    }
    /// Whether the codes of an operand do not depend on its contraction.
    bool has_one_set(ProductOperand operand) const {
        return has_tensor_scales() ||
               (operand == ProductOperand::weight && square_weights);
    }
    bool has_tensor_scales() const {
        return rule == ScaleBasis::tensor || rule == ScaleBasis::delayed;
    }
    kernels::Blocks blocks(std::int64_t rows, std::int64_t cols, ProductOperand operand,
                           Contraction along) const;
};

/// Codes of a matrix, and what gives them their values.
struct QuantizedMatrix {
    Tensor codes{};  ///< (rows, cols) u8
    /// The code of each block's scale, u8: 2^(scale - 127), 255 NaN, or E4M3 with two levels; or its
    /// inverse, f32. Undefined: there is one scale.
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
    /// Values of the codes, without scales.
    Tensor code_values(DType type) const;
    bool has_f32_scales() const { return scales.defined() && scales.dtype() == DType::f32; }
    double factor() const {
        return static_cast<double>(inverse) / (two_levels ? 2688.0 : 1.0);
    }
};

/// The scale of one operand of `delayed`, from the steps before. Source: Transformer Engine's
/// DelayedScaling, but for the count of steps: an entry is a step, not a forward pass.
class DelayedScale {
public:
    DelayedScale(kernels::FloatLayout layout, std::int64_t history, bool newest = false,
                 int margin = 0)
        : layout_(layout),
          newest_(newest),
          margin_(margin),
          history_(static_cast<std::size_t>(history)) {}

    float scale() const { return scale_; }
    /// Whether no step has entered anything.
    bool is_new() const;
    /// The scale that follows from a magnitude; not 0.
    float scale_of(float amax) const;
    /// A use of the operand in this step.
    void measured(const kernels::BlockRange& range);
    /// Range of the uses in this step.
    kernels::BlockRange& step() { return step_; }
    /// The end of a step. Without a use, without a value other than 0 and after one that is not
    /// finite nothing changes.
    void update();

    /// Oldest first.
    std::vector<float> history() const;
    void restore(float scale, const std::vector<float>& history);

private:
    kernels::FloatLayout layout_;
    bool newest_;
    int margin_;
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

/// Conditions of casts beside their operands.
struct QuantizedStep {
    // Numbers of rounding at random.
    std::int64_t seed = 0;
    std::int64_t step = 0;       ///< completed ones
    std::uint64_t operands = 0;  ///< of the run: three for each module of the model

    /// Completed steps from which on forward products are as autocast has them.
    std::int64_t forward_kept_from = std::numeric_limits<std::int64_t>::max();
    BatchShare share{};  ///< of the micro-batch, that this rank computes
    float loss_scale = 1;
    /// Replaces the numbers by the largest of all ranks; null: there is one.
    std::function<void(std::span<float>)> largest_of_ranks = {};
    bool examines = false;  ///< casts of this step are measured value by value
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
class QuantizedLayer;
struct MetLayer {
    std::string module;
    std::shared_ptr<const QuantizedLayer> layer;  ///< null: it is kept
};

inline const QuantizedStep first_step{};

/// The casting points of one layer. One thread at a time.
class QuantizedLayer {
public:
    /// `now` must outlive it; `place` of its module in the model.
    explicit QuantizedLayer(const Recipe& recipe, const QuantizedStep& now = first_step,
                            std::uint64_t place = 0);

    const Recipe& recipe() const { return recipe_; }
    /// Whether the product is computed by codes.
    bool quantizes(LayerProduct product) const;
    /// x (rows, cols), f32 or 16-bit, as codes. Outside evaluation and recomputation a delayed
    /// scale measures it.
    QuantizedMatrix quantize(const Tensor& x, ProductOperand operand, Contraction along);
    /// The codes of a weight, which are computed once after each change of it. `backward`: for the
    /// gradient of the input.
    QuantizedMatrix weight(const Tensor& weight, Contraction along, bool backward = false);

    /// The state of each operand, by ProductOperand.
    std::vector<DelayedScale>& delayed() { return delayed_; }
    /// How often the weight has been cast.
    std::int64_t weight_casts() const { return weight_casts_; }
    /// Returns the casts of the step.
    StepCasts end_step();
    /// Samples of the step that ends: to be called before end_step().
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
                         Cast& made, bool whole = false);
    kernels::RandomRoundingWords draw(ProductOperand operand, Contraction along);
    Cast measure(QuantizedMatrix& out, const Tensor& x, ProductOperand operand,
                 std::vector<float>& factors) const;
    void set_factors(QuantizedMatrix& out, ProductOperand operand,
                     std::span<const kernels::BlockRange> ranges, float amax,
                     std::vector<float>& factors) const;
    float tensor_scale(ProductOperand operand, float amax, kernels::FloatLayout layout) const;
    float delayed_scale(ProductOperand operand) const;
    float of_all_ranks(float amax, ProductOperand operand) const;
    void note(ProductOperand operand, Contraction along, const Cast& made);
    CastSample examined(const Tensor& x, const QuantizedMatrix& codes, ProductOperand operand,
                        std::span<const float> factors, const CastFigures& figures) const;

    const Recipe recipe_;
    const QuantizedStep& now_;
    std::uint64_t place_;
    StepCasts step_{};
    std::uint64_t casts_[2] = {};        // of gradients in this step, by Contraction
    std::vector<DelayedScale> delayed_;  // empty unless the rule is `delayed`
    CachedWeight weights_[2];            // of the forward and of the backward pass
    std::int64_t weight_casts_ = 0;
    std::array<CastSample, 6> samples_{};  // of this step, by operand and contraction
};

/// The recipes of a model's modules; each holds inside its module, too.
struct RecipePlan {
    std::optional<Recipe> recipe;   ///< of all; none: of `forced` alone
    std::vector<std::string> kept;  ///< modules that it does not cover
    /// Over both; the longest name decides. None: a type is forced.
    std::map<std::string, std::optional<Recipe>> forced{};
    /// Products that stay as autocast has them, over all, by LayerProduct.
    std::map<std::string, std::array<bool, 3>> skipped{};

    /// None: its products are not quantised.
    std::optional<Recipe> find(std::string_view module) const;
};

/// The layers of a run whose products are quantised, by the module that computes them. One thread
/// at a time.
class QuantizedLayers {
public:
    /// `modules` of the model, and the run's seed, give rounding at random its numbers.
    explicit QuantizedLayers(RecipePlan plan, std::vector<std::string> modules = {},
                             std::int64_t seed = 0)
        : plan_(std::move(plan)),
          modules_(std::move(modules)),
          now_{.seed = seed, .operands = 3 * modules_.size()} {}
    QuantizedLayers(const Recipe& recipe, std::vector<std::string> kept)
        : QuantizedLayers(RecipePlan{recipe, std::move(kept)}) {}

    /// Null: it is kept.
    std::shared_ptr<QuantizedLayer> find(std::string_view module);
    const RecipePlan& plan() const { return plan_; }
    /// `step`: this or a later one.
    void set_forward_kept_from(std::int64_t step) { now_.forward_kept_from = step; }
    void set_ranks(std::function<void(std::span<float>)> largest_of_ranks) {
        now_.largest_of_ranks = std::move(largest_of_ranks);
    }
    /// A micro-batch of a step begins, of which this rank computes a share.
    void begin(const BatchShare& share, float loss_scale = 1) {
        now_.share = share;
        now_.loss_scale = loss_scale;
    }
    /// The end of a step that trains. On several ranks all call it.
    void end_step();
    /// The casts of the last step.
    const StepCasts& casts() const { return casts_; }
    /// Whether the casts of the next step are measured; those of later ones are not.
    void examine_next(bool examines) { now_.examines = examines; }
    /// Samples of the last step, if they were measured, in the order of the names of modules.
    const std::vector<OperandSample>& samples() const { return samples_; }
    /// By name.
    std::vector<MetLayer> met() const;
    /// Share of their products that is kept.
    float kept_share() const;
    /// Returns the recipe of all modules; if only single modules have one, that of the first of these.
    const Recipe& recipe() const;

    /// State of delayed scales: NAME.x.scale, NAME.x.history, and those of w and g.
    TensorMap saved_state() const;
    /// Takes what fits; all other layers begin anew. `steps`: completed ones.
    void load_state(const TensorMap& saved, std::int64_t steps);

private:
    void restore(const std::string& module, QuantizedLayer& layer) const;
    void share_magnitudes();

    const RecipePlan plan_;
    std::vector<std::string> modules_;
    QuantizedStep now_;
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
std::shared_ptr<QuantizedLayer> quantized_layer();

}  // namespace engine
