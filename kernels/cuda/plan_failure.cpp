#include "cuda/plan_failure.h"

#include <algorithm>
#include <cctype>

namespace kernels::cuda {
namespace {

constexpr std::string_view none = {};

std::string_view line_at(std::string_view text, std::size_t place) {
    const std::size_t before = text.rfind('\n', place);
    const std::size_t start = before == text.npos ? 0 : before + 1;
    return text.substr(start, text.find('\n', place) - start);
}

template <std::size_t n>
std::string_view line_with(std::string_view text, const std::string_view (&words)[n]) {
    for (const std::string_view word : words)
        if (const std::size_t at = text.find(word); at != text.npos) return line_at(text, at);
    return none;
}

/// "cuLibraryLoadData returned error NAME (2)".
std::string_view line_of_drivers_memory(std::string_view text) {
    constexpr std::string_view returned = "returned error";
    for (std::size_t at = text.find(returned); at != text.npos; at = text.find(returned, at + 1)) {
        const std::string_view line = line_at(text, at);
        const std::size_t number = line.find('(', line.find(returned));
        if (number != line.npos && line.substr(number).starts_with("(2)")) return line;
    }
    return none;
}

std::string_view line_of_memory(std::string_view text) {
    constexpr std::string_view words[] = {"ALLOCATION_FAILED", "ALLOC_FAILED", "OUT_OF_MEMORY",
                                          "out of memory", "cudaErrorMemoryAllocation"};
    const std::string_view line = line_with(text, words);
    return line.empty() ? line_of_drivers_memory(text) : line;
}

/// The name of the status that the text ends with; empty if it has none.
std::string_view last_status(std::string_view text) {
    for (const std::string_view label : {"cudnn_status: ", "code: "}) {
        const std::size_t at = text.rfind(label);
        if (at == text.npos) continue;
        const std::string_view name = text.substr(at + label.size());
        const auto ends = [](unsigned char c) { return !std::isalnum(c) && c != '_'; };
        return name.substr(0, static_cast<std::size_t>(
                                  std::find_if(name.begin(), name.end(), ends) - name.begin()));
    }
    return none;
}

/// Not supported, where the machine lacks something that could be had.
std::string_view line_of_lack(std::string_view text) {
    constexpr std::string_view words[] = {"PREREQUISITE_MISSING", "SUBLIBRARY_UNAVAILABLE",
                                          "INCOMPATIBLE_CUDA_DRIVER", "INCOMPATIBLE_CUDART",
                                          "CUDNN_STATUS_BAD_PARAM"};
    return line_with(text, words);
}

std::string shortened(std::string_view line) {
    constexpr std::size_t most = 300;
    while (!line.empty() && (line.front() == ' ' || line.back() == ' ')) {
        if (line.front() == ' ')
            line.remove_prefix(1);
        else
            line.remove_suffix(1);
    }
    return std::string(line.substr(0, most));
}

}  // namespace

PlanComplaint read_complaint(std::string_view text) {
    if (const auto line = line_of_memory(text); !line.empty())
        return {PlanFailure::memory, shortened(line)};
    const std::string_view status = last_status(text);
    if (status.starts_with("CUDNN_STATUS_NOT_SUPPORTED") ||
        status.starts_with("CUDNN_STATUS_BAD_PARAM"))
        return {PlanFailure::unsupported, shortened(line_of_lack(text))};
    if (status.starts_with("CUDNN_STATUS_"))
        return {PlanFailure::other, shortened(line_at(text, text.rfind(status)))};
    constexpr std::string_view ran[] = {"CUDNN_STATUS_EXECUTION_FAILED"};
    if (const auto line = line_with(text, ran); !line.empty())
        return {PlanFailure::other, shortened(line)};
    return {PlanFailure::unsupported, shortened(line_of_lack(text))};
}

}  // namespace kernels::cuda
