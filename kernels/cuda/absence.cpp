#include "cuda/absence.h"

#include <algorithm>

namespace kernels::cuda {
namespace {

std::string version(int number) {
    std::string text = std::to_string(number / 1000);
    text += '.';
    text += std::to_string(number % 1000 / 10);
    return text;
}

/// A driver of the same major version runs what was built for a newer minor one.
bool too_old(const Survey& survey) { return survey.driver / 1000 < survey.runtime / 1000; }

std::string capability(const Card& card) {
    return std::to_string(card.major) + "." + std::to_string(card.minor);
}

bool is_new_enough(const Card& card) {
    return card.major > min_major || (card.major == min_major && card.minor >= min_minor);
}

/// The cards that `chosen` takes, each as `describe` says, with commas between.
std::string list(const Survey& survey, bool (*chosen)(const Card&),
                 std::string (*describe)(const Card&)) {
    std::string text;
    for (const Card& card : survey.cards)
        if (chosen(card)) text += (text.empty() ? "" : ", ") + describe(card);
    return text;
}

/// The package brings a newer driver's libraries to drivers of older long-term branches, on
/// data-centre cards alone. Its minor version need not be the program's.
std::string driver_is_too_old(const Survey& survey) {
    const std::string major = std::to_string(survey.runtime / 1000);
    return "the NVIDIA driver is too old: it runs CUDA " + version(survey.driver) +
           ", this program needs " + major +
           ".0; install a newer driver, or on a data-centre card " +
           "NVIDIA's package cuda-compat-" + major + "-0";
}

}  // namespace

bool has_machine_code(const Card& card, const std::vector<int>& architectures) {
    return std::any_of(architectures.begin(), architectures.end(), [&](int architecture) {
        return architecture / 100 == card.major && architecture / 10 % 10 <= card.minor;
    });
}

std::vector<int> usable(const Survey& survey) {
    std::vector<int> ordinals;
    if (survey.driver == 0 || too_old(survey) || !survey.error.empty()) return ordinals;
    for (const Card& card : survey.cards) {
        if (is_new_enough(card) && card.has_code) ordinals.push_back(card.ordinal);
    }
    return ordinals;
}

std::string why_unusable(const Survey& survey) {
    if (!usable(survey).empty()) return {};
    if (survey.driver == 0) return "no NVIDIA driver on this machine";
    if (too_old(survey)) return driver_is_too_old(survey);
    if (!survey.error.empty()) return "the NVIDIA driver refuses: " + survey.error;
    if (survey.cards.empty()) return "the NVIDIA driver sees no device";
    const std::string without_code = list(survey, is_new_enough, [](const Card& card) {
        return capability(card) + " (" + card.name + ")";
    });
    if (!without_code.empty())
        return "this program has no code for compute capability " + without_code;
    const std::string others = list(
        survey, [](const Card&) { return true; },
        [](const Card& card) {
            return card.name + " (compute capability " + capability(card) + ")";
        });
    return "no device with compute capability " + std::to_string(min_major) + "." +
           std::to_string(min_minor) + " or newer; there is " + others;
}

}  // namespace kernels::cuda
