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
enum class ForcedType : std::uint8_t { fp32, fp16, bf16 };

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
inline constexpr std::array setting_words<ForcedType> = {Word{ForcedType::fp32, "fp32", "FP32"},
                                                         Word{ForcedType::fp16, "fp16", "FP16"},
                                                         Word{ForcedType::bf16, "bf16", "BF16"}};

/// A setting that takes one of a few words.
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
