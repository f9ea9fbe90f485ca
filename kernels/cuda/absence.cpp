#include "cuda/absence.h"

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

std::string describe(const Card& card) {
    return card.name + " (compute capability " + std::to_string(card.major) + "." +
           std::to_string(card.minor) + ")";
}

}  // namespace

std::vector<int> usable(const Survey& survey) {
    std::vector<int> ordinals;
    if (survey.driver == 0 || too_old(survey) || !survey.error.empty()) return ordinals;
    for (const Card& card : survey.cards) {
        if (card.major > least_major || (card.major == least_major && card.minor >= least_minor))
            ordinals.push_back(card.ordinal);
    }
    return ordinals;
}

std::string why_unusable(const Survey& survey) {
    if (!usable(survey).empty()) return {};
    if (survey.driver == 0) return "no NVIDIA driver on this machine";
    if (too_old(survey))
        return "the NVIDIA driver is too old: it runs CUDA " + version(survey.driver) +
               ", this program needs " + version(survey.runtime / 1000 * 1000);
    if (!survey.error.empty()) return "the NVIDIA driver refuses: " + survey.error;
    if (survey.cards.empty()) return "the NVIDIA driver sees no device";
    std::string text = "no device with compute capability " + std::to_string(least_major) + "." +
                       std::to_string(least_minor) + " or newer; there is";
    const char* before = " ";
    for (const Card& card : survey.cards) {
        text += before;
        text += describe(card);
        before = ", ";
    }
    return text;
}

}  // namespace kernels::cuda
