#include "network/network_changes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ui {
namespace {

constexpr qsizetype mostCompared = 1'000'000;  // pairs of lines

}  // namespace

std::set<int> changedLines(const QStringList& before, const QStringList& now, bool missing) {
    qsizetype begin = 0, beforeEnd = before.size(), nowEnd = now.size();
    while (begin < beforeEnd && begin < nowEnd && before[begin] == now[begin]) ++begin;
    while (beforeEnd > begin && nowEnd > begin && before[beforeEnd - 1] == now[nowEnd - 1]) --beforeEnd, --nowEnd;
    std::set<int> changed;
    const auto mark = [&](qsizetype line) { changed.insert(static_cast<int>(std::min(line, now.size() - 1)) + 1); };
    const qsizetype rows = beforeEnd - begin, columns = nowEnd - begin;
    if ((rows == 0 || !missing) && columns == 0) return changed;
    if (rows * columns > mostCompared || columns == 0) {
        for (qsizetype line = begin; line < std::max(nowEnd, begin + 1); ++line) mark(line);
        return changed;
    }
    // common[i * width + j]: lines that both have from i and from j on, in one order.
    const auto width = static_cast<std::size_t>(columns + 1);
    std::vector<std::uint16_t> common(static_cast<std::size_t>(rows + 1) * width, 0);
    const auto at = [&common, width](qsizetype i, qsizetype j) -> std::uint16_t& { return common[static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j)]; };
    const auto same = [&](qsizetype i, qsizetype j) { return before[begin + i] == now[begin + j]; };
    for (qsizetype i = rows - 1; i >= 0; --i)
        for (qsizetype j = columns - 1; j >= 0; --j)
            at(i, j) = same(i, j) ? static_cast<std::uint16_t>(at(i + 1, j + 1) + 1) : std::max(at(i + 1, j), at(i, j + 1));
    qsizetype i = 0, j = 0;
    while (i < rows || j < columns) {
        if (i < rows && j < columns && same(i, j)) {
            ++i, ++j;
            continue;
        }
        const bool isMissing = j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1));
        if (missing || !isMissing) mark(begin + j);
        ++(isMissing ? i : j);
    }
    return changed;
}

}  // namespace ui
