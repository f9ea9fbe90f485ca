#include "runs/group_numbers.h"

#include <algorithm>

namespace engine {
namespace {

constexpr char number_groups[] =
    "INSERT OR IGNORE INTO group_numbers SELECT id, "
    "(SELECT COALESCE(MAX(number), 0) FROM group_numbers) + ROW_NUMBER() OVER (ORDER BY made, id) "
    "FROM (SELECT run_groups.id AS id, MIN(runs.made) AS made FROM run_groups "
    "JOIN runs ON runs.id = run_groups.run "
    "WHERE run_groups.id NOT IN (SELECT id FROM group_numbers) GROUP BY run_groups.id)";

}  // namespace

void take_group_number(Database& database, const std::string& group, std::int64_t number) {
    Statement(database, "INSERT OR IGNORE INTO group_numbers VALUES (?, ?)")
        .bind(group, number)
        .run();
}

std::int64_t number_of_group(Database& database, const std::string& group) {
    Statement(database,
              "INSERT OR IGNORE INTO group_numbers SELECT ?, COALESCE(MAX(number), 0) + 1 "
              "FROM group_numbers")
        .bind(group)
        .run();
    Statement row(database, "SELECT number FROM group_numbers WHERE id = ?");
    return row.bind(group).step() ? row.integer(0) : 0;
}

bool number_groups_of(Database& database, const std::vector<RunSummary>& runs) {
    const auto lacks = [](const RunSummary& run) {
        return !run.group.empty() && run.group_number == 0;
    };
    if (std::ranges::none_of(runs, lacks)) return false;
    try {
        Statement(database, number_groups).run();
    } catch (const BusyDatabase&) {
        return false;  // the next look numbers them
    }
    return true;
}

}  // namespace engine
