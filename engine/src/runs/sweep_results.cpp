#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/json_fields.h"
#include "engine/base/metric.h"
#include "engine/base/table.h"
#include "engine/runs/sweep.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

constexpr double no_result = std::numeric_limits<double>::quiet_NaN();

/// Figures of the runs of one point, a value a run.
struct Figures {
    std::vector<double> best, last, wall_s;
};

bool is_better(const Metric& metric, double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return metric.higher_is_better ? a > b : a < b;
}

Metric loss_metric() { return {.key = "", .title = "Loss", .higher_is_better = false}; }

/// Adds what the events of a run say.
void add_run(const std::vector<Event>& events, SweepRow& row, Figures& figures) {
    double best = no_result, last = no_result, wall_s = no_result;
    for (const Event& event : events) {
        if (const auto* start = std::get_if<RunStarted>(&event)) {
            row.metric = start->metrics.empty() ? loss_metric() : start->metrics.front();
        } else if (const auto* epoch = std::get_if<EpochDone>(&event)) {
            if (!epoch->evaluated) continue;
            const bool validated = epoch->validation.known();
            const PartFigures& part = validated ? epoch->validation : epoch->test;
            if (part.known()) row.part = validated ? "validation" : "test";
            last = ranked_figure(part, row.metric.key);
            if (is_better(row.metric, last, best)) best = last;
        } else if (const auto* done = std::get_if<RunDone>(&event)) {
            wall_s = done->wall_s;
        }
    }
    figures.best.push_back(best);
    figures.last.push_back(last);
    figures.wall_s.push_back(wall_s);
}

/// The point that each run of the plan belongs to, by its settings.
std::map<std::string, std::size_t> point_of_settings(const SweepPlan& plan) {
    std::map<std::string, std::size_t> out;
    for (const QueueEntry& entry : plan.entries())
        out.emplace(to_json(entry.config), out.size() / static_cast<std::size_t>(plan.seeds));
    return out;
}

bool has_ended(const QueuedRun& run) {
    return run.state == QueueState::done || run.state == QueueState::failed;
}

std::string seeds_text(const SweepPlan& plan, const SweepRow& row) {
    std::string text = std::to_string(row.finished) + "/" + std::to_string(plan.seeds);
    if (row.failed > 0) text += ", " + std::to_string(row.failed) + " failed";
    return text;
}

}  // namespace

std::filesystem::path ended_run_with_data(const std::vector<QueuedRun>& queued,
                                          const QueueEntry& wanted, const RunStore& store) {
    for (const QueuedRun& run : queued) {
        const bool over = run.state == QueueState::done || run.state == QueueState::failed;
        const bool same =
            run.entry.batch == wanted.batch && run.entry.config.dataset == wanted.config.dataset;
        if (!over || !same) continue;
        if (const auto found = store.find(run.run)) return found->folder;
    }
    return {};
}

std::vector<SweepRow> sweep_rows(const SweepPlan& plan, const std::vector<QueuedRun>& queued,
                                 const RunStore& store) {
    std::vector<SweepRow> rows(plan.points.size());
    std::vector<Figures> figures(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].label = plan.points[i].label;
        rows[i].metric = loss_metric();
    }
    const auto points = point_of_settings(plan);
    for (const QueuedRun& run : queued) {
        const auto at = points.find(to_json(run.entry.config));
        if (at == points.end() || !has_ended(run)) continue;
        SweepRow& row = rows[at->second];
        ++row.finished;
        row.failed += run.state == QueueState::failed ? 1 : 0;
        row.runs.push_back(run.run);
        add_run(store.events(run.run), row, figures[at->second]);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].best = mean_and_spread(figures[i].best);
        rows[i].last = mean_and_spread(figures[i].last);
        rows[i].wall_s = mean_and_spread(figures[i].wall_s);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const SweepRow& a, const SweepRow& b) {
        return is_better(a.metric, a.best.mean, b.best.mean);
    });
    return rows;
}

std::string sweep_table(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
    const auto known = std::find_if(rows.begin(), rows.end(),
                                    [](const SweepRow& row) { return !row.part.empty(); });
    std::string figure = "figure";
    if (known != rows.end())
        figure = known->part + " " + (known->metric.key.empty() ? "loss" : known->metric.key);
    Table table{{"settings", "best " + figure, "last " + figure, "seconds", "seeds", "runs"}};
    for (const SweepRow& row : rows) {
        const bool spread = row.finished > 1;
        table.rows.push_back({row.label, spread_text("%.4f", row.best, spread),
                              spread_text("%.4f", row.last, spread),
                              Cell(row.wall_s.mean, "%.1f"), seeds_text(plan, row),
                              join(row.runs)});
    }
    return to_text(table, 1);
}

std::string sweep_verdict(const SweepPlan& plan, const std::vector<SweepRow>& rows) {
    if (rows.empty() || std::isnan(rows.front().best.mean)) return {};
    const SweepRow& best = rows.front();
    const std::string label = best.label.empty() ? "the settings as they are" : best.label;
    if (rows.size() == 1 || std::isnan(rows[1].best.mean))
        return "Only one point has a result: " + label + ".";
    if (plan.seeds == 1)
        return "Best: " + label + ". One seed cannot tell a small lead from noise; use --seeds.";
    const double noise = 2 * std::hypot(best.best.spread, rows[1].best.spread);
    const double lead = std::abs(best.best.mean - rows[1].best.mean);
    if (lead > noise) return "Best: " + label + ", by more than seed noise.";
    return "Best: " + label + ", but " + rows[1].label + " is within seed noise of it.";
}

std::string to_json_line(const SweepPlan& plan, const SweepRow& row, std::int64_t rank) {
    ordered_json out = {{"event", "sweep"}};
    FieldWriter{out}("rank", rank, "settings", row.label,
                     "metric", row.metric.key.empty() ? "loss" : row.metric.key, "part", row.part,
                     "best", row.best.mean, "best_spread", row.best.spread, "last", row.last.mean,
                     "last_spread", row.last.spread, "wall_s", row.wall_s.mean,
                     "seeds", plan.seeds, "finished", row.finished, "failed", row.failed,
                     "runs", row.runs);
    return dumped(out);
}

}  // namespace engine
