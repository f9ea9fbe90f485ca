// Exits with 1 if the compiler drops a store that a called function reads, or keeps a value that a
// called function has changed. dropped_stores.cmake compiles it at the levels of optimisation that
// the builds use, and runs it. It fails with GCC 12.2 at -O1 to -O3 (the first shape), and with
// GCC 13.3 and 14.2 at -O1 (the second shape). -fno-ipa-modref mends both: that pass records for
// each function which memory it reads, writes and lets escape, and records too little here.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

// A closure, reached by reference, is passed by value through a function that returns it. GCC takes
// the variables that it refers to for unchanged by the call that it is then passed to, and their
// stores for unread.
template <class F>
[[gnu::noinline]] F pass(F f) {
    return f;
}
template <class F>
[[gnu::noinline]] void call(F f) {
    f();
}
template <class F>
[[gnu::noinline]] void call_by_reference(const F& f) {
    call(pass(f));
}

[[gnu::noinline]] bool change_is_seen() {
    long changed = 1;
    const auto change = [&] { changed = 2; };
    call_by_reference(change);
    return changed == 2;
}

[[gnu::noinline]] bool store_is_read() {
    long from = 1, to = 0;
    const auto copy = [&] { to = from; };
    from = 3;
    call_by_reference(copy);
    return to == 3;
}

// An algorithm that wraps its predicate reads a temporary through the predicate's reference. GCC
// takes the function around the algorithm for one that reads no memory, and never writes the
// temporary.
struct Column {
    std::span<const float> values;
    std::size_t first = 0;
    std::size_t stride = 1;

    float operator[](std::int64_t row) const {
        return values[static_cast<std::size_t>(row) * stride + first];
    }
};

struct Table {
    std::vector<float> cells;
    std::size_t columns;
};

Column column_of(const Table& table, std::size_t i) { return {table.cells, i, table.columns}; }

bool is_constant(const Column& column, std::span<const std::int64_t> rows) {
    return std::all_of(rows.begin(), rows.end(),
                       [&](std::int64_t row) { return column[row] == column[rows.front()]; });
}

[[gnu::noinline]] int constant_columns(const Table& table, std::span<const std::int64_t> rows) {
    int count = 0;
    for (std::size_t i = 0; i < table.columns; ++i) {
        if (is_constant(column_of(table, i), rows)) ++count;
    }
    return count;
}

[[gnu::noinline]] bool second_is_constant(const Table& table, std::span<const std::int64_t> rows) {
    return is_constant(column_of(table, 1), rows);
}

}  // namespace

int main() {
    const Table table{{1, 2, 1, 3, 1, 4}, 2};
    const std::vector<std::int64_t> rows = {0, 1, 2};
    const bool right = change_is_seen() && store_is_read() && constant_columns(table, rows) == 1 &&
                       !second_is_constant(table, rows);
    return right ? 0 : 1;
}
