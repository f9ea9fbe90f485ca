#include "engine/runs/sweep.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <set>
#include <sstream>
#include <utility>

#include "engine/base/json.h"
#include "engine/runs/run_fields.h"
#include "settings/config_reader.h"

namespace engine {
namespace {

/// Settings of a point, as arguments of --set.
using Overrides = std::vector<std::string>;

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The values of "0.1, 0.01" or "[64,64],[32]": commas within brackets, braces and quotes do not
/// separate.
std::vector<std::string> split_values(const std::string& text) {
    std::vector<std::string> values(1);
    int depth = 0;
    bool quoted = false, escaped = false;
    for (const char c : text) {
        if (c == '"' && !escaped) quoted = !quoted;
        escaped = quoted && c == '\\' && !escaped;
        if (!quoted) depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        if (c == ',' && depth == 0 && !quoted)
            values.emplace_back();
        else
            values.back() += c;
    }
    for (std::string& value : values) value = trimmed(value);
    return values;
}

class Planner {
public:
    explicit Planner(const SweepRequest& request) : request_(request) {}

    SweepPlan plan() {
        plan_.seeds = request_.seeds;
        std::vector<Overrides> points = listed();
        for (const std::string& axis : request_.grid) points = multiplied(points, axis);
        if (points.size() * static_cast<std::size_t>(request_.seeds) > most()) {
            refuse("--grid", std::to_string(points.size()),
                   msg("use at most {} runs", request_.max_runs));
            points.clear();
        }
        for (const Overrides& point : points) add_point(point);
        if (plan_.errors.empty()) check_seeds();
        return std::move(plan_);
    }

private:
    std::size_t most() const { return static_cast<std::size_t>(request_.max_runs); }

    void refuse(const std::string& field, const std::string& value, const Message& allowed) {
        add_error({field, value, allowed});
    }

    /// A value that is wrong in many points is one error.
    void add_error(const SettingError& error) {
        if (seen_.insert(error.str()).second) plan_.errors.push_back(error);
    }

    /// One point for each line, or a single one that sets nothing.
    std::vector<Overrides> listed() {
        std::vector<Overrides> points;
        std::istringstream lines(request_.list);
        std::size_t number = 0;
        for (std::string line; std::getline(lines, line);) {
            ++number;
            if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
            const json object = read_json(line, settings_bounds);
            if (!object.is_object()) {
                refuse("--list", "line " + std::to_string(number),
                       msg("use an object of settings in braces"));
                continue;
            }
            Overrides& point = points.emplace_back();
            for (const auto& [path, value] : object.items()) {
                point.push_back(path + '=' +
                                (value.is_string() && !json::accept(value.get<std::string>())
                                     ? value.get<std::string>()
                                     : dumped(value)));
            }
        }
        if (points.empty()) points.emplace_back();
        return points;
    }

    std::vector<Overrides> multiplied(const std::vector<Overrides>& points,
                                      const std::string& axis) {
        const auto equals = axis.find('=');
        if (equals == 0 || equals == std::string::npos || equals + 1 == axis.size()) {
            refuse("--grid", shown(axis),
                   msg("use path=value,value, such as optimizer.lr=0.1,0.01"));
            return points;
        }
        const auto values = split_values(axis.substr(equals + 1));
        if (points.size() > most() / values.size()) {
            refuse("--grid", shown(axis), msg("use at most {} runs", request_.max_runs));
            return points;
        }
        std::vector<Overrides> out;
        for (const Overrides& point : points) {
            for (const std::string& value : values) {
                out.push_back(point);
                out.back().push_back(axis.substr(0, equals + 1) + value);
            }
        }
        return out;
    }

    void add_point(const Overrides& point) {
        Overrides all = request_.overrides;
        all.insert(all.end(), point.begin(), point.end());
        ParsedConfig parsed = parse_run_config(request_.json, all);
        parsed.config = with_absolute_paths(std::move(parsed.config));  // as the runs keep them
        for (const SettingError& error : parsed.errors) add_error(error);
        for (const Message& note : parsed.notes) {
            if (seen_.insert(note.str()).second) plan_.notes.push_back(note);
        }
        if (!seen_.insert(to_json(parsed.config)).second) return;  // the same as an earlier one
        std::string label;
        for (const std::string& override_text : point)
            label += (label.empty() ? "" : " ") + override_text;
        plan_.points.push_back({label.empty() ? "settings" : label, std::move(parsed.config)});
    }

    void check_seeds() {
        const std::int64_t last = std::numeric_limits<std::int64_t>::max() - (plan_.seeds - 1);
        for (const SweepPoint& point : plan_.points) {
            if (point.config.seed > last) {
                refuse("seed", std::to_string(point.config.seed),
                       msg("use a whole number from {} to {}", 0, last));
            }
        }
        const bool varied =
            std::any_of(plan_.points.begin(), plan_.points.end(), [&](const SweepPoint& point) {
                return point.config.seed != plan_.points.front().config.seed;
            });
        if (varied && plan_.seeds > 1) {
            refuse("--seeds", std::to_string(plan_.seeds),
                   msg("use 1 if the points have their own seeds"));
        }
    }

    const SweepRequest& request_;
    SweepPlan plan_;
    std::set<std::string> seen_;
};

/// FNV-1a: the same in every process and version.
std::string digest_of(const std::vector<QueueEntry>& entries) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const QueueEntry& entry : entries) {
        for (const char c : to_json(entry.config)) {
            hash ^= static_cast<unsigned char>(c);
            hash *= 0x100000001b3u;
        }
    }
    std::ostringstream out;
    out << std::hex << hash;
    return "sweep-" + out.str();
}

/// As a point of plan_sweep() is called.
std::string point_label(const std::vector<RunDifference>& differences, std::size_t run) {
    std::string label, seed;
    for (const RunDifference& each : differences) {
        if (each.values[run].empty()) continue;  // what the preset stands for
        if (each.field.starts_with("model.network")) continue;  // lines of a text
        const std::string text = each.field + '=' + each.values[run];
        if (each.field == "seed")
            seed = ' ' + text;
        else
            label += (label.empty() ? "" : " ") + text;
    }
    return (label.empty() ? "settings" : label) + seed;
}

}  // namespace

SweepPlan to_sweep_plan(const std::vector<QueuedRun>& batch) {
    SweepPlan plan;
    std::map<std::string, std::size_t> points;  // by the settings without a seed
    std::vector<std::int64_t> last_seeds;
    for (const QueuedRun& run : batch) {
        RunConfig shared = run.entry.config;
        shared.seed = 0;
        const std::int64_t seed = run.entry.config.seed;
        const auto [at, added] = points.emplace(to_json(shared), points.size());
        if (added) {
            plan.points.push_back({run.entry.label, run.entry.config});
            last_seeds.push_back(seed);
        }
        SweepPoint& point = plan.points[at->second];
        point.config.seed = std::min(point.config.seed, seed);
        last_seeds[at->second] = std::max(last_seeds[at->second], seed);
        plan.seeds = std::max(plan.seeds, last_seeds[at->second] - point.config.seed + 1);
    }
    for (SweepPoint& point : plan.points) {
        const std::string suffix = " seed=" + std::to_string(point.config.seed);
        if (plan.seeds > 1 && point.label.ends_with(suffix))
            point.label.resize(point.label.size() - suffix.size());
    }
    return plan;
}

SweepPlan plan_sweep(const SweepRequest& request) { return Planner(request).plan(); }

std::vector<QueueEntry> SweepPlan::entries() const {
    std::vector<QueueEntry> out;
    for (const SweepPoint& point : points) {
        for (std::int64_t i = 0; i < seeds; ++i) {
            QueueEntry& entry = out.emplace_back();
            entry.config = point.config;
            entry.config.seed += i;
            entry.label = point.label;
            if (seeds > 1) entry.label += " seed=" + std::to_string(entry.config.seed);
        }
    }
    const std::string own = batch.empty() ? digest_of(out) : batch;
    for (QueueEntry& entry : out) entry.batch = own;
    return out;
}

void requeue_sweep(RunQueue& queue, std::span<const RunSummary> runs) {
    std::vector<RunSummary> known;
    std::ranges::copy_if(runs, std::back_inserter(known), [](const RunSummary& run) {
        return run.state != "running" && run.state != "missing";
    });
    if (known.empty()) return;
    const std::string batch = known.front().group;
    const auto differences = differing_settings(known);
    std::vector<QueueEntry> entries;
    for (std::size_t i = 0; i < known.size(); ++i)
        entries.push_back({known[i].config, point_label(differences, i), batch});
    queue.add(entries);
    std::vector<RunQueue::Taken> taken;  // until all have their run: what is let go waits again
    while (auto next = queue.take(batch)) {
        const auto newest_first = known | std::views::reverse;
        const auto its = std::ranges::find(newest_first, next->queued().entry.config,
                                           &RunSummary::config);
        if (its != newest_first.end()) next->set_run(its->run);
        if (its != newest_first.end() && its->state == "done") next->finish(QueueState::done);
        if (its != newest_first.end() && its->state == "diverged") next->finish(QueueState::failed);
        taken.push_back(std::move(*next));
    }
}

}  // namespace engine
