#include "engine/base/near_name.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace engine {
namespace {

/// Optimal string alignment: letters that are replaced, added, left out or exchanged with their
/// neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                next[j] = std::min(next[j], before[j - 2] + 1);
        }
        before.swap(row);
        row.swap(next);
    }
    return row.back();
}

constexpr std::size_t longest_name = 64;

/// Two edits of three letters make any word.
std::size_t most_edits(std::size_t letters) {
    return letters < 4 ? 1 : std::max<std::size_t>(2, letters / 3);
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
    if (wrong.size() > longest_name) return {};
    std::string best;
    std::size_t best_distance = most_edits(wrong.size()) + 1;
    for (const auto& name : known) {
        const std::size_t more = std::max(wrong.size(), name.size()) - std::min(wrong.size(), name.size());
        if (more >= best_distance) continue;  // as many letters have to be added or left out
        const std::size_t distance = edit_distance(wrong, name);
        if (distance < best_distance && distance < name.size()) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

std::vector<std::string> by_likeness(std::string_view wanted, std::vector<std::string> names) {
    std::vector<std::pair<std::size_t, std::string>> rated;
    for (std::string& name : names) {
        const std::size_t distance = edit_distance(wanted, name);
        rated.emplace_back(distance, std::move(name));
    }
    std::ranges::stable_sort(rated, {}, &std::pair<std::size_t, std::string>::first);
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::move(rated[i].second);
    return names;
}

}  // namespace engine
