#include "group_verdict.h"

#include <iostream>

#include "engine/report/report.h"
#include "engine/runs/run_listing.h"

namespace app {

void print_verdicts(const engine::GroupRuns& runs) {
    if (runs.empty() || engine::is_sweep_group(runs.front().group)) return;
    std::vector<engine::RunSummary> compared;
    for (const engine::RunSummary& run : runs) {
        if (run.config.seed != runs.front().config.seed || run.steps == 0) continue;
        if (auto listed = engine::read_run_folder(run.folder, engine::keep_no_event))
            compared.push_back(std::move(listed->summary));
    }
    if (compared.size() < 2) return;
    const auto verdicts = engine::make_report(compared).verdicts;
    for (std::size_t i = 0; i < verdicts.size() && i + 1 < compared.size(); ++i) {
        std::cout << '\n'
                  << compared[i + 1].config.precision.preset << " against "
                  << compared.front().config.precision.preset << ": "
                  << verdicts[i].headline.str() << ' ' << verdicts[i].details() << '\n';
    }
}

}  // namespace app
