#include "ops/linalg/einsum_equation.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace engine {
namespace {

constexpr int max_labels = EinsumEquation::letters + Dims::max_rank;
constexpr char ellipsis = '.';

[[noreturn]] void refuse(const std::string& equation, const std::string& why) {
    throw Error(ErrorCode::value, "einsum: " + equation + ": " + why);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The labels of one operand or of the result as written, "..." as a single point.
std::string terms_of(const std::string& text, const std::string& equation) {
    std::string terms;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ' ') continue;
        if (is_letter(text[i])) {
            terms += text[i];
        } else if (text.compare(i, 3, "...") == 0 && terms.find(ellipsis) == std::string::npos) {
            terms += ellipsis;
            i += 2;
        } else {
            refuse(equation, "there is no place for " + text.substr(i, 1));
        }
    }
    return terms;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

int label_of(char letter) { return letter >= 'a' ? 26 + letter - 'a' : letter - 'A'; }

/// The labels of an operand: the dimensions of "..." are counted from the last.
std::vector<int> labels_of(const std::string& terms, const Tensor& x, const std::string& equation) {
    const bool open = terms.find(ellipsis) != std::string::npos;
    const int named = static_cast<int>(terms.size()) - (open ? 1 : 0), more = x.rank() - named;
    if (more < 0 || (more > 0 && !open)) {
        throw Error(ErrorCode::shape, "einsum: " + equation + ": " + std::to_string(named) +
                                          " letters do not fit the shape " + to_string(x.shape()));
    }
    std::vector<int> labels;
    for (const char term : terms) {
        if (term != ellipsis) {
            labels.push_back(label_of(term));
            continue;
        }
        for (int i = 0; i < more; ++i) labels.push_back(max_labels - more + i);
    }
    return labels;
}

/// How often each label occurs; checks that its sizes agree.
std::array<int, max_labels> counts_of(const EinsumEquation& read, const TensorList& operands,
                                       const std::string& equation) {
    std::array<int, max_labels> counts{};
    std::array<std::int64_t, max_labels> sizes;
    sizes.fill(1);
    for (std::size_t k = 0; k < operands.size(); ++k) {
        for (std::size_t i = 0; i < read.operands[k].size(); ++i) {
            const auto label = static_cast<std::size_t>(read.operands[k][i]);
            const std::int64_t size = operands[k].size(static_cast<int>(i));
            ++counts[label];
            if (sizes[label] == 1) sizes[label] = size;
            if (size != 1 && size != sizes[label]) {
                throw Error(ErrorCode::shape, "einsum: " + equation + ": one label has the sizes " +
                                                  std::to_string(sizes[label]) + " and " +
                                                  std::to_string(size));
            }
        }
    }
    return counts;
}

std::vector<int> implied_output(const std::array<int, max_labels>& counts) {
    std::vector<int> labels;
    for (int i = EinsumEquation::letters; i < max_labels; ++i) {
        if (counts[static_cast<std::size_t>(i)] > 0) labels.push_back(i);
    }
    for (int i = 0; i < EinsumEquation::letters; ++i) {
        if (counts[static_cast<std::size_t>(i)] == 1) labels.push_back(i);
    }
    return labels;
}

std::vector<int> written_output(const std::string& terms,
                                const std::array<int, max_labels>& counts,
                                const std::string& equation) {
    std::vector<int> labels;
    for (const char term : terms) {
        if (term == ellipsis) {
            for (int i = EinsumEquation::letters; i < max_labels; ++i) {
                if (counts[static_cast<std::size_t>(i)] > 0) labels.push_back(i);
            }
            continue;
        }
        const int label = label_of(term);
        if (counts[static_cast<std::size_t>(label)] == 0)
            refuse(equation, std::string("no operand has the label ") + term);
        if (std::find(labels.begin(), labels.end(), label) != labels.end())
            refuse(equation, std::string("the result has the label ") + term + " twice");
        labels.push_back(label);
    }
    return labels;
}

}  // namespace

EinsumEquation read_einsum(const std::string& equation, const TensorList& operands) {
    const auto arrow = equation.find("->");
    const std::vector<std::string> parts = split(equation.substr(0, arrow));
    if (parts.size() != operands.size()) {
        refuse(equation, std::to_string(parts.size()) + " operands are written and " +
                             std::to_string(operands.size()) + " are given");
    }
    EinsumEquation read;
    for (std::size_t i = 0; i < parts.size(); ++i)
        read.operands.push_back(labels_of(terms_of(parts[i], equation), operands[i], equation));
    const auto counts = counts_of(read, operands, equation);
    read.output =
        arrow == std::string::npos
            ? implied_output(counts)
            : written_output(terms_of(equation.substr(arrow + 2), equation), counts, equation);
    if (read.output.size() > Dims::max_rank)
        refuse(equation, "the result has more than 8 dimensions");
    return read;
}

}  // namespace engine
