#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// Settings that take one of a few words (interfaces.md, section 1). Their names in JSON and their
/// titles stand in setting_words<E> alone.

enum class WeightFormat : std::uint8_t { fp32, fp16 };
enum class AutocastFormat : std::uint8_t { off, fp16, bf16 };
enum class ScalerMode : std::uint8_t { off, constant, dynamic };
enum class ClipKind : std::uint8_t { none, norm, value };
enum class Recompute : std::uint8_t { off, blocks };
/// A type, or a recipe (RecipeKind) of the same name.
enum class ForcedType : std::uint8_t {
    fp32,
    fp16,
    bf16,
    fp8_delayed,
    fp8_current,
    fp8_rowwise,
    fp8_rowwise_gw,
    fp8_block,
    mxfp8,
    nvfp4,
    mxfp4,
};
/// How the operands of products are cast to 8 or 4 bits (resources/handbook/low-bits.md).
enum class RecipeKind : std::uint8_t {
    none,
    fp8_delayed,
    fp8_current,
    fp8_rowwise,
    fp8_rowwise_gw,
    fp8_block,
    mxfp8,
    nvfp4,
    mxfp4,
};
// Parts of a recipe (QuantizeConfig); automatic: as the recipe has it.
enum class GradientFormat : std::uint8_t { automatic, e5m2, e4m3 };
enum class HistoryRule : std::uint8_t { largest, newest };
enum class FirstScale : std::uint8_t { one, current };
enum class MxScaling : std::uint8_t { rceil, floor, ceil, even };
enum class FourBitRounding : std::uint8_t { automatic, none, gradients };
enum class Rotation : std::uint8_t { automatic, off, wgrad };
enum class WeightBlocks : std::uint8_t { automatic, lines, squares };
enum class ProductType : std::uint8_t { automatic, quantised, high };
enum class NonFiniteRule : std::uint8_t { propagate, saturate };
enum class AmaxReduction : std::uint8_t { automatic, all, none };
/// Losses that are wrong on purpose.
enum class TeachLoss : std::uint8_t { intact, bce_probabilities, where_mismatch };
enum class TeachNorm : std::uint8_t { intact, composed };
enum class TeachBoxes : std::uint8_t { intact, low };
/// Faults that can be planted at a step.
enum class PlantKind : std::uint8_t {
    none,
    nan_pixel,
    inf_target,
    scale_attention,
    nan_weight,
    nan_embedding_row,
    nan_carried_state,
    log_of_zero,
    zero_norm,
    sqrt_at_zero,
    exp_12,
    sum_of_ones,
    adam_epsilon_zero,
    empty_box,
};

template <typename E>
struct Word {
    E value;
    std::string_view name;   ///< as in JSON
    std::string_view title;  ///< as the window shows it
};
/// clang needs it spelt out before version 17.
template <typename E>
Word(E, const char*, const char*) -> Word<E>;

/// The words of a setting, in the order in which they are offered.
template <typename E>
inline constexpr std::array<Word<E>, 0> setting_words = {};
template <>
inline constexpr std::array setting_words<WeightFormat> = {
    Word{WeightFormat::fp32, "fp32", "FP32"}, Word{WeightFormat::fp16, "fp16", "FP16"}};
template <>
inline constexpr std::array setting_words<AutocastFormat> = {
    Word{AutocastFormat::off, "off", "Off"}, Word{AutocastFormat::fp16, "fp16", "FP16"},
    Word{AutocastFormat::bf16, "bf16", "BF16"}};
template <>
inline constexpr std::array setting_words<ScalerMode> = {
    Word{ScalerMode::off, "off", "Off"}, Word{ScalerMode::constant, "static", "Static"},
    Word{ScalerMode::dynamic, "dynamic", "Dynamic"}};
template <>
inline constexpr std::array setting_words<ClipKind> = {Word{ClipKind::none, "none", "None"},
                                                       Word{ClipKind::norm, "norm", "By norm"},
                                                       Word{ClipKind::value, "value", "By value"}};
template <>
inline constexpr std::array setting_words<Recompute> = {
    Word{Recompute::off, "off", "Off"}, Word{Recompute::blocks, "blocks", "Blocks"}};
template <>
inline constexpr std::array setting_words<ForcedType> = {
    Word{ForcedType::fp32, "fp32", "FP32"}, Word{ForcedType::fp16, "fp16", "FP16"},
    Word{ForcedType::bf16, "bf16", "BF16"},
    Word{ForcedType::fp8_delayed, "fp8-delayed", "FP8, delayed scales"},
    Word{ForcedType::fp8_current, "fp8-current", "FP8, current scales"},
    Word{ForcedType::fp8_rowwise, "fp8-rowwise", "FP8, scales of rows"},
    Word{ForcedType::fp8_rowwise_gw, "fp8-rowwise-gw", "FP8, scales of rows, weight gradients in BF16"},
    Word{ForcedType::fp8_block, "fp8-block", "FP8, scales of blocks"},
    Word{ForcedType::mxfp8, "mxfp8", "MXFP8"},
    Word{ForcedType::nvfp4, "nvfp4", "NVFP4"},
    Word{ForcedType::mxfp4, "mxfp4", "MXFP4"}};
template <>
inline constexpr std::array setting_words<RecipeKind> = {
    Word{RecipeKind::none, "none", "None"},
    Word{RecipeKind::fp8_delayed, "fp8-delayed", "FP8, delayed scales"},
    Word{RecipeKind::fp8_current, "fp8-current", "FP8, current scales"},
    Word{RecipeKind::fp8_rowwise, "fp8-rowwise", "FP8, scales of rows"},
    Word{RecipeKind::fp8_rowwise_gw, "fp8-rowwise-gw", "FP8, scales of rows, weight gradients in BF16"},
    Word{RecipeKind::fp8_block, "fp8-block", "FP8, scales of blocks"},
    Word{RecipeKind::mxfp8, "mxfp8", "MXFP8"},
    Word{RecipeKind::nvfp4, "nvfp4", "NVFP4"},
    Word{RecipeKind::mxfp4, "mxfp4", "MXFP4"}};
template <>
inline constexpr std::array setting_words<GradientFormat> = {
    Word{GradientFormat::automatic, "auto", "Auto"},
    Word{GradientFormat::e5m2, "e5m2", "E5M2"},
    Word{GradientFormat::e4m3, "e4m3", "E4M3"}};
template <>
inline constexpr std::array setting_words<HistoryRule> = {
    Word{HistoryRule::largest, "max", "Largest"},
    Word{HistoryRule::newest, "most-recent", "Newest"}};
template <>
inline constexpr std::array setting_words<FirstScale> = {
    Word{FirstScale::one, "one", "1"},
    Word{FirstScale::current, "current", "Measured"}};
template <>
inline constexpr std::array setting_words<MxScaling> = {
    Word{MxScaling::rceil, "rceil", "Rounded up"},
    Word{MxScaling::floor, "floor", "Floor"},
    Word{MxScaling::ceil, "ceil", "Ceiling"},
    Word{MxScaling::even, "even", "Even"}};
template <>
inline constexpr std::array setting_words<FourBitRounding> = {
    Word{FourBitRounding::automatic, "auto", "Auto"},
    Word{FourBitRounding::none, "none", "None"},
    Word{FourBitRounding::gradients, "gradients", "Gradients"}};
template <>
inline constexpr std::array setting_words<Rotation> = {
    Word{Rotation::automatic, "auto", "Auto"},
    Word{Rotation::off, "off", "Off"},
    Word{Rotation::wgrad, "wgrad", "Weight gradients"}};
template <>
inline constexpr std::array setting_words<WeightBlocks> = {
    Word{WeightBlocks::automatic, "auto", "Auto"},
    Word{WeightBlocks::lines, "1d", "1-D"},
    Word{WeightBlocks::squares, "2d", "2-D"}};
template <>
inline constexpr std::array setting_words<ProductType> = {
    Word{ProductType::automatic, "auto", "Auto"},
    Word{ProductType::quantised, "quantised", "Quantised"},
    Word{ProductType::high, "high", "As autocast"}};
template <>
inline constexpr std::array setting_words<NonFiniteRule> = {
    Word{NonFiniteRule::propagate, "propagate", "Kept"},
    Word{NonFiniteRule::saturate, "saturate", "Saturated"}};
template <>
inline constexpr std::array setting_words<AmaxReduction> = {
    Word{AmaxReduction::automatic, "auto", "Auto"},
    Word{AmaxReduction::all, "all", "All"},
    Word{AmaxReduction::none, "none", "None"}};

template <>
inline constexpr std::array setting_words<TeachLoss> = {
    Word{TeachLoss::intact, "", "Intact"},
    Word{TeachLoss::bce_probabilities, "bce-probabilities", "BCE of probabilities"},
    Word{TeachLoss::where_mismatch, "where-mismatch", "where with mixed dtypes"}};
template <>
inline constexpr std::array setting_words<TeachNorm> = {
    Word{TeachNorm::intact, "", "Intact"}, Word{TeachNorm::composed, "composed", "Composed"}};
template <>
inline constexpr std::array setting_words<TeachBoxes> = {
    Word{TeachBoxes::intact, "", "Intact"}, Word{TeachBoxes::low, "low", "In 16 bits"}};
template <>
inline constexpr std::array setting_words<PlantKind> = {
    Word{PlantKind::none, "", "None"},
    Word{PlantKind::nan_pixel, "nan-pixel", "NaN pixel"},
    Word{PlantKind::inf_target, "inf-target", "Infinite target"},
    Word{PlantKind::scale_attention, "scale-attention", "Attention scores × 300"},
    Word{PlantKind::nan_weight, "nan-weight", "NaN weight"},
    Word{PlantKind::nan_embedding_row, "nan-embedding-row", "NaN embedding row"},
    Word{PlantKind::nan_carried_state, "nan-carried-state", "NaN carried state"},
    Word{PlantKind::log_of_zero, "log-of-zero", "Log of 0"},
    Word{PlantKind::zero_norm, "zero-norm", "Normalised zero vector"},
    Word{PlantKind::sqrt_at_zero, "sqrt-at-zero", "Square root at 0"},
    Word{PlantKind::exp_12, "exp-12", "exp(12) in FP16"},
    Word{PlantKind::sum_of_ones, "sum-of-ones", "Sum of 100,000 ones in FP16"},
    Word{PlantKind::adam_epsilon_zero, "adam-epsilon-zero", "Adam with epsilon 0"},
    Word{PlantKind::empty_box, "empty-box", "Empty box"}};

/// A setting that takes one of a few words; "" may be one of them.
template <typename E>
concept SettingWord = !setting_words<E>.empty();

template <SettingWord E>
std::string word_of(E value) {
    const auto at = [value](const Word<E>& word) { return word.value == value; };
    return std::string(std::find_if(setting_words<E>.begin(), setting_words<E>.end(), at)->name);
}

/// Nothing if the setting has no such word.
template <SettingWord E>
std::optional<E> value_of_word(std::string_view name) {
    for (const Word<E>& word : setting_words<E>) {
        if (word.name == name) return word.value;
    }
    return std::nullopt;
}

}  // namespace engine
